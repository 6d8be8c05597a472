"""`metier secrets` as a person and a script meet it: names are shown, values never."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, Answer, environment, error_of, run

if TYPE_CHECKING:
    from conftest import Home, Writer

VALUE = "planted-5aa1 with 'quotes'"
FIELDS = "---\nname: weather\ndescription: X.\nrequired_environment_variables: [STORM_KEY]\n---\nDo it.\n"


def fed(home: Home, given: str, *words: str) -> Answer:
    """Run a command with a text on its standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "metier", *words],
        env=environment(home.env),
        cwd=home.path,
        input=given.encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def closed(home: Home, what: str, *words: str) -> Answer:
    """Run a command with a stream that is not even open."""
    command = ["/bin/sh", "-c", f'exec "$@" {what}', "sh", sys.executable, "-m", "metier", *words]
    done = subprocess.run(
        command,
        env=environment(home.env),
        cwd=home.path,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_secret_is_set_listed_and_forgotten(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/weather", text=FIELDS)

    empty = run(home.env, "secrets", "list", cwd=home.path)
    kept = fed(home, f"{VALUE}\n", "secrets", "set", "STORM_KEY")
    listed = run(home.env, "secrets", "list", cwd=home.path)
    document = run(home.env, "secrets", "list", "--json", cwd=home.path).json
    ready = run(home.env, "list", "--json", cwd=home.path).json["skills"][0]["readiness"]
    gone = run(home.env, "secrets", "unset", "STORM_KEY", "--json", cwd=home.path)
    again = run(home.env, "secrets", "unset", "STORM_KEY", cwd=home.path)

    assert (0, True) == (empty.code, empty.out.startswith("No secrets are kept."))
    assert (0, "STORM_KEY is kept in the file\n") == (kept.code, kept.out)
    assert ["NAME STORE DECLARED BY", "STORM_KEY file weather"] == [
        " ".join(line.split()) for line in listed.out.splitlines()
    ]
    assert {"secrets": [{"name": "STORM_KEY", "store": "file", "skills": ["weather"]}]} == document
    assert "available" == ready
    assert (0, {"name": "STORM_KEY", "store": "", "done": "forgotten"}) == (gone.code, gone.json)
    assert (1, "no secret 'STORM_KEY' is kept") == (again.code, error_of(again)[0])
    assert all(VALUE not in one.out + one.err for one in (kept, listed, gone, again))


def test_lines_that_are_no_secrets_are_told_by_their_number_alone(home: Home) -> None:
    assert 0 == fed(home, VALUE, "secrets", "set", "STORM_KEY").code
    file = os.path.join(home.env["METIER_HOME"], "secrets", "values.env")
    with open(file, "ab") as opened:
        opened.write(b"# mine\n\nplanted-junk-1\nmy key=planted-junk-2\n" + b"\xff\x00junk\n" * 9)

    answer = run(home.env, "secrets", "list", cwd=home.path)

    assert 0 == answer.code
    assert "STORM_KEY" in answer.out
    for line in ("line 4 is skipped: it has no =", "line 5 is skipped", "and 6 more lines"):
        assert line in answer.err
    assert "planted" not in answer.out + answer.err


@pytest.mark.parametrize(
    "given", ["", "\n", "   \n", "a\0b\n", "x" * 40_000 + "\n", "first\nsecond\n"]
)
def test_a_value_that_will_not_do_is_refused_without_being_shown(given: str, home: Home) -> None:
    answer = fed(home, given, "secrets", "set", "STORM_KEY")

    assert 2 == answer.code
    assert "xxxx" not in answer.err
    assert "first" not in answer.err
    assert "No secrets" in run(home.env, "secrets", "list", cwd=home.path).out


def test_bytes_that_are_not_utf_8_are_kept_as_they_are(home: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "metier", "secrets", "set", "STORM_KEY"],
        env=environment(home.env),
        cwd=home.path,
        input=b"caf\xe9\n",
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (0, b"") == (done.returncode, done.stderr)
    assert (
        b'STORM_KEY="caf\xe9"\n'
        == (home.path.parent / "metier-home" / "secrets" / "values.env").read_bytes()
    )


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "METIER_HOME"])
def test_a_name_that_no_skill_may_have_is_refused_before_anything_is_read(
    name: str, home: Home
) -> None:  # HE-20
    answer = run(home.env, "secrets", "set", name, cwd=home.path)

    assert 1 == answer.code
    assert f"'{name}' is not kept" in error_of(answer)[0]


