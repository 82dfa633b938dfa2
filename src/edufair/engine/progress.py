"""What a run has done so far, counted as it goes, and the bar that shows it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from edufair.models.base import Reply


@dataclass(slots=True)
class Tally:
    """Counts of one sitting of a run. `done` and `failed` are trials, the rest calls and tokens."""

    total: int = 0
    already: int = 0
    done: int = 0
    failed: int = 0
    scored: int = 0
    unscored: int = 0
    calls: int = 0
    reused: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    by_role: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.monotonic)

    def count(self, reply: Reply, role: str) -> None:
        self.calls += 1
        self.by_role[role] += 1
        self.prompt_tokens += reply.tokens.prompt or 0
        self.completion_tokens += reply.tokens.completion or 0

    @property
    def seconds(self) -> float:
        return max(time.monotonic() - self.started, 1e-9)

    def line(self) -> str:
        """Calls and tokens a second, and what failed: the part of the bar that is not about time."""
        tokens = (self.prompt_tokens + self.completion_tokens) / self.seconds
        return f"{self.calls / self.seconds:.1f} calls/s  {tokens:,.0f} tokens/s  {self.failed} failed"


@contextmanager
def shown(tally: Tally, unit: str, *, show: bool) -> Iterator[None]:
    """Show a bar on the terminal while the block runs: trials done, rates, time left, failures."""
    if not show:
        yield
        return
    from rich.console import Console, Group
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    class Bar(Progress):
        """Reads the tally whenever it is drawn, so that counting never waits for drawing."""

        def get_renderable(self) -> Group:
            finished = tally.already + tally.done + tally.failed
            for task in self.task_ids:
                self.update(task, total=tally.total, completed=finished, line=tally.line())
            return Group(*self.get_renderables())

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[line]}"), TimeRemainingColumn())
    bar = Bar(TextColumn(unit), *columns, console=Console(stderr=True), refresh_per_second=4)
    bar.add_task(unit, total=None, line="")
    with bar:
        yield
