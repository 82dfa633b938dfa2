"""SocraTeach, SciQ and MathDial: their shapes, the paper's filters, and what each filter says it removed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from edufair.design.banks import Bank, FilterStep, build
from edufair.errors import BankError, MissingExtra

MATHDIAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "mathdial" / "test.jsonl"


def saved(tmp_path: Path, content: object, name: str = "source.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def report(bank: Bank) -> list[tuple[int, int]]:
    return [(step.kept, step.removed) for step in bank.report]


def ids(bank: Bank) -> list[str]:
    return [item.id for item in bank.items]


# SocraTeach: here the codes 1 and 4 are errors, 2 is a correct reply, 3 is anything else.


def dialogue(types: str, *, said: dict[int, str] | None = None, tutor: dict[int, str] | None = None) -> list[Any]:
    """A finished dialogue with one exchange a code; `said` and `tutor` give single turns another text."""
    turns = [
        {
            "system": (tutor or {}).get(i, "What would you do next?"),
            "user": (said or {}).get(i, "I think so."),
            "user_type": int(t),
        }
        for i, t in enumerate(types)
    ]
    return [*turns, {"system": (tutor or {}).get(len(types), "Well done. END")}]


def problem(*dialogues: list[Any], **others: Any) -> dict[str, Any]:
    named = {f"d{i}": turns for i, turns in enumerate(dialogues)}
    return {
        "question": "How many apples are left?",
        "analysis": "10 + 7 = 17",
        "answer": "17",
        "steps": ["a", "b"],
        "dialogues": named,
        **others,
    }


GOOD = dialogue("1342", said={3: "It is 17."})


def socrateach(tmp_path: Path, problems: dict[str, Any], **options: Any) -> Bank:
    settings = {"error_types": ["1", "4"], "correct_types": ["2"], **options}
    return build("socrateach", saved(tmp_path, problems), **settings)


def test_each_filter_removes_what_the_paper_says_and_is_counted(tmp_path: Path) -> None:
    problems = {
        "good": problem(GOOD),
        "short": problem(dialogue("142")),  # three exchanges
        "one-error": problem(dialogue("13322")),
        "never-right": problem(dialogue("21344")),  # correct only before the last error
        "told": problem(dialogue("1342", tutor={2: "So it is 17, right?"}, said={3: "Yes, 17."})),
        "told-at-the-end": problem(dialogue("1342", tutor={4: "The answer is 17. END"})),
    }
    bank = socrateach(tmp_path, problems)
    assert ids(bank) == ["good"]
    assert bank.report == (
        FilterStep("problems in the file", 6, 0),
        FilterStep("at least four exchanges", 5, 1),
        FilterStep("at least two student errors", 4, 1),
        FilterStep("a correct or partly correct reply after the last error", 3, 1),
        FilterStep("the tutor does not disclose the answer", 1, 2),
    )
    assert bank.notes == (
        "user_type read as an error: 1, 4",
        "user_type read as a correct or partly correct reply: 2",
    )


def test_a_socrateach_item_holds_question_answer_and_analysis(tmp_path: Path) -> None:
    (item,) = socrateach(tmp_path, {"007": problem(GOOD)}).items
    assert (item.id, item.domain, item.text) == ("007", "mathematics", "How many apples are left?")
    assert item.data == {"answer": "17", "accepted": [], "support": "10 + 7 = 17", "grade": 9}


def test_one_dialogue_that_passes_all_four_keeps_the_question(tmp_path: Path) -> None:
    short, wrong = dialogue("12"), dialogue("33333")
    assert ids(socrateach(tmp_path, {"a": problem(short, wrong, GOOD)})) == ["a"]


def test_filters_passed_by_different_dialogues_do_not_add_up(tmp_path: Path) -> None:
    long_without_errors, short_with_errors = dialogue("33332"), dialogue("112", said={2: "17"})
    bank = socrateach(tmp_path, {"a": problem(long_without_errors, short_with_errors), "b": problem(GOOD)})
    assert ids(bank) == ["b"]


def test_the_tutor_may_say_the_answer_once_the_student_has(tmp_path: Path) -> None:
    late = dialogue("1342", said={3: "Then it is 17 apples."}, tutor={4: "17 is right! END"})
    assert ids(socrateach(tmp_path, {"a": problem(late)})) == ["a"]


def test_an_error_in_the_last_reply_leaves_nothing_right_after_it(tmp_path: Path) -> None:
    assert ids(socrateach(tmp_path, {"a": problem(dialogue("12321")), "b": problem(GOOD)})) == ["b"]


def test_codes_given_as_text_match_codes_stored_as_numbers_or_text(tmp_path: Path) -> None:
    as_text = [{**turn, "user_type": str(turn["user_type"])} if "user" in turn else turn for turn in GOOD]
    assert ids(socrateach(tmp_path, {"a": problem(as_text), "b": problem(GOOD)})) == ["a", "b"]


def test_other_codes_give_another_bank(tmp_path: Path) -> None:
    problems = {"a": problem(GOOD), "b": problem(dialogue("3312"))}
    assert ids(socrateach(tmp_path, problems, error_types=["3"], correct_types=["2"])) == ["b"]


def test_without_codes_the_file_s_codes_are_listed_with_examples(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": problem(dialogue("1132", said={3: "Seventeen!"}))})
    with pytest.raises(BankError) as caught:
        build("socrateach", path)
    message = str(caught.value)
    assert "does not say which user_type codes" in message
    assert "--error-types" in message
    assert "\n  1: 2 replies, such as 'I think so.'" in message
    assert "\n  2: 1 replies, such as 'Seventeen!'" in message


@pytest.mark.parametrize(
    ("errors", "correct", "message"),
    [
        (["9"], ["2"], "the codes 9 stand nowhere"),
        (["1", "2"], ["2"], "the codes 2 cannot mean both"),
        (["1"], [], "does not say"),
    ],
)
def test_codes_that_cannot_be_meant_are_refused(
    tmp_path: Path, errors: list[str], correct: list[str], message: str
) -> None:
    with pytest.raises(BankError, match=message):
        socrateach(tmp_path, {"a": problem(GOOD)}, error_types=errors, correct_types=correct)


def test_without_filters_every_problem_stays_and_no_codes_are_needed(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": problem(dialogue("1")), "b": problem(GOOD), "c": problem()})
    bank = build("socrateach", path, filters="none", grade=7)
    assert ids(bank) == ["a", "b", "c"]
    assert report(bank) == [(3, 0)]
    assert {item.data["grade"] for item in bank.items} == {7}


def test_bad_problems_are_named(tmp_path: Path) -> None:
    problems = {
        "a": problem(GOOD),
        "b": problem(GOOD, answer=""),
        "c": {"question": "q", "answer": "1"},
        "d": problem([{"user": "x"}]),
        "A": problem(GOOD),
    }
    with pytest.raises(BankError) as caught:
        socrateach(tmp_path, problems)
    message = str(caught.value)
    assert "4 bad rows" in message
    assert "row 2: problem 'b': question or answer is empty" in message
    assert "row 3: problem 'c': an object with question, answer and dialogues" in message
    assert "row 4: problem 'd': dialogue 'd0'" in message
    assert "row 5: the ids 'A' and 'a' (row 1) differ only by" in message
    with pytest.raises(BankError, match="an object of problems by id"):
        build("socrateach", saved(tmp_path, []))


# SciQ

PHYSICS = ("force", "velocity", "friction", "wavelength", "voltage", "momentum", "gravity", "magnet")
CHEMISTRY = ("molecule", "reaction", "acid", "electron", "solvent", "isotope", "covalent", "catalyst")
BIOLOGY = ("cell", "organism", "protein", "photosynthesis", "species", "enzyme", "tissue", "gene")


def sciq_rows() -> list[dict[str, str]]:
    """For each class 24 questions of its words, so alike within a class that the classifier is sure of them."""
    rows = []
    for domain, words in (("p", PHYSICS), ("c", CHEMISTRY), ("b", BIOLOGY)):
        for i in range(24):
            one, two, three = words[i % 8], words[(i + 1) % 8], words[(i + 3) % 8]
            rows.append(
                {
                    "question": f"Which {one} goes with {two} number {domain}{i}?",
                    "correct_answer": f"{three} {domain}{i}",
                    "distractor1": "x",
                    "distractor2": "y",
                    "distractor3": "z",
                    "support": f"A {one} and a {two} come with a {three}.",
                }
            )
    return rows


def test_sciq_keeps_physics_and_chemistry_and_counts_the_rest(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    rows = sciq_rows()
    rows[0]["support"] = ""
    rows[1]["support"] = "   "
    rows[2]["question"] = "What is a force with velocity?"
    rows[30]["question"] = "what are molecules of an acid?"
    rows.append(rows[5])  # asked a second time
    bank = build("sciq", saved(tmp_path, rows))
    assert [step.name for step in bank.report] == [
        "questions in the file",
        "a support passage",
        "not definitional (begins what is, what are)",
        "a domain with confidence of 0.65 or more",
        "physics or chemistry",
        "not asked before (same question and answer)",
        "at most 500 a domain, drawn by seed 1",
    ]
    assert report(bank) == [(73, 0), (71, 2), (69, 2), (69, 0), (45, 24), (44, 1), (44, 0)]
    assert Counter(item.domain for item in bank.items) == {"physics": 21, "chemistry": 23}
    item = next(iter(bank.items))
    assert (item.id, item.domain, item.data["grade"], item.data["answer"]) == (
        "sciq-00004",
        "physics",
        8,
        "gravity p3",
    )
    assert item.data["support"] == rows[3]["support"]


def test_a_question_between_the_classes_falls_to_the_confidence(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    rows = sciq_rows()
    mixed = {**rows[0], "question": "Which one is it?", "support": "force molecule cell velocity acid gene"}
    path = saved(tmp_path, [*rows, mixed])
    assert report(build("sciq", path))[3] == (72, 1)
    assert report(build("sciq", path, confidence=0.0))[3] == (73, 0)


def test_at_most_so_many_of_a_domain_are_drawn_by_seed(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    path = saved(tmp_path, sciq_rows())
    ten = build("sciq", path, per_domain=10)
    assert Counter(item.domain for item in ten.items) == {"physics": 10, "chemistry": 10}
    assert ids(ten) == ids(build("sciq", path, per_domain=10)) == sorted(ids(ten))
    assert set(ids(ten)) <= set(ids(build("sciq", path, per_domain=15)))
    assert ids(ten) != ids(build("sciq", path, per_domain=10, seed=2))


def test_json_and_parquet_of_the_same_rows_give_the_same_bank(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    parquet = tmp_path / "train.parquet"
    pl.DataFrame(sciq_rows()).write_parquet(parquet)
    assert list(build("sciq", parquet).items) == list(build("sciq", saved(tmp_path, sciq_rows())).items)


def test_sciq_without_filters_keeps_all_biology_too(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    bank = build("sciq", saved(tmp_path, sciq_rows()), filters="none")
    assert Counter(item.domain for item in bank.items) == {"physics": 24, "chemistry": 24, "biology": 24}


def test_sciq_names_bad_rows_and_domains_without_examples(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    with pytest.raises(BankError, match="no question can stand as an example of biology, chemistry"):
        build("sciq", saved(tmp_path, sciq_rows()[:24]))
    rows = [*sciq_rows(), {"question": "q"}]
    with pytest.raises(BankError, match="row 73: question or correct_answer is empty"):
        build("sciq", saved(tmp_path, rows))


def test_sciq_without_scikit_learn_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(MissingExtra, match=r"scikit-learn.*edufair\[banks\]"):
        build("sciq", saved(tmp_path, sciq_rows()))


# MathDial


def mathdial_row(qid: int = 1, *turns: str, outcome: str | None = "Yes", **others: Any) -> dict[str, Any]:
    return {
        "qid": qid,
        "question": "How many?",
        "ground_truth": "3 + 4 = 7\nso 7\n 7",
        "student_profile": "Someone is a 7th grade student.",
        "self-correctness": outcome,
        "conversation": "|EOM|".join(turns or SOUND),
        **others,
    }


SOUND = (
    "Teacher: (generic)Hi, tell me.", "Student: It is 5.",
    "Teacher: (focus)Look again.", "Student: Then 6.",
    "Teacher: (telling)You add.", "Student: Hm.",
    "Teacher: (probing)So?", "Student: It is 7.",
    "Teacher: (generic)Yes, 7.",
)  # fmt: skip


def mathdial(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> Bank:
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return build("mathdial", path, **options)


def test_mathdial_filters_read_moves_and_self_correctness(tmp_path: Path) -> None:
    told = (*SOUND[:6], "Teacher: (telling)It is 7.", "Student: 7, yes.")
    probing_only = tuple(turn.replace("(focus)", "(probing)").replace("(telling)", "(probing)") for turn in SOUND)
    bank = mathdial(
        tmp_path,
        mathdial_row(1),
        mathdial_row(2, *SOUND[:6]),
        mathdial_row(3, *probing_only),
        mathdial_row(4, outcome="No"),
        mathdial_row(5, outcome=None),
        mathdial_row(6, outcome="Yes, but I had to reveal the answer"),
        mathdial_row(7, *told),
    )
    assert ids(bank) == ["mathdial-1"]
    assert report(bank) == [(7, 0), (6, 1), (5, 1), (3, 2), (1, 2)]


def test_the_answer_is_the_last_line_and_the_support_the_lines_before(tmp_path: Path) -> None:
    (item,) = mathdial(tmp_path, mathdial_row()).items
    assert item.data == {"answer": "7", "accepted": [], "support": "3 + 4 = 7\nso 7", "grade": 7}


def test_a_problem_with_several_dialogues_is_one_item(tmp_path: Path) -> None:
    bank = mathdial(tmp_path, mathdial_row(1, outcome="No"), mathdial_row(1), mathdial_row(2))
    assert ids(bank) == ["mathdial-1", "mathdial-2"]
    assert bank.notes == ("3 dialogues about 2 problems",)


def test_a_grade_is_stated_or_given_and_never_guessed(tmp_path: Path) -> None:
    silent = mathdial_row(student_profile="Someone.")
    with pytest.raises(BankError, match=r"row 1: student_profile states no grade; give one \(--grade\)"):
        mathdial(tmp_path, silent)
    assert next(iter(mathdial(tmp_path, silent, grade=9).items)).data["grade"] == 9


def test_bad_mathdial_rows_are_named(tmp_path: Path) -> None:
    with pytest.raises(BankError) as caught:
        mathdial(
            tmp_path,
            mathdial_row(1),
            mathdial_row(1, question="Another?"),
            mathdial_row(2, "no speaker"),
            mathdial_row(3, "Student: hello"),
            mathdial_row(4, ground_truth=None),
        )
    message = str(caught.value)
    assert "row 2: the problem 'mathdial-1' differs from an earlier row" in message
    assert "row 3: conversation: a turn without a speaker: 'no speaker'" in message
    assert "row 4: conversation: turn 1 is a student's without a tutor's" in message
    assert "row 5: ground_truth is empty" in message


def test_the_real_mathdial_file_gives_the_counts_of_the_docs() -> None:
    if not MATHDIAL.exists():
        pytest.skip("MathDial's test.jsonl is not here")
    bank = build("mathdial", MATHDIAL)
    # 599 rows and 394 different qids: counted with json and a set.
    assert bank.notes == ("599 dialogues about 394 problems",)
    assert report(bank)[0] == (394, 0)
    kept = [step.kept for step in bank.report]
    assert kept == sorted(kept, reverse=True)
    assert len(ids(bank)) == kept[-1]
    assert kept[:-1] == [step.kept + step.removed for step in bank.report[1:]]
    docs = (Path(__file__).parents[2] / "docs" / "banks.md").read_text(encoding="utf-8")
    for step in bank.report:
        assert f"| {step.name} | {step.removed} | {step.kept} |" in docs
