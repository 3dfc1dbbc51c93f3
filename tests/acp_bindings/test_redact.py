"""Secrets are redacted in every form in which a server may repeat them."""

from __future__ import annotations

import base64
import json
import re
import secrets
import threading
import time
from collections.abc import Iterator

import pytest
from pydantic import TypeAdapter, ValidationError

from acp_bindings import _redact as redact
from acp_bindings._redact import LEARNT, Redactor, shown_url
from tests.mcp_launch.servers.leak import forms

SECRET = 'p"ss wörd/42'
OTHER = "p'ss\x1bwörd\\42"


def quoted(text: str) -> list[str]:
    """Return the text quoted in JSON and in Python, and both quoted again, as in a log of a server's output."""
    inner = [json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text)]
    return [*inner, *map(json.dumps, inner), *map(repr, inner)]


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        (secret, said)
        for secret in (SECRET, OTHER)
        for said in (
            *forms(secret),
            f"key={secret}!",
            f"[{secret}]",
            *quoted(f"key={secret}!"),
            *quoted(secret),
            secret.encode().decode("latin-1"),
        )
    ],
)
def test_a_repeated_secret_is_redacted_however_it_is_quoted(secret: str, said: str) -> None:
    shown = Redactor([secret])(said)

    assert "[redacted]" in shown
    assert not re.search(r"\w", shown.replace("[redacted]", "").replace("key", ""))


def basic(pair: str) -> str:
    return base64.b64encode(pair.encode()).decode()


BASIC = basic("someone:pa55word")
ALL = "[redacted]"
REDACTED: dict[str, tuple[list[str], str, str]] = {
    "before it was escaped": (["p%61ss%20word%21"], "pass word!", ALL),
    "base64 for URLs": (["secret>>>???"], "c2VjcmV0Pj4-Pz8_, c2VjcmV0Pj4+Pz8/", f"{ALL}, {ALL}"),
    "lone surrogate": (["secret \ud83d"], "secret \ud83d, secret%20%3F", f"{ALL}, {ALL}"),
    "bearer token": (["Bearer abcdefgh"], "token abcdefgh is bad", f"token {ALL} is bad"),
    "bearer token in base64": (["Bearer abcdefgh"], basic("abcdefgh"), ALL),
    "only the word Bearer": (["Bearer abcdefgh"], "it needs a Bearer token", "it needs a Bearer token"),
    "line": (["line one of key\n  line two of key\n"], "bad: line two of key", f"bad: {ALL}"),
    "all lines": (["ab\ncd\n"], "it was\nab\ncd", f"it was\n{ALL}"),
    "all lines in base64": (["ab\ncd\n"], basic("ab\ncd\n"), ALL),
    "short, as a word": (["abc"], "abc, abcdef", f"{ALL}, abcdef"),
    "too short": (["1", "", '"', "%41"], "A: exited with 1 &quot;", "A: exited with 1 &quot;"),
    "contained in another": (["secret-key", "secret-key-longer"], "secret-key-longer", ALL),
    "user and password": ([f"Basic {BASIC}"], "no someone with pa55word", f"no {ALL} with {ALL}"),
    "basic authentication without padding": ([f"Basic {BASIC}"], BASIC.rstrip("="), ALL),
    "password with a colon": ([f"Basic {basic('someone:pa55:word')}"], "pa55:word", ALL),
    "base64 without a colon": (["Basic pa55word"], "Basic pa55word!", f"{ALL}!"),
    "password in a URL": (["postgres://app:pa55%20word@db/x"], "pa55%20word, app:pa55 word", f"{ALL}, {ALL}"),
    "password with @ in a URL": (["postgres://app:pa55@word@db/x"], "bad: pa55@word", f"bad: {ALL}"),
    "rewritten URL": (["postgres://app:pa55word@db/x"], "as postgresql://app:pa55word@db", f"as postgresql://{ALL}@db"),
    "URL with an address as the user": (["ftp://me@h:pa55word@db"], "me, pa55word", f"me, {ALL}"),
    "URL without a password": (["https://pa55word@h:8080/a@b"], "8080, a@b", "8080, a@b"),
    "too long for other forms": (["x" * 131_073], f"say {'x' * 131_073}", f"say {ALL}"),
    "only the word Basic": (["Basic"], "Basic!", f"{ALL}!"),
}


@pytest.mark.parametrize(("values", "said", "shown"), REDACTED.values(), ids=REDACTED)
def test_a_secret_is_replaced_in_all_its_forms(values: list[str], said: str, shown: str) -> None:
    assert Redactor(values)(said) == shown


