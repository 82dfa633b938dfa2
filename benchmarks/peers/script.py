"""Write down what `edufair run` would send, for peers that know nothing of edufair: script.py AUDIT.toml OUT.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import edufair
from edufair import store
from edufair.audits.dialogue.conduct import system_prompt
from edufair.design import prompts
from edufair.engine import settings as files
from edufair.models.probing import response_format
from edufair.scoring import rubric

FENCE = "0123456789abcdef"


def main(audit_file: Path, out: Path) -> None:
    _, settings = files.load(audit_file)
    plan = edufair.plan(audit_file).plan
    opened = store.open_store(settings.run)
    dialogues = [
        {
            "question": trial.item.text,
            "answer": trial.item.data["answer"],
            "tutor": system_prompt("tutor", trial, settings),
            "student": system_prompt("student", trial, settings),
        }
        for trial, _ in plan.trials(opened.items)
    ]
    opened.close()
    params = {role: filled.sampling() for role, filled in settings.roles().items()}
    params["judge"] |= response_format("json_schema", rubric.SCHEMA)
    material = prompts.load("dialogue/judge_material")
    filled = material.fill(RUBRIC=prompts.load("dialogue/judge_rubric").fill(), FENCE=FENCE, PARTS="\0", TURN="TURN")
    head, _, foot = filled.partition("\0")
    talk = {
        "turns": settings.model_dump()["dialogue"]["max_turns"],
        "params": params,
        "judge": prompts.load("dialogue/judge_system").fill(),
        "head": head,
        "foot": foot,
        "part": prompts.load("dialogue/judge_part").fill(FENCE=FENCE, PART="PART", TEXT="TEXT"),
        "dialogues": dialogues,
    }
    out.write_text(json.dumps(talk))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
