"""Sampling and ordering by seed: consistent over subsets, stratified, balanced at every beginning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edufair.design.banks import build, order_items, sample_items
from edufair.errors import BankError
from edufair.records import Item

SAMPLE = tuple(build("sample").items)
PAIRS = [(item.id, item.domain) for item in SAMPLE]


def test_the_order_is_a_permutation_that_the_seed_fixes() -> None:
    ordered = order_items(PAIRS, 7)
    assert sorted(ordered) == sorted(PAIRS)
    assert order_items(PAIRS, 7) == ordered
    assert order_items(reversed(PAIRS), 7) == ordered  # the file's order does not matter
    assert order_items(PAIRS, 8) != ordered


def test_every_beginning_of_the_order_is_balanced() -> None:
    seen: Counter[str] = Counter()
    for _, domain in order_items(PAIRS, 3):
        seen[domain] += 1
        counts = [seen[d] for d in ("mathematics", "physics", "chemistry")]
        assert max(counts) - min(counts) <= 1


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 60), min_size=1), st.integers(0, 999))
def test_unequal_domains_keep_their_shares_along_the_order(sizes: dict[str, int], seed: int) -> None:
    pairs = [(f"{domain}{i}", domain) for domain, n in sizes.items() for i in range(n)]
    seen: Counter[str] = Counter()
    for count, (_, domain) in enumerate(order_items(pairs, seed), start=1):
        seen[domain] += 1
        assert all(abs(seen[d] - count * n / len(pairs)) < 2 for d, n in sizes.items())


def test_within_a_domain_a_subset_keeps_the_order_of_the_whole() -> None:
    whole = [pair for pair in order_items(PAIRS, 5) if pair[1] == "physics"]
    some = [pair for pair in PAIRS if pair[1] == "physics" and not pair[0].endswith("3")]
    assert order_items(some, 5) == [pair for pair in whole if pair in some]


def test_each_item_is_first_about_equally_often() -> None:
    """Of 3,000 seeds each of 30 items leads its domain 100 times on average; 5 standard deviations are 49."""
    pairs = PAIRS[:30]
    firsts = Counter(order_items(pairs, seed)[0][0] for seed in range(3000))
    assert len(firsts) == 30
    assert all(51 <= count <= 149 for count in firsts.values())


def test_longer_rows_travel_whole() -> None:
    rows = [(f"hash-{id}", id, domain) for id, domain in PAIRS]
    assert [(id, domain) for _, id, domain in order_items(rows, 2)] == order_items(PAIRS, 2)


def test_a_share_is_drawn_from_every_domain_alike() -> None:
    drawn = list(sample_items(SAMPLE, 0.3, 1))
    assert Counter(item.domain for item in drawn) == {"mathematics": 9, "physics": 9, "chemistry": 9}
    assert [item for item in SAMPLE if item in drawn] == drawn  # in the bank's order


def test_a_number_is_drawn_from_every_domain_alike() -> None:
    drawn = sample_items(SAMPLE, 31, 1)
    assert len(drawn) == len(list(drawn)) == 31
    assert sorted(Counter(item.domain for item in drawn).values()) == [10, 10, 11]


def test_smaller_samples_are_part_of_larger_ones() -> None:
    before: set[str] = set()
    for amount in (1, 2, 7, 0.1, 0.3, 40, 0.8, 1.0):
        now = {item.id for item in sample_items(SAMPLE, amount, 4)}
        assert before <= now
        before = now
    assert len(before) == 90


def test_the_sample_depends_on_the_seed_and_not_on_the_order_of_the_bank() -> None:
    ids = sample_items(SAMPLE, 0.5, 1).ids
    assert sample_items(SAMPLE[::-1], 0.5, 1).ids == ids
    assert sample_items(SAMPLE, 0.5, 2).ids != ids


def test_sampling_and_ordering_do_not_share_a_stream() -> None:
    assert {id for id, _ in order_items(PAIRS, 1)[:27]} != sample_items(SAMPLE, 27, 1).ids


def test_an_iterator_can_be_sampled_and_gone_through_again() -> None:
    def once() -> Iterator[Item]:
        yield from SAMPLE

    drawn = sample_items(once(), 0.3, 1)
    assert list(drawn) == list(drawn) == list(sample_items(SAMPLE, 0.3, 1))


@pytest.mark.parametrize("amount", [0, -1, 0.0, 1.5, 91, True, float("nan")])
def test_an_amount_outside_the_bank_is_refused(amount: float) -> None:
    with pytest.raises(BankError, match=r"give a share up to 1\.0 or a whole number up to 90"):
        sample_items(SAMPLE, amount, 1)
