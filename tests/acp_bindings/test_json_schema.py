"""The JSON schemas of the models, for reading and for writing."""

import json
import warnings
from typing import Any

import jsonschema_rs
import pytest
from pydantic import TypeAdapter

from acp_bindings import encode, v1, v1_unstable, v2, v2_unstable
from tests.acp_bindings.samples import a_request

PACKAGES = [v1, v1_unstable, v2, v2_unstable]


@pytest.mark.full
def test_every_name_has_a_json_schema_for_reading_and_for_writing() -> None:
    with warnings.catch_warnings(action="error"):
        for package in PACKAGES:
            names = set(package.__all__) - {"METHODS"}
            assert len(names) > 150
            for name in names:
                adapter: TypeAdapter[Any] = TypeAdapter(getattr(package, name))
                jsonschema_rs.validator_for(adapter.json_schema(mode="validation"))
                jsonschema_rs.validator_for(adapter.json_schema(mode="serialization"))


@pytest.mark.parametrize(
    ("type_", "tag", "without"),
    [
        (v1.ContentBlock, {"type": "text"}, {"text": "t"}),
        (v2.ReplayFrom, {"type": "start"}, {}),
        (v2.SessionUpdate, {"sessionUpdate": "usage_update"}, {"used": 1, "size": 2}),
    ],
)
def test_a_json_schema_for_writing_requires_the_tag(type_: Any, tag: dict[str, Any], without: dict[str, Any]) -> None:
    accepts = jsonschema_rs.validator_for(TypeAdapter[Any](type_).json_schema(mode="serialization")).is_valid

    assert not accepts(without)
    assert accepts(tag | without)


def test_a_json_schema_for_reading_accepts_a_payload_without_its_tag() -> None:
    accepts = jsonschema_rs.validator_for(v1.TextContent.model_json_schema()).is_valid
    assert accepts({"text": "t"})
    assert not accepts({"type": "image", "text": "t"})


def test_a_json_schema_states_the_rule_of_the_writer() -> None:
    accepts = jsonschema_rs.validator_for(v1.NewSessionRequest.model_json_schema()).is_valid
    assert accepts(json.loads(encode(a_request())))
    assert not accepts({"cwd": "/", "mcpServers": None})
    accepts = jsonschema_rs.validator_for(TypeAdapter[Any](v2.McpServer).json_schema()).is_valid
    assert accepts({"type": "sse", "x": 1})
    assert not accepts({"type": "http", "x": 1})
    assert not accepts({"type": 5})
