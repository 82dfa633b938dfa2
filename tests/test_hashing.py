"""The same content gives the same digits, whatever its order; every purpose has a seed of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edufair.hashing import canonical, derive_seed, digest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abcd", max_size=3), JSON, max_size=5))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    assert digest(dict(reversed(value.items()))) == digest(value)


def test_a_tuple_is_a_list() -> None:
    assert digest((1, ("a", None))) == digest([1, ["a", None]])


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", 1), (1, 1.0), (None, ""), (0, False), ({}, []), ("é", "e\u0301"), (["ab"], ["a", "b"]), ({"a": None}, {})],
)
def test_what_differs_in_kind_has_another_digest(one: object, other: object) -> None:
    assert digest(one) != digest(other)


def test_a_digest_is_blake2b_of_canonical_json() -> None:
    # python -c "import hashlib; print(hashlib.blake2b(b'{\"a\":[1,null],\"b\":\"x\"}', digest_size=16).hexdigest())"
    assert canonical({"b": "x", "a": (1, None)}) == b'{"a":[1,null],"b":"x"}'
    assert digest({"b": "x", "a": (1, None)}) == "dacde940c294e7b7edd42de086c93eac"


@pytest.mark.parametrize("value", [{1: "a"}, object(), {1, 2}, b"bytes", "half \ud800", 2**65])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        digest(value)


def test_purposes_never_share_a_seed() -> None:
    purposes = [(), ("a",), ("b",), ("a", "b"), ("ab",), ("a", 1), ("a", "1")]
    assert len({derive_seed(1, *purpose) for purpose in purposes}) == len(purposes)
    assert derive_seed(1, "a") != derive_seed(2, "a")


def test_a_derived_seed_seeds_a_generator_and_another_seed() -> None:
    largest = max(derive_seed(n, "draw") for n in range(200))
    assert largest > 2**63  # all 64 bits are in use
    assert np.random.default_rng(largest).random() == np.random.default_rng(largest).random()
    assert 0 <= derive_seed(largest, "again") < 2**64
