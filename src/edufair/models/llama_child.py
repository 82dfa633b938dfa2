"""The program of a child process: a llama.cpp server that lives as long as its standard input stays open.

Run as a script with its settings as one JSON argument. It writes its address as the only line of its standard
output, and everything the engine has to say to its standard error. The parent holds the other end of its
standard input; however the parent ends, kill -9 included, the system closes that end and the server goes too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which still has calls to finish
    threading.Thread(target=_end_with_parent, daemon=True).start()
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what native code prints must not pass for the address
    server = _serve(json.loads(sys.argv[1]))
    print(server.listening_address, file=answer, flush=True)
    threading.Event().wait()


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


def _serve(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # the system picks a free one
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context"]
    params.kv_unified = False  # one buffer for all slots wrote more slowly in every pair of measurements
    params.cont_batching = True
    params.cache_prompt = True
    params.cache_ram_mib = settings["cache_mib"]  # prompts that lost their slot wait here for their next turn
    params.ctx_shift = False  # a conversation that no longer fits is an outcome, never cut in silence
    params.fit_params = False  # the settings hold as they are given
    params.cors_origins = ""
    params.ui = False
    params.verbosity = 2  # warnings and errors
    if threads := settings["threads"] or _restricted():
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(params)


def _restricted() -> int | None:
    """The cores this process may use where they are fewer than there are: llama.cpp counts the machine's."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    allowed = len(os.sched_getaffinity(0))
    return allowed if allowed < (os.cpu_count() or allowed) else None


if __name__ == "__main__":
    main()
