"""Valid messages, mutated at random: nothing but `DecodeError` may come of them, and no line may stop the codec.

`python -m tests.acp_bindings.fuzz --count 1000000` prints what became of them and exits with 1 when something else did.
"""

import argparse
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from random import Random
from typing import Any

from acp_bindings import DecodeError, decode, encode
from acp_bindings.jsonrpc import BadLine, BadResponse, Codec, Request, Role
from tests.acp_bindings.exact_json import is_array, is_object
from tests.acp_bindings.instances import Instances
from tests.acp_bindings.jsonrpc.support import Thorough
from tests.acp_bindings.roundtrip import generated
from tests.acp_bindings.schemas import PACKAGES, load

PER_DEFINITION = 8
ROLES: list[Role] = ["agent", "client", "proxy", "conductor"]
HANDLERS: dict[str, list[Role]] = {"agent": ["agent", "proxy"], "client": ["client", "conductor"]}
"""The roles that handle most of the messages for a side."""

TOKENS = [
    *(b"null", b"true", b"0", b"-0", b"-1", b"1.0", b"1e999", b"-1e-999", b"9" * 400, b"18446744073709551616"),
    *(b"NaN", b"Infinity", b"-Infinity", b"undefined", *(letter.encode() for letter in "'\"\\{}[],: \n")),
    *(b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\u0000", b"\\ud800", b"\\udc00\\ud800", b"\\x"),
    *(b"[" * 300, b'{"a":' * 300, b'""', b"{}", b"[]", b"/**/", b'"_meta":null,', b'"type":"http",', b'"id":1,'),
]
IDS = (b"1", b"1.0", b"1e0", b"true", b'"1"', b"2", b"-0", b"null", b"[]", b"9223372036854775808")
LINES = {
    "Request": (
        b'{"jsonrpc":"2.0","id":1,"method":"METHOD","params":PAYLOAD}',
        b'{"jsonrpc":"2.0","id":1,"method":"METHOD","params":PAYLOAD,"id":ID}',
    ),
    "Notification": (b'{"method":"METHOD","params":PAYLOAD,"jsonrpc":"2.0"}',),
    "Response": (
        b'{"jsonrpc":"2.0","id":1,"result":PAYLOAD}',
        b'{"jsonrpc":"2.0","id":1,"result":PAYLOAD,"id":ID}',
    ),
    "Error": (b'{"jsonrpc":"2.0","id":1,"error":PAYLOAD}',),
    "": (b"PAYLOAD",),
}
"""Templates of lines for a payload, by the end of the name of its definition."""

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308),
    *("", "0", "null", "\0", "\u2028"),
    *([], {}, [[]], [None], {"": None}, {"type": "http"}, {"_meta": 1}, "x" * 1000, [0] * 100, {"__class__": 1}),
]


def mutate(random: Random, text: bytes, other: bytes) -> bytes:
    """Mutate *text* one to four times; half of the mutations change its bytes."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        if random.random() < 0.5:
            text = _change_value(random, text)
            continue
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice((0, 1, 1, 2, 8, 40)))
        middle = text[start:end]
        match random.randrange(7):
            case 0:
                middle = bytes(byte ^ 1 << random.randrange(8) for byte in middle)
            case 1:
                middle = b""
            case 2:
                middle *= random.choice((2, 3, 20))
            case 3 | 4:
                middle = random.choice(TOKENS)
            case 5:
                middle = other[start : end + 40]
            case _:
                end = len(text)
        text = text[:start] + middle + text[end:]
    return text


def _change_value(random: Random, text: bytes) -> bytes:
    """Replace, remove or duplicate one value in it."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    inside: Any = document
    while keys := _keys(inside):
        key = random.choice(keys)
        if not _keys(inside[key]) or random.random() < 0.3:
            match random.randrange(4):
                case 0:
                    del inside[key]
                case 1 if isinstance(inside, dict):
                    inside[random.choice(("_meta", "type", "sessionUpdate", "id", "x"))] = inside[key]
                case 1:
                    inside += [inside[key]]
                case _:
                    inside[key] = random.choice(VALUES)
            break
        inside = inside[key]
    try:
        return json.dumps(document).encode()
    except ValueError:  # a number of more digits than Python writes
        return text


def _keys(value: Any) -> list[Any]:
    """Return the keys or indices of a value."""
    if is_object(value):
        return list(value)
    return list(range(len(value))) if is_array(value) else []


