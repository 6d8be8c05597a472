"""Running scripts: what is passed through, whose secrets they are, and what happens where there is no sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance.folders import skill, write
from fakes.cage import KeptSandbox
from fakes.codeskills import library_of as code_library
from fakes.scripted import HELLO, kept, library_of

from metier import tools
from metier.errors import MetierError, RefusedError, SandboxError
from metier.run.model import HOME
from metier.standard.code import read_code

KEY = "required_environment_variables: [STORM_KEY]\n"
VALUE = "planted-91cd"


@pytest.mark.rows("HE-5")
def test_declared_variables_and_files_are_passed_into_the_run(tmp_path: Path) -> None:
    write(tmp_path / "home" / "token.json", "token")
    library = library_of(
        tmp_path, fields=f"{KEY}required_credential_files: [token.json]\n", env={"STORM_KEY": VALUE}
    )

    library.run("pdf")

    (cage,) = kept(library).cages
    assert (VALUE, [(f"{HOME}/token.json", b"token")]) == (
        dict(cage.environment)["STORM_KEY"],
        [tuple(file) for file in cage.files],
    )


@pytest.mark.rows("HE-5")
@pytest.mark.parametrize(
    ("fields", "missing"),
    [(KEY, "STORM_KEY"), ("required_credential_files: [token.json]\n", "token.json")],
)
def test_what_is_missing_is_named_and_so_is_how_to_set_it_up(
    tmp_path: Path, fields: str, missing: str
) -> None:
    library = library_of(tmp_path, fields=fields)

    with pytest.raises(RefusedError) as refused:
        library.run("pdf")

    assert (True, "give it what it needs: metier setup pdf", []) == (
        missing in refused.value.message,
        refused.value.hint,
        kept(library).cages,
    )


@pytest.mark.rows("HE-6")
def test_a_model_runs_a_script_only_where_the_user_enabled_it(tmp_path: Path) -> None:
    asked = {"name": "pdf", "script": "scripts/hello.py", "args": ["a b"]}
    (tmp_path / "off").mkdir()
    (tmp_path / "on").mkdir()
    off, on = library_of(tmp_path / "off"), library_of(tmp_path / "on", config="mcp.run = true\n")

    refused, ran = (tools.call(library, "run_skill_script", asked) for library in (off, on))

    assert ("no-runner", []) == (
        refused["error"]["code"] if "error" in refused else refused.get("code"),
        kept(off).cages,
    )
    assert (0, "hello\n", "a b") == (ran["exit_code"], ran["output"], kept(on).cages[0].command[-1])


@pytest.mark.rows("ZE-42")
def test_a_run_is_lent_its_own_secrets_and_those_of_no_other_skill(tmp_path: Path) -> None:
    library = library_of(tmp_path, fields=KEY, env={"STORM_KEY": VALUE, "WIND_KEY": "other-91cd"})
    skill(
        tmp_path / "home/.agents/skills/wind",
        fields="required_environment_variables: [WIND_KEY]\n",
        files=HELLO,
    )
    library.reload()

    for name in ("pdf", "wind"):
        library.run(name)

    lent = [
        {key: value for key, value in cage.environment if key.endswith("_KEY")}
        for cage in kept(library).cages
    ]
    assert [{"STORM_KEY": VALUE}, {"WIND_KEY": "other-91cd"}] == lent


@pytest.mark.rows("MT-15", "easily missed 11")
def test_the_host_s_own_credentials_are_never_lent_whatever_a_skill_declares(
    tmp_path: Path,
) -> None:
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    fields = f"required_environment_variables: [{', '.join(names)}]\nrequired_credential_files: [/etc/shadow, ../x, .codex/auth.json]\n"
    write(tmp_path / "home" / ".codex" / "auth.json", VALUE)
    write(tmp_path / "x", VALUE)
    library = library_of(tmp_path, fields=fields, env=dict.fromkeys(names, VALUE))

    with pytest.raises(RefusedError):
        library.run("pdf", consent=True)
    plan = library.plan_run("pdf", "scripts/hello.py")

    assert ([], [], sorted(names)) == (kept(library).cages, plan.environment, sorted(plan.refused))
    assert [] == [file.path for file in plan.files if file.there]


@pytest.mark.rows("MT-20")
def test_a_skill_that_changed_is_asked_about_again(tmp_path: Path) -> None:
    library = library_of(tmp_path, level="community")
    library.trust("pdf", "approve", reason="read it")
    library.run("pdf")
    write(tmp_path / "home/.agents/skills/pdf/scripts/hello.py", "print('another')\n")
    library.reload()

    with pytest.raises(MetierError) as refused:
        library.run("pdf")

    assert (True, 1) == (
        refused.value.code in {"ask", "refused", "changed"},
        len(kept(library).cages),
    )


@pytest.mark.rows("MT-20")
def test_a_code_skill_that_changed_runs_as_it_is_now(tmp_path: Path) -> None:
    library = code_library(
        tmp_path, {"up.py": "def run(task):\n    return 'old'\n"}, 'run.in_process = ["trusted"]\n'
    )
    before = library.run("up", "x").result
    write(tmp_path / "home/.agents/skills/up.py", "def run(task):\n    return 'new'\n")
    library.reload()

    assert ("old", "new") == (before, library.run("up", "x").result)


@pytest.mark.rows("MT-21")
def test_what_a_skill_says_about_being_shown_to_agents_is_told_apart_three_ways() -> None:
    heads = ("SKILL_MCP_EXPOSE = True\n", "SKILL_MCP_EXPOSE = False\n", "")

    told = [read_code(f"{head}def run(task):\n    return task\n".encode(), "up") for head in heads]

    assert [True, False, None] == [facts.expose for facts in told if facts]


@pytest.mark.rows("MT-24")
def test_where_no_sandbox_works_nothing_is_run(tmp_path: Path) -> None:
    library = library_of(
        tmp_path,
        box=KeptSandbox(
            error=SandboxError("bubblewrap is not installed", hint="apt install bubblewrap")
        ),
    )

    with pytest.raises(SandboxError) as refused:
        library.run("pdf")

    assert "apt install bubblewrap" == refused.value.hint


@pytest.mark.rows("MT-24")
@pytest.mark.parametrize("config", ["", "run.allow_unsandboxed = false\n"])
def test_a_run_without_a_sandbox_needs_the_setting_and_the_word(
    tmp_path: Path, config: str
) -> None:
    library = library_of(tmp_path, config=config)

    with pytest.raises(RefusedError) as refused:
        library.run("pdf", unsandboxed=True)

    assert ("unsandboxed", []) == (refused.value.code, kept(library).cages)


@pytest.mark.rows("MT-24")
def test_the_setting_alone_takes_nobody_out_of_the_sandbox(tmp_path: Path) -> None:
    library = library_of(tmp_path, config="run.allow_unsandboxed = true\n")

    ran = library.run("pdf")

    assert (True, 1) == (ran.sandboxed, len(kept(library).cages))
