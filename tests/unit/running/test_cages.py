"""From a plan to all that a sandbox is told: nothing in it that was not planned, and nothing of the host's."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance.folders import write
from fakes.scripted import kept, library_of

from metier.copies import disk as copies
from metier.errors import IntegrityError, RefusedError
from metier.running import cages, planning, scripts
from metier.runs import HOME, SCRATCH, SKILL, Given, Lent, Mount

KEY = "required_environment_variables: [STORM_KEY]\n"
VALUE = "planted-91cd"


def test_a_cage_names_the_copy_the_interpreter_and_nothing_else(tmp_path: Path) -> None:
    library = library_of(tmp_path, {"scripts/hello.sh": "#!/bin/bash -eu\n"})

    scripts.run(library, "pdf", "", ["a b", "-x", "c\nd"])

    (cage,) = kept(library).cages
    assert ("bash", "-eu", f"{SKILL}/scripts/hello.sh", "a b", "-x", "c\nd") == (Path(cage.command[0]).name, *cage.command[1:])
    assert ((), SCRATCH, False, True) == (cage.files, cage.folder, cage.network, cage.sockets)
    assert [f"{library.data}/{copies.FOLDER}/"] == [
        mount.source[: len(f"{library.data}/{copies.FOLDER}/")] for mount in cage.mounts
    ]
    assert [False] == [mount.writable for mount in cage.mounts]


def test_the_environment_holds_nothing_of_the_caller_s(tmp_path: Path) -> None:
    library = library_of(tmp_path, env={"OPENAI_API_KEY": VALUE, "LD_PRELOAD": "/x.so", "PYTHONPATH": "/x", "STORM_KEY": VALUE})

    scripts.run(library, "pdf")

    variables = dict(kept(library).cages[0].environment)
    assert (HOME, cages.PATH, SKILL, "pdf") == tuple(
        variables[name] for name in ("HOME", "PATH", "CLAUDE_SKILL_DIR", "METIER_SKILL")
    )
    assert (False, False) == (VALUE in variables.values(), bool({"LD_PRELOAD", "PYTHONPATH"} & set(variables)))


def test_folders_that_are_lent_close_the_sockets_in_them(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    out = write(tmp_path / "out" / "x").parent

    scripts.run(library, "pdf", wish=scripts.Wish(lent=Lent(writes=(str(out),))))

    (cage,) = kept(library).cages
    assert (True, False) == (Mount(str(out), str(out), writable=True) in cage.mounts, cage.sockets)


@pytest.mark.parametrize(
    ("config", "variables", "files"),
    [
        ("", {"STORM_KEY": VALUE}, ()),
        (
            'run.secrets = "file"\n',
            {"STORM_KEY_FILE": "/run/secrets/STORM_KEY"},
            (Given("/run/secrets/STORM_KEY", VALUE.encode()),),
        ),
    ],
)
def test_a_secret_reaches_a_script_as_the_user_wants(
    tmp_path: Path, config: str, variables: dict[str, str], files: tuple[Given, ...]
) -> None:
    library = library_of(tmp_path, fields=KEY, config=config, env={"STORM_KEY": VALUE})

    scripts.run(library, "pdf")

    (cage,) = kept(library).cages
    told = {name: value for name, value in cage.environment if name.startswith("STORM")}
    assert (variables, files, False) == (told, cage.files, any(VALUE in word for word in cage.command))


def test_a_value_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        cages.secrets({"STORM_KEY": "a\ud800"}, as_files=True)

    assert ("sandbox-variable", False) == (refused.value.code, "\ud800" in str(refused.value))


def test_a_credential_file_is_lent_as_its_bytes(tmp_path: Path) -> None:
    write(tmp_path / "home" / ".config/storm/token.json", b'{"t": 1}')
    library = library_of(tmp_path, fields="required_credential_files: [.config/storm/token.json]\n")

    scripts.run(library, "pdf")

    assert (Given(f"{HOME}/.config/storm/token.json", b'{"t": 1}'),) == kept(library).cages[0].files


def test_the_keys_in_a_credential_file_are_taken_out_of_the_output(tmp_path: Path) -> None:
    write(tmp_path / "home" / ".config" / "storm" / "token.json", '{"user": "ada", "token": "planted-91cd-77af"}')
    library = library_of(tmp_path, fields="required_credential_files: [.config/storm/token.json]\n")
    kept(library).out = b"ada has planted-91cd-77af\n"

    ran = scripts.run(library, "pdf")

    assert f"ada has [{HOME}/.config/storm/token.json:1]\n" == ran.output


def test_a_credential_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "home" / "token.json", b"x" * (cages.CREDENTIAL_BYTES + 1))
    library = library_of(tmp_path, fields="required_credential_files: [token.json]\n")

    with pytest.raises(RefusedError) as refused:
        scripts.run(library, "pdf")

    assert ("credential-file", []) == (refused.value.code, kept(library).cages)


@pytest.mark.parametrize(
    "exchanged",
    [
        {"SKILL.md": "---\nname: pdf\ndescription: x\npermissions: [network]\n---\n"},
        {"scripts/hello.py": "#!/bin/sh\n"},
    ],
)
def test_what_was_planned_from_other_bytes_is_not_run_with_these(tmp_path: Path, exchanged: dict[str, str]) -> None:
    library = library_of(tmp_path)
    folder = tmp_path / "home/.agents/skills/pdf"
    right = {path: (folder / path).read_text() for path in exchanged}
    digest = planning.planned(library, "pdf", "scripts/hello.py").plan.digest
    for path, text in exchanged.items():
        write(folder / path, text)
    planned = planning.planned(library, "pdf", "scripts/hello.py", (), Lent(network=True))
    for path, text in right.items():
        write(folder / path, text)

    with pytest.raises(IntegrityError) as refused:
        cages.caged(library, planned, digest or "", consent=False)

    assert "changed" == refused.value.code


def test_without_a_home_there_is_no_place_for_a_copy_and_the_refusal_says_what_to_set(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    planned = planning.planned(library, "pdf", "scripts/hello.py")
    library.data = None

    with pytest.raises(RefusedError) as refused:
        cages.caged(library, planned, "sha256:x", consent=False)

    assert ("no-home", "set METIER_HOME or HOME") == (refused.value.code, refused.value.hint)


def test_without_a_sandbox_a_script_is_told_where_things_really_are(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    planned = planning.planned(library, "pdf", "scripts/hello.py")

    cage = cages.caged(library, planned, planned.plan.digest or "", consent=False, bare=True).cage

    variables = dict(cage.environment)
    assert (str(tmp_path / "home"), cage.command[-1]) == (variables["HOME"], f"{variables['SKILL_DIR']}/scripts/hello.py")
    assert variables["SKILL_DIR"].startswith(f"{library.data}/{copies.FOLDER}/")
