"""audit.toml becomes validated settings. Unknown keys are refused; every error names the file, the key and the mend."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from edufair.errors import ConfigError
from edufair.records import Item

#: Names of query parameters that carry a secret.
_SECRET = re.compile(r"key|token|secret|sig|password|auth", re.IGNORECASE)


#: What an environment variable may be called; most keys are not such a name.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: Settings whose value an error never repeats: it may hold a key.
_NEVER_REPEATED = ("url", "api_key_env")


class Section(BaseModel):
    """A table of audit.toml: frozen, and closed to keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)


class ModelSettings(Section):
    """`[models.NAME]`: where a model is reached and what it may be asked for. A key is named, never written here."""

    url: str
    model: str | None = None
    api_key_env: str | None = None
    concurrency: int | None = Field(None, ge=1, le=4096)
    requests_per_minute: float | None = Field(None, gt=0)
    tokens_per_minute: float | None = Field(None, gt=0)
    timeout: float | None = Field(None, gt=0, description="seconds for one call")
    retries: int | None = Field(None, ge=0, le=100)
    context: int | None = Field(None, ge=256)
    extra_body: dict[str, Any] | None = None
    price_prompt: float | None = Field(None, ge=0, description="per million prompt tokens")
    price_completion: float | None = Field(None, ge=0, description="per million completion tokens")

    @field_validator("url")
    @classmethod
    def _no_secret_in_url(cls, url: str) -> str:
        address = urlsplit(url)
        if address.username or address.password or _SECRET.search(address.query):
            raise ValueError("an address must hold no key or password; name the key's variable in api_key_env")
        return url

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):
            raise ValueError("write the name of the environment variable that holds the key, never the key itself")
        return name


class Role(Section):
    """A role's model and how it is sampled. A parameter set to "unset" is not sent at all."""

    model: str
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(2048, ge=1)
    seed: int | None = None

    @field_validator("temperature", "top_p", "max_tokens", "seed", mode="before")
    @classmethod
    def _unset(cls, value: Any) -> Any:
        return None if value == "unset" else value

    @property
    def models(self) -> list[str]:
        """The names of the models in this role: one, or several where the role is under test."""
        return list(self.model) if isinstance(self.model, list) else [self.model]

    def sampling(self) -> dict[str, Any]:
        """The parameters that are sent; an absent one is not sent, which is not the same as a default value."""
        wanted = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens", "seed")}
        return {name: value for name, value in wanted.items() if value is not None}


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


OneOrMore = Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1)]


class AuditedRole(Role):
    """The role under test: one model or several, each audited alike."""

    model: OneOrMore  # type: ignore[assignment]


class Items(Section):
    """`[items]`: which questions. `bank` is `sample` or a file; columns name the fields of a table."""

    bank: str = "sample"
    sample: float | None = Field(None, gt=0, le=1, description="a seeded share, stratified by domain")
    limit: int | None = Field(None, ge=1, description="at most so many items in all, stratified by domain")
    domains: list[str] | None = None
    domain: str | None = Field(None, description="the domain of every item, where the file has no such column")
    grade: int | None = Field(None, ge=1, le=13, description="the grade of every item")
    columns: dict[str, str] = Field(default_factory=dict)


class Limits(Section):
    """`[limits]`: when a run stops by itself. Nothing here shapes a record."""

    stop_after_failures: int = Field(20, ge=1, description="failed trials in a row")
    allow_model_change: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """Calls and tokens, expected of a role."""

    calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0


