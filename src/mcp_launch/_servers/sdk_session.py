"""The SDK's session, with redacted errors and with results validated within limits."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

import anyio.to_thread
from mcp import ClientSession, MCPError
from mcp.shared.dispatcher import CallOptions, Dispatcher
from mcp_types import CallToolResult, ClientRequest, ErrorData, InitializeResult, Request
from pydantic import BaseModel, TypeAdapter, ValidationError

from acp_bindings._redact import Redactor
from mcp_launch._diagnosis.protocol import invalid_field, is_timeout
from mcp_launch._killable import CallFailed, KillableProcess
from mcp_launch._transports.era import Probe
from mcp_launch._validation import (
    STEPS,
    InvalidSchema,
    Problem,
    Validator,
    compiled,
    is_plain,
    is_small,
    limited_steps,
    problem_of,
)
from mcp_launch.failures import InvalidResult
from mcp_launch.options import Budgets

ResultT = TypeVar("ResultT", bound=BaseModel)

_log = logging.getLogger(__name__)
_REASON = 1000
"""The longest reason in characters, because it may quote a value of megabytes."""


@dataclass(slots=True, kw_only=True)
class Protection:
    """What a `Session` needs for redaction, for validation and for its opening."""

    server: str = "server"
    """The name of the server, for messages."""
    hide: Redactor = field(default_factory=Redactor)
    """The secrets of the server."""
    seconds: float = Budgets().validate
    """The time for validating a result against a schema."""
    validators: dict[str, ResultValidator | None] = field(default_factory=dict[str, "ResultValidator | None"])
    """The validators of the tools whose results were validated; None for a tool that the server does not list."""
    process: KillableProcess | None = None
    """The process that validates results, once it is needed."""
    probe: Probe | None = None
    """Limits the wait for the newer era; None to wait as long as the SDK."""
    noise: Callable[[], str | None] = lambda: None
    """Returns what the server wrote in place of a response, if anything."""
    result: object = None
    """The result that the SDK is reading now."""

    def validator(self, name: str, schema: dict[str, Any]) -> ResultValidator:
        """Return the validator of a tool's results."""
        known = self.validators.get(name)
        if known is None or known.schema is not schema:
            self.process = self.process or KillableProcess(seconds=self.seconds)
            known = self.validators[name] = ResultValidator(schema, self.process)
        return known


def protected(session: ClientSession, protection: Protection) -> Session:
    """Turn the session into a `Session`, because the SDK's client does not let callers choose the class."""
    session.__class__ = Session
    changed = cast("Session", session)
    changed.protect(protection)
    return changed


class Session(ClientSession):
    """The SDK's session. The exceptions that it raises because of a server are documented and redacted."""

    def protect(self, protection: Protection) -> None:
        """Redact and validate from now on; called before the session is entered."""
        self._dispatcher = cast("Dispatcher[Any]", _Redacting(self._dispatcher, protection))

    @property
    def _protection(self) -> Protection:
        # As an attribute, it would add 2 KB, because the class of the session was changed.
        return cast("_Redacting", self._dispatcher).protection

    async def send_discover(self, version: str) -> dict[str, Any]:
        """Send `server/discover` and return its result, as the SDK does, but give up sooner.

        Raises:
            MCPError: the server refused the request, or did not respond in time.
        """
        send = partial(super().send_discover, version)
        probe, tasks = self._protection.probe, self._task_group
        return await probe.discover(send, tasks=tasks) if probe and tasks else await send()

    async def initialize(self) -> InitializeResult:
        """Do the handshake, as the SDK does.

        Raises:
            MCPError: the server refused it, or did not respond in time.
        """
        send, probe = super().initialize, self._protection.probe
        return await (probe.initialize(send) if probe else send())

    async def send_request(
        self,
        request: ClientRequest | Request[Any, Any],
        result_type: type[ResultT] | TypeAdapter[ResultT],
        *args: Any,
        **kwargs: Any,
    ) -> ResultT:
        """Send a request and return its result, as the SDK does.

        Raises:
            InvalidResult: the result is not valid MCP.
            MCPError: the server refused the request, or did not respond in time.
        """
        try:
            return await super().send_request(request, result_type, *args, **kwargs)
        except ValidationError as error:
            # Errors of the handshake are explained elsewhere.
            if self._negotiated_version is None:
                raise
            path, message = invalid_field(error)
            if name := _name_at(path, self._protection.result):
                message += f' (in "{name}")'
        finally:
            self._protection.result = None
        server, hide = self._protection.server, self._protection.hide
        reason, path = hide.start(message, _REASON), hide.start(path, _REASON)
        # Raised here so that its context is not the original, which quotes what the server sent.
        raise InvalidResult(reason, server=server, method=request.method, path=path)

    async def validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """Validate a result against the output schema of its tool.

        Raises:
            InvalidResult: it does not match the schema, or the schema cannot be evaluated within the limits.
        """
        schema = await self._output_schema(name)
        if schema is None:
            return
        invalid = partial(InvalidResult, server=self._protection.server, method="tools/call", name=name, result=result)
        if result.structured_content is None and "structured_content" not in result.model_fields_set:
            raise invalid("is missing, but the tool has an outputSchema", path="structuredContent")
        hide = self._protection.hide
        found = await self._protection.validator(name, schema).problem(result.structured_content)
        if isinstance(found, InvalidSchema):
            raise invalid(hide.start(str(found), _REASON), schema_rejected=True)
        if found is not None:
            path = ".".join(filter(None, ("structuredContent", found.path))).replace(".[", "[")
            raise invalid(hide.start(found.message, _REASON), path=hide.start(path, _REASON))

    async def _output_schema(self, name: str) -> dict[str, Any] | None:
        """Return the output schema of the tool, after listing the tools if necessary; None if it has none."""
        if name not in self._tool_output_schemas and name not in self._protection.validators:
            try:
                await self.list_tools()
            except (MCPError, InvalidResult) as error:
                # The tool has been called already, and its result matters more than the validation.
                _log.warning(
                    "%s: a result of %s was not validated, because its schema is not known: %s",
                    self._protection.server,
                    name,
                    error,
                )
                return None
            if name not in self._tool_output_schemas:
                self._protection.validators[name] = None
        return self._tool_output_schemas.get(name)


