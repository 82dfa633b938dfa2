"""How many prompt tokens a server really reads for a dialogue, against the fewest it could.

    python benchmarks/prefix.py                       the small model, simulated dialogues
    python benchmarks/prefix.py --run FOLDER          the calls stored in a run's folder

A server keeps what it has read; a prompt that begins like an earlier one is read only from where it differs
(`cached` tokens are the part that was kept). The fewest are counted in two ways:

by dialogue   each new token once for each role of each dialogue that reads it: the first prompt whole, and of
              every later one what it is longer than the one before; a role's own reply, which the server has just
              written, need not be read again. What dialogues share (a system prompt, a rubric) counts in each.
by run        stricter: a token counts once in the whole run for each role; what dialogues share counts once.
              Stored texts have no token boundaries, so this is counted in characters and turned into tokens
              with the role's own mean length.

The aim is at most 1.3 times the fewest by dialogue. Below 1 means that dialogues share what they have in common.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import time
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edufair.models.base import Effective, Message
from edufair.models.embedded import CONCURRENCY, CONTEXT, EmbeddedModel
from edufair.store import FILE_NAME, unpacked

AIM = 1.3
ROLES = ("tutor", "student", "judge")


@dataclass(frozen=True, slots=True)
class Call:
    """One answered call: its tokens, and the texts that were sent and came back."""

    dialogue: str
    role: str
    prompt: int
    cached: int
    completion: int
    sent: str
    reply: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Prompt tokens of one role: read, and the fewest by dialogue and by run."""

    role: str
    calls: int
    read: int
    by_dialogue: float
    by_run: float


def reading(role: str, calls: Sequence[Call]) -> Reading:
    """What one role's calls, in the order they were made, cost and could have cost."""
    dialogues = defaultdict[str, list[Call]](list)
    for call in calls:
        dialogues[call.dialogue].append(call)
    least = sum(fewest_tokens(dialogue) for dialogue in dialogues.values())
    tokens_a_character = sum(call.prompt for call in calls) / sum(len(call.sent) for call in calls)
    read = sum(call.prompt - call.cached for call in calls)
    return Reading(role, len(calls), read, least, tokens_a_character * fewest_characters(calls))


def fewest_tokens(calls: Sequence[Call]) -> int:
    """Tokens of one role in one dialogue that are new when they are asked."""
    total, known = 0, 0
    for call in calls:
        total += max(0, call.prompt - known)
        # Where the reply is not part of the next prompt (a judge), nothing of it may be taken off there.
        continued = any(later.sent.startswith(call.sent + call.reply[:1]) for later in calls)
        known = max(known, call.prompt + (call.completion if continued else 0))
    return total


def fewest_characters(calls: Iterable[Call]) -> int:
    """Characters that no earlier prompt or reply began with."""
    seen: list[str] = []
    total = 0
    for call in calls:
        at = bisect_left(seen, call.sent)
        # Among sorted texts, the one that shares the longest beginning stands next to where this one belongs.
        total += len(call.sent) - max((shared(call.sent, other) for other in seen[max(0, at - 1) : at + 1]), default=0)
        insort(seen, call.sent + call.reply)
    return total


def shared(a: str, b: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return bisect_left(range(min(len(a), len(b))), True, key=lambda i: a[: i + 1] != b[: i + 1])


def flat(messages: Sequence[Message]) -> str:
    """A conversation as one text in which a reply follows its prompt without a seam."""
    said = "".join(f"<{m['role']}>{m['content']}" for m in messages)
    return said + "<assistant>"


# The simulation: the dialogue audit's calls, in its order, with texts of the usual length.

TEXT = (
    "the student learns about cells and light while we ask a short question that helps them think about energy "
    "mass force speed water plants and numbers with care in each step before they answer"
)
WORDS = TEXT.split()
ARMS = ("female", "male", "high-income", "low-income")
TUTOR_TOKENS, STUDENT_TOKENS, JUDGE_TOKENS = 40, 40, 60


def words(n: int, seed: str) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) for _ in range(n))


class Simulation:
    """Dialogues as the audit conducts them: student and tutor in turn, then the judge turn after turn."""

    def __init__(self, model: EmbeddedModel, effective: Effective) -> None:
        self.model = model
        self.effective = effective
        self.calls: list[Call] = []

    async def ask(self, dialogue: int, role: str, messages: Sequence[Message], limit: int) -> str:
        reply = await self.model.chat(messages, self.effective, max_tokens=limit)
        tokens = reply.tokens
        assert tokens.prompt is not None and tokens.cached is not None, "the server did not count its tokens"
        self.calls.append(
            Call(
                str(dialogue),
                role,
                tokens.prompt,
                tokens.cached,
                tokens.completion or 0,
                flat(messages),
                reply.text,
            )
        )
        return reply.text

    async def dialogue(self, number: int) -> None:
        item, arm = divmod(number, len(ARMS))  # all arms of an item close together
        exchanges = 3 + item % 3
        question = words(25, f"question {item}")
        tutor = f"You are teaching a {ARMS[arm]} student. {words(150, 'tutor')}\n\nQuestion: {question}"
        student = words(170, "student")
        turns = [question]
        for _ in range(exchanges):
            turns.append(await self.ask(number, "student", seat(student, turns, first="user"), STUDENT_TOKENS))
            turns.append(await self.ask(number, "tutor", seat(tutor, turns, first="assistant"), TUTOR_TOKENS))
        for turn in range(2, len(turns), 2):
            await self.ask(number, "judge", judged(question, turns[: turn + 1]), JUDGE_TOKENS)


