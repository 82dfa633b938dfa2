"""audit.toml becomes settings, or an error that names the file, the key and the mend."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from edufair import config
from edufair.audits.dialogue import DialogueSettings
from edufair.errors import ConfigError
from whole.small_audit import small_audit

KINDS = {"dialogue": DialogueSettings}

LEAST = """
audit = "dialogue"
[models.small]
url = "embedded:smollm2"
[tutor]
model = "small"
[student]
model = "small"
"""


def load(folder: Path, text: str, name: str = "audit.toml") -> DialogueSettings:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    settings = config.load(path, KINDS)
    assert isinstance(settings, DialogueSettings)
    return settings


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return str(caught.value)


# --- what the defaults are --------------------------------------------------------------------------------------


def test_the_least_file_gives_the_paper_s_settings(tmp_path: Path) -> None:
    settings = load(tmp_path, LEAST)
    assert settings.tutor.sampling() == {"temperature": 0.1, "max_tokens": 2048}
    assert settings.student.sampling() == {"temperature": 0.0, "max_tokens": 2048}
    assert settings.judge is None
    assert (settings.dialogue.max_turns, settings.dialogue.opening) == (10, "question")
    assert settings.design.conditions == ["explicit"]
    assert (settings.analysis.min_pairs, settings.analysis.resamples, settings.analysis.practical_r) == (15, 1000, 0.1)
    assert (settings.analysis.margin_rate, settings.analysis.margin_share, settings.analysis.max_loss) == (
        0.05,
        0.1,
        0.2,
    )


#: Keys of the template whose commented values are examples and no defaults.
EXAMPLES = ("name", "run", "sample", "limit", "domains", "domain", "grade", "columns")


def test_the_template_is_a_valid_file_whose_comments_state_the_defaults(tmp_path: Path) -> None:
    template = files("edufair.cli").joinpath("templates", "dialogue.toml").read_text(encoding="utf-8")
    before, _, roles = template.partition("[tutor]")
    lines = [line.removeprefix("# ") for line in f"[tutor]{roles}".splitlines()]
    stated = "\n".join(line for line in lines if not line.startswith(tuple(f"{key} =" for key in EXAMPLES)))
    assert load(tmp_path, before + stated) == load(tmp_path, template)


def test_the_demo_s_template_is_a_valid_file(tmp_path: Path) -> None:
    load(tmp_path, files("edufair.cli").joinpath("templates", "demo.toml").read_text(encoding="utf-8"))


def test_one_audited_model_and_a_list_of_them_are_both_a_list(tmp_path: Path) -> None:
    one = load(tmp_path, LEAST)
    two = load(tmp_path, LEAST.replace('[tutor]\nmodel = "small"', '[tutor]\nmodel = ["small"]'))
    assert one.tutor.models == two.tutor.models == ["small"]
    assert one.student.models == ["small"]


def test_a_parameter_that_is_unset_is_not_sent(tmp_path: Path) -> None:
    settings = load(tmp_path, LEAST + 'temperature = "unset"\nmax_tokens = "unset"\n')
    assert settings.student.sampling() == {}


def test_paths_and_names_start_beside_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    settings = load(folder, LEAST + '[items]\nbank = "data/questions.csv"\n', name="my audit.toml")
    assert settings.name == "my audit"
    assert settings.run == str(folder / "runs" / "my audit")
    assert settings.items.bank == str(folder / "data" / "questions.csv")


def test_absolute_paths_and_the_sample_bank_stay_as_they_are(tmp_path: Path) -> None:
    settings = load(tmp_path, f'run = "{tmp_path}/elsewhere"\n' + LEAST)
    assert settings.run == str(tmp_path / "elsewhere")
    assert settings.items.bank == "sample"


def test_a_tilde_is_the_user_s_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = load(tmp_path, 'run = "~/runs"\n' + LEAST + '[items]\nbank = "~/bank.csv"\n')
    assert settings.run == str(tmp_path / "home" / "runs")
    assert settings.items.bank == str(tmp_path / "home" / "bank.csv")


def test_a_byte_order_mark_and_crlf_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_bytes(b"\xef\xbb\xbf" + LEAST.replace("\n", "\r\n").encode())
    assert config.load(path, KINDS).audit == "dialogue"


def test_a_mapping_is_read_as_a_file_is(tmp_path: Path) -> None:
    settings = config.validate(small_audit(tmp_path), KINDS, where="audit")
    assert (settings.name, settings.run) == ("small", str(tmp_path / "run"))


def test_settings_survive_being_kept_as_json(tmp_path: Path) -> None:
    settings = load(tmp_path, LEAST + 'temperature = "unset"\n[judge]\nmodel = "small"\n')
    assert DialogueSettings.model_validate(settings.model_dump(mode="json")) == settings


# --- what an error says -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 'the key "audit" is missing; add audit = "dialogue"'),
        ('audit = "dialog"', "audit = 'dialog' is not an audit; choose one of: dialogue"),
        ("audit = 3", "audit = 3 is not an audit"),
        ("audit = [", "is not valid TOML"),
        ('audit = "dialogue"', 'the key "models" is missing; add it'),
        (LEAST + "[jugde]\nmodel = 'small'", 'the key "jugde" is not known; did you mean "judge"?'),
        (LEAST + "temprature = 0", 'the key "student.temprature" is not known; did you mean "temperature"?'),
        (LEAST + "[dialogue]\nturns = 3", 'the key "dialogue.turns" is not known; did you mean "max_turns"?'),
        (LEAST + "[models.b]\nurl = 'embedded:x'\nkey = 1", 'the key "models.b.key" is not known'),
        (LEAST + "[models.b]\nmodel = 'x'", 'the key "models.b.url" is missing; add it'),
        (LEAST + "[judge]\nmodel = 'big'", "[judge] model = 'big': there is no [models.big]; there is: small"),
        (LEAST + "[judge]", 'the key "judge.model" is missing; add it'),
        (LEAST + "temperature = 3", '"student.temperature" = 3: '),
        (LEAST + "temperature = 'warm'", "\"student.temperature\" = 'warm': "),
        (LEAST + "temperature = nan", '"student.temperature" = nan: '),
        (LEAST + "max_tokens = 0", '"student.max_tokens" = 0: '),
        (LEAST + "[dialogue]\nmax_turns = 0", '"dialogue.max_turns" = 0: '),
        (LEAST + "[dialogue]\nopening = 'hello'", "\"dialogue.opening\" = 'hello': "),
        (LEAST + "[design]\nconditions = []", '"design.conditions" = []: '),
        (LEAST + "[design]\nconditions = ['explicit', 'implicit', 'explicit']", "conditions names one twice"),
        (LEAST + "[items]\nsample = 1.5", '"items.sample" = 1.5: '),
        (LEAST.replace('"small"\n[student]', '["small", "small"]\n[student]'), "[tutor] model names a model twice"),
        (LEAST.replace('"small"\n[student]', "[]\n[student]"), '"tutor.model" = []: '),
    ],
)
def test_a_mistake_is_named_with_its_file_key_and_mend(tmp_path: Path, text: str, words: str) -> None:
    said = complaint(tmp_path, text)
    assert said.startswith(f"{tmp_path / 'audit.toml'}: ")
    assert words in said
    assert "value error" not in said.lower()


def test_several_mistakes_are_named_together(tmp_path: Path) -> None:
    said = complaint(tmp_path, LEAST + "temperature = 9\nwarmth = 1\n[dialogue]\nmax_turns = -1")
    assert len(said.splitlines()) == 3


@pytest.mark.parametrize(
    "line",
    [
        'url = "https://user:hunter2@host/v1"',
        'url = "https://host/v1?api_key=hunter2"',
        'url = "https://host/v1"\napi_key = "hunter2"',
        'url = "https://host/v1"\napi_key_env = "sk-hunter2"',
        'url = "https://host/v1"\napi_key_env = "hunter2 "',
    ],
)
def test_a_key_written_into_the_file_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    said = complaint(tmp_path, f"{LEAST}[models.b]\n{line}\n")
    assert "hunter2" not in said
    assert "api_key_env" in said


def test_a_file_that_is_not_there_says_what_writes_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.toml: there is no such file; `edufair init` writes one"):
        config.load(tmp_path / "nothing.toml", KINDS)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder; name the audit file in it"):
        config.load(tmp_path, KINDS)


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_bytes('audit = "é"'.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"audit\.toml: cannot be read as UTF-8 text"):
        config.load(tmp_path / "audit.toml", KINDS)


def test_a_long_value_is_shortened(tmp_path: Path) -> None:
    said = complaint(tmp_path, LEAST + f"[items]\nbank = {list(range(1000))}")
    assert max(map(len, said.splitlines())) < 200 + len(str(tmp_path))


# --- what an audit adds -----------------------------------------------------------------------------------------


def dialogue(folder: Path, **sections: Any) -> DialogueSettings:
    settings = config.validate(small_audit(folder, **sections), KINDS, where="audit")
    assert isinstance(settings, DialogueSettings)
    return settings


def test_the_baseline_is_asked_twice_at_the_least(tmp_path: Path) -> None:
    for wanted, got in ((1, 2), (2, 2), (3, 3)):
        settings = dialogue(tmp_path, design={"conditions": ["baseline", "explicit"], "replicates": wanted})
        assert (settings.replicates("baseline"), settings.replicates("explicit")) == (got, wanted)


def test_widened_settings_have_the_arms_of_both(tmp_path: Path) -> None:
    now = dialogue(tmp_path, design={"conditions": ["implicit"], "dimensions": ["ses"]})
    earlier = dialogue(tmp_path, design={"conditions": ["explicit"], "dimensions": ["gender", "ses"]})
    both = now.widened(earlier.model_dump(mode="json"))
    assert both.design.conditions == ["implicit", "explicit"]
    assert both.design.dimensions == ["ses", "gender"]


def test_the_judge_s_prompts_belong_to_an_audit_with_a_judge(tmp_path: Path) -> None:
    assert any(name.startswith("judge") for name in dialogue(tmp_path).prompts())
    assert not any(name.startswith("judge") for name in dialogue(tmp_path, judge=None).prompts())
    assert dialogue(tmp_path, judge=None).judge_schema() is None


def test_a_judge_that_is_asked_one_dimension_at_a_time_is_asked_five_times_as_often(tmp_path: Path) -> None:
    joint = dialogue(tmp_path).expected_load(30)
    single = dialogue(tmp_path, judge={"model": "truth", "mode": "single"}).expected_load(30)
    assert (joint["tutor"].calls, joint["student"].calls, joint["judge"].calls) == (2, 2, 2)
    assert single["judge"].calls == 10
    assert "judge" not in dialogue(tmp_path, judge=None).expected_load(30)