MISTAKES = [
    ("secrets", "set", "STORM_KEY", "hunter2"),
    ("secrets", "set", "STORM_KEY=hunter2"),
    ("secrets", "set", "sk-hunter2"),
    ("secrets", "unset", "STORM_KEY=hunter2"),
    ("secrets", "STORM_KEY=hunter2"),
    ("secrets", "hunter2"),
    ("secrets", "set", "STORM_KEY", "--store=hunter2"),
    ("secrets", "set", "STORM_KEY", "--store", "hunter2"),
    ("secrets", "set", "STORM_KEY", "--hunter2"),
    ("secrets", "set", "STORM_KEY", "--value=hunter2"),
    ("setup", "weather", "STORM_KEY=hunter2"),
    ("setup", "STORM_KEY=hunter2"),
    ("setup", "the key is hunter2"),
    ("setup", "weather", "--store=hunter2"),
]


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("words", MISTAKES)
def test_a_value_among_the_arguments_is_not_repeated(
    words: tuple[str, ...], as_json: bool, home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/weather", text=FIELDS)

    answer = run(home.env, *words, *(["--json"] if as_json else []), cwd=home.path)

    assert 2 == answer.code
    assert "hunter2" not in answer.out + answer.err


@pytest.mark.parametrize(
    "words",
    [("set", "STORM_KEY", "hunter2"), ("set", "STORM_KEY=hunter2"), ("unset", "STORM_KEY=hunter2")],
)
def test_a_value_among_the_arguments_is_told_where_it_belongs(
    words: tuple[str, ...], home: Home
) -> None:
    assert "never an argument" in error_of(run(home.env, "secrets", *words, cwd=home.path))[1]


def test_where_the_configuration_wants_the_session_nothing_is_written_to_disk(home: Home) -> None:
    config = home.path / "metier.toml"
    config.write_text('[secrets]\nstore = "session"\n')
    home.env["METIER_CONFIG"] = str(config)

    refused = fed(home, f"{VALUE}\n", "secrets", "set", "STORM_KEY", "--json")
    before = (home.path.parent / "metier-home" / "secrets").exists()
    named = fed(home, f"{VALUE}\n", "secrets", "set", "STORM_KEY", "--store", "file")

    assert (1, "session-store", False) == (refused.code, refused.json["code"], before)
    assert "--store file" in refused.json["hint"]
    assert (0, "STORM_KEY is kept in the file\n") == (named.code, named.out)


def test_without_any_standard_input_it_says_so(home: Home) -> None:
    answer = closed(home, "<&-", "secrets", "set", "STORM_KEY")

    assert (2, "there is no terminal to ask on, and no standard input") == (
        answer.code,
        error_of(answer)[0],
    )


@pytest.mark.parametrize(
    "backend", ["nope.X", "nope", "keyring.backends.nope.Keyring", "keyring.backends.fail.Nope", ""]
)
def test_a_keyring_that_cannot_be_loaded_is_said_to_be_missing(backend: str, home: Home) -> None:
    env = {**home.env, "PYTHON_KEYRING_BACKEND": backend or "keyring.backends.null.Keyring"}

    answer = run(env, "secrets", "set", "STORM_KEY", "--store", "keyring", "--json", cwd=home.path)

    assert (1, "no-keyring") == (answer.code, answer.json["code"])


@pytest.mark.parametrize("words", [("steal", "X"), ("list", "X"), ("set",), ("unset",)])
def test_anything_else_is_a_wrong_call(words: tuple[str, ...], home: Home) -> None:
    assert 2 == run(home.env, "secrets", *words, cwd=home.path).code


def test_on_a_terminal_it_asks_without_echo(home: Home) -> None:
    outside, inside = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "metier", "secrets", "set", "STORM_KEY"],
        cwd=home.path,
        stdin=inside,
        stdout=inside,
        stderr=inside,
        env=environment(home.env),
        start_new_session=True,
    )
    os.close(inside)
    seen = b""
    while not seen.endswith(b"STORM_KEY: "):
        seen += os.read(outside, 1024)

    os.write(outside, f"{VALUE}\n".encode())
    while b"is kept" not in seen:
        seen += os.read(outside, 1024)
    process.wait(timeout=PATIENCE)
    os.close(outside)

    assert (0, False) == (process.returncode, VALUE.encode() in seen)
    assert ["STORM_KEY"] == [
        one["name"]
        for one in run(home.env, "secrets", "list", "--json", cwd=home.path).json["secrets"]
    ]


def test_a_keyring_that_is_not_there_is_said_to_be_missing(home: Home) -> None:
    env = {**home.env, "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    answer = run(env, "secrets", "set", "STORM_KEY", "--store", "keyring", "--json", cwd=home.path)

    assert (1, "no-keyring") == (answer.code, answer.json["code"])
    assert "metier[keyring]" in answer.json["hint"]
    assert not (home.path.parent / "metier-home" / "secrets" / "values.env").exists()
