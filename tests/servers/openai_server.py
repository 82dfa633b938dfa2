"""An OpenAI-compatible server for tests and benchmarks: it counts, remembers, answers and, when told, fails.

In process::

    server = OpenAIServer(lambda body: "yes", faults={2: "500", 3: "429:0.5", 4: "reset"})
    async with serve(server) as url:     # url ends with /v1
        ...
    assert server.count == 5

As a program, which prints its port on the first line (for tests that kill processes)::

    python tests/servers/openai_server.py --port 0 --faults 3=500,7=reset --share 0.05=503 --log bodies.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

Body = dict[str, Any]
Faults = Mapping[int, str] | Callable[[int, Body], str | None]


def echo(body: Body) -> str:
    """The last message, given back."""
    return f"You said: {body['messages'][-1]['content']}"


def length_and_one(text: str) -> list[float]:
    """A vector that tells which text it stands for."""
    return [float(len(text)), 1.0]


def by_ordinal(faults: Mapping[int, str]) -> Callable[[int, Body], str | None]:
    """Faults for the requests with these numbers, from 1."""
    return lambda ordinal, _: faults.get(ordinal)


def share(part: float, kind: str) -> Callable[[int, Body], str | None]:
    """Faults for a fixed part of all bodies, chosen by hash; each fails only the first time it comes."""
    seen: Counter[bytes] = Counter()

    def fault(_: int, body: Body) -> str | None:
        key = hashlib.blake2b(orjson.dumps(body), digest_size=8).digest()
        seen[key] += 1
        return kind if seen[key] == 1 and int.from_bytes(key, "big") < part * 2**64 else None

    return fault


class OpenAIServer:
    """Answers chat completions with `responder(body)`: a text, or a dict that is sent as the whole payload.

    `faults` maps the ordinal of a request (from 1, over chat and embeddings) to a fault, or is a callable
    (ordinal, body) -> fault or None. A fault is a status (`500`, `429:3` or `429:Wed, 21 Oct ...` with a
    Retry-After), or one of reset, half, stall, hang, late:SECONDS, html, text, empty, error200. `rules(body)`
    may return (status, payload) for what this host refuses. `keep=False` neither reads nor remembers bodies
    (fast).
    """

    def __init__(
        self,
        responder: Callable[[Body], str | Body] = echo,
        *,
        faults: Faults | None = None,
        rules: Callable[[Body], tuple[int, Any] | None] = lambda body: None,
        embedder: Callable[[str], list[float]] = length_and_one,
        model_entry: Mapping[str, Any] | None = None,
        props: Mapping[str, Any] | None = None,
        root: str = "/v1",
        latency: float = 0.0,
        keep: bool = True,
        log: Path | None = None,
    ) -> None:
        self.count = 0
        self.bodies: list[Body] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.running = self.most_running = 0
        self._responder, self._embedder, self._rules = responder, embedder, rules
        self._faults = by_ordinal(faults) if isinstance(faults, Mapping) else faults
        self._latency, self._keep = latency, keep
        self._log = log.open("ab", buffering=0) if log else None
        self._over = asyncio.Event()
        self.app = web.Application(client_max_size=1 << 30)
        self._entry = {"id": "test-model", "object": "model", **(model_entry or {})}
        self.app.add_routes(
            [
                web.post(f"{root}/chat/completions", self._chat),
                web.post(f"{root}/embeddings", self._embed),
                web.get(f"{root}/models", self._models),
                web.route("*", "/{rest:.*}", self._other),
            ]
        )
        self._props = props
        self.app.on_shutdown.append(self._release)
        self.app.on_cleanup.append(self._close_log)

    async def _release(self, _: web.Application) -> None:
        self._over.set()

    async def _close_log(self, _: web.Application) -> None:
        if self._log is not None:
            self._log.close()

    async def _models(self, _: web.Request) -> web.Response:
        return _json({"object": "list", "data": [self._entry]})

    async def _other(self, request: web.Request) -> web.Response:
        self.paths.append(request.path)
        if request.path == "/props" and self._props is not None:
            return _json(self._props)
        return web.Response(status=404, text="404 page not found")

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if not self._keep:
            self.count += 1
            await request.read()
            return web.Response(body=FAST, content_type="application/json")
        return await self._answer(request, self._completion)

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, self._vectors)

    async def _answer(self, request: web.Request, make: Callable[[Body], Body]) -> web.StreamResponse:
        self.count += 1
        ordinal = self.count
        body = orjson.loads(await request.read())
        self.bodies.append(body)
        self.headers.append(request.headers)
        self.paths.append(request.path)
        if self._log is not None:
            self._log.write(orjson.dumps(body) + b"\n")
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            if self._latency:
                await asyncio.sleep(self._latency)
            if self._faults and (fault := self._faults(ordinal, body)):
                return await self._fail(request, fault, _json(make(body)))
            if refusal := self._rules(body):
                return _json(refusal[1], refusal[0])
            return _json(make(body))
        finally:
            self.running -= 1

    def _completion(self, body: Body) -> Body:
        answer = self._responder(body)
        return completion(answer, body) if isinstance(answer, str) else answer

    def _vectors(self, body: Body) -> Body:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        rows = [{"index": i, "embedding": self._embedder(text)} for i, text in enumerate(texts)]
        usage = {"prompt_tokens": sum(map(words, texts)), "total_tokens": sum(map(words, texts))}
        return {
            "object": "list",
            "model": body["model"],
            "data": rows[::-1],
            "usage": usage,
        }  # order is not promised

    async def _fail(self, request: web.Request, fault: str, good: web.Response) -> web.StreamResponse:
        kind, _, detail = fault.partition(":")
        if kind.isdigit():
            headers = {"Retry-After": detail} if detail else {}
            return _json({"error": {"message": f"fault {fault}", "code": "scripted"}}, int(kind), headers)
        if kind == "late":
            await asyncio.sleep(float(detail))
            return good
        if kind == "hang":
            await self._over.wait()
        if kind in ("reset", "hang"):
            return _cut(request)
        if kind in ("half", "stall"):
            assert isinstance(good.body, bytes)
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            response.content_length = len(good.body)
            await response.prepare(request)
            await response.write(good.body[: len(good.body) // 2])
            if kind == "stall":
                await self._over.wait()
            return _cut(request, response)
        if kind == "error200":
            return _json({"error": {"message": "the upstream provider failed", "code": 502}})
        texts = {"html": "<html><body>Bad gateway</body></html>", "text": "busy", "empty": ""}
        return web.Response(text=texts[kind], content_type="text/html" if kind == "html" else "text/plain")


def completion(text: str | None, body: Body, *, finish_reason: str = "stop", **message: Any) -> Body:
    """A chat completion payload with `text`; further message fields by name."""
    prompt = sum(words(m["content"]) for m in body["messages"])
    usage = {"prompt_tokens": prompt, "completion_tokens": words(text or "")}
    full = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": full, "finish_reason": finish_reason}
    return {"object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}


def words(text: str) -> int:
    """Tokens as this server counts them."""
    return len(text.split())


FAST = orjson.dumps(completion("Four.", {"model": "test-model", "messages": []}))


def _json(payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    try:
        body = orjson.dumps(payload)
    except TypeError:  # half surrogates, as a careless host would send them
        import json

        body = json.dumps(payload).encode()
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def _cut(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return response or web.Response()


@asynccontextmanager
async def serve(server: OpenAIServer, port: int = 0) -> AsyncIterator[str]:
    """Serve on the loopback address while the block runs; gives the base URL, ending with /v1."""
    runner = web.AppRunner(server.app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def _main(options: argparse.Namespace) -> None:
    faults: Faults | None = None
    if options.faults:
        pairs = (pair.partition("=") for pair in options.faults.split(","))
        faults = {int(ordinal): kind for ordinal, _, kind in pairs}
    elif options.share:
        part, _, kind = options.share.partition("=")
        faults = share(float(part), kind)
    responder = (lambda body: options.text) if options.text else echo
    server = OpenAIServer(responder, faults=faults, latency=options.latency, keep=not options.fast, log=options.log)
    async with serve(server, options.port) as url:
        print(url.split(":")[2].partition("/")[0], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--faults", help="ordinal=fault,...")
    parser.add_argument("--share", help="part=fault: this part of all bodies fails once")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--text", help="the one answer (default: an echo)")
    parser.add_argument("--log", type=Path, help="append each body as a JSON line")
    parser.add_argument("--fast", action="store_true", help="neither read nor keep bodies")
    try:
        asyncio.run(_main(parser.parse_args()))
    except KeyboardInterrupt:
        sys.exit(0)