class Settings(Section):
    """What every audit.toml has. An audit adds its own sections by subclassing."""

    audit: str
    name: str = ""
    run: str = ""
    seed: int = Field(2026, ge=0, lt=2**63)
    models: dict[str, ModelSettings] = Field(min_length=1)
    items: Items = Items()
    limits: Limits = Limits()

    def roles(self) -> dict[str, Role]:
        """The roles of this audit that are filled, by name."""
        fields = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {name: value for name, value in fields if isinstance(value, Role)}

    # What the engine asks of an audit's settings when it freezes a plan. An audit answers by overriding.

    def shaping(self) -> dict[str, Any]:
        """Everything but item, arm, replicate and audited model that shapes a record: it enters the trial ids."""
        raise NotImplementedError

    def prompts(self) -> dict[str, str]:
        """The instruments as they stand, by name: frozen with the plan and shown in the report."""
        raise NotImplementedError

    def contrasts(self) -> list[dict[str, Any]]:
        """The contrasts that will be tested."""
        raise NotImplementedError

    def judge_schema(self) -> dict[str, Any] | None:
        """The JSON schema of the judge's replies, where a judge is asked: as a measure, or because it is audited."""
        return None

    def beside(self, folder: Path) -> Settings:
        """These settings with the files they name, which lie beside the audit file, read in."""
        return self

    def length(self, item: Item) -> int:
        """How many characters of an item a model is shown at the most: for the estimate of a plan."""
        return len(item.text)

    def widened(self, earlier: Mapping[str, Any]) -> Settings:
        """These settings with the arms that an earlier plan's settings had besides."""
        return self

    def replicates(self, condition: str) -> int:
        """How often an arm of this condition is repeated."""
        return 1

    def expected_load(self, question_tokens: float) -> dict[str, Load]:
        """What one trial is expected to ask of each role, at the most."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _models_are_named(self) -> Settings:
        for role, settings in self.roles().items():
            names = settings.models
            for name in names:
                if name not in self.models:
                    known = ", ".join(sorted(self.models))
                    raise ValueError(f"[{role}] model = {name!r}: there is no [models.{name}]; there is: {known}")
            if len(set(names)) != len(names):
                raise ValueError(f"[{role}] model names a model twice")
        return self


AnySettings = TypeVar("AnySettings", bound=Settings)


def load(path: Path | str, kinds: Mapping[str, type[Settings]]) -> Settings:
    """The settings of an audit file. `kinds` maps the names of the audits to their Settings.

    Raises ConfigError naming the file, the key and the mend.
    """
    path = Path(path)
    return validate(_read_toml(path), kinds, where=path)


def validate(raw: Mapping[str, Any], kinds: Mapping[str, type[Settings]], *, where: Path | str) -> Settings:
    """As `load`, from a mapping; `where` is what an error calls it, and what names the run by default."""
    audit = raw.get("audit")
    if audit is None:
        raise ConfigError(f'{where}: the key "audit" is missing; add audit = "{next(iter(kinds))}"')
    if not isinstance(audit, str) or audit not in kinds:
        raise ConfigError(f"{where}: audit = {audit!r} is not an audit; choose one of: {', '.join(sorted(kinds))}")
    kind = kinds[audit]
    try:
        settings = kind.model_validate(dict(raw))
    except ValidationError as error:
        raise ConfigError(_explain(error, kind, where)) from None
    return _with_names(settings, where)


def _with_names(settings: Settings, where: Path | str) -> Settings:
    """Paths start beside the file; a run without a name or a folder of its own takes them from the file's name."""
    path = Path(where)
    name = settings.name or (path.stem if path.suffix == ".toml" else settings.audit)
    beside = path.parent
    bank = settings.items.bank
    kept = bank if bank == "sample" else str(beside / Path(bank).expanduser())
    items = settings.items.model_copy(update={"bank": kept})
    run = beside / Path(settings.run or f"runs/{name}").expanduser()
    return settings.model_copy(update={"name": name, "run": str(run), "items": items}).beside(beside)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file; `edufair init` writes one") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a folder; name the audit file in it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as UTF-8 text ({error})") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from None


def _explain(error: ValidationError, kind: type[Settings], where: Path | str) -> str:
    lines = [f"{where}: {_explain_one(problem, kind)}" for problem in error.errors()]
    return "\n".join(dict.fromkeys(lines))


def _explain_one(problem: Any, kind: type[Settings]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f'the key "{key}" is not known{_suggestion(problem["loc"], kind)}'
    if problem["type"] == "missing":
        return f'the key "{key}" is missing; add it'
    if problem["type"] == "value_error":
        return f'"{key}": {problem["ctx"]["error"]}' if key else str(problem["ctx"]["error"])
    if problem["loc"] and problem["loc"][-1] in _NEVER_REPEATED:
        return f'"{key}": {problem["msg"][:1].lower()}{problem["msg"][1:]}'
    got = repr(problem["input"])
    got = got if len(got) <= 80 else got[:77] + "..."
    return f'"{key}" = {got}: {problem["msg"][:1].lower()}{problem["msg"][1:]}'


def _suggestion(loc: tuple[Any, ...], kind: type[BaseModel]) -> str:
    """What the key may have meant, or what is allowed there."""
    section: Any = kind
    for part in loc[:-1]:
        field = (
            section.model_fields.get(part) if isinstance(section, type) and hasattr(section, "model_fields") else None
        )
        section = _section_of(field.annotation) if field is not None else ModelSettings
        if section is None:
            return ""
    known = sorted(section.model_fields) if hasattr(section, "model_fields") else []
    close = get_close_matches(str(loc[-1]), known, n=1)
    return f'; did you mean "{close[0]}"?' if close else f"; known here: {', '.join(known)}"


def _section_of(annotation: Any) -> Any:
    """The Section class in an annotation such as `Section | None`."""
    candidates = [annotation, *getattr(annotation, "__args__", ())]
    return next((c for c in candidates if isinstance(c, type) and issubclass(c, Section)), None)
