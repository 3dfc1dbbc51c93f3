"""Finds what a tool's schema does not allow in its arguments, and says it in words for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcp_launch.command.explore.json_schema import Schema, member_of, properties_of
from mcp_launch.command.explore.nearest import did_you_mean
from mcp_launch.command.explore.signature import arguments_of, short, type_text
from mcp_launch.json_values import as_items
from mcp_launch.validation import TooManySteps, compiled, errors_of, steps_are_limited

__all__ = ["misfits"]


def misfits(arguments: dict[str, Any], schema: Schema) -> Iterator[str]:
    """What the schema does not allow in the arguments; nothing if it is not a valid schema.

    Raises:
        TooManySteps: steps are limited, and these were too many.
    """
    try:
        errors = list(errors_of(compiled(schema, counted=steps_are_limited()), arguments))
    except (TooManySteps, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - an invalid schema, or a reference to one, may raise anything
        return
    for error in errors:
        yield from _misfit(error, schema)


def _misfit(error: Any, root: Schema) -> Iterator[str]:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    within = f"{path}." if path else ""
    match error.validator:
        case "required" if (name := _missing(error)) is not None:
            about = next((each for each in arguments_of({**root, **error.schema}) if each.name == name), None)
            first = about.description.strip().partition("\n")[0] if about else ""
            says = f": {first}" if first else ""
            yield f"{within}{name}: is missing, must be {about.type if about else 'any'}{says}"
        case "additionalProperties":
            known = properties_of(error.schema, root)
            for name in error.instance:
                if member_of(name, error.schema, root) is None:
                    yield f"{within}{name}: there is no such argument{did_you_mean(name, known)}"
        case "type" | "enum" | "const" | "anyOf" | "oneOf":
            yield f"{path or 'arguments'}: must be {type_text(error.schema, root)}, not {short(error.instance)}"
        case _:
            yield f"{path or 'arguments'}: {error.message}"


def _missing(error: Any) -> str | None:
    """The name that is missing. Each has an error of its own, of which only the message has the name."""
    return next((each for each in as_items(error.validator_value) if error.message.startswith(f"{each!r} is ")), None)
