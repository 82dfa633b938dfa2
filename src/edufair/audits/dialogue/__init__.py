"""The dialogue audit: EduFair-Bench. A tutor teaches a simulated student; what it is told about the student varies.

Read it top to bottom like the paper: `settings` (what may be set), `conduct` (section 3.2), `measure` (section 3.3),
`analyse` (section 3.4).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import ClassVar

from edufair.audits.base import Analysis, Ask, View
from edufair.audits.dialogue import measure
from edufair.audits.dialogue.conduct import conduct, matcher_for
from edufair.audits.dialogue.settings import DialogueSettings
from edufair.config import Settings
from edufair.design import arms
from edufair.design.banks.choose import choose
from edufair.errors import BankError
from edufair.records import Arm, Item, Record, Score, Trial

__all__ = ["DialogueAudit", "DialogueSettings"]


class DialogueAudit:
    """EduFair-Bench, section 3. Roles: tutor (audited), student, judge."""

    name: ClassVar[str] = "dialogue"
    version: ClassVar[int] = 1
    audited: ClassVar[str] = "tutor"
    shaping_roles: ClassVar[tuple[str, ...]] = ("tutor", "student")
    judge_role: ClassVar[str | None] = "judge"
    Settings: ClassVar[type[Settings]] = DialogueSettings

    def items(self, settings: DialogueSettings) -> Iterator[Item]:
        """The questions of the bank: those of the chosen domains, then a seeded share or number of them.

        Raises BankError for an answer that could not be looked for in a turn, MissingExtra where that takes a package
        that is not installed: before the first call, not in the middle of a run.
        """
        for item in choose(settings.items, settings.seed):
            try:
                matcher_for(item)
            except ValueError as error:
                raise BankError(
                    f"the bank {settings.items.bank}, item {item.id!r}: {error}; mend or delete it"
                ) from None
            yield item

    def arms(self, settings: DialogueSettings) -> Sequence[Arm]:
        return arms.arms(settings.design.conditions, settings.design.dimensions)

    async def conduct(self, trial: Trial, ask: Ask) -> Record:
        return await conduct(trial, ask)

    def score(self, record: Record, ask: Ask) -> AsyncIterator[Score]:
        return measure.score(record, ask)

    def analyse(self, view: View, settings: DialogueSettings) -> Analysis:
        from edufair.audits.dialogue.analyse import analyse

        return analyse(view, settings)
