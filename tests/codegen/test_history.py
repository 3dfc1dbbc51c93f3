import json
from pathlib import Path

import pytest

from codegen.watch import PACKAGE
from tests.codegen import history_report, publishing
from tests.codegen.published import deliveries
from tests.codegen.replay import Gates, Replayed, replay
from tests.codegen.small import META, TEXT, obj

GATES = Gates(valid=5, damaged=5)
SCHEMA = "https://json-schema.org/draft/2020-12/schema"


def document(**ping: object) -> bytes:
    """Return the bytes of a schema with one method."""
    request = obj("x", x=TEXT, _meta=META) | {"x-side": "agent", "x-method": "ping"} | ping
    return json.dumps({"$schema": SCHEMA, "$defs": {"PingRequest": request}}).encode()


class TestDeliveries:
    def test_every_version_is_fetched_once_and_stored(self, tmp_path: Path, npm: Path) -> None:
        files = publishing.release("2.0.0")
        publishing.install_npm(npm, {"1.0.0": {"schema.json": document()}, "2.0.0": files})

        first = list(deliveries(tmp_path / "kept"))
        again = list(deliveries(tmp_path / "kept"))

        assert [(each.version, each.files) for each in first] == [
            ("1.0.0", {"v1/schema.unstable.json": document()}),
            ("2.0.0", files),
        ]
        assert again == first
        asked = (npm / "asked").read_text(encoding="utf-8").splitlines()
        assert asked == [f"view {PACKAGE}", f"pack {PACKAGE}@1.0.0", f"pack {PACKAGE}@2.0.0", f"view {PACKAGE}"]

    def test_a_stored_version_that_was_changed_is_fetched_again(self, tmp_path: Path, npm: Path) -> None:
        publishing.install_npm(npm, {"1.0.0": {"schema.json": document()}})
        (first,) = deliveries(tmp_path / "kept")
        (tmp_path / "kept" / "1.0.0" / "v1" / "schema.unstable.json").write_bytes(b"{}")

        assert list(deliveries(tmp_path / "kept", versions=["1.0.0"])) == [first]


class TestReplay:
    def test_a_schema_that_the_pipeline_has_rules_for_passes(self) -> None:
        replayed = replay("v1/schema.json", document(), "npm:x@1", GATES)

        assert replayed == Replayed(verdict="passed", said="5 valid, 5 damaged", definitions=1)

    def test_a_schema_with_something_new_is_refused_with_its_place(self) -> None:
        replayed = replay("v1/schema.json", document(minProperties=1), "npm:x@1", GATES)

        said = "$defs/PingRequest: no rule for the keyword minProperties"
        assert replayed == Replayed(verdict="refused", said=said)
        assert replay("v1/schema.json", b"[]", "npm:x@1", GATES).verdict == "refused"

    @pytest.mark.parametrize(
        ("written", "instead"),
        [("x: str", "y: str"), ("x: str", "x: Any"), ("PingRequest(", "PongRequest("), ("(Ext", "(")],
    )
    def test_a_package_that_contradicts_its_schema_is_found(
        self, monkeypatch: pytest.MonkeyPatch, written: str, instead: str
    ) -> None:
        def miswrite(file: str, schema: dict[str, object], release: str, output: Path) -> None:
            build(file, schema, release, output)
            module = output / "v1" / "connection.py"
            text = module.read_text(encoding="utf-8")
            assert written in text
            module.write_text(f"from typing import Any\n{text.replace(written, instead)}", encoding="utf-8")

        from codegen.build import build

        monkeypatch.setattr("tests.codegen.replay.build", miswrite)

        assert replay("v1/schema.json", document(), "npm:x@1", GATES).verdict == "WRONG"


class TestReport:
    def run(self, tmp_path: Path, *options: str) -> int:
        return history_report.main(["--kept", str(tmp_path / "kept"), "--valid", "2", "--damaged", "2", *options])

    def test_the_report_has_a_line_for_each_schema_of_each_version(
        self, tmp_path: Path, npm: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        old, new = document(), document(minProperties=1)
        releases = {"0.1.0": {"schema.json": old}, "0.2.0": {"schema.json": old}, "0.3.0": {"schema.json": new}}
        publishing.install_npm(npm, {**releases, "0.4.0": {}})

        status = self.run(tmp_path, "--processes", "1")

        assert status == 0
        assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
            "version schema definitions result",
            "0.1.0 v1/schema.unstable.json 1 passed: 2 valid, 2 damaged",
            "0.2.0 v1/schema.unstable.json the same as in 0.1.0",
            "0.3.0 v1/schema.unstable.json refused: $defs/PingRequest: no rule for the keyword minProperties",
            "0.4.0 - refused: it has no schema where one was expected",
            "",
            "4 versions, 2 different schemas: 1 passed, 2 refused, 0 WRONG",
        ]

    def test_the_report_fails_if_one_schema_is_wrong(
        self, tmp_path: Path, npm: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        # The gates cannot make an instance of this, and what they cannot judge has not passed.
        unknown = obj(x={"type": "integer", "minimum": 2, "maximum": 1}) | {"x-side": "agent", "x-method": "ping"}
        data = json.dumps({"$schema": SCHEMA, "$defs": {"PingRequest": unknown}}).encode()
        publishing.install_npm(npm, {"1.0.0": {"schema.json": data}})

        assert self.run(tmp_path) == 1
        assert "WRONG" in capsys.readouterr().out

    def test_an_error_of_npm_is_reported(self, tmp_path: Path, npm: Path, capsys: pytest.CaptureFixture[str]) -> None:
        publishing.install_failing_npm(npm, "npm error network")

        assert self.run(tmp_path) == 2
        assert "npm error network" in capsys.readouterr().err
