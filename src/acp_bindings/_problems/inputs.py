"""Errors of pydantic without the values that they were raised for, which may be secrets."""

from __future__ import annotations

from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from acp_bindings._models.base import HIDDEN


def without_inputs(error: ValidationError) -> ValidationError:
    """Return *error* with "…" as the input of each of its errors, also for `errors()` and `json()`."""
    return of_lines(error.title, [line(each) for each in error.errors()])


def of_lines(title: str, lines: list[InitErrorDetails]) -> ValidationError:
    """Return the error with *lines* that an object called *title* raises."""
    return ValidationError.from_exception_data(title, lines, hide_input=True)


def line(error: ErrorDetails) -> InitErrorDetails:
    """Return the line of an error for `of_lines`."""
    kind, message, context = cast("Any", error["type"]), cast("Any", error["msg"]), error.get("ctx")
    made: InitErrorDetails = {"type": kind, "loc": error["loc"], "input": HIDDEN}
    if "url" not in error:  # an error of a user, who may have given it a type of pydantic, but another message
        made["type"] = PydanticCustomError(kind, message, context)
    elif context is not None:
        made["ctx"] = context
    return made
