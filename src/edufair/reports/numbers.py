"""How a number looks: the one place where values become text. Missing is an en dash, never 0."""

from __future__ import annotations

from math import isfinite

MISSING = "–"
MINUS = "−"


def count(value: float | None) -> str:
    """A whole number with thousands separated: ``17,163``."""
    return MISSING if value is None else _with_minus(f"{value:,.0f}")


def number(value: float | None, digits: int = 2) -> str:
    """A number with fixed digits: ``−0.12``. A value that rounds to zero has no sign."""
    if value is None or not isfinite(value):
        return MISSING
    return _with_minus(f"{round(value, digits) + 0.0:,.{digits}f}")


def signed(value: float | None, digits: int = 2) -> str:
    """A number that always shows its direction: ``+0.12``; one that rounds to zero shows none."""
    text = number(value, digits)
    return f"+{text}" if value is not None and isfinite(value) and round(value, digits) > 0 else text


def interval(low: float | None, high: float | None, digits: int = 2, *, sign: bool = True) -> str:
    """Two ends of an interval: ``−0.12 to +0.03``; missing when either end is."""
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return MISSING
    show = signed if sign else number
    return f"{show(low, digits)} to {show(high, digits)}"


def p_value(p: float | None) -> str:
    """A p-value to three decimals; below that ``<0.001``."""
    if p is None or not isfinite(p):
        return MISSING
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def p_equals(p: float | None) -> str:
    """A p-value inside a sentence: ``p = 0.012``, ``p < 0.001``."""
    text = p_value(p)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def percent(value: float | None, digits: int = 0) -> str:
    """A share as a percentage: 0.423 is ``42%``."""
    if value is None or not isfinite(value):
        return MISSING
    return f"{number(100 * value, digits)}%"


def points(value: float | None, digits: int = 1) -> str:
    """A difference of two shares in percentage points: 0.081 is ``+8.1``."""
    return signed(None if value is None else 100 * value, digits)


def plural(n: int, one: str, many: str = "") -> str:
    """A count with its noun: ``1 question``, ``1,200 questions``."""
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def listed(words: list[str]) -> str:
    """Words as a sentence lists them: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _with_minus(text: str) -> str:
    return text.replace("-", MINUS)
