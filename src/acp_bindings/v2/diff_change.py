"""ACP v2 draft: diff_change. From npm:@agentclientprotocol/sdk@2.4.0 by `nox -s generate`; do not edit."""

from typing import Annotated, Literal, TypeAlias

from acp_bindings._model import Extensible, Model
from acp_bindings._types import Lenient, Tagged, Unlike

from .common import AbsolutePath, MediaType

DiffFileType: TypeAlias = Literal["text", "binary", "directory", "symlink"] | str
"""Kind of file content represented by a diff change.

- `text`: Text content.
- `binary`: Binary or otherwise non-text content.
- `directory`: Directory entry.
- `symlink`: Symbolic link.
"""


class DiffPathChange(Model):
    """Operation metadata for add, delete, and modify changes."""

    path: AbsolutePath
    """Absolute path for the operation."""


class DiffChangeAdd(DiffPathChange, Extensible):
    """A file was added."""

    operation: Literal["add"] = "add"
    file_type: Lenient[DiffFileType | None] = None
    """File content kind after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the content kind is unknown.
    """

    mime_type: Lenient[MediaType | None] = None
    """MIME type of the file contents after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the MIME type is unknown.
    """


class DiffChangeDelete(DiffPathChange, Extensible):
    """A file was deleted."""

    operation: Literal["delete"] = "delete"
    file_type: Lenient[DiffFileType | None] = None
    """File content kind after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the content kind is unknown.
    """

    mime_type: Lenient[MediaType | None] = None
    """MIME type of the file contents after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the MIME type is unknown.
    """


class DiffChangeModify(DiffPathChange, Extensible):
    """A file was modified in place."""

    operation: Literal["modify"] = "modify"
    file_type: Lenient[DiffFileType | None] = None
    """File content kind after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the content kind is unknown.
    """

    mime_type: Lenient[MediaType | None] = None
    """MIME type of the file contents after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the MIME type is unknown.
    """


class DiffPathPairChange(Model):
    """Operation metadata for move and copy changes."""

    old_path: AbsolutePath
    """Absolute path before the operation."""

    path: AbsolutePath
    """Absolute path after the operation."""


class DiffChangeCopy(DiffPathPairChange, Extensible):
    """A file was copied."""

    operation: Literal["copy"] = "copy"
    file_type: Lenient[DiffFileType | None] = None
    """File content kind after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the content kind is unknown.
    """

    mime_type: Lenient[MediaType | None] = None
    """MIME type of the file contents after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the MIME type is unknown.
    """


class DiffChangeMove(DiffPathPairChange, Extensible):
    """A file was moved or renamed."""

    operation: Literal["move"] = "move"
    file_type: Lenient[DiffFileType | None] = None
    """File content kind after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the content kind is unknown.
    """

    mime_type: Lenient[MediaType | None] = None
    """MIME type of the file contents after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the MIME type is unknown.
    """


class OtherDiffChange(Extensible):
    """Custom or future file operation.

    Values beginning with `_` are reserved for implementation-specific extensions. Unknown values that do not begin with
    `_` are reserved for future ACP variants.
    """

    operation: Annotated[str, Unlike("add", "copy", "delete", "modify", "move")]
    file_type: Lenient[DiffFileType | None] = None
    """File content kind after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the content kind is unknown.
    """

    mime_type: Lenient[MediaType | None] = None
    """MIME type of the file contents after the operation (for `delete`, of the deleted file).

    Omitted and `null` are equivalent and mean the MIME type is unknown.
    """


DiffChange: TypeAlias = Annotated[
    DiffChangeAdd | DiffChangeDelete | DiffChangeModify | DiffChangeMove | DiffChangeCopy | OtherDiffChange,
    Tagged("operation"),
]
"""One file-level change described by a `Diff`.

Structured change metadata lets clients identify affected files and operations without parsing the text patch.
"""
