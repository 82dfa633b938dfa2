"""Models from files: what needs no server first, then the server itself with the small model."""

import asyncio
import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from edufair.errors import CallFailed, MissingExtra, ModelError
from edufair.models import cache, llama, open_model
from edufair.models.embedded import EmbeddedModel, file_identity, file_of

MACHINE_CACHE = os.environ.get("EDUFAIR_CACHE", "")
SAMPLING = {"temperature": 0.0, "max_tokens": 8}
ASK = [{"role": "system", "content": "You are a tutor."}, {"role": "user", "content": "What is a cell?"}]


@pytest.fixture
def gguf(tmp_path):
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 60)
    return path


@pytest.fixture
def small(monkeypatch):
    """The reference of the small model; the test is skipped where it or its engine is missing."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    if MACHINE_CACHE:  # the one thing that these tests take from the machine
        monkeypatch.setenv("EDUFAIR_CACHE", MACHINE_CACHE)
    try:
        cache.locate("smollm2")
    except ModelError as missing:
        pytest.skip(str(missing))
    return "embedded:smollm2"


def alive(pid):
    """Whether a process still runs; a dead one that nobody has waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def gone_within(pid, seconds):
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


# Without a server


@pytest.mark.parametrize("reference", ["smollm2", "gguf:", "embedded:", "http://localhost"])
def test_a_reference_of_no_known_form_is_refused_at_once(reference):
    with pytest.raises(ModelError, match="names no local model; write embedded:NAME or gguf:PATH"):
        EmbeddedModel("tutor", reference)


def test_a_file_stands_for_itself_by_its_checksum(gguf):
    assert file_identity(f"gguf:{gguf}") == hashlib.sha256(gguf.read_bytes()).hexdigest()
    gguf.write_bytes(b"GGUF" + b"\1" * 61)
    assert file_identity(f"gguf:{gguf}") == hashlib.sha256(gguf.read_bytes()).hexdigest()


def test_the_small_model_has_its_identity_before_it_is_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("EDUFAIR_CACHE", str(tmp_path))
    assert cache.is_demo(file_identity("embedded:smollm2"))
    with pytest.raises(ModelError, match="edufair model pull smollm2"):
        file_of("embedded:smollm2")


def test_a_missing_file_and_a_file_of_another_kind_are_named(tmp_path):
    with pytest.raises(ModelError, match=r"nothing\.gguf cannot be read \(No such file"):
        file_of(f"gguf:{tmp_path / 'nothing.gguf'}")
    (tmp_path / "page.gguf").write_text("<html>")
    with pytest.raises(ModelError, match=r"page\.gguf is not a GGUF file"):
        file_of(f"gguf:{tmp_path / 'page.gguf'}")


async def test_without_the_engine_the_extra_to_install_is_named(gguf, monkeypatch):
    monkeypatch.setattr(llama.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'xllamacpp: pip install "edufair\[embedded\]"'):
        await EmbeddedModel("tutor", f"gguf:{gguf}").probe(SAMPLING)


async def test_embeddings_are_refused_with_the_way_out(gguf):
    with pytest.raises(ModelError, match="gives no embeddings; name an endpoint"):
        await EmbeddedModel("tutor", f"gguf:{gguf}").embed(["a"])


async def test_a_model_never_asked_closes_without_having_started(gguf):
    await EmbeddedModel("tutor", f"gguf:{gguf}").close()


@pytest.fixture
def child(monkeypatch, tmp_path):
    """Puts another program in the place of the server's."""

    def replace(program):
        script = tmp_path / "child.py"
        script.write_text(program)
        monkeypatch.setattr(llama, "CHILD", script)

    return replace


SETTINGS = llama.ServerSettings(path="m.gguf", alias="m", slots=1, context=512, cache_mib=0)


def test_a_server_that_is_not_ready_in_time_is_ended_with_a_clear_message(child):
    child("import sys, threading; print('still loading', file=sys.stderr, flush=True); threading.Event().wait()")
    server = llama.LlamaServer(SETTINGS)
    try:
        with pytest.raises(ModelError, match=r"was not ready within 0\.5 s; the end of its log:\n  still loading"):
            server.address(0.5)
        assert gone_within(server.pid, 5)
    finally:
        server.stop()


def test_a_server_that_fails_shows_its_exit_code_and_log(child):
    child("import sys; sys.exit('no memory left')")
    server = llama.LlamaServer(SETTINGS)
    try:
        with pytest.raises(ModelError, match=r"did not start \(exit code 1\); the end of its log:\n  no memory left"):
            server.address()
    finally:
        server.stop()


