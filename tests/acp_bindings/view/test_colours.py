"""The colours of the page."""

import re
from importlib.resources import files

import pytest

STYLE = files("acp_bindings.view").joinpath("page", "page.css").read_text(encoding="utf-8")
TEXTS = ("ink", "soft", "error", "warning", "info", "fine", "client", "agent", "server")
SURFACES = ("surface", "raised", "chosen")
TINTED = {"error": 14, "warning": 14, "info": 14}
"""The badges: a text on a mix of its own colour, in percent, and the surface."""


def colours(style: str, scheme: str) -> dict[str, tuple[float, ...]]:
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    found = re.findall(r"--(\w+): #([0-9a-f]{6});", {"light": light, "dark": dark}[scheme])
    return {name: tuple(each / 255 for each in bytes.fromhex(value)) for name, value in found}


def luminance(colour: tuple[float, ...]) -> float:
    """Return the relative luminance, as defined by WCAG 2.2."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(scheme: str) -> None:
    found = colours(STYLE, scheme)
    pairs = {(text, surface): (found[text], found[surface]) for text in TEXTS for surface in SURFACES}
    for text, percent in TINTED.items():
        for surface in ("surface", "raised"):
            mixed = zip(found[text], found[surface], strict=True)
            tint = tuple(part * percent / 100 + other * (1 - percent / 100) for part, other in mixed)
            pairs[f"{text} badge", surface] = found[text], tint
    # WCAG 2.2, 1.4.3.
    assert {names: contrast(*pair) for names, pair in pairs.items() if contrast(*pair) < 4.5} == {}


def test_both_schemes_have_the_same_colours() -> None:
    assert colours(STYLE, "light").keys() == colours(STYLE, "dark").keys() >= {*TEXTS, *SURFACES}
