"""The reader of the TypeScript SDK, run in Node."""

import json
import shutil
import subprocess
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from tests.interop.outcome import Outcome, Refused, as_doubles

FOLDER = Path(__file__).parent
SDK = FOLDER / "node_modules" / "@agentclientprotocol" / "sdk"


class TypeScriptReader:
    """Reads with the zod schemas of the installed `@agentclientprotocol/sdk`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Talk to a Node that runs `reader.mjs`."""
        self._process = process

    def read(self, package: str, definition: str, texts: Iterable[str]) -> list[Outcome]:
        """Read JSON texts as one definition.

        Raises:
            LookupError: the SDK has no schema for the definition.
            RuntimeError: Node has ended; standard error says why.
        """
        assert self._process.stdin
        assert self._process.stdout
        # ASCII, because Node takes U+2028 for the end of a line.
        question = json.dumps({"package": package, "definition": definition, "texts": list(texts)}, ensure_ascii=True)
        self._process.stdin.write(question.encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            msg = f"Node ended with status {self._process.wait(10)} while it read {definition} of {package}"
            raise RuntimeError(msg)
        verdicts = json.loads(line)
        if verdicts is None:
            msg = f"the TypeScript SDK has no schema for {definition} of {package}"
            raise LookupError(msg)
        return [as_doubles(each["read"]) if "read" in each else Refused(tuple(each["refused"])) for each in verdicts]


@contextmanager
def typescript_reader() -> Generator[TypeScriptReader]:
    """Start Node and stop it when the block ends.

    Raises:
        RuntimeError: Node or the SDK is not installed.
    """
    node = shutil.which("node")
    if node is None or not SDK.is_dir():
        msg = f"{'Node' if node is None else 'the TypeScript SDK'} is not installed: run `nox -s interop`"
        raise RuntimeError(msg)
    # Node ends by itself when its input does.
    with subprocess.Popen([node, "reader.mjs"], cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield TypeScriptReader(process)


def sdk_version() -> str:
    """Look up which release of the SDK is installed."""
    return json.loads((SDK / "package.json").read_text(encoding="utf-8"))["version"]
