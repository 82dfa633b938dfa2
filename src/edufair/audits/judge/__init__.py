"""The judge audit: does what a judge is told of a learner move its preference between two tutor replies?

Each stimulus is a dialogue with two next replies, one that leaves the next step to the student (high) and one that
takes it (low). The judge rates both without a profile of the learner and under two of them. Ratings are bounded, and a
bounded scale can make a gap by itself: every gap is checked for that. Read top to bottom like the paper
(Difference-in-Differences on a Censored Rating Scale): `settings` and `conduct` (section 3), `ratings` (4 and 5),
`tables` and `analyse` (6).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import ClassVar

from edufair.audits.base import Analysis, Ask, View
from edufair.audits.judge import measure
from edufair.audits.judge.conduct import conduct
from edufair.audits.judge.settings import POLE_CHECK, POLES, RATING, JudgeSettings
from edufair.config import Settings
from edufair.design.banks.choose import narrow
from edufair.design.banks.stimuli import read_stimuli
from edufair.records import Arm, Item, Record, Score, Trial

__all__ = ["JudgeAudit", "JudgeSettings"]


class JudgeAudit:
    """Censored-scale audit, section 3. One role: the judge, which is audited."""

    name: ClassVar[str] = "judge"
    version: ClassVar[int] = 1
    audited: ClassVar[str] = "judge"
    shaping_roles: ClassVar[tuple[str, ...]] = ("judge",)
    judge_role: ClassVar[str | None] = None
    Settings: ClassVar[type[Settings]] = JudgeSettings

    def items(self, settings: JudgeSettings) -> Iterable[Item]:
        """The stimuli: those of the chosen strata, then a seeded share or number of them."""
        return narrow(read_stimuli(settings.items.bank), settings.items, settings.seed)

    def arms(self, settings: JudgeSettings) -> Sequence[Arm]:
        """Every profile with every pole, the arm without a profile last; then the blind check of the poles."""
        found = [rating_arm(profile, pole) for profile in settings.arms for pole in POLES]
        return [*found, Arm(POLE_CHECK)] if settings.design.pole_check else found

    async def conduct(self, trial: Trial, ask: Ask) -> Record:
        return await conduct(trial, ask)

    async def score(self, record: Record, ask: Ask) -> AsyncIterator[Score]:
        for score in measure.scores(record):
            yield score

    def analyse(self, view: View, settings: JudgeSettings) -> Analysis:
        from edufair.audits.judge.analyse import analyse

        return analyse(view, settings)


def rating_arm(profile: str, pole: str) -> Arm:
    return Arm(RATING, (("judge", "pole", pole), ("judge", "profile", profile)))
