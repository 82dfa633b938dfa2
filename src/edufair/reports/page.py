"""What every page has: its templates, the signs beside its colours, its style, and texts that stay texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from edufair.reports import numbers, palette, views, words
from edufair.reports.safe import shown

TEMPLATES = Path(__file__).parent / "templates"

# Beside every colour stands a sign, so that grey print and a colour-blind reader lose nothing.
SYMBOLS = {
    "differs": "▲",
    "differs but small": "△",
    "shown to be small": "○",
    "undecided": "?",
    "insufficient": "–",
    "not evaluable": "–",
    "cannot tell": "?",
    "one-pole contrast": "◐",
    "no sign that the scale made it": "◇",
}


def environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"numbers": numbers, "words": words, "symbols": SYMBOLS, "tone_of": views.tone_of}
    return environment


def _visible(value: Any) -> Any:
    """Every text that enters the page, before it is escaped: its unseen controls are written out."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def style() -> Markup:
    """The style sheet with the figures' colours for both schemes. It is ours alone: no text from outside is in it."""
    sheet = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    light, dark = palette.declarations(dark=False), palette.declarations(dark=True)
    dark_rule = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return Markup(f":root {{ {light} }}\n{dark_rule}\n{sheet}")
