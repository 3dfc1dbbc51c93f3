"""The files for containers are valid by the schemas of Compose and Kubernetes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path("examples/remote")
COMPOSE = ["check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
KUBERNETES = ["kubernetes_validate", "--strict"]


def verdict(command: list[str], file: Path) -> tuple[int, str]:
    """Return the exit status and the output of a linter."""
    ran = subprocess.run([sys.executable, "-m", *command, str(file)], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("command", "name", "right", "wrong"),
    [
        (COMPOSE, "compose.yaml", "replicas: 3", "replica: 3"),
        (KUBERNETES, "kubernetes.yaml", "replicas: 3", "replica: 3"),
    ],
    ids=["compose", "kubernetes"],
)
def test_files_are_valid(command: list[str], name: str, right: str, wrong: str, tmp_path: Path) -> None:
    assert verdict(command, HERE / name)[0] == 0, verdict(command, HERE / name)
    (mistaken := tmp_path / name).write_text((HERE / name).read_text().replace(right, wrong))
    status, output = verdict(command, mistaken)
    assert (status, "replica" in output) == (1, True)
