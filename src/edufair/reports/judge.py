"""A judge beside people, in tables and in words: for the terminal and for the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from edufair.reports import words
from edufair.reports.numbers import MISSING, count, interval, listed, number, percent, plural, points
from edufair.reports.safe import shown
from edufair.reports.views import Cell, Header, Table, arm_label
from edufair.scoring.validation import Among, ArmGap, Checked, Estimate, Validation

if TYPE_CHECKING:
    from edufair.engine.validate import Validated

#: Below so many turns, or labels of the rarer kind, an interval of alpha is narrower than it should be.
FEW_TURNS, FEW_LABELS = 30, 5

HEADERS = ("Turns", "Agree", "Alpha", "AC1", "1 for 0", "0 for 1", "No label", "People agree")


def title(validation: Validation) -> str:
    """Which judge was compared with whose labels, on how many turns."""
    some = f" of {count(validation.of)}" if validation.turns != validation.of else ""
    return f"{validation.judge} beside {validation.against} ({validation.file}): {count(validation.turns)}{some} turns"


def agreement_table(validation: Validation) -> Table:
    """One row a dimension: agreement, which way the judge errs, what is missing, people's own agreement.

    Under "1 for 0" stand the turns on which the judge says 1 and people say 0.
    """
    headers = (Header("Dimension"), *(Header(text, numeric=True) for text in HEADERS))
    return Table("Agreement, with 95% intervals", headers, tuple(_row(checked) for checked in validation.checked))


def _row(checked: Checked) -> tuple[Cell, ...]:
    asked = checked.dimension if checked.dimension != checked.metric else checked.metric
    remark = "; ".join(filter(None, [asked, checked.reading, "" if checked.same else "not the same construct"]))
    return (
        Cell(words.metric_label(checked.metric), remark),
        Cell(count(checked.judge.n), f"of {count(checked.turns)}"),
        Cell(percent(checked.judge.raw.value), _percent_interval(checked.judge.raw)),
        _coefficient(checked.judge.alpha),
        _coefficient(checked.judge.ac1),
        Cell(count(_cell(checked, "1", "0"))),
        Cell(count(_cell(checked, "0", "1"))),
        Cell(count(sum(checked.missing.values())), _states(checked)),
        _people(checked),
    )


def _percent_interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{percent(estimate.low)} to {percent(estimate.high)}"


def _coefficient(estimate: Estimate) -> Cell:
    if estimate.value is None:
        return Cell("undefined", estimate.undefined)
    ends = interval(estimate.low, estimate.high, sign=False)
    return Cell(number(estimate.value), "" if ends == MISSING else ends)


def _cell(checked: Checked, judge: str, people: str) -> int:
    if judge not in checked.categories or people not in checked.categories:
        return 0
    return checked.table[checked.categories.index(judge)][checked.categories.index(people)]


def _states(checked: Checked) -> str:
    states = [f"{count(n)} {state}" for state, n in checked.missing.items()]
    states += [f"{count(checked.tied)} without a consensus"] if checked.tied else []
    return ", ".join(states)


def _people(checked: Checked) -> Cell:
    """People's own agreement: what a judge can be expected to reach."""
    if checked.people is None:
        return Cell(MISSING, "one label a turn")
    alpha = checked.people.alpha
    said = f"alpha {number(alpha.value)}" if alpha.value is not None else f"alpha undefined: {alpha.undefined}"
    return Cell(percent(checked.people.raw.value), f"{said}, {plural(checked.people.n, 'turn')}")


def confusion_table(validation: Validation) -> Table:
    """How often the judge gave each label where people gave each."""
    headers = (Header("Dimension"), Header("The judge says"), Header("People say"), Header("Turns", numeric=True))
    rows = [
        (Cell(words.metric_label(c.metric), c.reading), Cell(mine), Cell(theirs), Cell(count(c.table[i][j])))
        for c in validation.checked
        for i, mine in enumerate(c.categories)
        for j, theirs in enumerate(c.categories)
    ]
    return Table("The judge's labels by people's", headers, tuple(rows))


def each_table(validation: Validation) -> Table | None:
    """The judge with every annotator, where there are several."""
    if len(validation.annotators) < 2:
        return None
    headers = (Header("Dimension"), Header("Annotator"), *(Header(t, numeric=True) for t in HEADERS[:4]))
    rows = [
        (Cell(words.metric_label(c.metric)), *_each(who, one))
        for c in validation.checked
        for who, one in c.each.items()
    ]
    return Table("The judge with each annotator", headers, tuple(rows))


