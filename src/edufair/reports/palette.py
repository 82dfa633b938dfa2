"""The colours of the figures: one table for light and dark, told apart by lightness too, so that grey print keeps them.

A figure is drawn in the light colours; in the page each becomes a variable that the style sheet sets by scheme.
"""

from __future__ import annotations

import re

# name: (light, dark). Every light colour occurs once, because it stands for the name while a figure is drawn.
COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#1b2631", "#e8ebee"),
    "muted": ("#5b6875", "#a5b0bb"),
    "grid": ("#d5dbe1", "#3a444e"),
    "band": ("#e3e8ed", "#333d47"),
    "paper": ("#fffffe", "#1a2027"),
    "finding": ("#b3400a", "#ff9a5a"),
    "violation": ("#1a5f9e", "#77b7f0"),
    "second": ("#0b7a5c", "#5fd0ab"),
    # within what noise gives: four steps of size
    "quiet-1": ("#f3f5f7", "#222a32"),
    "quiet-2": ("#e2e7ec", "#2d3740"),
    "quiet-3": ("#cbd3db", "#3d4954"),
    "quiet-4": ("#aab6c1", "#56636f"),
    # larger than noise gives: the same four steps
    "loud-1": ("#fde6cf", "#4a2f1b"),
    "loud-2": ("#f9c795", "#7a4517"),
    "loud-3": ("#ee9a4e", "#a35011"),
    "loud-4": ("#bd5008", "#ffa564"),
    # text on the steps above
    "on-light": ("#1b2630", "#e8ebef"),
    "on-dark": ("#fffffd", "#191006"),
}

_BY_HEX = {light: name for name, (light, _) in COLOURS.items()}
_PAINT = re.compile(r'\b(fill|stroke)="(#[0-9a-f]{6})"')


def hex_of(name: str) -> str:
    """The colour to draw with."""
    return COLOURS[name][0]


def with_variables(tag: str) -> str:
    """A drawn tag whose colours follow the page: ``fill="var(--fig-ink)"``; the drawn colour is the fallback."""
    return _PAINT.sub(lambda m: f'{m[1]}="{_variable(m[2])}"', tag)


def _variable(colour: str) -> str:
    return f"var(--fig-{_BY_HEX[colour]},{colour})" if colour in _BY_HEX else colour


def declarations(*, dark: bool) -> str:
    """The variables of one scheme, for the style sheet."""
    return "".join(f"--fig-{name}:{pair[dark]};" for name, pair in COLOURS.items())