async def test_a_cancelled_start_leaves_no_process_behind(child, tmp_path, gguf):
    child("import os, threading; threading.Event().wait()")
    model = EmbeddedModel("tutor", f"gguf:{gguf}", threads=1)
    asking = asyncio.create_task(model.probe(SAMPLING))
    async with asyncio.timeout(10):
        while not llama._servers:
            await asyncio.sleep(0.01)
    (server,) = llama._servers.values()
    asking.cancel()
    await model.close()
    assert server.ended and not llama._servers


# With the server


@pytest.mark.embedded
async def test_the_small_model_answers_is_shared_and_ends_with_its_last_user(small):
    tutor = open_model("tutor", {"url": small, "concurrency": 2, "context": 1024})
    judge = open_model("judge", {"url": small, "concurrency": 2, "context": 1024})
    try:
        effective, _ = await asyncio.gather(tutor.probe(SAMPLING), judge.probe(SAMPLING))
        (server,) = llama._servers.values()
        assert (server.users, effective.context, effective.url) == (2, 1024, small)
        assert cache.is_demo(effective.identity)
        assert effective.returned_model == "SmolLM2-135M-Instruct.Q4_1"

        first = await tutor.chat(ASK, effective)
        assert first.text and first.tokens.prompt > 20 and first.tokens.completion == 8
        longer = [*ASK, {"role": "assistant", "content": first.text}, {"role": "user", "content": "Go on."}]
        second = await judge.chat(longer, effective)
        assert second.tokens.cached >= first.tokens.prompt  # the whole first prompt was not read again

        too_long = [{"role": "user", "content": "word " * 1500}]
        assert (await tutor.chat(too_long, effective)).status == "context"

        await tutor.close()
        assert not server.ended
        await judge.close()
        assert server.ended and gone_within(server.pid, 1)
    finally:
        await tutor.close()
        await judge.close()


@pytest.mark.embedded
async def test_a_run_resumed_in_another_process_asks_without_probing_again(small):
    model = EmbeddedModel("tutor", small, concurrency=1, context=512)
    try:
        effective = await model.probe(SAMPLING)
        await model.close()
        reply = await model.chat(ASK, effective)
        assert reply.status in ("ok", "truncated") and reply.text
    finally:
        await model.close()


@pytest.mark.embedded
async def test_the_server_s_own_json_output_follows_a_schema(small):
    schema = {
        "type": "object",
        "properties": {"level": {"type": "integer", "enum": [0, 1]}},
        "required": ["level"],
        "additionalProperties": False,
    }
    model = EmbeddedModel("judge", small, concurrency=1, context=512)
    try:
        effective = await model.probe({"temperature": 0.0, "max_tokens": 32}, schema=schema)
        assert effective.quirks["schema"] == "json_schema"
        reply = await model.chat(ASK, effective, schema=schema)
        assert json.loads(reply.text)["level"] in (0, 1)
    finally:
        await model.close()


@pytest.mark.embedded
async def test_a_server_that_dies_under_way_is_told_as_that_and_not_asked_again(small):
    model = EmbeddedModel("tutor", small, concurrency=1, context=512, retries=0)
    try:
        effective = await model.probe(SAMPLING)
        (server,) = llama._servers.values()
        os.kill(server.pid, signal.SIGKILL)
        assert gone_within(server.pid, 5)
        with pytest.raises(CallFailed, match="has ended") as failed:
            await model.chat(ASK, effective)
        assert failed.value.fatal and failed.value.kind == "server"
    finally:
        await model.close()


@pytest.mark.embedded
async def test_a_file_that_is_gguf_by_its_first_bytes_only_fails_with_the_engine_s_words(small, gguf):
    model = EmbeddedModel("tutor", f"gguf:{gguf}")
    with pytest.raises(ModelError, match="did not start") as failed:
        await model.probe(SAMPLING)
    assert "gguf" in str(failed.value).partition("end of its log")[2]
    await model.close()
    assert not llama._servers


PARENT = """
import asyncio, sys
from edufair.models import llama
from edufair.models.embedded import EmbeddedModel

async def main():
    model = EmbeddedModel("tutor", "embedded:smollm2", concurrency=1, context=512)
    try:
        await model.probe({"max_tokens": 4})
        print(next(iter(llama._servers.values())).pid, flush=True)
        await asyncio.Event().wait()
    finally:
        await model.close()

asyncio.run(main())
"""


@pytest.mark.embedded
@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_the_server_never_outlives_its_parent(small, how):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    ) as parent:
        try:
            pid = int(parent.stdout.readline())
            assert alive(pid)
            os.killpg(parent.pid, how)
            parent.wait(5)
            assert gone_within(pid, 5)
        finally:
            parent.kill()