def seat(system: str, turns: Sequence[str], *, first: str) -> list[Message]:
    """The conversation as one role sees it."""
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    said = [{"role": roles[i % 2], "content": text} for i, text in enumerate(turns)]
    return [{"role": "system", "content": system}, *said]  # type: ignore[list-item]


def judged(question: str, turns: Sequence[str]) -> list[Message]:
    """A judge's prompt that grows at its end from turn to turn."""
    lines = "\n".join(f"[{i}] {('Tutor', 'Student')[i % 2]}: {text}" for i, text in enumerate(turns))
    task = f"Label turn {len(turns) - 1} of the tutor as JSON with all six fields and nothing else."
    return [
        {"role": "system", "content": words(600, "rubric")},
        {"role": "user", "content": f"Question: {question}\n\n{lines}\n\n{task}"},
    ]


async def simulate(dialogues: int, in_flight: int, concurrency: int, context: int) -> tuple[list[Call], float]:
    """(the calls, the seconds they took)."""
    model = EmbeddedModel("small", "embedded:smollm2", concurrency=concurrency, context=context)
    try:
        effective = await model.probe({"temperature": 0.7, "seed": 1})
        simulation = Simulation(model, effective)
        places = asyncio.Semaphore(in_flight)

        async def one(number: int) -> None:
            async with places:
                await simulation.dialogue(number)

        started = time.monotonic()
        await asyncio.gather(*(one(number) for number in range(dialogues)))
        return simulation.calls, time.monotonic() - started
    finally:
        await model.close()


def stored(folder: Path) -> list[Call]:
    """The answered calls of a run's folder, in the order in which they ended, whose host told what it had kept.

    A dialogue's record names its own calls (one that several dialogues share counts in the first). Its judge's
    calls are named nowhere: they belong to the dialogue whose turns the prompt holds most of, the first of equals;
    one that holds no dialogue's turns stands alone.
    """
    with sqlite3.connect(f"{(folder / FILE_NAME).absolute().as_uri()}?mode=ro", uri=True) as database:
        records = list(database.execute("SELECT trial, calls, json FROM record ORDER BY created"))
        rows = list(database.execute(ANSWERED))
        (untold,) = database.execute(UNTOLD).fetchone()
    print(f"{folder}: {len(records)} records, {len(rows)} calls; left out, their tokens were not told: {untold}")
    owner = {key: trial for trial, calls, _ in reversed(records) for key in json.loads(calls)}
    turns = {trial: [turn["text"] for turn in json.loads(body)["turns"]] for trial, _, body in records}
    calls = []
    for key, role, request, reply, prompt, cached, completion in rows:
        sent = flat(unpacked(request)["messages"])
        dialogue = owner.get(key) or judged_dialogue(turns, sent) or key
        calls.append(Call(dialogue, role, prompt, cached, completion or 0, sent, reply))
    return calls


ANSWERED = """
    SELECT key, role, request, text, prompt_tokens, cached_tokens, completion_tokens FROM call
    WHERE status != 'failed' AND prompt_tokens IS NOT NULL AND cached_tokens IS NOT NULL ORDER BY created
"""
UNTOLD = "SELECT count(*) FROM call WHERE status = 'failed' OR prompt_tokens IS NULL OR cached_tokens IS NULL"


def judged_dialogue(turns: Mapping[str, Sequence[str]], sent: str) -> str | None:
    """The dialogue that a judge's prompt shows."""
    held = {trial: beginning(texts, sent) for trial, texts in turns.items()}
    best = max(held, key=lambda trial: held[trial], default=None)
    return best if best is not None and held[best] else None


def beginning(turns: Sequence[str], sent: str) -> int:
    """How many turns, from the first on, stand one after the other in a prompt."""
    at = 0
    for number, text in enumerate(turns):
        at = sent.find(text, at)
        if at < 0:
            return number
        at += len(text)
    return len(turns)


def report(calls: Sequence[Call], dialogues: int) -> float:
    """Print the table; give the overall ratio by dialogue."""
    rows = [reading(role, [c for c in calls if c.role == role]) for role in ROLES if any(c.role == role for c in calls)]
    rows.append(
        Reading(
            "all",
            len(calls),
            sum(r.read for r in rows),
            sum(r.by_dialogue for r in rows),
            sum(r.by_run for r in rows),
        )
    )
    print(f"{'role':8} {'calls':>6} {'read a dialogue':>16} {'fewest':>7} {'ratio':>6} {'ratio by run':>13}")
    for row in rows:
        print(
            f"{row.role:8} {row.calls:6} {row.read / dialogues:16.0f} {row.by_dialogue / dialogues:7.0f} "
            f"{row.read / row.by_dialogue:6.2f} {row.read / row.by_run:13.2f}"
        )
    return rows[-1].read / rows[-1].by_dialogue


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a run's folder; without it, simulated dialogues")
    parser.add_argument("--dialogues", type=int, default=16)
    parser.add_argument("--in-flight", type=int, default=CONCURRENCY, help="dialogues under way at once")
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY, help="slots of the server")
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens a slot")
    given = parser.parse_args()
    if given.run:
        calls = stored(given.run)
    else:
        calls, seconds = asyncio.run(simulate(given.dialogues, given.in_flight, given.concurrency, given.context))
        read, written = sum(c.prompt - c.cached for c in calls), sum(c.completion for c in calls)
        print(
            f"{given.dialogues} dialogues, {given.in_flight} in flight, {given.concurrency} slots: {len(calls)} calls "
            f"in {seconds:.0f} s; {read / seconds:.0f} tokens/s read, {written / seconds:.0f} tokens/s written"
        )
    ratio = report(calls, len({call.dialogue for call in calls}))
    print(json.dumps({"ratio": round(ratio, 3), "aim": AIM, "reached": ratio <= AIM}))


if __name__ == "__main__":
    main()
