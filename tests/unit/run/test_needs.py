"""What a skill needs, asked for and kept; and the plan of a run. Names everywhere, values nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.cage import KeptSandbox
from fakes.ring import MemoryRing, used

import metier
from metier.errors import RefusedError
from metier.run import needs
from metier.run.interpreters import interpreter_of
from metier.run.needs import Ask, CredentialFile, NeededServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Home

    from metier.library import Library

VALUE = "planted-91cd"
FIELDS = """required_environment_variables:
  - name: STORM_KEY
    prompt: Key of the weather service
    help: https://weather.example/keys
  - name: WIND_KEY
    optional: true
  - OPENAI_API_KEY
required_credential_files: [token.json, /etc/passwd]
"""


@pytest.fixture
def write(home: Home) -> Callable[..., Path]:
    """Give a writer of skills into the home's own folder."""

    def written(name: str, fields: str = "", **files: str) -> Path:
        folder = home.path / ".agents" / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Does one thing.\n{fields}---\n\nDo it.\n"
        )
        for path, text in files.items():
            target = folder / path.replace("__", "/").replace("_py", ".py").replace(
                "_sh", ".sh"
            ).replace("_yaml", ".yaml")
            target.parent.mkdir(exist_ok=True)
            target.write_text(text)
        return folder

    return written


def opened(home: Home, **env: str) -> Library:
    library = metier.open(env={**home.env, **env}, cwd=home.path)
    library.context.sandbox = KeptSandbox()
    return library


def giving(*values: str | None) -> tuple[Callable[[Ask], str | None], list[Ask]]:
    """Give an `ask` that answers with these values in turn, and the list of what it was asked."""
    asked: list[Ask] = []
    left = iter(values)

    def ask(one: Ask) -> str | None:
        asked.append(one)
        return next(left)

    return ask, asked


def test_what_a_skill_needs_is_said_with_its_help(home: Home, write: Callable[..., Path]) -> None:
    folder = write("weather", FIELDS)

    found = opened(home).prepare("weather")

    assert ("weather", "setup_needed", str(folder), "visible") == (
        found.name,
        found.readiness,
        found.path,
        found.state,
    )
    assert {
        "env": ["STORM_KEY", "OPENAI_API_KEY"],
        "files": ["token.json", "/etc/passwd"],
        "commands": [],
        "tools": [],
    } == found.missing
    assert ["STORM_KEY", "WIND_KEY"] == [ask.name for ask in found.asks]
    assert "STORM_KEY: https://weather.example/keys" == found.setup_help
    assert [
        CredentialFile("token.json", there=False, reason="it is not there"),
        CredentialFile("/etc/passwd", there=False, reason="it does not lie in the home folder"),
    ] == found.files
    assert ["OPENAI_API_KEY"] == [name for name, _reason in found.refused]
    assert found.digest


def test_a_skill_without_needs_is_ready(home: Home, write: Callable[..., Path]) -> None:
    write("plain")

    found = opened(home).prepare("plain")

    assert ("available", "", [], []) == (
        found.readiness,
        found.setup_help,
        found.asks,
        found.refused,
    )


