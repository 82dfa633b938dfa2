"""The least a client can do: aiohttp, orjson and nothing else; no retry, no store."""

from __future__ import annotations

import asyncio

import aiohttp
import orjson
from talk import all_dialogues, arguments


async def main() -> None:
    url, talk, in_flight = arguments()
    address, params = f"{url}/chat/completions", talk["params"]
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:

        async def chat(model: str, messages: list[dict[str, str]]) -> str:
            body = orjson.dumps({"model": model, "messages": messages, **params[model]})
            async with session.post(address, data=body) as response:
                payload = orjson.loads(await response.read())
            return payload["choices"][0]["message"]["content"]  # type: ignore[no-any-return]

        await all_dialogues(chat, talk, in_flight)


asyncio.run(main())
