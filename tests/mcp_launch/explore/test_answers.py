"""Results as text and as files."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from mcp_launch._command.explore.calling import Piece, pieces_of, save_piece, with_structured
from mcp_launch._command.show.text import harmless

DATA = base64.b64encode(b"\0\1").decode()


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text", "text": "a\n"}, "a\n"),
        ({"type": "image", "data": DATA, "mimeType": "image/png"}, "image, image/png, 2 bytes"),
        ({"type": "image", "data": f"{DATA[:2]}\r\n{DATA[2:]}\n"}, "image, 2 bytes"),
        ({"type": "image", "data": DATA.rstrip("=")}, "image, 2 bytes"),
        ({"type": "audio", "data": "%%%", "mimeType": "audio/wav"}, "[audio: its data is not base64]"),
        (
            {"type": "image", "data": f"data:image/png;base64,{DATA}"},
            "[image: its data is not base64; remove the part before the comma]",
        ),
        ({"type": "resource_link", "uri": "a:b", "name": "b", "mimeType": "text/plain"}, "b <a:b> text/plain"),
        ({"type": "resource", "resource": {"uri": "a:b", "text": "inside"}}, "inside"),
        ({"uri": "a:b", "blob": DATA}, "resource a:b, 2 bytes"),
        ({"uri": "http://[", "blob": DATA}, "resource http://[, 2 bytes"),
        ({"type": "hologram", "beam": 1}, '{"type": "hologram", "beam": 1}'),
        ({"type": "text"}, '{"type": "text"}'),
    ],
)
def test_every_kind_of_content_can_be_shown(block: dict[str, Any], text: str) -> None:
    (piece,) = pieces_of([block])

    assert (piece.text or piece.about) == text


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file:///tmp/report.pdf", "x-1-report.pdf"),
        ("file:///../../etc/passwd", "x-1-passwd.png"),
        ("file:///a/..", "x-1.png"),
        ("file:///a/.bashrc", "x-1-bashrc.png"),
        ("file:///a/b%00;rm -rf *", "x-1-b_00_rm_-rf.png"),
        ("memo:", "x-1.png"),
        ("file:///a..b", "x-1-a_b.png"),
        ("C:\\a\\b.txt", "x-1-a_b.txt"),
        (f"file:///{'a' * 500}.txt", f"x-1-{'a' * 76}.txt"),
        ("file:///kafé/naïve.txt", "x-1-na_ve.txt"),
    ],
)
def test_a_file_is_never_called_as_a_server_may_mean_it(uri: str, name: str, tmp_path: Path) -> None:
    (piece,) = pieces_of([{"uri": uri, "mimeType": "Image/PNG ; q=1", "blob": DATA}])

    path = save_piece(piece, tmp_path / "folder", stem="x", name=piece.name or "")

    assert path == tmp_path / "folder" / name
    assert path.read_bytes() == b"\0\1"


@pytest.mark.parametrize(("media_type", "name"), [(None, "x-1-notes.txt"), ("text/html", "x-1-notes.html")])
def test_text_of_a_resource_becomes_a_file_of_its_type(media_type: str | None, name: str, tmp_path: Path) -> None:
    (piece,) = pieces_of([{"uri": "memo://notes", "mimeType": media_type, "text": "hé"}])

    path = save_piece(piece, tmp_path, stem="x", name=piece.name or "")

    assert path == tmp_path / name
    assert path.read_bytes() == "hé".encode()


@pytest.mark.parametrize(
    ("media_type", "name"),
    [
        ("audio/wav", "t-1.wav"),
        ("Audio/OGG; codecs=opus", "t-1.ogg"),
        ("audio/webm", "t-1.webm"),
        ("audio/mp4", "t-1.m4a"),
        ("image/webp", "t-1.webp"),
        ("text/markdown; charset=utf-8", "t-1.md"),
    ],
)
def test_a_file_has_the_suffix_of_its_media_type(media_type: str, name: str, tmp_path: Path) -> None:
    assert save_piece(Piece(data=b"1", media_type=media_type), tmp_path, stem="t").name == name


@pytest.mark.parametrize(("stem", "name"), [("../../up", "up-1.bin"), ("", "result-1.bin"), ("/", "result-1.bin")])
def test_a_tool_cannot_name_a_folder_either(stem: str, name: str, tmp_path: Path) -> None:
    (piece,) = pieces_of([{"type": "image", "data": DATA}])

    path = save_piece(piece, tmp_path, stem=stem)

    assert path == tmp_path / name


def test_an_existing_file_is_not_changed_even_if_it_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "x-1.png").symlink_to(tmp_path / "elsewhere")

    (piece,) = pieces_of([{"type": "image", "data": DATA, "mimeType": "image/png"}])

    path = save_piece(piece, tmp_path, stem="x")

    assert path.name == "x-2.png"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("structured", "texts", "more"),
    [
        (None, ["a"], []),
        ({"a": [1]}, ['{"a":[1]}'], []),
        ({"result": 5}, ["5"], []),
        ({"result": "five"}, ["five"], []),
        ({"result": ["a", 2]}, ["a", "2"], []),
        ({"result": ["1", "2"]}, ["1", "2"], []),
        ({"result": []}, [], []),
        ({"a": 1}, ["one"], [{"a": 1}]),
        ({"a": 1}, [], [{"a": 1}]),
        ({"result": 5, "b": 1}, ["5"], [{"result": 5, "b": 1}]),
    ],
)
def test_a_structured_result_is_shown_unless_the_text_equals_it(
    structured: object, texts: list[str], more: list[object]
) -> None:
    found = with_structured([Piece(text=text) for text in texts], structured)

    assert [piece.text for piece in found[: len(texts)]] == texts
    assert [json.loads(piece.text or "") for piece in found[len(texts) :]] == more


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("\033[31mred\033[0m", " [31mred [0m"),
        ("over\rwritten", "over\nwritten"),
        ("\u202egnirts\u202c\x9b2J\x7f", " gnirts  2J "),
        ("caf\u00e9 \U0001f600", "caf\u00e9 \U0001f600"),
    ],
)
def test_terminal_control_sequences_are_removed(text: str, said: str) -> None:
    assert harmless(text) == said