def _each(who: str, one: Among) -> tuple[Cell, ...]:
    raw = Cell(percent(one.raw.value))
    return Cell(who), Cell(count(one.n)), raw, Cell(number(one.alpha.value)), Cell(number(one.ac1.value))


def errors_table(validation: Validation) -> Table:
    """How often the judge errs in each arm, or on each tutor's turns, and what that adds to the arm's mean."""
    who = "Arm" if validation.grouped == "arm" else "Tutor"
    headers = (Header("Dimension"), Header(who), *(Header(t, numeric=True) for t in ("Turns", "Errors", "Net")))
    rows = [
        (
            Cell(words.metric_label(c.metric), c.reading),
            Cell(_arm(one.arm)),
            Cell(count(one.n)),
            Cell(percent(one.rate.value), f"{count(one.errors)}; {_percent_interval(one.rate) or MISSING}"),
            Cell(points(one.net.value), _points_interval(one.net)),
        )
        for c in validation.checked
        for one in c.errors
    ]
    return Table(f"The judge's errors by {who.lower()}", headers, tuple(rows))


def gaps_table(validation: Validation) -> Table | None:
    """Where the judge errs more in one arm than in the other; None where the labels have no arms to compare."""
    gaps = [(c, gap) for c in validation.checked for gap in c.gaps]
    if not gaps:
        return None
    headers = (
        Header("Dimension"),
        Header("A"),
        Header("B"),
        Header("Errors, A − B", True),
        Header("Adds to A − B", True),
    )
    rows = [
        (
            Cell(words.metric_label(c.metric)),
            Cell(_arm(gap.a)),
            Cell(_arm(gap.b)),
            Cell(points(gap.rate.value), _points_interval(gap.rate)),
            Cell(points(gap.net.value), _points_interval(gap.net), "mark" if beyond(gap.net) else ""),
        )
        for c, gap in gaps
    ]
    return Table("What the judge's errors add to a difference between arms", headers, tuple(rows))


def _arm(label: str) -> str:
    return arm_label(label, label.split(" ", maxsplit=1)[0]) if "=" in label else label


def _points_interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return estimate.undefined
    return f"{points(estimate.low)} to {points(estimate.high)}"


def beyond(estimate: Estimate) -> bool:
    """Whether the interval of a difference excludes zero."""
    return estimate.low is not None and estimate.high is not None and (estimate.low > 0 or estimate.high < 0)


def tables(validation: Validation) -> list[Table]:
    """Everything that is known of one judge, agreement first."""
    found = [agreement_table(validation), gaps_table(validation), errors_table(validation)]
    found += [each_table(validation), confusion_table(validation)]
    return [table for table in found if table is not None]


def remarks(validation: Validation) -> list[str]:
    """What a reader must know of single dimensions, and what was compared as."""
    said = dict.fromkeys(
        f"{words.capital(words.metric_label(c.metric))}: {c.note}" for c in validation.checked if c.note
    )
    return list(said)


def note(validations: Sequence[Validation]) -> str:
    """What the checks say, in sentences for the first page; empty where there was none."""
    return " ".join(_note(each) for each in validations)


def _note(validation: Validation) -> str:
    same = [c for c in validation.checked if c.same]
    judged = [c for c in same if c.judge.raw.value is not None]
    said = [
        f"The judge {validation.name} was compared with {_whose(validation)} on {plural(validation.turns, 'turn')}."
    ]
    said.append(f"{_agreeing(judged)}; {_alphas(judged)}." if judged else "On no turn do both have a label.")
    said += [_few(judged), _gaps(validation)]
    return " ".join(filter(None, said))


def _agreeing(judged: Sequence[Checked]) -> str:
    """The share of equal labels, from the worst dimension to the best."""
    low, high = (pick(judged, key=lambda c: c.judge.raw.value or 0.0) for pick in (min, max))
    ends = [f"{percent(c.judge.raw.value)} ({_named(c)})" for c in (low, high)]
    return f"It gives the same label in {' to '.join(dict.fromkeys(ends))} of them"


def _named(checked: Checked) -> str:
    """A dimension inside a sentence."""
    return words.metric(checked.metric).label


def _whose(validation: Validation) -> str:
    if validation.against == "MRBench":
        return "people's labels in MRBench, of other tutors' turns,"
    who = "one person's labels" if len(validation.annotators) == 1 else f"{len(validation.annotators)} people's labels"
    return f"{who} of this run's dialogues,"


