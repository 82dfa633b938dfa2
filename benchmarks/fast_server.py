"""A local OpenAI-compatible host that costs next to nothing: canned replies over plain sockets, and counts.

    python benchmarks/fast_server.py          prints its address, then serves until it is stopped

The model named `judge` gives a valid verdict, every other a short text; `--latency` holds each reply back.
`GET .../counts` tells how many requests and bytes of body have come so far.
"""

from __future__ import annotations

import argparse
import asyncio
import json

VERDICT = json.dumps(
    {
        "student_mistake_prev_turn": True,
        "correction_tone": 1,
        "mistake_recognize": 1,
        "answer_leakage": 0,
        "scaffolding_guidance": 1,
        "actionability": 1,
    }
)
#: Replies of the usual length that hold no answer of any question, so that every dialogue runs to its last turn.
TEXTS = {
    "judge": VERDICT,
    "student": "I am not sure yet. I think it has to do with what we said before, but I do not see how to go on. "
    "Should I look at the first part again, or is there something else that I have missed so far?",
    "tutor": "That is a good place to pause. Look at the first part once more and tell me, in your own words, what "
    "it asks for. Which of the things we have named would help you to get from there to the next step? [00000000]",
}
#: Where the number of the request stands: no two tutors say the same, as at a temperature above 0.
NUMBER = b"[00000000]"


def http(status: str, payload: object) -> bytes:
    body = json.dumps(payload).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def completion(model: str, text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    payload = {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": {"prompt_tokens": 0, "completion_tokens": 40, "total_tokens": 40},
    }
    return http("200 OK", payload)


REPLIES = {f'"model":"{model}"'.encode(): completion(model, text) for model, text in TEXTS.items()}
MISSING = http("404 Not Found", {"error": {"message": "no such page"}})


class Host:
    """What all connections share."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.requests = 0
        self.bytes = 0


class Client(asyncio.Protocol):
    """One connection: HTTP/1.1 with Content-Length, one request after the other."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.buffer[:end].lower()
            _, _, after = head.partition(b"content-length:")
            length = int(after.partition(b"\r\n")[0] or 0)
            if len(self.buffer) < end + 4 + length:
                return
            body, self.buffer = self.buffer[end + 4 : end + 4 + length], self.buffer[end + 4 + length :]
            self.answer(head, body)

    def answer(self, head: bytes, body: bytes) -> None:
        if b"/counts " in head:
            self.send(http("200 OK", {"requests": self.host.requests, "bytes": self.host.bytes}))
        elif b"/chat/completions " not in head:
            self.send(MISSING)
        else:
            self.host.requests += 1
            self.host.bytes += len(body)
            reply = reply_to(body).replace(NUMBER, b"[%08d]" % self.host.requests)
            if self.host.latency:
                asyncio.get_running_loop().call_later(self.host.latency, self.send, reply)
            else:
                self.send(reply)

    def send(self, reply: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(reply)


def reply_to(body: bytes) -> bytes:
    """The canned reply of the model that a body names, wherever it stands."""
    edges = body[:200] + body[-2000:]
    for mark, reply in REPLIES.items():
        if mark in edges:
            return reply
    return REPLIES.get(f'"model":"{json.loads(body)["model"]}"'.encode(), REPLIES[b'"model":"tutor"'])


async def serve(port: int, latency: float) -> None:
    host = Host(latency)
    server = await asyncio.get_running_loop().create_server(lambda: Client(host), "127.0.0.1", port)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    given = parser.parse_args()
    asyncio.run(serve(given.port, given.latency))