@dataclass(frozen=True)
class Valid:
    """A valid value of one definition of one schema."""

    package: str
    definition: str
    text: bytes

    @property
    def kind(self) -> str:
        """The key of `LINES` with which its name ends."""
        return next(kind for kind in LINES if self.definition.endswith(kind))


@cache
def corpus(package: str, seed: int) -> list[Valid]:
    """Return a few valid values of every definition."""
    schema = load(package)
    return [
        Valid(package, name, json.dumps(each, ensure_ascii=index % 2 == 0).encode("utf-8", "surrogatepass"))
        for name in schema.definitions
        for index, each in enumerate(Instances(schema).series(name, PER_DEFINITION, seed=seed))
    ]


def outcome_of_decode(valid: Valid, text: bytes) -> str:
    """Return the outcome of `decode`. A value that it reads can be written, and reads as the same value again."""
    type_ = generated(valid.package, valid.definition)
    try:
        value = decode(type_, text)
    except DecodeError:
        return "refused"
    written = encode(value)
    assert encode(decode(type_, written)) == written
    return "read"


def outcome_of_line(random: Random, valid: Valid, payload: bytes) -> str:
    """Return the outcome of a line with *payload*: never an exception, and the next line is read."""
    protocol: Any = import_module(f"acp_bindings.{valid.package}")
    node = load(valid.package).definitions[valid.definition]
    method = node.get("x-method", random.choice(("_fuzz", "fuzz", "$/cancel_request"))).encode()
    astray = random.random() < 0.2  # in the wrong kind of line, or to one whom it does not concern
    role = random.choice(ROLES if astray else HANDLERS.get(node.get("x-side", ""), ROLES))
    pass_unknown = random.random() < 0.1
    quick, thorough = (each(protocol, role=role, pass_unknown=pass_unknown) for each in (Codec, Thorough))
    for codec in (quick, thorough):
        codec.expect(method.decode(), 1)
    kind = random.choice(list(LINES)) if astray else valid.kind
    line = random.choice(LINES[kind]).replace(b"METHOD", method).replace(b"ID", random.choice(IDS))
    line = line.replace(b"PAYLOAD", random.choice((payload, valid.text)))
    if random.random() < 0.3:
        line = mutate(random, line, valid.text)
    message = quick.read(line)
    other = thorough.read(line)
    alike = message == other and repr(message) == repr(other)  # 1, 1.0 and True are equal
    # Thoroughly a line is looked through for such numbers, also where a rule leaves out what holds one.
    alike |= isinstance(other, BadLine | BadResponse) and other.message.endswith("number out of range")
    assert alike, f"{line!r} is {message} read quickly, {other} read thoroughly"
    if isinstance(message, BadLine) and message.reply is not None:
        assert json.loads(message.reply)["error"]["code"] == message.code
    if isinstance(message, Request):
        assert quick.fail(message, -32603, "no").endswith(b"}\n")
    assert isinstance(quick.read(b'{"jsonrpc":"2.0","id":9,"method":"_alive"}'), Request)
    return type(message).__name__


def run(count: int, seed: int) -> Iterator[tuple[str, float]]:
    """Yield the outcome of each of *count* mutations and its seconds; half are messages, half are lines.

    Raises:
        AssertionError: an outcome is not allowed; the mutation is in the notes of the exception.
    """
    random = Random(seed)
    pools = [corpus(package, seed) for package in PACKAGES]
    carried = [[valid for valid in pool if valid.kind] for pool in pools]
    for number in range(count):
        pool = random.choice(pools if number % 2 or random.random() < 0.1 else carried)
        valid = random.choice(pool)
        text = mutate(random, valid.text, random.choice(pool).text)
        start = time.perf_counter()
        try:
            outcome = outcome_of_decode(valid, text) if number % 2 else outcome_of_line(random, valid, text)
        except BaseException as error:
            error.add_note(f"mutation {number} of seed {seed}: {valid.package}.{valid.definition} from {text[:2000]!r}")
            raise
        yield outcome, time.perf_counter() - start


def peak() -> int:
    """Return the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Print the outcomes of the mutations so far, after each tenth."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    for number, (outcome, seconds) in enumerate(run(chosen.count, chosen.seed), 1):
        outcomes[outcome] += 1
        slowest = max(slowest, seconds)
        if number % max(chosen.count // 10, 1) == 0:
            told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
            sys.stdout.write(f"{number}: {told}; slowest {slowest:.3f} s; memory at most {peak()} MB\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
