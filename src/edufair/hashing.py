"""Hashes of content: ids, request keys, seeds. The same content gives the same digits on every machine."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson


def canonical(value: Any) -> bytes:
    """`value` as JSON with sorted keys; tuples as lists. Raises TypeError for anything JSON cannot hold."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(value: Any) -> str:
    """32 hexadecimal digits (128 bits) that depend on the content of `value` alone."""
    return blake2b(canonical(value), digest_size=16).hexdigest()


def derive_seed(seed: int, *purpose: str | int) -> int:
    """A seed for one purpose, so that a subset draws what the whole draws and purposes never share a stream."""
    return int.from_bytes(blake2b(canonical([seed, *purpose]), digest_size=8).digest(), "big")
