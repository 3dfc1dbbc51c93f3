"""FastAPI: the classes and unions of a protocol as bodies and responses of routes."""

import json
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

from acp_bindings import encode, v1, v2
from tests.acp_bindings.exact_json import Json
from tests.acp_bindings.samples import SECRET, a_request

# FastAPI has pydantic warn of each model with `defer_build` that is a body: an alias has no effect.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")


class Entry(BaseModel):
    number: int = 1
    update: v2.SessionUpdate
    request: v1.NewSessionRequest | None = None


CLEARED: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "title": None}
REQUEST: Json = json.loads(encode(a_request()))
WITHOUT_URL: Json = {"type": "http", "name": "n", "headers": [{"name": "A", "value": SECRET}]}


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()

    @app.post("/class")
    def of_class(request: v1.NewSessionRequest) -> v1.NewSessionRequest:
        return request

    @app.post("/union")
    def of_union(update: v2.SessionUpdate) -> v2.SessionUpdate:
        return update

    @app.post("/list")
    def of_list(servers: list[v1.McpServer]) -> list[v1.McpServer]:
        return servers

    @app.post("/entry")
    def of_entry(entry: Entry) -> Entry:
        return entry

    @app.post("/any", response_model_exclude_unset=True)
    def of_any(update: v2.SessionUpdate) -> Any:
        return {"update": update}

    @app.post("/untyped", response_model=None)
    def untyped(update: v2.SessionUpdate):
        return {"update": update}

    return TestClient(app)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/class", REQUEST),
        ("/union", CLEARED),
        ("/list", REQUEST["mcpServers"]),
        ("/entry", {"number": 2, "update": CLEARED, "request": REQUEST}),
    ],
)
def test_a_route_returns_the_body_that_it_was_sent(client: TestClient, path: str, body: Json) -> None:
    assert client.post(path, json=body).json() == body


@pytest.mark.parametrize("path", ["/any", "/untyped"])
def test_a_response_without_a_type_contains_only_set_fields(client: TestClient, path: str) -> None:
    assert client.post(path, json=CLEARED).json() == {"update": CLEARED}


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/list", [WITHOUT_URL], ["body", 0]),
        ("/class", {"cwd": "/", "mcpServers": [WITHOUT_URL]}, ["body", "mcpServers", "<value>", 0]),
    ],
)
def test_a_refused_body_is_not_in_the_response(client: TestClient, path: str, body: Json, place: list[Json]) -> None:
    refused = client.post(path, json=body)
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == [*place, "<tagged>", "http", "url"]
    assert SECRET not in refused.text


def test_the_routes_have_a_document(client: TestClient) -> None:
    described = client.get("/openapi.json").json()["components"]["schemas"]
    assert {"NewSessionRequest-Input", "McpServerHttp-Output"} <= described.keys()
