"""Shell text is taken apart the way a shell does it, whatever the text is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from metier.scan.languages.shell import read
from metier.scan.languages.shell.commands import ShellCommand, commands, program
from metier.scan.languages.shell.read import MAX_SCRIPT_CHARS, ShellReader


def argv(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in commands(text) if command.words]


@pytest.mark.parametrize(
    "written",
    [
        "curl",
        "'cu''rl'",
        '"cu"rl',
        "c\\url",
        "$'\\x63url'",
        "$'\\143url'",
        "cu\\\nrl",
        'c""url',
        "$(echo curl)",
        "`printf curl`",
        "$(echo lruc | rev)",
        "$(echo Y3VybA== | base64 -d)",
        "$(printf '\\x63\\x75rl')",
    ],
)
def test_a_name_reads_the_same_however_it_is_quoted(written: str) -> None:
    found = argv(f"{written} -s x")

    assert ["curl", "-s", "x"] == found[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=cu; B=rl; $A$B x", ["curl", "x"]),
        ("A=curl\n${A} x", ["curl", "x"]),
        ("export A=curl; $A x", ["curl", "x"]),
        ("A='curl -s x'; $A", ["curl", "-s", "x"]),
        ("A='a b'; echo \"$A\"", ["echo", "a b"]),
        ("cat${IFS}/etc/hosts", ["cat", "/etc/hosts"]),
        ("A=xcurlx; ${A:1:4} y", ["curl", "y"]),
        ("{curl,-s,x}", ["curl", "-s", "x"]),
        ("echo $UNKNOWN ${UNKNOWN}", ["echo", "$UNKNOWN", "$UNKNOWN"]),
        ("echo ${A:-b}", ["echo", "${A:-b}"]),
        ("A=1; A=$(date); echo $A", ["echo", "$A"]),
    ],
)
def test_variables_that_the_text_sets_are_filled_in(text: str, expected: list[str]) -> None:
    found = argv(text)

    assert expected in found


def test_operators_join_commands_and_pipelines() -> None:
    found = commands("a | b && c; d & e || f\ng")

    assert [
        ("a", "|"),
        ("b", "&&"),
        ("c", ";"),
        ("d", "&"),
        ("e", "||"),
        ("f", "\n"),
        ("g", ""),
    ] == [(one.words[0].text, one.link) for one in found]
    assert found[0].pipeline == found[1].pipeline
    assert found[1].pipeline != found[2].pipeline


def test_a_group_feeds_the_pipe_behind_it() -> None:
    a, b, c = commands("( a; b ) | c")

    assert b.pipeline == c.pipeline
    assert a.pipeline != b.pipeline


@pytest.mark.parametrize(
    ("text", "via"),
    [
        ("x $(y z)", "$("),
        ("x `y z`", "`"),
        ("x <(y z)", "<("),
        ('x "a $(y z) b"', "$("),
        ("x > >(y z)", "<("),
        ("bash -c 'y z'", "-c"),
        ("sudo sh -ec 'y z'", "-c"),
        ("eval y z", "eval"),
        ("eval 'y z'", "eval"),
        ("bash <<E\ny z\nE", "<<"),
        ("sh <<< 'y z'", "<<"),
        ("alias q='y z'", "alias"),
        ("echo 'y z' | sh", "|"),
        ("echo 'y z' >> ~/.bashrc", "written"),
        ("docker run img sh -c 'y z'", "-c"),
    ],
)
def test_a_command_inside_another_knows_its_parent(text: str, via: str) -> None:
    found = commands(text)
    inner = [one for one in found if [word.text for word in one.words] == ["y", "z"]]

    assert [(0, via)] == [(one.parent, one.via) for one in inner]


def test_nested_shells_are_taken_apart_to_a_depth() -> None:
    found = argv("""bash -c "bash -c 'curl x | sh'" """)

    assert ["curl", "x"] in found


def test_redirections_have_their_target_and_body() -> None:
    first = commands("cat <<'E' >> ~/.bashrc 2>&1\nline $A\nE\nnext")[0]

    assert [("<<", "E", "line $A\n"), (">>", "~/.bashrc", ""), (">&", "1", "")] == [
        (one.op, one.target.text, one.body) for one in first.redirects
    ]


@pytest.mark.parametrize(
    "text",
    [
        "$ ls -l",
        "user@host:~$ ls -l",
        "RUN ls -l",
        "      - run: ls -l",
        "exec: ls -l",
        "then ls -l",
        "@ls -l",
        "# curl -s x | sh\nls -l",
    ],
)
def test_what_stands_before_a_command_is_passed_over(text: str) -> None:
    assert ["ls", "-l"] in argv(text)


def test_a_console_transcript_loses_its_prompts() -> None:
    assert [["a", "b"], ["c"]] == argv("$ a \\\n> b\n$ c")


def test_a_block_of_nothing_but_root_prompts_is_read_and_comments_are_not() -> None:
    assert [["apt", "update"]] == argv("# apt update\n")
    assert [["ls"]] == argv("# apt update\nls # all\n")


def test_an_apostrophe_or_an_open_quote_does_not_hide_what_follows() -> None:
    assert ["curl", "x"] in argv("echo don't\ncurl x")
    assert ["curl", "x"] in argv('echo "open\ncurl x')
    assert ["curl", "x"] in argv("echo $(open\ncurl x")


def test_offsets_point_into_the_given_text() -> None:
    text = "  A=cu; $A'rl' \"$(cat f)\" | bash -c 'rm x'\n"
    found = commands(text)
    written = {word.text: text[word.start : word.end] for one in found for word in one.words}

    assert "$A'rl'" == written["curl"]
    assert "cat" == written["cat"]
    assert "rm" == written["rm"]


def test_a_program_is_named_by_its_last_part() -> None:
    assert ["curl", "curl", "sh"] == [
        program(name) for name in ("/usr/bin/curl", "C:\\bin\\Curl.exe", "sh")
    ]


@pytest.mark.parametrize(
    "pipeline",
    [
        [["echo", "-e", "\\x68i"]],
        [["printf", "%s", "hi"]],
        [["echo", "ih"], ["rev"]],
        [["echo", "6869"], ["xxd", "-r", "-p"]],
        [["echo", "uv"], ["tr", "a-z", "n-za-m"]],
        [["echo", "aGk="], ["base64", "-d"]],
        [["echo", "h-i"], ["tr", "-d", "-"]],
    ],
)
def test_text_pipelines_are_worked_out(pipeline: list[list[str]]) -> None:
    assert "hi" == read.output(pipeline)


@pytest.mark.parametrize(
    "pipeline",
    [
        [["date"]],
        [["echo", "$A"]],
        [["echo", "x"], ["sed", "s/x/y/"]],
        [["echo", "!!"], ["base64", "-d"]],
        [["echo", "zz"], ["tr", "a"]],
    ],
)
def test_what_takes_more_than_text_is_not_known(pipeline: list[list[str]]) -> None:
    assert read.output(pipeline) is None


_HOSTILE = st.text(
    alphabet=st.sampled_from(list("ab$(){}[]'\"`\\|&;<>#=!~*? \n\t\r\x00\ud800é-@/.:0")),
    max_size=300,
)


@settings(max_examples=300, deadline=None)
@given(_HOSTILE)
def test_no_text_makes_it_raise_and_offsets_stay_inside(text: str) -> None:
    for one in commands(text):
        assert 0 <= one.start <= len(text)
        assert all(0 <= word.start <= word.end <= len(text) for word in one.words)
        assert one.parent < len(commands(text))


class _Counted(ShellReader):
    """Counts how many words and commands are read: what the work is made of."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.steps = 0

    def _item(self, draft: object, closer: str) -> None:
        self.steps += 1
        super()._item(draft, closer)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "piece",
    [
        '"$(',
        "`",
        "$'",
        "a $(b) ",
        "<<A ",
        "A=$A$A;",
        "( ",
        '"a `"$(',
        "{a,",
        "x'y ",
        "${",
        "\\",
        "<(",
        "bash -c '",
    ],
)
def test_the_work_grows_with_the_text_and_no_faster(piece: str) -> None:
    small, large = _Counted(piece * 200), _Counted(piece * 400)

    small.read()
    large.read()

    assert large.steps <= 3 * small.steps + 50


def test_a_doubling_variable_stays_small() -> None:
    found = commands("A=xxxxxxxx;" + "A=$A$A;" * 200 + "echo $A")

    assert sum(len(word.text) for one in found for word in one.words) < 10_000


def test_only_the_beginning_of_an_endless_text_is_read() -> None:
    found = commands("a" * (MAX_SCRIPT_CHARS + 10))

    assert MAX_SCRIPT_CHARS == len(found[0].words[0].text)


def test_a_command_is_a_value() -> None:
    assert commands("a b") == commands("a b")
    assert isinstance(commands("a")[0], ShellCommand)
