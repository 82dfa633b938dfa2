"""A small audit of scripted people, as a mapping of audit.toml's keys, for tests of what stands around a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PEOPLE = "python:whole.scripted_people"


def small_audit(folder: Path, **sections: Any) -> dict[str, Any]:
    """Two turns, gender alone, six questions of mathematics; `sections` replaces or adds whole sections.

    A section given as None is left out. The run's folder is `folder`/run.
    """
    audit: dict[str, Any] = {
        "audit": "dialogue",
        "name": "small",
        "run": str(folder / "run"),
        "seed": 5,
        "models": {
            "tutor": {"url": f"{PEOPLE}:even_tutor"},
            "student": {"url": f"{PEOPLE}:student"},
            "truth": {"url": f"{PEOPLE}:judge"},
            "other": {"url": "python:engine.moody_people:other_judge"},
        },
        "tutor": {"model": "tutor"},
        "student": {"model": "student"},
        "judge": {"model": "truth"},
        "items": {"bank": "sample", "domains": ["mathematics"], "limit": 6},
        "design": {"dimensions": ["gender"]},
        "dialogue": {"max_turns": 2},
        "analysis": {"resamples": 100, "null_draws": 100},
    }
    audit.update(sections)
    return {key: value for key, value in audit.items() if value is not None}
