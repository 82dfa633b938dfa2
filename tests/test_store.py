"""The store: what is committed is there, one process writes, and reading says what is wrong."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from edufair import store as db
from edufair.errors import StoreError
from edufair.records import Arm, Item, Record, Score, Source, Trial, Turn

ITEM = Item(
    "q1", "physics", "What is a force? \\frac{1}{2} {x}", {"answer": "a push", "accepted": ["pull"], "grade": 9}
)
ARM = Arm("opposite", (("student", "gender", "female"), ("tutor", "gender", "male")))


def trial(id: str = "t1", **change: Any) -> Trial:
    return Trial(**{"id": id, "audit": "dialogue", "model": "m", "item": ITEM, "arm": ARM, "replicate": 2, **change})


def call_row(key: str, attempt: int = 1, **change: Any) -> db.Row:
    row = {"key": key, "attempt": attempt, "role": "tutor", "model": "m", "effective": "e", "request": db.packed({})}
    row |= {"status": "ok", "returned_model": "", "text": "said", "reasoning": "", "finish_reason": "stop"}
    row |= {"prompt_tokens": None, "cached_tokens": None, "completion_tokens": None, "latency": 0.1, "created": 1.0}
    return {**row, **change}


def keep(store: db.Store, *records: Record) -> None:
    store.write_now(db.item, [db.item_row("h1", ITEM)])
    store.write_now(db.record, [db.record_row(record, "h1", ["k1", "k2"]) for record in records])


@pytest.fixture
def store(tmp_path: Path) -> Any:
    opened = db.create(tmp_path / "run")
    yield opened
    opened.close()


# --- records and back -------------------------------------------------------------------------------------------


def test_a_record_comes_back_as_it_was(store: db.Store) -> None:
    turns = (Turn(1, "tutor", "What?"), Turn(2, "student", "x \x00 \u2028 é", "thought", "stop"))
    record = Record(trial(), "failed", "student fault", turns, {"role": "student", "flags": {"a": 1}})
    keep(store, record)
    assert list(store.records()) == [record]


def test_some_records_are_found_by_trial_and_by_audit(store: db.Store) -> None:
    keep(store, *[Record(trial(id), "done") for id in "abc"], Record(trial("d", audit="choice"), "done"))
    assert {r.trial.id for r in store.records(trials=["a", "c", "zzz"])} == {"a", "c"}
    assert {r.trial.id for r in store.records(audit="choice")} == {"d"}


def test_items_come_back_in_the_order_asked_for_also_beyond_one_block(store: db.Store) -> None:
    items = {f"h{n}": Item(f"q{n}", "d", str(n)) for n in range(1203)}
    store.write_now(db.item, [db.item_row(key, item) for key, item in items.items()])
    wanted = sorted(items, reverse=True)
    assert list(store.items(wanted)) == [(key, items[key]) for key in wanted]


def test_frames_are_typed_also_when_they_are_empty(store: db.Store) -> None:
    assert dict(store.score_frame().schema).keys() == {"trial", "turn", "metric", "source", "value", "reason"}
    assert str(store.score_frame().schema["value"]) == "Float64"
    assert "json" not in store.record_frame().columns
    assert store.call_frame().height == store.pair_frame().height == store.vector_frame().height == 0


def test_a_missing_score_is_null_and_never_zero(store: db.Store) -> None:
    store.write_now(
        db.score, [db.score_row(Score("t", 0, "m", "code", None, "why")), db.score_row(Score("t", 1, "m", "code", 0.0))]
    )
    assert store.score_frame().sort("turn")["value"].to_list() == [None, 0.0]


def test_sources_come_back_with_their_settings(store: db.Store) -> None:
    judge = Source("judge:a:1", "judge", "a", {"sampling": {"temperature": 0.0}})
    store.write_now(db.source, [db.source_row(judge)])
    assert store.sources() == [judge]


# --- keys -------------------------------------------------------------------------------------------------------


def test_a_row_whose_key_is_there_is_kept_unless_it_is_to_be_replaced(store: db.Store) -> None:
    one, two = Score("t", 0, "m", "code", 1.0), Score("t", 0, "m", "code", 2.0)
    store.write_now(db.score, [db.score_row(one)])
    store.write_now(db.score, [db.score_row(two)])
    assert store.score_frame()["value"].to_list() == [1.0]
    store.write_now(db.score, [db.score_row(two)], replace=True)
    assert store.score_frame()["value"].to_list() == [2.0]


def test_two_sources_stand_side_by_side(store: db.Store) -> None:
    store.write_now(db.score, [db.score_row(Score("t", 0, "m", source, 1.0)) for source in ("judge:a", "judge:b")])
    assert store.scored_by() == {"judge:a": 1, "judge:b": 1}
    assert store.scored(["t", "u"], "judge:a") == {"t"} and store.scored(["t"], "judge:c") == set()


def test_a_failed_try_is_no_finished_call(store: db.Store) -> None:
    store.write_now(db.call, [call_row("k", 1, status="failed"), call_row("k", 2, text="second")])
    store.write_now(db.call, [call_row("j", 1, status="failed")])
    found = store.find_call("k")
    assert found is not None and (found["attempt"], found["text"]) == (2, "second")
    assert store.find_call("j") is None and store.find_call("nothing") is None
    assert (store.attempts("k"), store.attempts("nothing")) == (2, 0)
    assert store.has_calls()


def test_statuses_are_given_for_trials_with_a_record(store: db.Store) -> None:
    keep(store, Record(trial("a"), "done"), Record(trial("b"), "failed", "transport"))
    assert store.statuses(["a", "b", "c"]) == {"a": ("done", ""), "b": ("failed", "transport")}
    assert store.record_ids("dialogue") == ["a"]


def test_what_is_remembered_comes_back_as_json(store: db.Store) -> None:
    assert store.get_meta("settings") is None
    store.set_meta("settings", {"a": [1, None]})
    store.set_meta("settings", {"a": [2]})
    assert store.get_meta("settings") == {"a": [2]}


# --- writing ----------------------------------------------------------------------------------------------------


async def test_what_many_tasks_write_at_once_is_all_there(store: db.Store) -> None:
    await asyncio.gather(*[store.write(db.call, [call_row(f"k{n}")]) for n in range(300)])
    assert store.call_frame().height == 300


async def test_a_write_is_committed_when_it_returns(store: db.Store) -> None:
    await store.write(db.call, [call_row("k")])
    with sqlite3.connect(store.folder / db.FILE_NAME) as other:
        assert other.execute("select count(*) from call").fetchone() == (1,)
    other.close()


async def test_a_cancelled_writer_harms_no_other(store: db.Store) -> None:
    tasks = [asyncio.create_task(store.write(db.call, [call_row(f"k{n}")])) for n in range(5)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await store.drain()
    assert store.call_frame().height == 5


async def test_a_row_that_cannot_be_written_is_said_to_those_who_wait(store: db.Store) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        await store.write(db.call, [call_row("k", text=None)])
    await store.write(db.call, [call_row("j")])
    assert store.call_frame()["key"].to_list() == ["j"]


async def test_several_writes_are_there_together(store: db.Store) -> None:
    await store.write_all(
        [(db.call, [call_row("k")], False), (db.score, [db.score_row(Score("t", 0, "m", "s", 1.0))], False)]
    )
    assert store.call_frame().height == store.score_frame().height == 1


# --- opening ----------------------------------------------------------------------------------------------------


def test_a_folder_without_a_run_is_said_to_hold_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no run; `edufair run audit.toml` makes one"):
        db.open_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one" * 40, b"", b"SQLite format 3\x00"])
@pytest.mark.parametrize("open", [db.open_store, db.create])
def test_a_file_that_is_no_store_is_named(tmp_path: Path, content: bytes, open: Any) -> None:
    (tmp_path / db.FILE_NAME).write_bytes(content)
    if open is db.create and content == b"":
        open(tmp_path).close()  # an empty file is an empty database
        return
    with pytest.raises(StoreError, match=r"edufair\.db: is not a store of this program"):
        open(tmp_path)


def test_a_database_of_another_program_is_not_a_store(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / db.FILE_NAME) as other:
        other.execute("create table notes (text)")
    other.close()
    with pytest.raises(StoreError, match="is not a store of this program"):
        db.open_store(tmp_path)


def test_a_store_of_a_newer_version_is_not_read(tmp_path: Path) -> None:
    store = db.create(tmp_path)
    store.set_meta("schema", len(db.MIGRATIONS) + 1)
    store.close()
    with pytest.raises(StoreError, match="was made by a newer version of edufair"):
        db.open_store(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file/run: cannot be used as a run folder"):
        db.create(tmp_path / "file" / "run")


def test_two_cannot_write_one_run_and_readers_may_look_on(tmp_path: Path) -> None:
    first = db.create(tmp_path)
    with pytest.raises(StoreError, match="another process is writing this run"):
        db.create(tmp_path)
    reader = db.open_store(tmp_path)
    assert reader.plans() == []
    reader.close()
    first.close()
    db.create(tmp_path).close()


def test_a_killed_writer_lets_go_and_what_it_committed_is_there(tmp_path: Path) -> None:
    code = (
        "import os, sys; from edufair import store as db; s = db.create(sys.argv[1]);"
        "s.set_meta('said', 'before the end'); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -9
    store = db.create(tmp_path)
    assert store.get_meta("said") == "before the end"
    store.close()


def test_plans_come_back_in_the_order_in_which_they_were_frozen(store: db.Store) -> None:
    for position, name in enumerate("ba", start=1):
        row = {
            "hash": name,
            "position": position,
            "created": 1.0,
            "version": "v",
            "json": orjson.dumps({"n": name}).decode(),
        }
        store.write_now(db.plan, [row])
    assert [(row["hash"], row["json"]) for row in store.plans()] == [("b", {"n": "b"}), ("a", {"n": "a"})]


def test_a_fresh_store_needs_none_of_the_steps_for_older_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[db.Store] = []
    monkeypatch.setattr(db, "MIGRATIONS", (taken.append,))
    store = db.create(tmp_path)
    schema = store.get_meta("schema")
    store.close()
    assert (taken, schema) == ([], 1)


def test_an_older_store_is_brought_up_to_date_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db.create(tmp_path).close()
    taken: list[db.Store] = []
    monkeypatch.setattr(db, "MIGRATIONS", (taken.append,))
    for _ in range(2):
        store = db.create(tmp_path)
        assert store.get_meta("schema") == 1
        store.close()
    assert len(taken) == 1
