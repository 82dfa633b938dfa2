"""Which items an audit asks: `[items]` applied to its bank."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from edufair.config import Items
from edufair.design.banks.choose import choose
from edufair.errors import BankError


@pytest.fixture
def bank(tmp_path: Path) -> str:
    """60 items: 30 of mathematics, 20 of physics, 10 of chemistry."""
    sizes = {"mathematics": 30, "physics": 20, "chemistry": 10}
    rows = [
        {"id": f"{domain[0]}{n}", "domain": domain, "grade": 8, "question": f"{domain} {n}?", "answer": f"{n}"}
        for domain, size in sizes.items()
        for n in range(size)
    ]
    path = tmp_path / "bank.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return str(path)


def ids(seed: int = 1, **settings: Any) -> list[str]:
    return [item.id for item in choose(Items(**settings), seed)]


def test_without_a_word_the_whole_bank_is_asked_in_its_order(bank: str) -> None:
    found = ids(bank=bank)
    assert len(found) == 60 and found[:2] == ["m0", "m1"]


def test_the_sample_bank_has_30_items_a_domain() -> None:
    assert Counter(item.domain for item in choose(Items(), 1)) == {"mathematics": 30, "physics": 30, "chemistry": 30}


def test_domains_are_chosen_by_name(bank: str) -> None:
    assert {id[0] for id in ids(bank=bank, domains=["physics", "chemistry"])} == {"p", "c"}


def test_a_domain_that_is_not_there_is_named_with_those_that_are(bank: str) -> None:
    message = "items.domains names biology; the bank has: chemistry, mathematics, physics"
    with pytest.raises(BankError, match=message.replace(".", r"\.")):
        ids(bank=bank, domains=["physics", "biology"])


def test_a_share_is_taken_of_each_domain(bank: str) -> None:
    assert Counter(id[0] for id in ids(bank=bank, sample=0.3)) == {"m": 9, "p": 6, "c": 3}


def test_a_limit_is_spread_over_the_domains(bank: str) -> None:
    assert Counter(id[0] for id in ids(bank=bank, limit=6)) == {"m": 3, "p": 2, "c": 1}


def test_a_limit_above_what_there_is_takes_all(bank: str) -> None:
    assert len(ids(bank=bank, limit=1000)) == 60
    assert len(ids(bank=bank, limit=1000, domains=["chemistry"])) == 10


def test_a_limit_applies_after_the_share(bank: str) -> None:
    share = set(ids(bank=bank, sample=0.5))
    assert len(share) == 30
    assert set(ids(bank=bank, sample=0.5, limit=12)) < share


def test_a_smaller_draw_is_part_of_a_larger_one(bank: str) -> None:
    assert set(ids(bank=bank, limit=6)) < set(ids(bank=bank, limit=12)) < set(ids(bank=bank, sample=0.5))


def test_the_same_seed_draws_the_same_items_and_another_seed_others(bank: str) -> None:
    assert ids(1, bank=bank, limit=10) == ids(1, bank=bank, limit=10) != ids(2, bank=bank, limit=10)


def test_chosen_items_can_be_gone_through_again(bank: str) -> None:
    for settings in (Items(bank=bank), Items(bank=bank, domains=["physics"]), Items(bank=bank, limit=7)):
        chosen = choose(settings, 1)
        assert list(chosen) == list(chosen)


def test_columns_domain_and_grade_of_a_table_are_taken_from_the_settings(tmp_path: Path) -> None:
    table = tmp_path / "questions.csv"
    table.write_text("Nr,Frage,Antwort\n007,What is {x}?,None\n", encoding="utf-8")
    columns = {"id": "Nr", "question": "Frage", "answer": "Antwort"}
    (item,) = choose(Items(bank=str(table), columns=columns, domain="physics", grade=9), 1)
    assert (item.id, item.domain, item.text) == ("007", "physics", "What is {x}?")
    assert (item.data["answer"], item.data["grade"]) == ("None", 9)


def test_a_bank_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BankError, match=r"nothing\.jsonl"):
        ids(bank=str(tmp_path / "nothing.jsonl"))
