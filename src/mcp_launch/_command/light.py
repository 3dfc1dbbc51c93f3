"""Commands of typer's that do not import pydantic for values that need no conversion.

typer converts every value with pydantic, also a text, and also where nothing was typed. Importing pydantic takes longer
than all that has to happen before a server is started, so it is skipped where it would do nothing. With a release of
typer that works in another way, this has no effect.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from mcp_launch._command.inputs import is_program


class LightCommand(TyperCommand):
    """A command of typer's; what typer refuses is told as JSON too, where that was asked for."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context, as typer makes it."""
        as_json, place = "--json" in args, next((each for each in args if not each.startswith("-")), "")
        try:
            return super().make_context(info_name, args, parent, **extra)
        except _REFUSAL as error:
            if hasattr(error, "possibilities") and is_program(place):
                # The option is one of that program.
                error.message += f"; is {place} a command? Those stand behind --"
            if hasattr(error, "param_type"):
                # Something is missing, and its help says what it may be.
                error.message = getattr(error.param, "help", None) or ""
            if as_json:
                # Imported late: few make a mistake.
                from mcp_launch._command.show.text import DOCUMENTS, write_refusal  # noqa: PLC0415

                if info_name in DOCUMENTS:
                    write_refusal(info_name, [error.format_message()])
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, as typer has them."""
        return [_light(param) for param in super().get_params(ctx)]


class LightGroup(TyperGroup):
    """A group of typer's."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, as typer has them."""
        return [_light(param) for param in super().get_params(ctx)]


_REFUSAL: Any = BadParameter.__base__
"""The class of what typer raises when something was typed wrong; it has no public name."""


def _light(param: Any) -> Any:
    wanted = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if wanted is not None and not isinstance(param.process_value, partial):
        param.process_value = partial(_value, wanted, param, param.process_value)
    return param


def _value(wanted: Any, param: Any, process: Callable[[Any, object], object], ctx: Any, value: object) -> Any:
    if value is None and not param.required:
        # Callbacks are for what was typed: the version, the help, completion.
        return None
    if param.callback is None and (wanted in (str, list[str]) or type(value) is wanted) and value is not None:
        return value
    return process(ctx, value)
