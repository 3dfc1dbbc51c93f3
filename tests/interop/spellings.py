"""JSON texts that readers interpret differently; `why_not` if the TypeScript SDK reads them differently from us."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Spelling:
    """A text for a definition of v1."""

    name: str
    definition: str
    text: str
    why_not: str = ""


SPELLINGS: list[Spelling] = [
    Spelling("the last of two members with one name counts", "EnvVariable", '{"name":"a","value":"1","name":"b"}'),
    Spelling("also when it is the bad one", "EnvVariable", '{"name":"a","value":"1","name":5}'),
    Spelling("also when a lenient one is the last", "TextContent", '{"text":"t","_meta":{"a":1},"_meta":5}'),
    Spelling(
        "also in a map, where an earlier one is bad",
        "ElicitationAcceptAction",
        '{"content":{"a":{},"a":"1"}}',
        "In a map whose values have a type pydantic-core reads each, also one that another takes the place of.",
    ),
    Spelling("a name may be escaped", "EnvVariable", '{"n\\u0061me":"a","v\\u0061lue":"1"}'),
    Spelling("white space", "SessionId", ' \t\r\n"s"\n'),
    Spelling("no other white space", "SessionId", '\u00a0"s"'),
    Spelling("no byte order mark", "SessionId", '\ufeff"s"'),
    Spelling("two values", "SessionId", '"s" "t"'),
    Spelling("a trailing comma", "EnvVariable", '{"name":"a","value":"1",}'),
    Spelling("a control character in a text", "SessionId", '"a\tb"'),
    Spelling("NUL, escaped", "SessionId", '"\\u0000"'),
    Spelling("a pair of surrogates", "SessionId", '"\\ud83d\\ude00"'),
    Spelling("NaN", "TextContent", '{"text":"t","_meta":{"a":NaN}}'),
    Spelling("minus zero", "ToolCallUpdate", '{"toolCallId":"t","rawInput":-0.0}'),
    Spelling("a fraction that no double has", "ToolCallUpdate", '{"toolCallId":"t","rawInput":0.1000000000000000055}'),
    Spelling("nested 150 deep", "ToolCallUpdate", f'{{"toolCallId":"t","rawInput":{"[" * 150}{"]" * 150}}}'),
    Spelling(
        "an integer with an exponent", "ProtocolVersion", "1e0", "To JavaScript it is the same number; see 1.0 for 1."
    ),
    Spelling(
        "half a pair of surrogates",
        "SessionId",
        '"\\ud83d"',
        "It is not valid Unicode and cannot be written as UTF-8.",
    ),
    Spelling(
        "nested 300 deep",
        "ToolCallUpdate",
        f'{{"toolCallId":"t","rawInput":{"[" * 300}{"]" * 300}}}',
        "We refuse text that is nested more than 200 deep, against peers that try to exhaust the stack.",
    ),
]
