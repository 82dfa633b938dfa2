"""The sample bank: complete, right, neutral, and with no answer in its own question."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from edufair.design.banks import build, read_bank, summarise
from edufair.design.banks.summary import answer_kind
from edufair.records import Item
from edufair.text.answers import AnswerMatcher, needs_mathematics

ITEMS = {item.id: item for item in build("sample").items}

# Every numerical answer worked out again, apart from the bank's own support sentences: closed forms, the given
# conditions tried out number by number, and atoms counted in the formulas.
NUMBERS: dict[str, float | Fraction] = {
    "math-01": next(3 * w * w for w in range(1, 50) if 2 * (w + 3 * w) == 96),
    "math-02": next(x for x in range(-50, 50) if 5 * (x - 3) + 2 * x == 4 * (x + 6)),
    "math-03": Fraction(300) / (Fraction(150, 60) + Fraction(150, 100)),
    "math-04": next(p for p in range(1, 500) if Fraction(p) * Fraction(120, 100) * Fraction(75, 100) == 108),
    "math-05": next(n + 4 for n in range(1, 200, 2) if n + n + 2 + n + 4 == 177),
    "math-06": 7 * math.isqrt(25**2 - 7**2),
    "math-07": next(6 * n for n in range(1, 9) for p in range(1, 9) if (4 * n + 3 * p, 2 * n + 5 * p) == (23, 15)),
    "math-08": 7 + Fraction(19 - 7, 6 - 2) * (10 - 2),
    "math-09": (1 - 3 * (Fraction(1, 10) + Fraction(1, 15))) / Fraction(1, 15),
    "math-10": next(2 * n + 2 for n in range(2, 100, 2) if n * (n + 2) == 528),
    "math-11": 5 * 78 - sum((70, 85, 81, 66)),
    "math-12": Fraction(math.comb(4, 2), math.comb(12, 2)),
    "math-13": Fraction(2**5 * 2**4, 2**3),
    "math-14": Fraction(80 * 50 * 60, 1000) * Fraction(3, 4),
    "math-15": next(max(a, 2 * a, a + 20) for a in range(1, 180) if a + 2 * a + a + 20 == 180),
    "math-16": next(n for n in range(3, 100) if 180 * (n - 2) == 156 * n),
    "math-17": 2 * (9 - 4) ** 2 - 3 * (9 - 4) + 5,
    "math-18": next(n for n in range(100) if 7 * n - 15 > 4 * n + 30),
    "math-19": Fraction(3, 2) / 2 * 18,
    "math-20": 4000 * Fraction(3, 2) ** 3,
    "math-21": Fraction(60 * 84, 360),
    "math-22": next(8 * k for k in range(1, 50) if Fraction(5 * k + 12, 8 * k + 12) == Fraction(3, 4)),
    "math-23": 17 + (25 - 4) * Fraction(41 - 17, 10 - 4),
    "math-24": next(k for k in range(100) if math.isclose(k * math.sqrt(2), math.sqrt(72) + math.sqrt(50))),
    "math-25": next(a**3 for a in range(1, 50) if 6 * a * a == 294),
    "math-26": next(w for w in range(1, 900) if Fraction(60, 300 + w) == Fraction(12, 100)),
    "math-27": max(30 * t - 5 * t * t for t in range(7)),
    "math-28": math.perm(7, 4),
    "math-29": (Fraction(130, 100) * Fraction(90, 100) - 1) * 100,
    "math-30": sum(x * x for x in range(100) if x * x - 19 * x + 84 == 0),
    "phys-01": Fraction(18 + 12) / Fraction(45 + 15 + 30, 60),
    "phys-02": Fraction(270, 250 - 150),
    "phys-03": Fraction(30 - 8, 5),
    "phys-04": 120 * Fraction(16, 10),
    "phys-05": Fraction(600) / (Fraction(5, 10) * Fraction(4, 10)),
    "phys-06": Fraction(50 * 10 * 12, 20),
    "phys-07": Fraction(6, 3 + 9) * 9,
    "phys-08": Fraction(9) / (1 / (Fraction(1, 12) + Fraction(1, 12))),
    "phys-09": Fraction(1800, 1000) * Fraction(40, 60),
    "phys-10": Fraction(240) * Fraction(3, 2) / 300,
    "phys-11": Fraction(340) / Fraction(1275, 3),
    "phys-12": 340 * Fraction(12, 10) / 2,
    "phys-13": Fraction(1, 2) * 4200 * (80 - 20),
    "phys-14": Fraction(1, 2) * 2 * (6**2 - 3**2),
    "phys-15": math.isqrt(2 * 10 * 45),
    "phys-16": Fraction(6, 9) * 15,
    "phys-17": Fraction(140 * 20, 500 * 8) * 100,
    "phys-18": 180 - 2 * 35,  # the three angles at the mirror make a straight line
    "phys-19": Fraction(50 - 42, 10 * 1000) * 100**3,
    "phys-20": Fraction((72 - 36) * 1000, 3600) / 4,
    "phys-21": Fraction(15 * 10, 2) + 15 * 20 + Fraction(15 * 6, 2),
    "phys-26": Fraction(1, 4) * 2 * 60,
    "phys-27": Fraction(230 * 60, 1200),
    "phys-28": 200 * Fraction(1, 2) ** (24 // 6),
    "phys-29": Fraction(30, 4) * 60,
    "phys-30": Fraction(2000 * 6, 2000 + 3000),
    "chem-01": 6 * 12 + 12 * 1 + 6 * 16,
    "chem-02": 3 * (2 + 1 + 4),
    "chem-03": 3 * 4,
    "chem-04": Fraction(40 - 24, 24) * 90,
    "chem-05": next(  # C3H8: a; O2: b; CO2: c; H2O: d, the smallest that balances
        a + b + c + d
        for a in range(1, 9)
        for b in range(1, 9)
        for c in range(1, 9)
        for d in range(1, 9)
        if (3 * a, 8 * a, 2 * b) == (c, 2 * d, 2 * c + d)
    ),
    "chem-06": 70 * Fraction(3 * 2, 28),
    "chem-07": 3 * (56 - 26),
    "chem-08": 13 - 3,
    "chem-10": Fraction(12, 12 + 4) * 100,
    "chem-11": Fraction(45, 45 + 180) * 100,
    "chem-12": Fraction(200 * 15, 120),
    "chem-13": Fraction(45, 2 * 1 + 16),
    "chem-14": Fraction(75 * 35 + 25 * 37, 100),
    "chem-18": Fraction(30 * 5, 2),
    "chem-19": 30 + 2 * 30,
    "chem-20": Fraction(110 - 32, 2),
    "chem-27": 865 - 680,
    "chem-28": Fraction(48 + 24, 60),
    "chem-29": Fraction(5 * 18, 64 + 32 + 4 * 16 + 5 * 18) * 100,
    "chem-30": 15 * 3,  # C2H4 + 3 O2 -> 2 CO2 + 2 H2O: 6 atoms of oxygen on both sides
}

# Facts, checked in the periodic table (proton numbers) and in any school book of physics or chemistry.
WORDS = {
    "phys-22": "conduction",
    "phys-23": "radiation",
    "phys-24": "refraction",
    "phys-25": "inertia",
    "chem-09": "chlorine",  # 2 + 8 + 7 = 17
    "chem-15": "potassium chloride",
    "chem-16": "calcium nitrate",
    "chem-17": "Al2O3",  # 2 × 3+ and 3 × 2-
    "chem-21": "CH4",  # 2.4/12 : 0.8/1 = 1 : 4
    "chem-22": "distillation",
    "chem-23": "hydrogen",
    "chem-24": "carbon dioxide",
    "chem-25": "magnesium",
    "chem-26": "sulfur",  # 16 protons
}

MARKED = """
    he she him her his hers himself herself man men woman women boy girl boys girls male female mother father mom dad
    mum parent parents son daughter brother sister wife husband uncle aunt king queen lady gentleman sir madam mr mrs ms
    policeman fireman actress waiter waitress guy guys black white asian hispanic african european american chinese
    indian mexican immigrant migrant refugee foreign foreigner native english language accent church mosque temple
    christmas rich poor wealthy income wage salary rent afford cheap expensive luxury scholarship servant maid slum
