"""`edufair judge validate` on hand labels of a run, and where every validation is kept and found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import polars as pl

from edufair import store as db
from edufair.engine.progress import Tally
from edufair.engine.runs import Run, open_run
from edufair.errors import BankError, ConfigError, EdufairError
from edufair.records import NOT_APPLICABLE, Record, Score, Source
from edufair.scoring.hand_labels import HandLabel, Label, LabelColumns, read_hand_labels
from edufair.scoring.rubric import CONDITIONAL
from edufair.scoring.validation import Checked, Question, Unit, Validation, check, from_json, to_json
from edufair.version import VERSION

#: The file that a validation is kept in, in its folder or in the run's.
FILE_NAME = "judge-validation.json"

#: The state of a turn that no judge has been asked about, or whose asking failed in transport.
NOT_JUDGED = "not judged"

#: What a judge said, by trial, turn and metric: the label, or None and why there is none.
Said = Mapping[tuple[str, int, str], tuple[float | None, str]]

_META = "judge validation"


@dataclass(frozen=True)
class Validated:
    """What came of it, one validation a judge; kept in `path`. `tally` counts what this sitting asked.

    `empty` counts rows of a file of hand labels that nobody has filled in.
    """

    validations: tuple[Validation, ...]
    path: Path
    tally: Tally | None = None
    empty: int = 0


def validate_on_run(
    labels: Path | str, run: Run | Path | str, *, columns: LabelColumns | None = None, judge: str | None = None
) -> Validated:
    """Compare hand labels of a run's turns with the labels of its judges, over all and by arm.

    `judge` narrows it to one judge, by its source id or its model's name. People's labels and the results are kept in
    the run's store, where the report finds them; a label given again replaces the earlier one. Nobody is asked
    anything.

    Raises BankError for a bad file or a turn that the run does not have, StoreError when there is no run, ConfigError
    when no judge has labelled it.
    """
    run = run if isinstance(run, Run) else open_run(run)
    path = Path(labels)
    given = read_hand_labels(path, columns)
    judges = _judges(run, judge)
    records = {r.trial.id: r for r in run.transcripts(sorted({label.trial for label in given.labels}))}
    _check_turns(path, given.labels, records)
    scores = run.raw_scores().filter(pl.col("trial").is_in(list(records)))
    contrasts, seed = _contrasts(run), run.plans()[-1].seed
    turns = len({(label.trial, label.turn) for label in given.labels})
    about = About(path, "hand labels of this run", _annotators(given.labels), turns, turns, "arm", seed)
    validations = tuple(
        validation_of(
            source, about, _check_run(given.labels, records, said_by(scores, source, set(records)), contrasts, seed)
        )
        for source in judges
    )
    _keep_in_run(run, given.labels, validations)
    return Validated(validations, keep(validations, run.folder), empty=given.empty)


def _annotators(labels: Sequence[HandLabel]) -> tuple[str, ...]:
    return tuple(sorted({label.annotator for label in labels}))


def _judges(run: Run, wanted: str | None) -> list[Source]:
    scored = run.scored_by()
    known = [source for source in run.sources() if source.kind == "judge" and source.id in scored]
    chosen = [source for source in known if wanted in (None, source.id, source.name)]
    if not chosen:
        have = ", ".join(source.id for source in known) or "none"
        which = "no judge has labelled this run" if wanted is None else f"no judge {wanted!r} has labelled this run"
        raise ConfigError(f"{run.folder}: {which} (there is: {have}); `edufair score RUN --judge NAME` labels it")
    return chosen


def _check_turns(path: Path, labels: Sequence[HandLabel], records: Mapping[str, Record]) -> None:
    """Every label must be of a tutor's turn after the opening: of those that the judge was asked about."""
    bad = []
    for label in labels:
        record = records.get(label.trial)
        if record is None:
            bad.append(f"row {label.row}: the run has no trial {label.trial!r}")
        elif label.turn not in judged_turns(record):
            bad.append(f"row {label.row}: turn {label.turn} of this trial is no tutor's turn after the opening")
    if bad:
        rest = f"\n  ... and {len(bad) - 10} more" if len(bad) > 10 else ""
        raise BankError(f"{path}: labels of turns that this run does not have:\n  " + "\n  ".join(bad[:10]) + rest)


def judged_turns(record: Record) -> set[int]:
    """The numbers of the turns that a judge labels: the tutor's, after the opening."""
    return {turn.number for turn in record.turns[1:] if turn.role == "tutor"}


def _contrasts(run: Run) -> list[tuple[str, str]]:
    """The pairs of arms that the run's plans contrast, arm by arm (the baseline is one arm, asked twice)."""
    cells = [(c["cell_a"], c["cell_b"]) for plan in run.plans() for c in plan.contrasts]
    return list(dict.fromkeys(pair for pair in cells if not any("#" in cell for cell in pair)))


