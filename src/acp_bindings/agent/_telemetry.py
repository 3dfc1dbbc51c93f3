"""OpenTelemetry spans and W3C trace context, if `opentelemetry-api` is installed. Otherwise nothing happens here.

Spans have methods, ids and names of tools as attributes, and the classes of errors; never content, nor messages of
errors, which may contain private data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Literal, cast

from acp_bindings._models.base import Model

trace: Any = None
_tracer: Any = None
_propagator: Any = None
with suppress(ModuleNotFoundError):
    trace = import_module("opentelemetry.trace")
    _tracer = trace.get_tracer("acp-bindings")
    _propagator = import_module("opentelemetry.trace.propagation.tracecontext").TraceContextTextMapPropagator()

_FIELDS = ("traceparent", "tracestate")


@contextmanager
def span(
    name: str,
    *,
    kind: Literal["server", "client", "internal"] = "internal",
    parent: object = None,
    attributes: Mapping[str, str | int],
) -> Generator[Callable[[str, str], None]]:
    """Run a block in a span, and yield a function that sets an attribute.

    Its parent is the `traceparent` in the `_meta` of *parent*, the params of a request, or else the current span.
    """
    if _tracer is None:
        yield lambda _key, _value: None
        return
    with _tracer.start_as_current_span(
        name,
        context=_context_in(parent),
        kind=trace.SpanKind[kind.upper()],
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:

        def attribute(key: str, value: str) -> None:
            current.set_attribute(key, value)
            if key == ERROR:
                current.set_status(trace.StatusCode.ERROR)

        try:
            yield attribute
        except Exception as error:
            attribute(ERROR, type(error).__name__)
            raise


ERROR = "error.type"
"""The attribute that marks a span as failed."""


def traced(method: str, handle: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
    """Return the handler of a request of the client, in a span if there are any."""
    if _tracer is None:
        return handle

    async def run(request: Any, connection: Any) -> Any:
        attributes = {"rpc.system": "jsonrpc", "rpc.method": method}
        if id_ := getattr(request, "session_id", None):
            attributes["acp.session.id"] = id_
        with span(method, kind="server", parent=request, attributes=attributes):
            return await handle(request, connection)

    return run


def with_context(params: Any) -> Any:
    """Return the *params* of a request to the client with the current trace context in `_meta`."""
    if _tracer is None:
        return params
    found: dict[str, str] = {}
    _propagator.inject(found)
    if not found:
        return params
    meta = {**_meta_of(params), **found}
    if isinstance(params, Model):
        return params.model_copy(update={"meta": meta})
    return {**cast("dict[str, Any]", params), "_meta": meta} if isinstance(params, dict) else params


def _context_in(params: object) -> Any:
    """Return the trace context in the `_meta` of *params*; None if it has none, or an invalid one."""
    meta = _meta_of(params)
    carrier = {field: value for field in _FIELDS if isinstance(value := meta.get(field), str)}
    if "traceparent" not in carrier:
        return None
    context = _propagator.extract(carrier)
    return context if trace.get_current_span(context).get_span_context().is_valid else None


def _meta_of(params: object) -> Mapping[str, Any]:
    meta: object = (
        cast("dict[str, Any]", params).get("_meta") if isinstance(params, dict) else getattr(params, "meta", None)
    )
    return cast("Mapping[str, Any]", meta) if isinstance(meta, dict) else {}
