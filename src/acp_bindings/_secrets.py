"""Recognizes secrets by their names, by their form, and in URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from acp_bindings._redact import LOGIN, MASK


def is_secret(name: str, value: str) -> bool:
    """Return True if a variable, header or parameter looks like a secret that is not redacted."""
    named = _names_secret(name, value) and len(value) >= _SHORTEST
    return MASK not in value and bool(named or _TOKEN.search(value) or has_login(value))


def has_login(text: str) -> bool:
    """Return True if *text* contains a URL with a password that is not redacted."""
    return MASK not in text and LOGIN.search(text) is not None


def has_token(address: str) -> bool:
    """Return True if a URL has a secret in its query."""
    try:
        query = parse_qsl(urlsplit(address).query, max_num_fields=1000)
    except ValueError:
        return bool(_TOKEN.search(address))
    return any(is_secret(name, value) for name, value in query) or bool(_TOKEN.search(address))


def secret_arguments(arguments: Sequence[str]) -> list[int]:
    """Return the indices of the arguments that look like secrets, by themselves or by the name of their option."""
    return [index for index, found in enumerate(map(_secrets_in, ["", *arguments], arguments)) if found]


def environment_secrets(variables: Mapping[str, str]) -> list[str]:
    """Return the values of environment variables that look like secrets."""
    return [value for name, value in variables.items() if is_secret(name, value)]


def argument_secrets(arguments: Sequence[str]) -> list[str]:
    """Return the values in arguments that look like secrets: of an option such as `--token=…`, only its value."""
    return [secret for found in map(_secrets_in, ["", *arguments], arguments) for secret in found]


def _secrets_in(before: str, argument: str) -> list[str]:
    """Return the secrets in an argument, given the one *before* it."""
    option, _, value = argument.partition("=")
    header = argument if before in _HEADER else value if option in _HEADER else ""
    header_name, header_value = map(str.strip, header.partition(":")[::2])
    is_value = before.startswith("-") and "=" not in before and not argument.startswith("-")
    is_long = len(value) >= _SHORTEST
    is_named = (
        (is_long and _names_secret(option, value))
        or (is_value and _names_secret(before, argument))
        or is_secret(header_name, header_value)
    )
    if not (is_named or _TOKEN.search(argument) or has_login(argument)):
        return []
    found = [value] if is_long and option.startswith("-") else [argument]
    # `--password ab=cd` is one secret, but in `-e API_TOKEN=abcd`, the value is a secret, too.
    if is_long and option.isidentifier():
        found.append(value)
    return [*found, header_value] if header_value else found


def _names_secret(name: str, value: str) -> bool:
    # As in `--max-tokens 4096`, the value may be a number of tokens.
    return bool(_NAME.search(name)) and not (value.isdecimal() and "tokens" in name.lower())


_SHORTEST = 4
_HEADER = ("-H", "--header")

_NAME = re.compile(
    r"(?i)(^|[^a-z])(api[-_]?key|access[-_]?key|auth|authorization|bearer|cookie|credentials?|pass(word|wd|phrase)?|pat|"
    r"private[-_]?key|secret|token)s?($|[^a-z](?!(method|mode|provider|type)$))|apikey|"
    r"(?<=[a-z_-])(key|token|secret|password)$"
)
"""Names of options, variables, headers and parameters that contain a secret, unlike `--auth-type`."""

_TOKEN = re.compile(
    r"(?<![\w-])(sk-[\w-]{16,}|gh[opsur]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|"
    r"AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|(?i:bearer|basic) [\w.~+/=-]{8,})"
)
"""Secrets of widely used services."""
