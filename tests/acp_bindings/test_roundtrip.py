"""Every valid value is unchanged after a round trip through its model."""

import pytest

from tests.acp_bindings.instances import PER_DEFINITION
from tests.acp_bindings.roundtrip import generated, losses
from tests.acp_bindings.schemas import PACKAGES, load

DEFINITIONS = [(package, name) for package in PACKAGES for name in load(package).definitions]


@pytest.mark.parametrize(("package", "definition"), DEFINITIONS)
def test_every_valid_instance_survives_a_round_trip(package: str, definition: str) -> None:
    found = list(losses(load(package), definition, generated(package, definition)))
    smallest = min(found, key=lambda loss: len(str(loss.instance)), default=None)
    assert smallest is None, f"{len(found)} of {PER_DEFINITION} instances were not lossless; the smallest: {smallest}"
