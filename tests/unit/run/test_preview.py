"""What a run would be: the very cage that it then gets, and every refusal that it would meet, with nothing done for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance.folders import write
from fakes.cage import KeptSandbox
from fakes.codeskills import RUN, library_of as code_library
from fakes.scripted import kept, library_of

from metier.errors import MetierError, UsageError
from metier.run.io.bubblewrap import Bubblewrap
from metier.run.model import Cage, Lent
from metier.run.preview import preview_run

KEY = "required_environment_variables: [STORM_KEY]\nrequired_credential_files: [token.json]\npermissions: [network]\n"
PACKAGES = '# /// script\n# dependencies = ["{}"]\n# ///\n'
NET = "import socket\ndef run(task):\n    return task\n"


def shape(cage: Cage) -> tuple[object, ...]:
    """Give what of a cage is no value; the skill's folder by where it is seen alone, since a run has a copy of it."""
    mounts = [
        (mount.target, mount.source * (mount.target != "/skill"), mount.writable)
        for mount in cage.mounts
    ]
    return (
        cage.command,
        mounts,
        [one.target for one in cage.files],
        [name for name, _value in cage.environment],
        cage.folder,
        cage.network,
        cage.bounds,
        cage.sockets,
        cage.reports,
    )


@pytest.mark.parametrize("secrets", ["environment", "file"])
def test_what_is_shown_of_a_script_is_what_it_gets(tmp_path: Path, secrets: str) -> None:
    write(tmp_path / "home" / "token.json", "x")
    write(tmp_path / "project" / "form.txt", "x")
    library = library_of(
        tmp_path,
        {"scripts/a.py": "#!/usr/bin/env -S python3 -W error\n"},
        KEY,
        f'run.secrets = "{secrets}"\n',
        env={"STORM_KEY": "planted-91cd"},
    )
    shown = preview_run(
        library.context, "pdf", "", ["a b"], Lent(network=True, reads=("form.txt",), seconds=9)
    )

    library.run("pdf", "", ["a b"], network=True, read=["form.txt"], seconds=9)

    assert shape(shown.cage) == shape(kept(library).cages[0])


def test_what_is_shown_of_a_code_skill_is_what_it_gets(tmp_path: Path) -> None:
    library = code_library(tmp_path, {"up.py": RUN})
    shown = preview_run(library.context, "up", "x", ["y"])

    library.run("up", "x", ["y"])

    cage = kept(library).cages[0]
    assert (shape(shown.cage), shown.cage.files) == (shape(cage), cage.files)


def test_what_is_shown_without_a_sandbox_is_what_is_run(tmp_path: Path) -> None:
    library = library_of(
        tmp_path, {"scripts/a.sh": 'echo "$0"\n'}, config="run.allow_unsandboxed = true\n"
    )

    shown = preview_run(library.context, "pdf", "", ["x"], bare=True)

    ran = library.run("pdf", "", ["x"], unsandboxed=True)
    assert (True, "bare", f"{shown.cage.command[1]}\n") == (
        shown.plan.allowed,
        shown.where,
        ran.output,
    )


@pytest.mark.parametrize(
    ("files", "script", "config", "why"),
    [
        (
            {"scripts/a.py": PACKAGES.format("x @ file:///etc")},
            "",
            "",
            "the packages that it declares are not installed: ",
        ),
        (
            {"scripts/a.py": "# /// script\n# dependencies = [\n# ///\n"},
            "",
            "",
            "the packages that it declares are not installed: ",
        ),
        (
            {"scripts/a.py": PACKAGES.format("attrs")},
            "",
            'run.dependencies = "never"\n',
            "run.dependencies is 'never'",
        ),
        ({"scripts/a.rb": ""}, "", "", "'ruby', which runs it, is not installed"),
        ({}, "", "", "'pdf' has no script to run"),
        ({"scripts/a.py": ""}, "b.py", "", "'pdf' has no script 'b.py'"),
    ],
)
def test_a_script_that_would_be_refused_is_not_allowed_and_nothing_is_noted_down(
    tmp_path: Path, files: dict[str, str], script: str, config: str, why: str
) -> None:
    library = library_of(tmp_path, files, config=config, env={"PATH": str(tmp_path)})

    plan = library.plan_run("pdf", script)

    assert (False, True, []) == (plan.allowed, why in plan.reasons[0], list(library.audit_tail()))
    with pytest.raises(MetierError):
        library.run("pdf", script, consent=True, install=True)