class ResultValidator:
    """Validates results against one schema: in this process if that is certainly fast, else in the other one."""

    def __init__(self, schema: dict[str, Any], process: KillableProcess) -> None:
        self.schema = schema
        self._process = process
        self._text: str | None = None
        self._here: Validator | None = None
        """The validator for this process."""
        self._is_known = False

    async def problem(self, value: object) -> Problem | InvalidSchema | None:
        """Return why the value does not match, or why the schema cannot be evaluated; None if it matches.

        Neither is raised, because it quotes the server and must not become the context of another exception.
        """
        try:
            return await self._problem(value)
        except InvalidSchema as invalid:
            return invalid

    async def _problem(self, value: object) -> Problem | None:
        if not self._is_known:
            # In a thread, because it takes many times longer than validating.
            self._here = await anyio.to_thread.run_sync(_compiled_if_plain, self.schema, abandon_on_cancel=True)
            self._is_known = True
        if self._here is not None and is_small(value):
            try:
                with limited_steps(STEPS):
                    return problem_of(self._here, value)
            except InvalidSchema:
                raise
            except Exception:  # noqa: BLE001, S110 - too many steps, or an unusual schema: the other process reports it
                pass
        try:
            if self._text is None:
                self._text = json.dumps(self.schema)
            found = await self._process.call("mcp_launch._validation:validate", self._text, value)
        except RecursionError:
            raise InvalidSchema("it is nested too deeply") from None
        except CallFailed as failed:
            raise InvalidSchema(_why(failed)) from None
        return None if found is None else Problem(*found)


def _compiled_if_plain(schema: Mapping[str, Any]) -> Validator | None:
    return compiled(schema, counted=True) if is_plain(schema) else None


def _why(failed: CallFailed) -> str:
    match failed.kind:
        case "":
            return f"validating the result {failed}"
        case "InvalidSchema":
            return str(failed)
        case "MemoryError":
            return "validating the result takes too much memory"
        case kind:
            return f"it cannot be evaluated ({kind})"


class _Redacting:
    """A dispatcher of the SDK whose errors do not show the secrets of the server."""

    __slots__ = ("_dispatcher", "protection")

    def __init__(self, dispatcher: Dispatcher[Any], protection: Protection) -> None:
        self._dispatcher = dispatcher
        self.protection = protection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Send a request and return its result.

        Raises:
            MCPError: the server refused it, or did not respond in time.
        """
        if method == "server/discover" and self.protection.probe:
            opts = {**(opts or {}), **self.protection.probe.options}
        try:
            result = await self._dispatcher.send_raw_request(method, params, opts, **kwargs)
        except MCPError as error:
            hidden = self.protection.hide.json(error.error.model_dump())
            if is_timeout(error) and opts and (seconds := opts.get("timeout")) is not None:
                asked = (params or {}).get("name") or method
                noise = f", but the server {noise}" if (noise := self.protection.noise()) else ""
                hidden["message"] = f"{self.protection.server}: {asked}: did not respond within {seconds:g} s{noise}"
                error.__cause__ = error.__context__
            error.error = ErrorData(**hidden)
            error.args = (error.code, error.message, error.data)
            raise
        self.protection.result = result
        return result


def _name_at(path: str, result: Any) -> str:
    """Return the name of the tool or other item of a list with this path; empty if there is none."""
    try:
        field, index, *_ = path.split("/")
        name: object = result[field][int(index)]["name"]
    except (ValueError, LookupError, TypeError):
        return ""
    return name if isinstance(name, str) else ""
