"""All benchmarks in their short form, one after the other; says which are not here and which failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

#: Each with the arguments of its short form.
SHORT = {
    "engine": ["--short"],
    "prefix": ["--dialogues", "8"],
    "stats": ["--short"],
    "calibration": ["--short"],
    "mathdial": [],
}


def main() -> int:
    """Run those whose file is here; 1 when any failed."""
    failed = []
    for name, arguments in SHORT.items():
        if not (HERE / f"{name}.py").exists():
            print(f"## {name}: not here\n", flush=True)
            continue
        print(f"## {name}\n", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
        if subprocess.run(command, cwd=HERE.parent).returncode:
            failed.append(name)
        print(flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