@pytest.mark.parametrize(
    ("path", "why"),
    [("/etc/passwd", "the sandbox has that place itself"), ("/proc", "it belongs to the system")],
)
@pytest.mark.bubblewrap
def test_what_the_sandbox_cannot_be_lent_is_said_before(
    tmp_path: Path, path: str, why: str
) -> None:
    scripts, code = library_of(tmp_path), code_library(tmp_path / "b", {"up.py": RUN})
    scripts.context.sandbox = code.context.sandbox = Bubblewrap()

    plans = [scripts.plan_run("pdf", read=[path]), code.plan_run("up", "x", read=[path])]

    assert [(False, True)] * 2 == [(plan.allowed, why in plan.reasons[0]) for plan in plans]


def test_where_no_sandbox_works_nothing_is_allowed_but_what_needs_none(tmp_path: Path) -> None:
    none, here = (
        KeptSandbox(working=False),
        'run.in_process = ["trusted"]\nrun.allow_unsandboxed = true\n',
    )
    scripts, code = (
        library_of(tmp_path, config=here, box=none),
        code_library(tmp_path / "b", {"up.py": RUN}, box=none),
    )
    inside = code_library(tmp_path / "c", {"up.py": RUN}, here, box=none)

    plans = [
        scripts.plan_run("pdf"),
        code.plan_run("up"),
        scripts.plan_run("pdf", unsandboxed=True),
        inside.plan_run("up"),
    ]

    assert [False, False, True, True] == [plan.allowed for plan in plans]
    assert ["a fake of the tests; Install it."] == plans[0].reasons


def test_without_the_user_s_word_nothing_is_allowed_without_a_sandbox(tmp_path: Path) -> None:
    plan = library_of(tmp_path).plan_run("pdf", unsandboxed=True)

    assert (False, True) == (
        plan.allowed,
        plan.reasons[0].startswith("nothing is run without a sandbox"),
    )


def test_code_that_the_gate_stops_is_not_allowed_and_nothing_is_noted_down(tmp_path: Path) -> None:
    library = code_library(tmp_path, {"net.py": NET})

    plan = library.plan_run("net", "x")

    assert (False, ["Dangerous import: socket"], []) == (
        plan.allowed,
        plan.reasons,
        list(library.audit_tail()),
    )


def test_a_code_skill_s_task_and_arguments_are_the_same_in_a_plan_and_a_run(tmp_path: Path) -> None:
    library = code_library(
        tmp_path, {"both.py": "def run(task, context):\n    return task + '|' + context\n"}
    )

    plan, ran = (
        library.plan_run("both", "some task", ["a", "b"]),
        library.run("both", "some task", ["a", "b"], context="first"),
    )

    assert (True, ["some task", "a", "b"], "some task|first\na\nb") == (
        plan.allowed,
        plan.arguments,
        ran.result,
    )


def test_a_task_that_is_too_long_is_not_allowed(tmp_path: Path) -> None:
    plan = code_library(tmp_path, {"up.py": RUN}).plan_run("up", "x" * 100_000)

    assert (False, True) == (
        plan.allowed,
        plan.reasons[0].startswith("the task has 100,000 characters"),
    )


def test_the_only_script_is_meant_where_none_is_named_and_of_several_none(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    one, two = (
        library_of(tmp_path),
        library_of(tmp_path / "b", {"scripts/a.py": "", "scripts/b.py": ""}),
    )

    plan = one.plan_run("pdf")

    assert (True, "scripts/hello.py") == (plan.allowed, plan.script)
    with pytest.raises(UsageError, match="has 2 scripts"):
        two.plan_run("pdf")


def test_a_file_of_the_user_s_that_is_too_large_to_lend_is_a_reason(tmp_path: Path) -> None:
    write(tmp_path / "home" / "token.json", "x" * 2_000_000)
    library = library_of(tmp_path, fields="required_credential_files: [token.json]\n")

    plan = library.plan_run("pdf")

    assert (False, ["token.json cannot be lent: it is too large"]) == (plan.allowed, plan.reasons)


def test_packages_that_are_to_be_installed_ask_as_well(tmp_path: Path) -> None:
    plan = library_of(tmp_path, {"scripts/a.py": PACKAGES.format("attrs")}).plan_run("pdf")

    assert (True, True, True) == (
        plan.allowed,
        plan.asks,
        "installing them needs a person's yes" in plan.reasons[-1],
    )
