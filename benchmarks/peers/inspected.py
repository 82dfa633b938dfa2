"""The same as an Inspect AI task, with its log written to disk as it would be for any evaluation."""

from __future__ import annotations

import os
import sys
import tempfile

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    get_model,
)
from inspect_ai.scorer import Score, Target, mean, scorer
from inspect_ai.solver import TaskState, solver
from talk import arguments, converse

KINDS = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}

url, talk, in_flight = arguments()
os.environ["FAST_API_KEY"], os.environ["FAST_BASE_URL"] = "none", url


def models() -> dict[str, Model]:
    return {
        name: get_model(f"openai-api/fast/{name}", config=GenerateConfig(max_connections=in_flight, **params))
        for name, params in (
            (name, {k: v for k, v in params.items() if k in ("temperature", "max_tokens")})
            for name, params in talk["params"].items()
        )
    }


@solver
def dialogue():  # type: ignore[no-untyped-def]
    asked = models()

    async def solve(state: TaskState, generate: object) -> TaskState:
        async def chat(model: str, messages: list[dict[str, str]]) -> str:
            sent: list[ChatMessage] = [KINDS[m["role"]](content=m["content"]) for m in messages]
            return (await asked[model].generate(sent)).completion

        await converse(chat, talk, state.metadata)
        return state

    return solve


@scorer(metrics=[mean()])
def finished():  # type: ignore[no-untyped-def]
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=1)

    return score


samples = [Sample(input=d["question"], metadata=d, id=i) for i, d in enumerate(talk["dialogues"], 1)]
with tempfile.TemporaryDirectory() as logs:
    task = Task(dataset=MemoryDataset(samples), solver=dialogue(), scorer=finished())
    (log,) = eval(
        task,
        model="openai-api/fast/tutor",
        max_samples=in_flight,
        log_dir=logs,
        display="none",
        log_level="warning",
    )
    if log.status != "success":
        sys.exit(f"Inspect ended with {log.status}: {log.error}")
