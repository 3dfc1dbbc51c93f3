"""Every Python block on the pages passes the type checkers in strict mode, as a reader would run them."""

from collections import Counter
from pathlib import Path

import pytest

from tests.docs.test_documents import DOCUMENTS, of
from tests.typing.checkers import CHECKERS

Place = tuple[str, int]
"""A page, and the number of a line of it."""


def write_blocks(folder: Path) -> dict[str, list[Place]]:
    """Write every block to a file of its own, after the shared blocks before it on its page.

    Return the place of each line, by the name of the file.
    """
    written: dict[str, list[Place]] = {}
    for document in DOCUMENTS:
        shared, shared_places = "", list[Place]()
        for block in of(document):
            if block.language != "python":
                continue
            name = f"{document.removesuffix('.md').replace('/', '_')}_{block.line}.py"
            places = [(document, block.line + index) for index in range(block.body.count("\n"))]
            (folder / name).write_text(shared + block.body, encoding="utf-8")
            written[name] = shared_places + places
            if block.mark == "shared":
                shared, shared_places = shared + block.body, shared_places + places
    return written


@pytest.mark.full
@pytest.mark.parametrize("checker", ["pyright", "mypy", "ty"])
def test_a_checker_accepts_every_block(checker: str, tmp_path: Path) -> None:
    written = write_blocks(tmp_path)
    # Each line with the number of files that contain it. An import of a shared block may be unused in some of them, but
    # not in all.
    files = Counter(place for places in written.values() for place in places)
    found = Counter((*written[file][line - 1], message) for file, line, message in CHECKERS[checker](tmp_path, "3.11"))
    errors = sorted(error for error, times in found.items() if times == files[error[:2]])
    assert not errors, "\n".join(f"{page}:{line}: {message}" for page, line, message in errors)
