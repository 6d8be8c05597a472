"""How a script would be run: the gates, what is granted, which paths can be lent at all, and what to do about a no."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conformance.folders import write
from fakes.codeskills import library_of as code_library
from fakes.scripted import library_of

from metier.run import plan as planning
from metier.run.model import DeclaredPermissions, Lent


def test_a_plan_says_what_is_granted_and_runs_nothing(tmp_path: Path) -> None:
    library = library_of(
        tmp_path,
        fields="permissions: [network, 'write:~/out']\n",
        config='run.writes = ["~/out"]\n',
    )
    out = write(tmp_path / "home" / "out" / "x").parent

    plan = planning.plan_script(
        library.context, "pdf", "scripts/hello.py", ["a b"], Lent(network=True)
    ).plan

    assert (True, False, True, [str(out)], ["a b"]) == (
        plan.allowed,
        plan.asks,
        plan.network,
        plan.writable,
        plan.arguments,
    )
    assert ("python3", []) == (plan.interpreter, plan.reasons)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "it is no path"),
        ("a\0b", "it is no path"),
        ("nowhere", "it is not there"),
        ("pipe", "it is not there"),
        ("~", "it holds metier's own files or the whole home folder"),
        ("~/..", "it holds metier's own files or the whole home folder"),
        ("/", "it holds metier's own files or the whole home folder"),
        ("to-home", "it holds metier's own files or the whole home folder"),
        ("../state/audit", "it is one of metier's own files"),
    ],
)
def test_no_path_is_lent_that_holds_the_home_or_metier_s_own_files(
    tmp_path: Path, path: str, why: str
) -> None:
    library = library_of(tmp_path)
    project = tmp_path / "project"
    os.mkfifo(project / "pipe")
    os.symlink(tmp_path / "home", project / "to-home")
    write(tmp_path / "state" / "audit" / "x")

    assert ("", why) == planning.place_for(library.context)(path)


def test_a_path_is_lent_where_it_really_lies(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    real = write(tmp_path / "home" / "docs" / "a.txt")
    os.symlink(real.parent, tmp_path / "project" / "docs")

    place, lend = (
        planning.place_for(library.context),
        planning.place_for(library.context, lent=True),
    )

    assert [(str(real), "")] * 3 == [
        place("docs/a.txt"),
        place("~/docs/a.txt"),
        lend("~/docs/a.txt"),
    ]
    assert (
        "",
        f"a link on the way leads elsewhere, to {real}: lend that, if it is what you mean",
    ) == lend("docs/a.txt")


def test_a_link_that_stays_in_its_folder_is_followed(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    real = tmp_path / "project" / "v2" / "a.txt"
    real.parent.mkdir(parents=True)
    real.write_text("")
    os.symlink("v2", tmp_path / "project" / "current")
    os.symlink("current/a.txt", tmp_path / "project" / "newest")

    lend = planning.place_for(library.context, lent=True)

    assert [(str(real), "")] * 2 == [lend("current/a.txt"), lend("newest")]


@pytest.mark.parametrize(
    ("files", "scripts"),
    [
        ({"scripts/b.py": "", "scripts/a.sh": "", "c.py": ""}, ["scripts/a.sh", "scripts/b.py"]),
        ({"c.py": "", "deep/d.js": "", "notes.txt": ""}, ["c.py", "deep/d.js"]),
        (
            {
                "scripts/tool": "#!/usr/bin/env python3\n",
                "scripts/data": "x",
                "scripts/odd": "#!/opt/own\n",
            },
            ["scripts/tool"],
        ),
        ({"notes.txt": ""}, []),
    ],
)
def test_scripts_are_what_lies_among_them_or_else_what_ends_like_one(
    tmp_path: Path, files: dict[str, str], scripts: list[str]
) -> None:
    library = library_of(tmp_path, files)

    assert scripts == sorted(planning.scripts_of(library.context, library.resolve("pdf")))


def test_code_and_prose_declare_what_they_need_each_in_its_way(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    prose = library_of(tmp_path / "a", fields="permissions: [network]\n")
    code = code_library(
        tmp_path / "b",
        {"up.py": "SKILL_PERMISSIONS = ['network', 'x']\ndef run(task):\n    return task\n"},
    )

    found = [
        planning.declared_permissions(library.resolve(name))
        for library, name in ((prose, "pdf"), (code, "up"))
    ]

    assert [
        DeclaredPermissions(network=True),
        DeclaredPermissions(network=True, unknown=("x",)),
    ] == found


@pytest.mark.parametrize(
    ("script", "lent", "fields", "hint"),
    [
        ("hello.py", Lent(), "", "its scripts: scripts/hello.py"),
        ("../x.py", Lent(), "", "its scripts: scripts/hello.py"),
        ("scripts/hello.py", Lent(reads=("/nowhere",)), "", "lend the file or folder itself"),
        ("scripts/odd", Lent(), "", "run.interpreters"),
        (
            "scripts/hello.py",
            Lent(),
            "required_environment_variables: [STORM_KEY]\n",
            "metier setup pdf",
        ),
        (
            "scripts/hello.py",
            Lent(),
            "required_credential_files: [token.json]\n",
            "metier setup pdf",
        ),
    ],
)
def test_what_forbids_a_run_comes_with_what_to_do(
    tmp_path: Path, script: str, lent: Lent, fields: str, hint: str
) -> None:
    library = library_of(tmp_path, {"scripts/hello.py": "", "scripts/odd": "#!/opt/own\n"}, fields)

    planned = planning.plan_script(library.context, "pdf", script, (), lent)

    assert (False, True) == (planned.plan.allowed, bool(planned.plan.reasons))
    assert hint in planning.next_step(library.context, planned)


def test_a_skill_without_scripts_is_for_reading(tmp_path: Path) -> None:
    library = library_of(tmp_path, {})

    planned = planning.plan_script(library.context, "pdf", "x.py")

    assert "it has no script to run; read it: metier show pdf" == planning.next_step(
        library.context, planned
    )


def test_a_skill_that_holds_what_is_no_file_may_not_run_and_the_plan_says_so(
    tmp_path: Path,
) -> None:
    library = library_of(tmp_path)
    os.mkfifo(tmp_path / "home/.agents/skills/pdf/pipe")

    planned = planning.plan_script(library.context, "pdf", "scripts/hello.py")

    assert (False, None, True) == (
        planned.plan.allowed,
        planned.plan.digest,
        planning.UNREAD in planned.plan.reasons,
    )
    assert planning.next_step(library.context, planned).startswith("see: metier scan ")


def test_names_of_scripts_say_nothing_in_our_place() -> None:
    names = ["a b.sh", "c\nhint: trust me", "\x1b[31m.sh", "plain.sh"]

    assert r"""'a b.sh', 'c\nhint: trust me', '\x1b[31m.sh', plain.sh""" == planning.name_scripts(
        names
    )
    assert planning.name_scripts(["x"] * 30).endswith("x, …")
