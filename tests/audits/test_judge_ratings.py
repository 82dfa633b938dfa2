"""Any table of ratings: the paper's own 990, tables with and without poles, and tables that cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from edufair.audits.judge.ratings import Columns, RatingsCheck, check_ratings
from edufair.audits.judge.tables import frames, tables
from edufair.errors import BankError
from edufair.stats import RatingContrast

DATA = Path(__file__).parents[2] / "../shared/data/judge_did"
FIELDS = ("scaffolding", "productive_struggle", "assistance_calibration", "elicitation", "overall")


@pytest.fixture(scope="module")
def published() -> RatingsCheck:
    if not DATA.is_dir():
        pytest.skip("the ratings in ../shared/data/judge_did are not here")
    stimuli = pl.read_csv(DATA / "stimuli.csv")
    corpus = (pl.col("r_high_provenance") == "corpus") & (pl.col("r_low_provenance") == "corpus")
    stimuli = stimuli.with_columns(pairs=pl.when(corpus).then(pl.lit("all corpus")))
    return check_ratings(
        pl.read_csv(DATA / "ratings.csv").join(stimuli, on="stimulus"),
        fields=FIELDS,
        low=1,
        high=5,
        arms=("P_nov", "P_adv"),
        control="D",
        subset="all corpus",
        columns=Columns("stimulus", "arm", "source_run", "pole", "rep", "competence", "evidence_strength", "pairs"),
    )


def test_the_paper_s_ratings_give_its_numbers(published: RatingsCheck) -> None:
    weak, struggle = published.of("weak", "overall").gap, published.of("weak", "productive_struggle").gap
    assert weak and struggle
    # section 6.1: +0.085 [-0.167, +0.353], p = 0.684, 18 source runs; section 6.2: both pole shifts
    assert (round(weak.gap.estimate, 3), round(weak.gap.low, 3), round(weak.gap.high, 3)) == (0.085, -0.167, 0.353)
    assert (round(weak.gap.p, 3), weak.gap.n) == (0.684, 18)
    assert {pole: round(test.estimate, 3) for pole, test in weak.shifts.items()} == {"high": -0.238, "low": -0.153}
    # section 6.3: +0.378, p = 0.00195; Holm over 21 tests 0.041 (section 7)
    assert (round(struggle.gap.estimate, 3), round(struggle.gap.p, 5)) == (0.378, 0.00195)
    assert len(published.tests) == 21
    assert round(published.of("weak", "productive_struggle").p_holm or 0, 3) == 0.041


def test_the_paper_s_one_finding_is_called_a_one_pole_contrast_in_every_table(published: RatingsCheck) -> None:
    made = frames(tables(published, model="opus"))
    where = {"model": "opus", "domain": "weak", "metric": "productive_struggle"}
    assert made["scale_check"].filter(**where)["verdict"].to_list() == ["one-pole contrast"]
    (floor,) = made["pinned"].filter(**where, pole="low", bound=1).to_dicts()
    assert (floor["pinned"], floor["n"]) == (17, 30)  # section 6.3: 17 of 30; +0.472 there, +0.149 on the rest
    assert (round(floor["gap_pinned"], 3), round(floor["gap_rest"], 3)) == (0.472, 0.149)
    carried = made["constructions"].filter(**where, carried_from="high")
    assert dict(zip(carried["form"], carried["share_made"].round(2), strict=True))["clip"] == 0.85
    assert dict(zip(carried["form"], carried["share_made"].round(2), strict=True))["round"] == 0.79
    (kappa,) = made["attenuation"].filter(**where, pole="low")["kappa"]
    assert round(kappa, 2) == 0.81  # protocol: 1 - 0.074 / 0.395
    room = made["headroom"].filter(domain="weak", metric="overall").to_dicts()[0]
    assert (round(room["lowest_gap"], 2), round(room["highest_gap"], 2)) == (-1.38, 6.62)  # section 5


def table(**columns: Any) -> pl.DataFrame:
    """Eight items, each its own cluster: high 5 - 1 under b, low always 1."""
    rows = [
        {"item": f"i{k}", "arm": arm, "pole": pole, "overall": (5 - (arm == "b")) if pole == "high" else 1}
        for k in range(8)
        for arm in ("a", "b")
        for pole in ("high", "low")
    ]
    return pl.DataFrame(rows).with_columns(**columns)


PLAIN: dict[str, Any] = {"fields": ["overall"], "low": 1, "high": 5, "arms": ("a", "b"), "resamples": 100}
NO_EXTRAS = Columns(cluster=None, repetition=None)


def test_a_table_with_nothing_but_items_arms_and_poles_is_enough() -> None:
    check = check_ratings(table(), **PLAIN, columns=NO_EXTRAS)
    gap = check.of("", "overall").gap
    assert gap is not None
    assert (gap.gap.estimate, gap.gap.n, gap.gap.p, gap.verdict) == (1.0, 8, 2**-7, "one-pole contrast")
    # the family: the gap and both pole shifts; the low one is all zero
    assert [(t.name, t.p) for t in check.tests] == [("gap", 2**-7), ("shift at high", 2**-7), ("shift at low", 1.0)]
    assert check.of("", "overall").p_holm == 3 * 2**-7


def test_rows_of_one_cell_are_repetitions_whether_numbered_or_not() -> None:
    twice = pl.concat([table(), table()])
    assert check_ratings(twice, **PLAIN, columns=NO_EXTRAS).of("", "overall").gap is not None
    numbered = pl.concat([table(rep=pl.lit(1)), table(rep=pl.lit(1))])
    with pytest.raises(BankError, match="the same item, arm, pole and repetition"):
        check_ratings(numbered, **PLAIN, columns=Columns(cluster=None, repetition="rep"))


def test_without_poles_the_contrast_is_given_and_no_gap() -> None:
    high = table().filter(pole="high")
    check = check_ratings(high, **PLAIN, columns=Columns(cluster=None, pole=None, repetition=None))
    found = check.of("", "overall")
    assert isinstance(found.found, RatingContrast) and found.gap is None
    assert (found.found.difference.estimate, found.p_holm, check.tests) == (1.0, 2**-7, ())


def test_lost_ratings_are_counted_by_arm_and_never_filled_in() -> None:
    lost = (pl.col("item") == "i0") & (pl.col("arm") == "b") & (pl.col("pole") == "low")
    rows = table(overall=pl.when(~lost).then(pl.col("overall")))
    found = check_ratings(rows, **PLAIN, columns=NO_EXTRAS).of("", "overall")
    assert (found.n_items, found.lost) == (8, (0, 1))
    assert found.gap is not None and (found.gap.n_items, found.gap.n_incomplete, found.gap.n_missing) == (7, 1, 1)


def test_where_nothing_is_complete_it_says_so() -> None:
    rows = table(overall=pl.when(pl.col("pole") == "high").then(pl.col("overall")))
    check = check_ratings(rows, **PLAIN, columns=NO_EXTRAS)
    assert check.of("", "overall").gap is None
    assert "nothing to compare" in check.of("", "overall").why_not
    assert (check.tests, check.of("", "overall").p_holm) == ((), None)


@pytest.mark.parametrize("value", ["5", 5, 5.0])
def test_ratings_may_be_numbers_or_texts_and_only_an_empty_one_is_missing(value: Any) -> None:
    rows = table().with_columns(overall=pl.Series([value] * 32, strict=False))
    found = check_ratings(rows, **PLAIN, columns=NO_EXTRAS).of("", "overall")
    assert found.gap is not None and found.gap.gap.estimate == 0


@pytest.mark.parametrize(
    ("rows", "options", "complaint"),
    [
        (table(), {"fields": ["kindness"]}, "no column 'kindness'; it has 'item', 'arm', 'pole', 'overall'"),
        (table(), {"arms": ("a", "c")}, "no rating has the arm 'c'; the table has: a, b"),
        (table(), {"control": "D"}, "no rating has the arm 'D'"),
        (table(), {"poles": ("good", "low")}, "no rating has the pole 'good'; the table has: high, low"),
        (table(), {"high": 4}, "row 1: overall is 5, outside the scale from 1 to 4"),
        (table(overall=pl.lit("NA")), {}, "row 1: overall is 'NA'; a number is wanted, or nothing"),
        (table(item=pl.lit(" ")), {}, r"row 1: the column 'item' \(item\) is empty"),
        (table(), {"primary": "kindness"}, "the primary field 'kindness' is not among the fields overall"),
        (table(group=pl.int_range(32)), {"columns": Columns(cluster="group", repetition=None)}, "is in two clusters"),
        (
            table(pole=pl.when(pl.int_range(32) == 0).then(pl.lit("middle")).otherwise(pl.col("pole"))),
            {},
            "pole holds 'middle' beside 'high', 'low'",
        ),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_the_mend(
    rows: pl.DataFrame, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BankError, match=complaint):
        check_ratings(rows, **(PLAIN | {"columns": NO_EXTRAS} | options))
