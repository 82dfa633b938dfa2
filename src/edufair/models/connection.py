"""One exchange with a host: its address, its key, one HTTP request, and what came back."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import aiohttp
from yarl import URL

from edufair.models.addresses import candidates, is_local, join, key_from, proxy_for, shown
from edufair.models.faults import Fault, error_in_reply, fault_from_status
from edufair.models.limits import retry_after
from edufair.models.reading import decode

CHAT, EMBEDDINGS, MODELS = "chat/completions", "embeddings", "models"
KEY_LENGTH_MASKED_IN_REPLIES = 12  # a shorter key is a dummy such as "ollama", which is also a word
LARGE_BODY = 1 << 20  # aiohttp wants larger bodies as a stream


class Connection:
    """The way to one host. Opened at the first call, in the event loop that runs then.

    `timeout` and `connect_timeout` are seconds; a late answer is dropped with its connection. The key is read
    from the environment when the connection opens, and masked in whatever the host sends back.
    """

    def __init__(self, name: str, url: str, *, api_key_env: str | None, timeout: float, connect_timeout: float) -> None:
        self._name = name
        self._api_key_env = api_key_env
        self._candidates = candidates(url)
        self._timeouts = aiohttp.ClientTimeout(total=timeout, sock_connect=connect_timeout)
        self._base: URL | None = None
        self._routes: dict[str, URL] = {}
        self._session: aiohttp.ClientSession | None = None
        self._key = ""

    @property
    def base(self) -> URL:
        """The base address that answered, or the likeliest before any did."""
        return self._base or self._candidates[0]

    @property
    def url(self) -> str:
        """The chat address for messages and the run, without its query."""
        return shown(join(self.base, CHAT))

    @property
    def local(self) -> bool:
        """Whether the host is this machine."""
        return is_local(self.base.host or "")

    def adopt(self, url: str) -> None:
        """Take the address an earlier probe found, when it is one of ours, so as not to look again."""
        if self._base is None:
            base = next((b for b in self._candidates if shown(join(b, CHAT)) == url), None)
            if base is not None:
                self._settle(base)

    def open(self) -> None:
        """Open the session. Raises ModelError when the key cannot be found."""
        if self._session is not None:
            return
        self._key = key_from(self._api_key_env, self._name)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            headers=headers,
            timeout=self._timeouts,
            # Many servers drop idle connections after 5 s: ours must go first, or a call is lost with them.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=proxy_for(self._candidates[0]),
        )
        self._locating = asyncio.Lock()

    async def close(self) -> None:
        """Close the session; the next call opens a new one."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def post(self, route: str, data: bytes) -> dict[str, Any]:
        """The JSON object that `route` answers with. Raises Fault for everything else."""
        if self._base is not None:
            return await self._exchange(self._routes[route], data)
        async with self._locating:
            if self._base is not None:
                return await self._exchange(self._routes[route], data)
            return await self._locate(route, data)

    async def get(self, url: URL) -> Any:
        """The JSON at `url`, None for whatever goes wrong: what is told here is welcome, not needed."""
        assert self._session is not None
        quick = aiohttp.ClientTimeout(total=min(self._timeouts.total or 10.0, 10.0))
        try:
            async with self._session.get(url, timeout=quick, allow_redirects=False) as response:
                return decode(await response.read()) if response.status == 200 else None
        except (TimeoutError, aiohttp.ClientError, OSError):
            return None

    async def _locate(self, route: str, data: bytes) -> dict[str, Any]:
        """Ask at each form of the address until one answers like an API, and stay with that."""
        answers: list[Fault] = []
        for base in self._candidates:
            try:
                payload = await self._exchange(join(base, route), data)
            except Fault as fault:
                if not fault.elsewhere:
                    if not fault.retry:
                        self._settle(base)
                    raise
                answers.append(fault)
            else:
                self._settle(base)
                return payload
        tried = [f"{shown(join(b, route))} ({f})" for b, f in zip(self._candidates, answers, strict=True)]
        message = f"no OpenAI-compatible API answers at {' or '.join(tried)}; check url"
        retry = any(fault.retry for fault in answers)  # a web page may be a passing mishap
        raise Fault("not found", message, status=404, retry=retry, fatal=not retry, elsewhere=True)

    def _settle(self, base: URL) -> None:
        self._base = base
        self._routes = {route: join(base, route) for route in (CHAT, EMBEDDINGS)}

    async def _exchange(self, url: URL, data: bytes) -> dict[str, Any]:
        assert self._session is not None
        body = data if len(data) <= LARGE_BODY else io.BytesIO(data)
        try:
            async with self._session.post(url, data=body, allow_redirects=False) as response:
                raw = await response.read()
        except TimeoutError as error:
            raise self._timed_out(error) from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._broken(error) from error
        if len(self._key) >= KEY_LENGTH_MASKED_IN_REPLIES:
            raw = raw.replace(self._key.encode(), b"***")
        payload = decode(raw)
        if response.status == 200:
            if not isinstance(payload, dict):
                raise _no_json(raw)
            wrong = error_in_reply(payload)
            if wrong is None:
                return payload
            status, payload = wrong
        else:
            status = response.status
        floor = retry_after(response.headers.get("Retry-After"))
        raise self._masked(fault_from_status(status, payload, raw, floor))

    def _timed_out(self, error: TimeoutError) -> Fault:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return Fault("timeout", f"no connection within {self._timeouts.sock_connect:g} s", retry=True)
        return Fault("timeout", f"no whole answer within {self._timeouts.total:g} s", retry=True)

    def _broken(self, error: Exception) -> Fault:
        certificate = isinstance(error, aiohttp.ClientConnectorCertificateError)
        message = f"{type(error).__name__}: {error}"
        return self._masked(Fault("connection", message, retry=not certificate, fatal=certificate))

    def _masked(self, fault: Fault) -> Fault:
        if self._key:
            fault.message = fault.message.replace(self._key, "***")
            fault.code = fault.code.replace(self._key, "***")
            fault.args = (fault.message,)
        return fault


def _no_json(raw: bytes) -> Fault:
    page = raw.lstrip()[:1] == b"<"
    what = "a web page" if page else f"{len(raw)} bytes that are no JSON object"
    return Fault("bad reply", f"the host answered with {what}", status=200, retry=True, elsewhere=page)
