"""Where an endpoint may stand: the forms of its address, its proxy, and its key."""

from __future__ import annotations

import ipaddress
import os
import re
from urllib.request import getproxies, proxy_bypass

from yarl import URL

from edufair.errors import ModelError

ROUTES = ("/chat/completions", "/completions", "/embeddings", "/models")


def candidates(url: str) -> tuple[URL, ...]:
    """The base addresses that `url` may mean, likeliest first: with and without `/v1`, a pasted route taken
    off.

    Raises ModelError for what is no http(s) address or holds a user name or password.
    """
    try:
        given = URL(url.strip())
    except ValueError:
        given = URL()
    if given.scheme not in ("http", "https") or not given.host:
        raise ModelError("url is not an http(s) address; write for example http://localhost:8000/v1")
    if given.user or given.password:
        raise ModelError(f"url of {given.host} holds a user name or password; use api_key_env and take them out")
    path = given.path.rstrip("/")
    for route in ROUTES:
        path = path.removesuffix(route)
    path = path.rstrip("/")
    if path.endswith("/v1"):
        paths = [path, path.removesuffix("/v1")]
    else:
        paths = [f"{path}/v1", path] if not path else [path, f"{path}/v1"]
    return tuple(given.with_path(p or "/", keep_query=True) for p in paths)


def join(base: URL, route: str) -> URL:
    """`route` under `base`; a query such as `api-version` stays."""
    return base.with_path(f"{base.path.rstrip('/')}/{route}", keep_query=True)


def shown(url: URL) -> str:
    """The address for messages and the run: no query, which may hold a secret."""
    return str(url.with_query(None))


def is_local(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for `url`; none for this machine or what `no_proxy` excepts.

    Raises ModelError for a proxy of another kind than HTTP.

    Read here, not by aiohttp, which would read passwords from ~/.netrc along with it.
    """
    host = url.host or ""
    if is_local(host) or proxy_bypass(f"{host}:{url.port}"):
        return None
    proxy = getproxies().get(url.scheme)
    if proxy and not proxy.startswith(("http://", "https://")):  # its text may hold a password
        raise ModelError(f"the proxy in {url.scheme}_proxy is not of the form http://host:port, the only one known")
    return proxy


def key_from(variable: str | None, name: str) -> str:
    """The key in the environment variable, or "" when none is named.

    Raises ModelError when it cannot be used.
    """
    if variable is None:
        return ""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):  # perhaps a pasted key: not repeated
        raise ModelError(
            f"model {name!r}: api_key_env does not look like the name of an environment variable; put the "
            "key into a variable and write that variable's name (OPENAI_API_KEY), never the key itself"
        )
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(
            f"model {name!r}: the environment variable {variable} (api_key_env) is not set; "
            f"export {variable}=... and run again, or take api_key_env out for a server without keys"
        )
    if not (key.isascii() and key.isprintable()):
        raise ModelError(f"model {name!r}: the key in {variable} holds characters that no HTTP header can carry")
    return key
