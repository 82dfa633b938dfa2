"""Hostile text made safe to show, to open in a spreadsheet, and to name a file with. Nothing is removed unseen."""

from __future__ import annotations

import re
import unicodedata

# Controls that a reader cannot see but that reorder, hide or break text: C0 and C1 (except tab and newline), the
# bidirectional marks, invisible operators, line separators, tag characters, and half surrogates (UTF-8 holds none).
# The joiners U+200C and U+200D stay: Indic scripts, Persian and emoji need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    """`text` with every unseen control written out, as in ``⟨U+202E⟩``; a line end is one newline."""
    return _UNSEEN.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", text.replace("\r\n", "\n"))


def csv_text(text: str) -> str:
    """A text cell that no spreadsheet takes for a formula: ' stands before a leading =, +, -, @, tab or line end."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")) else text


def file_name(text: str) -> str:
    """A file name on every system: letters, digits, ``.``, ``_``, ``-``; at most 80; never hidden, never empty.

    Different texts may give the same name; where that matters, number them.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("-._")[:80].rstrip("-._")
    return f"{name}-" if _RESERVED.fullmatch(name) else name or "unnamed"


_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # device names that Windows refuses
