import pytest

from edufair.errors import ModelError
from edufair.models import Endpoint, FunctionModel, open_model


def test_an_http_address_opens_an_endpoint_with_its_settings():
    model = open_model(
        "tutor",
        {
            "url": "https://api.example/v1",
            "model": "m-1",
            "api_key_env": "KEY",
            "concurrency": 4,
            "requests_per_minute": 60,
            "tokens_per_minute": None,
            "timeout": 30.0,
            "retries": 2,
            "context": 4096,
            "extra_body": {"top_k": 1},
        },
    )
    assert isinstance(model, Endpoint)
    assert (model.name, model.model_id, model.concurrency, model.retries) == ("tutor", "m-1", 4, 2)
    assert (model.context, model.extra_body) == (4096, {"top_k": 1})


def test_a_python_address_opens_a_function():
    model = open_model("tutor", {"url": "python:json:dumps", "concurrency": 2, "model": None})
    assert isinstance(model, FunctionModel) and model.concurrency == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"url": "http://localhost:1"}, "models.tutor: model is missing"),
        ({"url": "gopher://x", "model": "m"}, "url 'gopher://x' is of no known kind"),
        ({"url": "", "model": "m"}, "of no known kind"),
        ({}, "of no known kind"),
        ({"url": "python:json:dumps", "api_key_env": "K"}, "a Python function has no use for api_key_env"),
        ({"url": "http://localhost:1", "model": "m", "cocurrency": 2}, "no use for cocurrency"),
    ],
)
def test_settings_that_make_no_model_name_the_key_and_the_mend(settings, words):
    with pytest.raises(ModelError) as failed:
        open_model("tutor", settings)
    assert words in str(failed.value)