def _check_run(
    labels: Sequence[HandLabel],
    records: Mapping[str, Record],
    said: Said,
    contrasts: Sequence[tuple[str, str]],
    seed: int,
) -> list[Checked]:
    people: dict[str, dict[tuple[str, int], dict[str, Label]]] = {}
    for label in labels:
        people.setdefault(label.metric, {}).setdefault((label.trial, label.turn), {})[label.annotator] = label.value
    return [
        check(
            Question(
                metric, metric, (0, 1, *((NOT_APPLICABLE,) if metric in CONDITIONAL else ())), contrasts=contrasts
            ),
            [
                _unit(records[trial], who, *said.get((trial, turn, metric), (None, NOT_JUDGED)), metric)
                for (trial, turn), who in sorted(turns.items())
            ],
            seed=seed,
        )
        for metric, turns in sorted(people.items())
    ]


def _unit(record: Record, people: Mapping[str, Label], value: float | None, state: str, metric: str) -> Unit:
    """A turn of a run. Not applicable is a label like the others, where people can give it as well."""
    judged: Label | None = None if value is None else int(value)
    if state == NOT_APPLICABLE and metric in CONDITIONAL:
        judged, state = NOT_APPLICABLE, ""
    return Unit(judged, people, record.trial.item.id, record.trial.arm.label, state)


def _keep_in_run(run: Run, labels: Sequence[HandLabel], validations: Sequence[Validation]) -> None:
    sources = [Source(_person(name), "person", name) for name in _annotators(labels)]
    store = db.create(run.folder)
    try:
        store.write_now(db.source, [db.source_row(source) for source in sources])
        store.write_now(db.score, [db.score_row(_score(label)) for label in labels], replace=True)
        for validation in validations:
            store.set_meta(f"{_META} {validation.judge}", to_json([validation]).decode())
    finally:
        store.close()


def _person(name: str) -> str:
    return f"person:{name}"


def _score(label: HandLabel) -> Score:
    applies = label.value != NOT_APPLICABLE
    value, reason = (float(label.value), "") if applies else (None, NOT_APPLICABLE)
    return Score(label.trial, label.turn, label.metric, _person(label.annotator), value, reason)


# --- kept and found again ---------------------------------------------------------------------------------------


def said_by(scores: pl.DataFrame, judge: Source, trials: set[str]) -> Said:
    """A judge's labels by trial, turn and metric: the value, or None and why there is none."""
    mine = scores.filter((pl.col("source") == judge.id) & (pl.col("turn") > 0) & pl.col("trial").is_in(list(trials)))
    columns = mine.select("trial", "turn", "metric", "value", "reason")
    return {(trial, turn, metric): (value, reason) for trial, turn, metric, value, reason in columns.iter_rows()}


@dataclass(frozen=True, slots=True)
class About:
    """What a validation says of the people it rests on, and of how it was made."""

    path: Path
    against: str
    annotators: tuple[str, ...]
    turns: int
    of: int
    grouped: Literal["arm", "tutor"]
    seed: int


def validation_of(judge: Source, about: About, checked: Sequence[Checked]) -> Validation:
    return Validation(
        judge=judge.id,
        name=judge.name,
        settings=judge.settings,
        against=about.against,
        file=about.path.name,
        file_hash=blake2b(about.path.read_bytes(), digest_size=16).hexdigest(),
        annotators=about.annotators,
        turns=about.turns,
        of=about.of,
        grouped=about.grouped,
        seed=about.seed,
        created=datetime.now(UTC).strftime("%Y-%m-%d"),
        version=VERSION,
        checked=tuple(checked),
    )


def keep(validations: Sequence[Validation], folder: Path) -> Path:
    """Write them into a folder. Those of other judges that are there already stay."""
    path = folder / FILE_NAME
    before = from_json(path.read_bytes(), where=str(path)) if path.is_file() else ()
    new = {each.judge for each in validations}
    path.write_bytes(to_json([*(each for each in before if each.judge not in new), *validations]))
    return path


def read_validations(path: Path | str) -> tuple[Validation, ...]:
    """The validations in a folder or a JSON file. Raises EdufairError where there are none."""
    path = Path(path)
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        raise EdufairError(f"{file}: there is no such file; `edufair judge validate` writes one")
    return from_json(file.read_bytes(), where=str(file))


def validations_of(run: Run, given: Sequence[Validation] = ()) -> list[Validation]:
    """What is known of a run's judges: from its own hand labels, and those `given` that are of one of its judges.

    A given one is named as the run names the judge. Raises EdufairError when a given file is of none of them.
    """
    judges = [source for source in run.sources() if source.kind == "judge"]
    kept = [each for source in judges for each in _kept_in(run, source)]
    fitting = [replace(v, judge=s.id, name=s.name) for v in given for s in judges if v.is_of(s)]
    if given and not fitting:
        raise EdufairError(
            f"{run.folder}: the validation is of {', '.join(sorted({v.judge for v in given}))}; this run's judge is "
            f"{', '.join(s.id for s in judges) or 'nobody'}: another model, sampling, mode or prompt. Validate this "
            "run's judge: `edufair judge validate LABELS --config audit.toml`"
        )
    return [*kept, *(each for each in fitting if each not in kept)]


def _kept_in(run: Run, judge: Source) -> tuple[Validation, ...]:
    store = db.open_store(run.folder)
    try:
        kept = store.get_meta(f"{_META} {judge.id}")
    finally:
        store.close()
    return () if kept is None else from_json(kept, where=f"{run.folder}")
