"""Pydantic's errors do not contain the input values, which may be secrets."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from acp_bindings import v1
from tests.acp_bindings.exact_json import Json
from tests.acp_bindings.samples import SECRET, a_request


class Entry(BaseModel):
    servers: list[v1.McpServer]


class Single(BaseModel):
    server: v1.McpServerHttp


WITHOUT_URL: Json = {"type": "http", "name": "n", "headers": [{"name": "A", "value": SECRET}]}
NO_TEXT: Json = {**WITHOUT_URL, "url": "u", "headers": [{"name": "A", "value": [SECRET]}]}
UNKNOWN: Json = {"type": "podman", "env": SECRET}

REFUSALS: dict[str, Callable[[], object]] = {
    "constructor": lambda: v1.EnvVariable(name="A", value=[SECRET]),  # pyright: ignore[reportArgumentType]
    "assignment": lambda: setattr(v1.EnvVariable(name="A", value=""), "value", [SECRET]),
    "model_copy": lambda: a_request().model_copy(update={"cwd": [SECRET]}),
    "model_validate": lambda: v1.McpServerHttp.model_validate(NO_TEXT),
    "model_validate by keyword": lambda: v1.McpServerHttp.model_validate(obj=WITHOUT_URL),
    "model_validate_json": lambda: v1.McpServerHttp.model_validate_json(json.dumps(WITHOUT_URL)),
    "not JSON": lambda: v1.McpServerHttp.model_validate_json(f'{{"name": "{SECRET}'),
    "model_validate_strings": lambda: v1.EnvVariable.model_validate_strings({"value": SECRET}),
}


@pytest.mark.parametrize("refuse", REFUSALS.values(), ids=REFUSALS)
def test_an_error_of_a_class_does_not_contain_the_input(refuse: Callable[[], object]) -> None:
    with pytest.raises(ValidationError) as raised:
        refuse()
    assert_no_secret(raised.value)


TYPES: dict[str, tuple[Any, Callable[[Json], Json]]] = {
    "union": (v1.McpServer, lambda server: server),
    "optional union": (v1.McpServer | None, lambda server: server),
    "unions in a map": (dict[str, v1.McpServer], lambda server: {"a": server}),
    "unions in a model": (Entry, lambda server: {"servers": [server]}),
    "class": (v1.McpServerHttp, lambda server: server),
    "classes in a list": (list[v1.McpServerHttp], lambda server: [server]),
    "class in a model": (Single, lambda server: {"server": server}),
}


@pytest.mark.parametrize("server", [WITHOUT_URL, NO_TEXT, UNKNOWN], ids=["without URL", "wrong type", "unknown type"])
@pytest.mark.parametrize(("type_", "wrap"), TYPES.values(), ids=TYPES)
def test_an_error_in_a_users_type_does_not_contain_the_input(
    type_: Any, wrap: Callable[[Json], Json], server: Json
) -> None:
    v1.McpServerHttp.model_rebuild()  # `TypeAdapter` then takes what pydantic has built
    adapter, given = TypeAdapter[Any](type_), wrap(server)
    with pytest.raises(ValidationError) as raised:
        adapter.validate_python(given)
    assert_no_secret(raised.value)
    with pytest.raises(ValidationError) as raised:
        adapter.validate_json(json.dumps(given))
    assert_no_secret(raised.value)


def test_an_error_of_an_untagged_union_does_not_contain_the_input() -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter[Any](dict[str, v1.ElicitationContentValue]).validate_python({"a": {"b": SECRET}})
    assert_no_secret(raised.value)


def assert_no_secret(error: ValidationError) -> None:
    assert SECRET not in f"{error} {error!r} {error.errors()} {error.json()}"
    assert {each["input"] for each in error.errors()} == {"…"}


def test_an_error_names_places_and_rules_as_pydantic_does() -> None:
    with pytest.raises(ValidationError) as raised:
        v1.McpServerHttp.model_validate({"type": "sse", "url": 5})

    assert raised.value.title == "McpServerHttp"
    assert [(each["type"], each["loc"], each["msg"]) for each in raised.value.errors()] == [
        ("literal_error", ("type",), "Input should be 'http'"),
        ("missing", ("name",), "Field required"),
        ("string_type", ("url",), "Input should be a valid string"),
        ("missing", ("headers",), "Field required"),
    ]
    assert raised.value.errors()[0].get("ctx") == {"expected": "'http'"}


class Strict(v1.EnvVariable):
    @field_validator("name")
    @classmethod
    def _starts_well(cls, name: str) -> str:
        if name == "odd":
            raise PydanticCustomError("odd_name", "it is {how}", {"how": "odd {name}"})
        if name == "known":
            raise PydanticCustomError("value_error", "it has a type of pydantic")
        raise ValueError("not today")


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("odd", "odd_name", "it is odd {name}"),
        ("known", "value_error", "it has a type of pydantic"),
        ("A", "value_error", "Value error, not today"),
    ],
)
def test_an_error_of_a_users_validator_has_its_message(name: str, kind: str, message: str) -> None:
    for make in (lambda: Strict(name=name, value=""), lambda: Strict.model_validate({"name": name, "value": ""})):
        with pytest.raises(ValidationError) as raised:
            make()
        assert [(each["type"], each["msg"]) for each in raised.value.errors()] == [(kind, message)]