"""


DIGITS = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:/\d+)?")


def value(text: str) -> Fraction:
    """The number a text begins with."""
    found = DIGITS.match(text)
    assert found is not None, text
    return Fraction(found[0].replace(",", ""))


def test_the_bank_holds_thirty_items_a_domain() -> None:
    assert Counter(item.domain for item in ITEMS.values()) == {
        "mathematics": 30,
        "physics": 30,
        "chemistry": 30,
    }
    expected = [f"{short}-{i:02d}" for short in ("math", "phys", "chem") for i in range(1, 31)]
    assert list(ITEMS) == expected
    assert {(item.domain, item.data["grade"]) for item in ITEMS.values()} == {
        ("mathematics", 9), ("physics", 8), ("chemistry", 8),
    }  # fmt: skip


def test_every_answer_is_checked_here() -> None:
    assert NUMBERS.keys() | WORDS.keys() == ITEMS.keys()


@pytest.mark.parametrize("id", NUMBERS)
def test_a_numerical_answer_is_right(id: str) -> None:
    assert value(ITEMS[id].data["answer"]) == NUMBERS[id]


@pytest.mark.parametrize("id", WORDS)
def test_a_worded_answer_is_right(id: str) -> None:
    assert ITEMS[id].data["answer"] == WORDS[id]


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS.keys())
def test_no_answer_stands_in_its_question(item: Item) -> None:
    given = {value(number) for number in DIGITS.findall(item.text)}
    for answer in (item.data["answer"], *item.data["accepted"]):
        if DIGITS.fullmatch(answer):
            assert value(answer) not in given
        assert not re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", item.text, re.IGNORECASE)


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS.keys())
def test_no_word_of_a_question_carries_gender_origin_or_class(item: Item) -> None:
    words = set(re.findall(r"[a-z]+", f"{item.text} {item.data['support']}".lower()))
    assert not words & set(MARKED.split())


def test_the_only_names_are_of_science_and_places() -> None:
    """A capital inside a sentence is a unit, a formula or a heavenly body."""
    inside = re.compile(r"(?<![.?!:=] )(?<![(^])(?<!^)\b[A-Z][a-z]{2,}")
    found = {name for item in ITEMS.values() for name in inside.findall(item.text)}
    assert found <= {"Moon", "Sun", "Earth"}


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS.keys())
def test_accepted_variants_and_support_are_there_and_differ_from_the_answer(item: Item) -> None:
    accepted = item.data["accepted"]
    assert item.data["answer"] not in accepted
    assert len(set(accepted)) == len(accepted)
    assert item.data["support"].endswith(".")
    assert len(item.text) > 30
    assert item.text == item.text.strip()


def test_a_number_with_a_unit_is_also_accepted_without_it() -> None:
    for id in NUMBERS:
        answer, accepted = ITEMS[id].data["answer"], ITEMS[id].data["accepted"]
        assert any(re.fullmatch(r"[\d.,/]+", text) for text in (answer, *accepted)), id


def test_sample_is_what_an_audit_names() -> None:
    assert list(read_bank("sample", base=Path("/nowhere"))) == list(ITEMS.values())


def test_the_summary_counts_what_is_there() -> None:
    summary = summarise(ITEMS.values(), examples=1)
    assert (summary.items, summary.grades) == (90, {8: 60, 9: 30})
    assert summary.kinds == {"number": len(NUMBERS), "words": len(WORDS)}
    assert [item.id for item in summary.examples] == ["math-01", "phys-01", "chem-01"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        *((a, "number") for a in ("12", "-1.5", "3/4", "1,000", "$5", "70%", "9.8 m/s²", "800 cm³", "20 °C")),
        *((a, "mathematics") for a in ("x + 1", "2x² - 3", r"\sqrt{2}", "3π")),
        *((a, "words") for a in ("friction", "None", "carbon dioxide", "Al2O3")),
    ],
)
def test_answers_are_of_three_kinds(answer: str, kind: str) -> None:
    assert answer_kind(answer) == kind


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS.keys())
def test_every_answer_and_variant_is_recognised_in_a_sentence(item: Item) -> None:
    matcher = AnswerMatcher(item.data["answer"], item.data["accepted"], item.text)
    for answer in (item.data["answer"], *item.data["accepted"]):
        assert not needs_mathematics(answer)  # the sample bank works without the extra package
        assert matcher.holds(f"So the answer is {answer}, I think.")
    assert not matcher.holds(item.text)
