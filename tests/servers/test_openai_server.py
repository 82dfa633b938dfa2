"""The test server as a program, the way tests that kill processes use it."""

import json
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

PROGRAM = Path(__file__).with_name("openai_server.py")


@pytest.fixture
def start():
    """Start the program with options; gives the process and its chat address."""
    started = []

    def start(*options: str) -> str:
        process = subprocess.Popen([sys.executable, PROGRAM, *options], stdout=subprocess.PIPE, text=True)
        started.append(process)
        port = int(process.stdout.readline())
        return f"http://127.0.0.1:{port}/v1/chat/completions"

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


async def statuses(url: str, *texts: str) -> list[int]:
    async with aiohttp.ClientSession() as session:
        found = []
        for text in texts:
            body = {"model": "m", "messages": [{"role": "user", "content": text}]}
            async with session.post(url, json=body) as response:
                await response.read()
                found.append(response.status)
        return found


async def test_it_prints_its_port_fails_when_told_and_logs_every_body(start, tmp_path):
    log = tmp_path / "bodies.jsonl"
    url = start("--faults", "2=503", "--log", str(log))
    assert await statuses(url, "a", "b", "c") == [200, 503, 200]
    asked = [json.loads(line)["messages"][0]["content"] for line in log.read_text().splitlines()]
    assert asked == ["a", "b", "c"]


async def test_a_share_of_bodies_fails_once_each_and_always_the_same(start):
    texts = [str(i) for i in range(40)]
    first, second = start("--share", "0.5=500"), start("--share", "0.5=500")
    failed = await statuses(first, *texts)
    assert failed == await statuses(second, *texts)
    assert 5 < failed.count(500) < 35
    assert await statuses(first, *texts) == [200] * 40
