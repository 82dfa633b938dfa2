"""`edufair.plan`: what an audit will take, frozen without asking anyone anything."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

import edufair
from edufair.errors import BankError, MissingExtra
from engine import moody_people as people
from whole.small_audit import small_audit

PEOPLE = "python:engine.moody_people"


@pytest.fixture(autouse=True)
def well_people() -> Iterator[None]:
    people.reset()
    yield
    people.reset()


def models(**more: Any) -> dict[str, Any]:
    hosts = {name: {"url": "http://127.0.0.1:9/v1", "model": f"{name}-1"} for name in ("tutor", "student", "truth")}
    return {name: {**host, **more} for name, host in hosts.items()}


def trial_ids(audit: dict[str, Any]) -> set[str]:
    frozen = edufair.plan(audit).plan
    return {trial for model in frozen.audited for _, trial in frozen.trial_ids(model)}


def test_nobody_is_asked(tmp_path: Path) -> None:
    names = {"tutor": "tutor", "student": "student", "truth": "judge"}
    moody = {name: {"url": f"{PEOPLE}:{function}"} for name, function in names.items()}
    edufair.plan(small_audit(tmp_path, models=moody))
    edufair.plan(small_audit(tmp_path, models=models()))  # nor is anything listening at this address
    assert not people.ASKED


def test_the_same_audit_is_the_same_plan(tmp_path: Path) -> None:
    first, second = edufair.plan(small_audit(tmp_path)), edufair.plan(small_audit(tmp_path))
    assert (first.new, second.new) == (True, False)
    assert first.plan.hash == second.plan.hash
    assert edufair.plan(small_audit(tmp_path / "elsewhere")).plan.hash == first.plan.hash
    assert len(edufair.open_run(tmp_path / "run").plans()) == 1


def test_calls_are_counted_by_role(tmp_path: Path) -> None:
    planned = edufair.plan(small_audit(tmp_path))
    # six items, two arms, two turns: 24 turns of each side, each tutor turn judged once
    assert {load.role: load.calls for load in planned.loads} == {"tutor": 24, "student": 24, "judge": 24}
    assert planned.plan.n_trials == 12


def test_two_tutors_share_the_student_and_the_judge(tmp_path: Path) -> None:
    audit = small_audit(
        tmp_path, models={**models(), "second": models()["tutor"]}, tutor={"model": ["tutor", "second"]}
    )
    loads = edufair.plan(audit).loads
    assert [(load.role, load.model, load.calls) for load in loads] == [
        ("tutor", "tutor", 24),
        ("tutor", "second", 24),
        ("student", "student", 48),
        ("judge", "truth", 48),
    ]


def test_cost_is_tokens_times_prices_and_unknown_without_one_of_them(tmp_path: Path) -> None:
    priced = edufair.plan(small_audit(tmp_path, models=models(price_prompt=2.0, price_completion=8.0)))
    by_hand = sum(2e-6 * load.prompt_tokens + 8e-6 * load.completion_tokens for load in priced.loads)
    assert priced.cost == pytest.approx(by_hand) and priced.cost > 0
    some = {**models(price_prompt=2.0, price_completion=8.0), "truth": models()["truth"]}
    assert edufair.plan(small_audit(tmp_path, models=some)).cost is None


def test_free_models_cost_nothing(tmp_path: Path) -> None:
    assert edufair.plan(small_audit(tmp_path, models=models(price_prompt=0.0, price_completion=0.0))).cost == 0.0


@pytest.mark.parametrize(("limit", "least", "enough"), [(6, 15, False), (15, 15, True), (20, 25, False), (6, 5, True)])
def test_it_says_whether_a_contrast_can_have_enough_pairs(tmp_path: Path, limit: int, least: int, enough: bool) -> None:
    items = {"bank": "sample", "domains": ["physics"], "limit": limit}
    planned = edufair.plan(small_audit(tmp_path, items=items, analysis={"min_pairs": least}))
    assert planned.reach() == {"physics": (limit, enough)}


@pytest.mark.parametrize(
    "change",
    [
        {"judge": None},
        {"judge": {"model": "tutor", "mode": "single", "temperature": 1.0}},
        {"analysis": {"min_pairs": 99}},
        {"limits": {"stop_after_failures": 1}},
        {"name": "another name"},
        {"models": models(price_prompt=1.0, price_completion=1.0, timeout=7, concurrency=99)},
        {"models": {**models(), "tutor": {"url": "https://example.org/v1", "model": "tutor-1"}}},
    ],
    ids=str,
)
def test_what_shapes_no_record_leaves_the_trials(tmp_path: Path, change: dict[str, Any]) -> None:
    usual = {"models": models()}
    assert trial_ids(small_audit(tmp_path, **{**usual, **change})) == trial_ids(small_audit(tmp_path, **usual))


@pytest.mark.parametrize(
    "change",
    [
        {"tutor": {"model": "tutor", "temperature": 0.2}},
        {"tutor": {"model": "tutor", "temperature": "unset"}},
        {"student": {"model": "student", "max_tokens": 99}},
        {"student": {"model": "truth"}},
        {"dialogue": {"max_turns": 3}},
        {"dialogue": {"max_turns": 2, "truncated": "keep"}},
        {"models": {**models(), "tutor": {**models()["tutor"], "model": "tutor-2"}}},
        {"models": {**models(), "tutor": {**models()["tutor"], "extra_body": {"top_k": 1}}}},
        {"models": {**models(), "student": {**models()["student"], "extra_body": {"top_k": 1}}}},
    ],
    ids=str,
)
def test_what_shapes_a_record_makes_other_trials(tmp_path: Path, change: dict[str, Any]) -> None:
    usual = {"models": models()}
    assert not trial_ids(small_audit(tmp_path, **{**usual, **change})) & trial_ids(small_audit(tmp_path, **usual))


def test_any_beginning_of_the_order_holds_the_domains_in_their_shares(tmp_path: Path) -> None:
    frozen = edufair.plan(small_audit(tmp_path, items={"bank": "sample"})).plan
    domains = [domain for _, _, domain in frozen.items]
    for end in range(3, 91, 3):
        assert {domains[:end].count(name) for name in set(domains)} <= {end // 3 - 1, end // 3, end // 3 + 1}
    assert [id for _, id, _ in frozen.items] != sorted(id for _, id, _ in frozen.items)


def test_two_items_of_one_id_are_named(tmp_path: Path) -> None:
    rows = [{"id": "a", "question": f"{n}?", "answer": str(n), "domain": "d", "grade": 8} for n in range(2)]
    bank = tmp_path / "bank.jsonl"
    bank.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    with pytest.raises(BankError, match=r"(?s)bank\.jsonl.*row 2: the id 'a' stands in row 1 already"):
        edufair.plan(small_audit(tmp_path, items={"bank": str(bank)}))


def test_no_items_is_no_plan(tmp_path: Path) -> None:
    (tmp_path / "bank.jsonl").write_bytes(b"")
    with pytest.raises(BankError):
        edufair.plan(small_audit(tmp_path, items={"bank": str(tmp_path / "bank.jsonl")}))


@pytest.mark.parametrize("answer", ["?!", "-", "..."])
def test_an_answer_that_no_turn_can_hold_is_named_before_the_first_call(tmp_path: Path, answer: str) -> None:
    bank = tmp_path / "bank.jsonl"
    bank.write_bytes(orjson.dumps({"id": "a", "question": "What?", "answer": answer, "domain": "d", "grade": 8}))
    with pytest.raises(BankError, match=r"bank\.jsonl, item 'a': an answer needs a letter or a digit"):
        edufair.plan(small_audit(tmp_path, items={"bank": str(bank)}))


def test_a_package_that_matching_takes_is_missed_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "math_verify", None)
    bank = tmp_path / "bank.jsonl"
    row = {"id": "a", "question": "Expand.", "answer": "x^2 + 2x", "domain": "d", "grade": 8}
    bank.write_bytes(orjson.dumps(row))
    with pytest.raises(MissingExtra, match="edufair\\[dialogue\\]"):
        edufair.plan(small_audit(tmp_path, items={"bank": str(bank)}))