@pytest.mark.parametrize(
    ("url", "said", "shown"),
    [
        ("https://someone:pa55word@h/mcp?token=t0k3n", "someone pa55word t0k3n token=t0k3n", " ".join([ALL] * 4)),
        ("https://some%6Fne:pa%73%73word@h", "some%6Fne pa%73%73word, someone password", f"{ALL} {ALL}, {ALL} {ALL}"),
        ("https://someone:pa55word@h/mcp", f"Basic {BASIC}: {BASIC}", f"{ALL}: {ALL}"),
        ("https://t0k3n-of-mine@h/mcp", f"{basic('t0k3n-of-mine:')} of t0k3n-of-mine", f"{ALL} of {ALL}"),
        ("https://secret \ud83d@h", "secret \ud83d", ALL),
    ],
)
def test_the_secrets_of_a_url_are_replaced(url: str, said: str, shown: str) -> None:
    assert Redactor(urls=[url])(said) == shown


@pytest.mark.parametrize("url", ["http://me:hunter2@proxy:8080", "me:hunter2@proxy:8080", "http://me:hunter2@[proxy"])
def test_the_password_of_a_malformed_url_is_redacted(url: str) -> None:
    assert "hunter2" not in Redactor(urls=[url])(f"{url} hunter2, {url}")


def test_the_lines_of_a_certificate_are_redacted_quickly() -> None:
    lines = [secrets.token_urlsafe(48) for _ in range(1500)]
    began = time.perf_counter()

    shown = Redactor(["\n".join(lines)])(f"{'x' * 60_000} {lines[700]}")

    assert shown.endswith("x [redacted]")
    assert time.perf_counter() - began < 1


def test_part_of_a_secret_truncated_by_pydantic_is_redacted() -> None:
    secret = f"sk-{'x' * 100}"
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(int).validate_python({"key": secret})

    assert "xxxx" in str(raised.value)
    assert "xxxx" not in Redactor([secret])(str(raised.value))
    assert "xxxx" not in Redactor(["abc"])(str(raised.value))
    assert Redactor([secret])("input_value='short', input_type=str") == "input_value='short', input_type=str"
    assert Redactor()(str(raised.value)) == str(raised.value)


def test_added_secrets_are_redacted_with_the_earlier_ones() -> None:
    redactor = Redactor(["first-secret"])

    redactor.add(["second-secret"])

    assert redactor("first-secret, second-secret") == "[redacted], [redacted]"


def test_only_the_last_learned_secrets_are_kept_and_given_ones_always() -> None:
    redactor = Redactor(["given-secret"])
    redactor.learn("oldest-secret")
    for number in range(LEARNT - 1):
        redactor.learn(f"secret-{number}")
    for known in ("given-secret", "oldest-secret", "ab"):
        redactor.learn(known)

    assert redactor("oldest-secret, secret-0, ab") == "[redacted], [redacted], ab"

    redactor.learn("abc")
    assert redactor("oldest-secret, secret-0, given-secret, abc") == f"oldest-secret{', [redacted]' * 3}"


def test_a_million_unfinished_quotations_are_searched_in_linear_time() -> None:
    text = "input_value=" * 1_000_000

    # Each beginning followed to the end of the text would take a day.
    assert Redactor(["secret-key"])(f"{text}secret-key") == f"{text}[redacted]"


def test_secrets_added_by_other_threads_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    redactor = Redactor(["first-secret"])
    told: list[str] = []

    def ask() -> None:
        told.append(redactor("first-secret"))

    def add_and_ask() -> None:
        redactor.add(["second-secret"])
        told.append(redactor("first-secret, second-secret"))

    others = [threading.Thread(target=ask), threading.Thread(target=add_and_ask)]

    def forms_and_a_pause(value: str) -> Iterator[str]:
        for other in others:
            if other.ident is None:
                other.start()
                # In vain where it has to wait for us, as it should.
                other.join(0.3)
        yield from forms_of(value)

    forms_of = redact.forms_of
    monkeypatch.setattr(redact, "forms_of", forms_and_a_pause)
    ask()
    for other in others:
        other.join(5)
    told.append(redactor("second-secret, first-secret"))

    assert sorted(told) == ["[redacted]"] * 2 + ["[redacted], [redacted]"] * 2


def test_json_is_redacted_throughout() -> None:
    assert Redactor(["hush-hush"]).json({"a hush-hush": ["hush-hush", 1, None, {"b": "hush-hush"}]}) == {
        "a [redacted]": ["[redacted]", 1, None, {"b": "[redacted]"}]
    }


def test_a_text_is_cut_after_redaction() -> None:
    assert Redactor(["hush-hush"]).start("a hush-hush", 6) == "a [red"


def test_a_shown_url_ends_at_its_path() -> None:
    assert shown_url("https://u:p@h:8443/mcp?x=1#y") == "https://h:8443/mcp"