def _alphas(judged: Sequence[Checked]) -> str:
    defined = [c.judge.alpha.value for c in judged if c.judge.alpha.value is not None]
    if not defined:
        return "alpha is undefined, because there is no variation to tell agreement from chance by"
    low, high = number(min(defined)), number(max(defined))
    return f"alpha is {low}" if low == high else f"alpha lies between {low} and {high}"


def _few(judged: Sequence[Checked]) -> str:
    few = list(dict.fromkeys(_named(c) for c in judged if _is_small(c)))
    return f"Too few turns, or too few of the rarer label, for a steady alpha: {listed(few)}." if few else ""


def _is_small(checked: Checked) -> bool:
    by_people = [sum(column) for column in zip(*checked.table, strict=True)]
    rarer = min((n for n, name in zip(by_people, checked.categories, strict=True) if name in ("0", "1")), default=0)
    return checked.judge.n < FEW_TURNS or rarer < FEW_LABELS


def _gaps(validation: Validation) -> str:
    if validation.grouped != "arm":
        return (
            "These turns have no arms: whether it errs more for some learners than for others is not known from them."
        )
    gaps = [(c, gap) for c in validation.checked for gap in c.gaps if gap.net.value is not None]
    if not gaps:
        return "The labels hold no two arms that are contrasted: whether it errs more in one is not known."
    checked, gap = max(gaps, key=lambda one: abs(one[1].net.value or 0.0))
    seen = sum(beyond(one.net) for _, one in gaps)
    verb = "excludes" if seen == 1 else "exclude"
    return (
        f"Its errors alone would shift a difference between arms by up to {_shift(gap)} points "
        f"({_named(checked)}, {_arm(gap.a)} − {_arm(gap.b)}, 95% {_points_interval(gap.net)}); of "
        f"{plural(len(gaps), 'such interval')}, {count(seen)} {verb} zero, and chance makes one in twenty do so."
    )


def _shift(gap: ArmGap) -> str:
    return number(100 * abs(gap.net.value or 0.0), 1)


def terminal(validated: Validated) -> RenderableType:
    """What the command line prints: for each judge the agreement, the gaps between arms, and the sentences."""
    parts: list[RenderableType] = []
    for validation in validated.validations:
        parts.append(_narrow(validation))
        gaps = gaps_table(validation)
        if gaps is not None:
            parts.append(_rich(gaps))
        parts.append(Text("95% intervals. 1 for 0: the judge says 1 where people say 0.\n", style="dim"))
        parts += [Text(f"{shown(line)}\n") for line in (note([validation]), *remarks(validation))]
    return Group(*parts)


def _narrow(validation: Validation) -> RichTable:
    """The agreement table for 80 columns: without what the report and the JSON say beside it."""
    several = any(checked.people is not None for checked in validation.checked)
    drawn = RichTable(title=Text(shown(title(validation))), title_justify="left", box=None, pad_edge=False)
    drawn.add_column("Dimension", overflow="fold")
    for heading in (
        "Turns",
        "Agree",
        "Alpha",
        "AC1",
        "1 for 0",
        "0 for 1",
        "No label",
        *(["People"] if several else []),
    ):
        drawn.add_column(heading, justify="right", no_wrap=True)
    for checked, (name, turns, *cells) in zip(validation.checked, agreement_table(validation).rows, strict=True):
        raw, alpha, ac1, ups, downs, missing, people = cells
        short = checked.reading.replace("“To some extent”", "some")
        read = ", ".join(filter(None, [short, "" if checked.same else "another construct"]))
        bare = [Cell(cell.text) for cell in (ac1, ups, downs, missing, *([people] if several else []))]
        alpha = alpha if checked.judge.alpha.value is not None else Cell(alpha.text)
        drawn.add_row(*(_rich_cell(cell) for cell in (Cell(name.text, read), Cell(turns.text), raw, alpha, *bare)))
    return drawn


def _rich(table: Table) -> RichTable:
    drawn = RichTable(title=Text(shown(f"\n{table.caption}")), title_justify="left", box=None, pad_edge=False)
    for header in table.headers:
        drawn.add_column(header.text, justify="right" if header.numeric else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_rich_cell(cell) for cell in row))
    return drawn


def _rich_cell(cell: Cell) -> Text:
    text = Text(shown(cell.text))
    return text.append(f"\n{shown(cell.note)}", style="dim") if cell.note else text
