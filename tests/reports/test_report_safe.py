"""Hostile text: shown, stored in a spreadsheet, used as a file name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edufair.reports.safe import csv_text, file_name, shown


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x00", "⟨U+0000⟩"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("\ud800", "⟨U+D800⟩"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("مرحبا 👩‍🏫", "مرحبا 👩‍🏫"),
    ],
)
def test_unseen_controls_are_written_out_and_ordinary_text_stays(text, seen):
    assert shown(text) == seen


@given(st.text(st.characters()))
def test_shown_text_can_always_be_written_as_utf8(text):
    shown(text).encode("utf-8")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"])
def test_a_formula_is_defused(text):
    assert csv_text(text) == "'" + text


@pytest.mark.parametrize("text", ["", "a=1", "1-2", "'=1", "low-income - high-income"])
def test_other_cells_are_left_alone(text):
    assert csv_text(text) == text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("meta-llama/Llama-3.1-8B", "meta-llama-Llama-3.1-8B"),
        ("../../etc/passwd", "etc-passwd"),
        (".hidden", "hidden"),
        ("CON", "CON-"),
        ("nul.txt", "nul.txt-"),
        ("日本語", "unnamed"),
        ("", "unnamed"),
        ("a\x00b", "a-b"),
        ("é", "e"),
    ],
)
def test_a_file_name_from_a_model_name_stays_in_its_folder(text, name):
    assert file_name(text) == name


@given(st.text())
def test_every_file_name_is_short_plain_and_visible(text):
    name = file_name(text)
    assert 0 < len(name) <= 81
    assert not name.startswith(".")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
