"""The same through the openai package's asynchronous client; no store."""

from __future__ import annotations

import asyncio

from openai import AsyncOpenAI
from talk import all_dialogues, arguments


async def main() -> None:
    url, talk, in_flight = arguments()
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def chat(model: str, messages: list[dict[str, str]]) -> str:
            reply = await client.chat.completions.create(model=model, messages=messages, **talk["params"][model])
            return reply.choices[0].message.content or ""

        await all_dialogues(chat, talk, in_flight)


asyncio.run(main())