def test_setup_asks_for_what_is_missing_and_declared_and_nothing_else(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", FIELDS)
    (home.path / "token.json").write_text("{}")
    library = opened(home, OPENAI_API_KEY=VALUE)
    ask, asked = giving(f"  {VALUE} ", None)

    found = library.setup("weather", ask)

    assert [
        Ask("STORM_KEY", "Key of the weather service", "https://weather.example/keys"),
        Ask("WIND_KEY", optional=True),
    ] == asked
    assert (["STORM_KEY"], [], []) == (found.stored, found.skipped, found.problems)
    assert ["OPENAI_API_KEY"] == found.missing["env"]
    assert {"STORM_KEY": VALUE} == needs.environment_of(library.context, "weather")
    assert VALUE not in repr(found) + repr(library.context.session) + repr(library.vault())
    assert not (home.path.parent / "metier-home" / "secrets").exists()


def test_what_is_optional_comes_last_and_its_absence_leaves_nothing_missing(
    home: Home, write: Callable[..., Path]
) -> None:
    write(
        "weather",
        "required_environment_variables:\n  - {name: WIND_KEY, optional: true}\n  - STORM_KEY\n",
    )
    library = opened(home)
    ask, asked = giving(VALUE, None)

    first = library.setup("weather", ask)
    library.begin_session()
    given = library.setup("weather", lambda _ask: VALUE)

    assert [("STORM_KEY", False), ("WIND_KEY", True)] == [(one.name, one.optional) for one in asked]
    assert ("available", ["STORM_KEY"], [], "") == (
        first.readiness,
        first.stored,
        first.skipped,
        first.reason,
    )
    assert ["STORM_KEY", "WIND_KEY"] == given.stored
    assert {"STORM_KEY": VALUE, "WIND_KEY": VALUE} == needs.environment_of(
        library.context, "weather"
    )


def test_help_about_what_was_kept_is_not_given_again(
    home: Home, write: Callable[..., Path]
) -> None:
    write(
        "weather",
        "required_environment_variables:\n  - {name: STORM_KEY, help: From storm.}\n  - {name: WIND_KEY, help: From wind.}\n",
    )
    library = opened(home)
    ask, _asked = giving(VALUE, None)

    before, after = library.prepare("weather").setup_help, library.setup("weather", ask).setup_help

    assert ("STORM_KEY: From storm.\nWIND_KEY: From wind.", "WIND_KEY: From wind.") == (
        before,
        after,
    )


def test_a_configuration_refuses_more_variables(home: Home, write: Callable[..., Path]) -> None:
    write("weather", "required_environment_variables: [CORP_TOKEN, STORM_KEY]\n")
    config = home.path / "metier.toml"
    config.write_text('[secrets]\nrefuse = ["corp_token"]\n')
    library = opened(home, METIER_CONFIG=str(config), CORP_TOKEN=VALUE, STORM_KEY=VALUE)
    reason = "your configuration keeps it from every skill"

    found = library.prepare("weather")

    assert ([("CORP_TOKEN", reason)], ["CORP_TOKEN"]) == (found.refused, found.missing["env"])
    assert {"STORM_KEY": VALUE} == needs.environment_of(library.context, "weather")
    assert (f"needs env CORP_TOKEN, which is never given ({reason})",) == library.resolve(
        "weather"
    ).reasons
    with pytest.raises(RefusedError, match="keeps it from every skill"):
        needs.keep(library.context, "CORP_TOKEN", VALUE, "file")


def test_a_skill_becomes_ready_and_a_new_session_makes_it_unready(
    home: Home, write: Callable[..., Path]
) -> None:  # HE-20
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    library = opened(home)
    before = [card.readiness for card in library.skills()]

    library.setup("weather", lambda _ask: VALUE)
    during = [card.readiness for card in library.skills()]
    library.begin_session()
    library.context.catalogue.forget()

    assert (["setup_needed"], ["available"]) == (before, during)
    assert ["setup_needed"] == [card.readiness for card in library.skills()]
    assert {} == needs.environment_of(library.context, "weather")


def test_each_variable_is_asked_for_once_in_a_session(
    home: Home, write: Callable[..., Path]
) -> None:  # CX-50
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    write("wind", "required_environment_variables: [STORM_KEY, WIND_KEY]\n")
    library = opened(home)
    ask, asked = giving(None, None, VALUE)

    first = library.setup("weather", ask)
    second = library.setup("wind", ask)
    library.begin_session()
    third = library.setup("weather", ask)

    assert ["STORM_KEY", "WIND_KEY", "STORM_KEY"] == [one.name for one in asked]
    assert (["STORM_KEY"], ["STORM_KEY", "WIND_KEY"], []) == (
        first.skipped,
        second.skipped,
        third.skipped,
    )


def test_a_wrong_answer_is_asked_for_again_a_few_times(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", "required_environment_variables: [STORM_KEY, WIND_KEY]\n")
    ask, asked = giving("  ", f"{VALUE}\nmore", VALUE, "\0", "\0", "\0")

    found = opened(home).setup("weather", ask)

    assert ["", "it is empty", "it has a line break or a NUL in it"] == [
        one.problem for one in asked[:3]
    ]
    assert (["STORM_KEY"], ["WIND_KEY"]) == (found.stored, found.skipped)
    assert ["WIND_KEY: it has a line break or a NUL in it"] == found.problems


def test_what_is_kept_in_a_store_is_there_the_next_time(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    with used(MemoryRing()):
        for store in ("file", "keyring"):
            opened(home).setup("weather", lambda _ask: VALUE, store=store)
            library = opened(home)

            assert (["available"], store) == (
                [card.readiness for card in library.skills()],
                library.vault().kind_of("STORM_KEY"),
            )
            assert {"STORM_KEY": VALUE} == needs.environment_of(library.context, "weather")

            assert needs.drop(library.context, "STORM_KEY")
            assert ["setup_needed"] == [card.readiness for card in library.skills()]


def test_the_configuration_names_the_store(home: Home, write: Callable[..., Path]) -> None:  # MT-16
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    config = home.path / "metier.toml"
    config.write_text('[secrets]\nstore = "file"\n')

    library = opened(home, METIER_CONFIG=str(config))
    library.setup("weather", lambda _ask: VALUE)

    assert "file" == library.vault().kind_of("STORM_KEY")


def test_a_store_that_cannot_keep_anything_is_refused_before_anybody_is_asked(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    ask, asked = giving(VALUE)
    import keyring.backends.fail

    with used(keyring.backends.fail.Keyring()), pytest.raises(RefusedError) as refused:  # type: ignore[no-untyped-call]
        opened(home).setup("weather", ask, store="keyring")

    assert ("no-keyring", []) == (refused.value.code, asked)


def test_an_interruption_keeps_nothing(home: Home, write: Callable[..., Path]) -> None:
    write("weather", "required_environment_variables: [STORM_KEY, WIND_KEY]\n")
    library = opened(home)

    def ask(one: Ask) -> str:
        if one.name == "WIND_KEY":
            raise KeyboardInterrupt
        return VALUE

    with pytest.raises(KeyboardInterrupt):
        library.setup("weather", ask, store="file")

    assert [] == library.vault().names()


def test_the_log_names_what_was_kept_and_never_the_value(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    library = opened(home)

    library.setup("weather", lambda _ask: VALUE, store="file")

    (record,) = [one for one in library.audit_tail() if "setup" in repr(one)]
    assert "STORM_KEY" in repr(record)
    logged = b"".join(
        path.read_bytes()
        for path in (home.path.parent / "metier-home" / "audit").rglob("*")
        if path.is_file()
    )
    assert VALUE.encode() not in logged


def test_nobody_is_asked_for_a_skill_that_may_not_be_loaded(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    library = opened(home)
    library.trust("weather", "block")
    ask, asked = giving(VALUE)

    with pytest.raises(RefusedError) as refused:
        library.setup("weather", ask)

    assert ("blocked", []) == (refused.value.code, asked)


@pytest.mark.parametrize(
    ("verb", "fields", "code", "told"),
    [
        ("block", "", "blocked", "blocked"),
        ("quarantine", "", "blocked", "quarantined"),
        ("", "platforms: [windows]\n", "unsupported", "platforms = windows"),
    ],
)
def test_nobody_is_asked_for_a_skill_that_may_not_be_run(
    verb: str, fields: str, code: str, told: str, home: Home, write: Callable[..., Path]
) -> None:
    write("weather", f"required_environment_variables: [STORM_KEY]\n{fields}")
    library = opened(home)
    if verb:
        library.trust("weather", verb)  # type: ignore[arg-type]
    ask, asked = giving(VALUE)

    with pytest.raises(RefusedError) as refused:
        needs.setup(library.context, "weather", ask, consent=True)

    assert (code, []) == (refused.value.code, asked)
    assert told in refused.value.message


def test_a_project_s_skill_asks_for_nothing_until_somebody_trusts_it(home: Home) -> None:
    folder = home.path / "project"
    (folder / ".git").mkdir(parents=True)
    target = folder / ".agents" / "skills" / "weather"
    target.mkdir(parents=True)
    (target / "SKILL.md").write_text(
        "---\nname: weather\ndescription: X.\nrequired_environment_variables: [STORM_KEY]\n---\nDo it.\n"
    )
    library = metier.open(env=home.env, cwd=folder)

    with pytest.raises(RefusedError) as refused:
        library.setup("weather", lambda _ask: VALUE)
    found = needs.setup(library.context, "weather", lambda _ask: VALUE, consent=True)

    assert ("ask", ["STORM_KEY"]) == (refused.value.code, found.stored)


SIDECAR = """dependencies:
  tools:
    - {type: mcp, value: docs, url: 'https://docs.example/mcp'}
    - {type: mcp, value: local, transport: stdio, command: serve}
    - {type: env_var, value: STORM_KEY, description: The key}
"""


def test_a_missing_server_is_offered_once_in_a_session(
    home: Home, write: Callable[..., Path]
) -> None:  # CX-50
    write("weather", agents__openai_yaml=SIDECAR)
    config = home.path / "metier.toml"
    config.write_text('mcp_servers = ["mcp__stdio__serve"]\n')
    library = opened(home, METIER_CONFIG=str(config))

    found, again = (library.setup("weather", lambda _ask: None) for _ in range(2))

    docs = NeededServer(
        "docs",
        "mcp__streamable_http__https://docs.example/mcp",
        "streamable_http",
        "https://docs.example/mcp",
        "",
        missing=True,
        offer=True,
    )
    local = NeededServer("local", "mcp__stdio__serve", "stdio", "", "serve", missing=False)
    assert [docs, local] == found.servers
    assert [False, False] == [server.offer for server in again.servers]
    assert ["docs"] == found.missing["tools"]


def test_a_run_is_planned_with_names_alone(home: Home, write: Callable[..., Path]) -> None:
    folder = write(
        "weather",
        "required_environment_variables: [STORM_KEY, OPENAI_API_KEY]\n",
        scripts__ask_py="print(1)\n",
    )
    library = opened(home, STORM_KEY=VALUE, OPENAI_API_KEY=VALUE)

    plan = library.plan_run("weather", "scripts/ask.py", ["Oslo"])

    assert (f"{folder}/scripts/ask.py", "python3", ["Oslo"]) == (
        plan.path,
        plan.interpreter,
        plan.arguments,
    )
    assert (["STORM_KEY"], ["OPENAI_API_KEY"]) == (plan.environment, plan.refused)
    assert (False, []) == (plan.network, plan.writable)
    never = "it belongs to the agent's model provider, and no skill gets those credentials"
    wanted = [
        f"needs env OPENAI_API_KEY, which is never given ({never})",
        "running it needs a person's yes",
    ]
    assert (False, wanted) == (plan.allowed, plan.reasons)
    assert VALUE not in repr(plan)


def test_a_plan_names_the_files_that_would_be_lent_and_which_as_a_copy(
    home: Home, write: Callable[..., Path]
) -> None:  # HE-21
    write(
        "weather",
        "required_credential_files: [token.json, ~/linked.json, way/in.json, absent.json]\n",
        scripts__ask_py="print(1)\n",
    )
    for name in ("token.json", "other/in.json"):
        (home.path / name).parent.mkdir(exist_ok=True)
        (home.path / name).write_text("{}")
    (home.path / "linked.json").symlink_to("token.json")
    (home.path / "way").symlink_to("other")

    plan = opened(home).plan_run("weather", "scripts/ask.py")

    wanted = [
        ("token.json", True, False),
        ("~/linked.json", True, True),
        ("way/in.json", True, True),
        ("absent.json", False, False),
    ]
    assert wanted == [(file.path, file.there, file.copied) for file in plan.files]


def test_a_plan_survives_a_store_that_cannot_be_used(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", "required_environment_variables: [STORM_KEY]\n", scripts__ask_py="print(1)\n")
    opened(home).setup("weather", lambda _ask: VALUE, store="file")
    file = home.path.parent / "metier-home" / "secrets" / "values.env"
    file.chmod(0o644)

    unsafe = opened(home, STORM_KEY=VALUE).plan_run("weather", "scripts/ask.py")

    assert (False, []) == (unsafe.allowed, unsafe.environment)
    assert any("can be read by others" in reason for reason in unsafe.reasons)


def test_a_plan_survives_a_keyring_that_cannot_be_reached(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", "required_environment_variables: [STORM_KEY]\n", scripts__ask_py="print(1)\n")
    ring = MemoryRing()
    with used(ring):
        opened(home).setup("weather", lambda _ask: VALUE, store="keyring")
        ring.broken = True

        plan = opened(home).plan_run("weather", "scripts/ask.py")

    assert (False, []) == (plan.allowed, plan.environment)
    assert "the keyring refused (OSError)" in plan.reasons
    assert VALUE not in repr(plan)


def test_words_about_another_system_are_told_and_forbid_nothing(
    home: Home, write: Callable[..., Path]
) -> None:
    write(
        "weather",
        "compatibility: macOS only\nrequired_environment_variables: [STORM_KEY]\n",
        scripts__ask_py="print(1)\n",
    )
    library = opened(home, STORM_KEY=VALUE)
    library.context.platform = "linux"
    reason = "it says that it is for macos, and this is linux"

    found, plan = library.prepare("weather"), library.plan_run("weather", "scripts/ask.py")

    assert ("unsupported", reason) == (found.readiness, found.reason)
    assert (True, True) == (plan.allowed, reason in plan.reasons)


def test_a_gate_forbids_a_run_and_says_why(home: Home, write: Callable[..., Path]) -> None:
    write("weather", "platforms: [windows]\n", scripts__ask_py="print(1)\n")
    library = opened(home)

    found, plan = library.prepare("weather"), library.plan_run("weather", "scripts/ask.py")

    assert ("unsupported", True) == (found.readiness, "platforms = windows" in found.reason)
    assert (False, True) == (plan.allowed, found.reason in plan.reasons)


def test_a_ready_skill_may_run_after_a_person_s_yes_and_an_approved_one_without(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", scripts__ask_py="print(1)\n")
    library = opened(home)

    before = library.plan_run("weather", "scripts/ask.py")
    library.trust("weather", "approve", reason="Read it.")
    after = library.plan_run("weather", "scripts/ask.py")
    library.trust("weather", "block")
    blocked = library.plan_run("weather", "scripts/ask.py")

    assert ((True, True), (True, False)) == (
        (before.allowed, before.asks),
        (after.allowed, after.asks),
    )
    assert (False, "it is blocked") == (blocked.allowed, blocked.reasons[0])


@pytest.mark.parametrize(
    "script",
    [
        "../../other/x.py",
        "/bin/sh",
        "absent.py",
        ".",
        "scripts",
        "way-out",
        "a\0b",
        "\ud800",
        "SKILL.md",
    ],
)
def test_only_a_script_inside_the_skill_can_be_planned(
    script: str, home: Home, write: Callable[..., Path]
) -> None:
    folder = write("weather", scripts__ask_py="print(1)\n")
    (folder / "way-out").symlink_to("/bin/sh")

    plan = opened(home).plan_run("weather", script)

    assert not plan.allowed
    assert plan.reasons


@pytest.mark.parametrize(
    ("path", "head", "interpreter"),
    [
        ("a.py", b"", "python3"),
        ("a.py", b"#!/usr/bin/env -S python3 -u\n", "python3"),
        ("a", b"#!/bin/bash\n", "bash"),
        ("a.sh", b"#!/opt/odd/thing\n", "sh"),
        ("a.js", b"\xff\xfe", "node"),
        ("a", b"plain", ""),
        ("a.exe", b"MZ", ""),
    ],
)
def test_the_interpreter_follows_from_the_first_line_or_the_name(
    path: str, head: bytes, interpreter: str
) -> None:
    assert interpreter == interpreter_of(path, head)


def test_which_skills_declare_a_variable_is_told(home: Home, write: Callable[..., Path]) -> None:
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    write("wind", "x-requires-secrets: storm-key\n")
    write("other", agents__openai_yaml=SIDECAR)
    write("plain")

    assert {"STORM_KEY": ["other", "weather", "wind"], "NOBODY": []} == needs.declared_by(
        opened(home).context, ["STORM_KEY", "NOBODY"]
    )


def test_an_unsafe_store_is_a_problem_and_not_an_end(
    home: Home, write: Callable[..., Path]
) -> None:
    write("weather", "required_environment_variables: [STORM_KEY]\n")
    opened(home).setup("weather", lambda _ask: VALUE, store="file")
    (home.path.parent / "metier-home" / "secrets" / "values.env").chmod(0o644)

    found = opened(home).prepare("weather")

    assert (["STORM_KEY"], True) == (
        found.missing["env"],
        "can be read by others" in found.problems[0],
    )
    with pytest.raises(RefusedError):
        needs.environment_of(opened(home).context, "weather")
