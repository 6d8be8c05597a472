"""From a plan to all that a sandbox is told: nothing in it that was not planned, and nothing of the host's."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from conformance.folders import write
from fakes.permitted import permitted
from fakes.scripted import kept, library_of

from metier.errors import IntegrityError, RefusedError, UsageError
from metier.run import cages, plan, run_script
from metier.run.io import copies
from metier.run.model import HOME, PATH, SCRATCH, SKILL, GivenFile, Lent, Mount
from metier.secrets import detect

KEY = "required_environment_variables: [STORM_KEY]\n"
VALUE = "planted-91cd"


def test_a_cage_names_the_copy_the_interpreter_and_nothing_else(tmp_path: Path) -> None:
    library = library_of(tmp_path, {"scripts/hello.sh": "#!/bin/bash -eu\n"})

    run_script.run(library.context, "pdf", "", ["a b", "-x", "c\nd"])

    (cage,) = kept(library).cages
    assert ("bash", "-eu", f"{SKILL}/scripts/hello.sh", "a b", "-x", "c\nd") == (
        Path(cage.command[0]).name,
        *cage.command[1:],
    )
    assert ((), SCRATCH, False, True) == (cage.files, cage.folder, cage.network, cage.sockets)
    assert [f"{library.context.data}/{copies.FOLDER}/"] == [
        mount.source[: len(f"{library.context.data}/{copies.FOLDER}/")] for mount in cage.mounts
    ]
    assert [False] == [mount.writable for mount in cage.mounts]


def test_the_environment_holds_nothing_of_the_caller_s(tmp_path: Path) -> None:
    library = library_of(
        tmp_path,
        env={
            "OPENAI_API_KEY": VALUE,
            "LD_PRELOAD": "/x.so",
            "PYTHONPATH": "/x",
            "STORM_KEY": VALUE,
        },
    )

    run_script.run(library.context, "pdf")

    variables = dict(kept(library).cages[0].environment)
    assert (HOME, PATH, SKILL, "pdf") == tuple(
        variables[name] for name in ("HOME", "PATH", "CLAUDE_SKILL_DIR", "METIER_SKILL")
    )
    assert (False, False) == (
        VALUE in variables.values(),
        bool({"LD_PRELOAD", "PYTHONPATH"} & set(variables)),
    )


def test_folders_that_are_lent_close_the_sockets_in_them(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    out = write(tmp_path / "out" / "x").parent

    run_script.run(
        library.context, "pdf", options=run_script.RunOptions(lent=Lent(writes=(str(out),)))
    )

    (cage,) = kept(library).cages
    assert (True, False) == (Mount(str(out), str(out), writable=True) in cage.mounts, cage.sockets)


@pytest.mark.parametrize(
    ("config", "variables", "files"),
    [
        ("", {"STORM_KEY": VALUE}, ()),
        (
            'run.secrets = "file"\n',
            {"STORM_KEY_FILE": "/run/secrets/STORM_KEY"},
            (GivenFile("/run/secrets/STORM_KEY", VALUE.encode()),),
        ),
    ],
)
def test_a_secret_reaches_a_script_as_the_user_wants(
    tmp_path: Path, config: str, variables: dict[str, str], files: tuple[GivenFile, ...]
) -> None:
    library = library_of(tmp_path, fields=KEY, config=config, env={"STORM_KEY": VALUE})

    run_script.run(library.context, "pdf")

    (cage,) = kept(library).cages
    told = {name: value for name, value in cage.environment if name.startswith("STORM")}
    assert (variables, files, False) == (
        told,
        cage.files,
        any(VALUE in word for word in cage.command),
    )


def test_a_value_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        cages.place_secrets({"STORM_KEY": "a\ud800"}, as_files=True)

    assert ("sandbox-variable", False) == (refused.value.code, "\ud800" in str(refused.value))


def test_a_credential_file_is_lent_as_its_bytes(tmp_path: Path) -> None:
    write(tmp_path / "home" / ".config/storm/token.json", b'{"t": 1}')
    library = library_of(tmp_path, fields="required_credential_files: [.config/storm/token.json]\n")

    run_script.run(library.context, "pdf")

    assert (GivenFile(f"{HOME}/.config/storm/token.json", b'{"t": 1}'),) == kept(library).cages[
        0
    ].files


def test_the_keys_in_a_credential_file_are_taken_out_of_the_output(tmp_path: Path) -> None:
    write(
        tmp_path / "home" / ".config" / "storm" / "token.json",
        '{"user": "ada", "token": "planted-91cd-77af"}',
    )
    library = library_of(tmp_path, fields="required_credential_files: [.config/storm/token.json]\n")
    kept(library).out = b"ada has planted-91cd-77af\n"

    ran = run_script.run(library.context, "pdf")

    assert f"ada has [{HOME}/.config/storm/token.json]\n" == ran.output


def test_every_value_of_a_long_file_is_kept_out_up_to_a_bound_and_more_than_that_is_said(
    tmp_path: Path,
) -> None:
    values = [f"planted-{number:05}" for number in range(detect.MAX_VALUES + 1)]
    write(tmp_path / "home" / "token.json", json.dumps({"tokens": values}))
    library = library_of(tmp_path, fields="required_credential_files: [token.json]\n")
    kept(library).out = " ".join(values[1:]).encode()

    ran = run_script.run(library.context, "pdf")

    assert {f"[{HOME}/token.json]"} == set(ran.output.split())
    assert [
        f"of the {len(values) + 1:,} values in the files that it is lent, 4,096 are kept out of its output"
    ] == library.context.warnings


def test_bytes_as_they_are_are_not_for_runs_with_files_of_the_user_s(tmp_path: Path) -> None:
    write(tmp_path / "home" / "token.json", '{"token": "planted-91cd"}')
    library = library_of(tmp_path, fields="required_credential_files: [token.json]\n")

    with pytest.raises(UsageError) as refused:
        run_script.run(
            library.context,
            "pdf",
            listeners=run_script.RunListeners(raw=lambda _stream, _data: None),
        )

    assert ("leave --raw out", []) == (refused.value.hint, kept(library).cages)


def test_a_credential_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "home" / "token.json", b"x" * (cages.CREDENTIAL_BYTES + 1))
    library = library_of(tmp_path, fields="required_credential_files: [token.json]\n")

    with pytest.raises(RefusedError) as refused:
        run_script.run(library.context, "pdf")

    assert ("credential-file", []) == (refused.value.code, kept(library).cages)


@pytest.mark.parametrize(
    "exchanged",
    [
        {"SKILL.md": "---\nname: pdf\ndescription: x\npermissions: [network]\n---\n"},
        {"scripts/hello.py": "#!/bin/sh\n"},
    ],
)
def test_what_was_planned_from_other_bytes_is_not_run_with_these(
    tmp_path: Path, exchanged: dict[str, str]
) -> None:
    library = library_of(tmp_path)
    folder = tmp_path / "home/.agents/skills/pdf"
    right = {path: (folder / path).read_text() for path in exchanged}
    digest = plan.plan_script(library.context, "pdf", "scripts/hello.py").plan.digest
    for path, text in exchanged.items():
        write(folder / path, text)
    planned = plan.plan_script(library.context, "pdf", "scripts/hello.py", (), Lent(network=True))
    for path, text in right.items():
        write(folder / path, text)

    with pytest.raises(IntegrityError) as refused:
        cages.cage_script(library.context, permitted(planned, digest), consent=False)

    assert "changed" == refused.value.code


def test_without_a_home_there_is_no_place_for_a_copy_and_the_refusal_says_what_to_set(
    tmp_path: Path,
) -> None:
    library = library_of(tmp_path)
    planned = plan.plan_script(library.context, "pdf", "scripts/hello.py")
    library.context.data = None

    with pytest.raises(RefusedError) as refused:
        cages.cage_script(library.context, permitted(planned, "sha256:x"), consent=False)

    assert ("no-home", "set METIER_HOME or HOME") == (refused.value.code, refused.value.hint)


def test_without_a_sandbox_a_script_is_told_where_things_really_are(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    planned = plan.plan_script(library.context, "pdf", "scripts/hello.py")

    cage = cages.cage_script(
        library.context, permitted(planned, planned.plan.digest), consent=False, bare=True
    ).cage

    variables = dict(cage.environment)
    assert (str(tmp_path / "home"), cage.command[-1]) == (
        variables["HOME"],
        f"{variables['SKILL_DIR']}/scripts/hello.py",
    )
    assert variables["SKILL_DIR"].startswith(f"{library.context.data}/{copies.FOLDER}/")


# --- what a script is told, and what it is handed


@pytest.mark.parametrize(
    ("lent", "told", "said"),
    [
        (Lent(), False, False),
        (Lent(reads=(".",)), True, False),
        (Lent(writes=(".",)), True, True),
        (Lent(writes=("..",)), True, True),
        (Lent(writes=("out",)), False, False),
    ],
)
def test_a_script_is_told_where_the_caller_s_folder_is_and_the_caller_that_it_starts_elsewhere(
    tmp_path: Path, lent: Lent, told: bool, said: bool
) -> None:
    write(tmp_path / "work" / "here" / "out" / "x")
    library = library_of(tmp_path)
    library.context.cwd = str(tmp_path / "work" / "here")

    run_script.run(library.context, "pdf", options=run_script.RunOptions(lent=lent))

    (cage,) = kept(library).cages
    note = f"it starts in /scratch, which is gone afterwards; your folder is at {library.context.cwd}, as METIER_CWD tells it"
    assert (library.context.cwd if told else "", note if said else "") == (
        dict(cage.environment)["METIER_CWD"],
        cages.left_behind(cage),
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a", "b\0c"], "argument 2 holds a NUL, which no argument can"),
        (["x" * 3_000_000], "argument 1 has 3,000,000 bytes, and one has at most 131,071"),
        (["ü" * 65_536], "argument 1 has 131,072 bytes, and one has at most 131,071"),
        (["\ud800"], "argument 1 holds half a character, which no argument can"),
        (["x" * 100_000] * 100, "its arguments and variables have 10,0"),
    ],
)
def test_an_argument_that_no_program_can_be_given_is_named_before_anything_runs(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    library = library_of(tmp_path)

    with pytest.raises(UsageError) as refused:
        run_script.run(library.context, "pdf", "", arguments)

    assert (said, []) == (refused.value.message[: len(said)], kept(library).cages)
    assert (
        "put what is long into a file and lend that, or give it on standard input"
        == refused.value.hint
    )


@pytest.mark.bubblewrap
def test_what_is_just_not_too_long_is_handed_over(tmp_path: Path) -> None:
    library = library_of(
        tmp_path, {"scripts/hello.sh": 'echo "${#1} $#"\n'}, env={"PATH": os.environ["PATH"]}
    )
    library.context.sandbox = None

    ran = run_script.run(library.context, "pdf", "", ["x" * 131_071] * 10)

    assert (0, "131071 10\n") == (ran.code, ran.output)


@pytest.mark.parametrize("name", ["python", "python3", f"python3.{sys.version_info.minor}"])
def test_packages_are_declared_to_python_by_any_of_its_names(tmp_path: Path, name: str) -> None:
    text = f'#!/usr/bin/env {name}\n# /// script\n# dependencies = ["tiny"]\n# ///\n'
    library = library_of(
        tmp_path, {"scripts/hello": text}, config=f'run.interpreters = ["{name}"]\n'
    )

    with pytest.raises(RefusedError) as refused:
        run_script.run(library.context, "pdf", "scripts/hello")

    assert ("dependencies-ask", []) == (refused.value.code, kept(library).cages)
