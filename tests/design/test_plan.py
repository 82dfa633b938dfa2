"""A plan: frozen, hashed, expanded lazily; trial ids that depend on what shapes a record and on nothing else."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pytest

from edufair.design import arms
from edufair.design.plan import Plan, freeze, item_hash
from edufair.hashing import canonical
from edufair.records import Item

ITEMS = [Item(f"q{n}", "mathematics" if n % 2 else "physics", f"Question {n}?", {"answer": str(n)}) for n in range(6)]
USUAL: dict[str, Any] = {
    "audit": "dialogue",
    "audit_version": 1,
    "name": "small",
    "seed": 1,
    "settings": {"analysis": {"min_pairs": 15}, "run": "/somewhere", "limits": {"a": 1}, "models": {"m": {"url": "u"}}},
    "identities": {"m": "model-1", "student": "model-2"},
    "audited": {"m": ["model-1", None]},
    "shaping": {"sampling": {"temperature": 0.1}, "prompts": {"tutor": "Teach."}},
    "arms": [(arms.explicit_arm("gender", level), 1) for level in ("female", "male")],
    "contrasts": [{"a": "female", "b": "male"}],
    "prompts": {"tutor": "Teach.", "judge": "Judge."},
    "items": [(item_hash(item), item.id, item.domain) for item in ITEMS],
}


def plan(**change: Any) -> Plan:
    return freeze(**{**USUAL, **change})


def content(hashes: Iterable[str]) -> Iterator[tuple[str, Item]]:
    known = {item_hash(item): item for item in ITEMS}
    return ((h, known[h]) for h in hashes)


def ids(one: Plan) -> list[str]:
    return [trial.id for trial, _ in one.trials(content)]


def test_a_trial_for_each_item_model_arm_and_replicate() -> None:
    twice = plan(audited={"m": 1, "n": 2}, arms=[(arms.explicit_arm("gender", "female"), 1), (arms.BASELINE, 2)])
    found = [(t.item.id, t.model, t.arm.condition, t.replicate) for t, _ in twice.trials(content)]
    assert len(found) == len(set(found)) == twice.n_trials == 6 * 2 * 3
    assert len(set(ids(twice))) == twice.n_trials


def test_all_arms_of_an_item_stand_together_in_the_plan_s_order() -> None:
    order = [trial.item.id for trial, _ in plan().trials(content)]
    assert order == [item.id for item in ITEMS for _ in range(2)]


def test_ids_without_the_content_are_the_ids_with_it() -> None:
    one = plan()
    assert [trial for _, trial in one.trial_ids("m")] == ids(one)
    with_keys = {(t.model, t.item.id, t.arm.label, t.replicate): t.id for t, _ in one.trials(content)}
    assert dict(one.trial_ids("m")) == with_keys


@pytest.mark.parametrize(
    "change",
    [
        {"audit": "choice"},
        {"audit_version": 2},
        {"audited": {"m": ["model-3", None]}},
        {"audited": {"m": ["model-1", {"top_k": 1}]}},
        {"audited": {"other": ["model-1", None]}},
        {"shaping": {**USUAL["shaping"], "sampling": {"temperature": 0.2}}},
        {"shaping": {**USUAL["shaping"], "prompts": {"tutor": "Teach!"}}},
        {"arms": [(arms.explicit_arm("ses", "low-income"), 1)]},
    ],
    ids=str,
)
def test_what_shapes_a_record_changes_its_id(change: dict[str, Any]) -> None:
    assert not set(ids(plan(**change))) & set(ids(plan()))


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"seed": 2},
        {"settings": {"analysis": {"min_pairs": 30}}},
        {"contrasts": []},
        {"prompts": {"tutor": "Teach.", "judge": "Judge!"}},
        {"identities": {**USUAL["identities"], "judge": "model-9"}},
    ],
    ids=str,
)
def test_judge_analysis_and_names_do_not(change: dict[str, Any]) -> None:
    assert ids(plan(**change)) == ids(plan())
    assert plan(**change).hash != plan().hash


def test_more_items_arms_and_replicates_leave_the_ids_that_were_there() -> None:
    more = plan(arms=[(arm, 3) for arm in arms.arms(["explicit"], ["gender", "ses"])])
    assert set(ids(plan())) < set(ids(more))
    fewer = plan(items=USUAL["items"][:2])
    assert set(ids(fewer)) < set(ids(plan()))


def test_another_model_beside_it_leaves_a_model_s_ids() -> None:
    both = plan(audited={"m": ["model-1", None], "n": ["model-5", None]})
    assert set(ids(plan())) < set(ids(both))
    assert both.common == plan().common


def test_paths_addresses_and_limits_are_not_in_the_hash() -> None:
    settings = {**USUAL["settings"], "run": "/elsewhere", "limits": {"a": 2}, "models": {"m": {"url": "v"}}}
    assert plan(settings=settings).hash == plan().hash


def test_an_item_s_hash_is_its_content() -> None:
    one = Item("q", "d", "text", {"answer": "1"})
    assert item_hash(one) == item_hash(Item("q", "d", "text", {"answer": "1"}))
    others = [
        Item("r", "d", "text", {"answer": "1"}),
        Item("q", "e", "text", {"answer": "1"}),
        Item("q", "d", "t", {"answer": "1"}),
    ]
    assert len({item_hash(item) for item in [one, *others, Item("q", "d", "text", {"answer": 1})]}) == 5


def test_a_plan_comes_back_from_json_with_the_same_hash() -> None:
    one = plan()
    again = Plan.from_json(one.to_json(), one.hash)
    assert again == one and again.hash == one.hash
    assert canonical(again.to_json()) == canonical(one.to_json())
    assert ids(again) == ids(one)


def test_items_are_counted_by_domain() -> None:
    assert plan().items_by_domain() == {"physics": 3, "mathematics": 3}


def test_a_million_trials_cost_no_memory() -> None:
    """Of 125,000 items in 8 arms the first thousand trials are made, and nothing grows with the rest."""
    rows = [("h", f"q{n}", "d") for n in range(125_000)]
    large = plan(items=rows, arms=[(arms.implicit_arm("Wei"), 8)])
    assert large.n_trials == 1_000_000
    same = Item("q", "d", "text")
    tracemalloc.start()
    lazily = large.trials(lambda hashes: ((h, same) for h in hashes))
    assert len(list(islice(lazily, 1000))) == 1000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
