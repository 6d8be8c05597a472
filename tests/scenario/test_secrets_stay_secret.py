"""Values planted in the environment, in the file and in the keyring: no command and no tool ever shows one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fakes.file_ring import FileRing
from fakes.ring import used
from fakes.runner import KeptRunner

import metier
from metier import tools
from metier.cli.table import SUMMARIES
from metier.run.needs import environment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home

    from metier.library import Library

SOURCE = str(Path(metier.__file__).parent.parent)
FAKES = str(Path(__file__).parent.parent / "fakes")
PLANTED = {
    "IN_ENVIRONMENT_KEY": "planted-in-environment-71e4",
    "IN_FILE_KEY": "planted-in-file-9b02",
    "IN_KEYRING_KEY": "planted-in-keyring-c58d",
    "OPENAI_API_KEY": "planted-of-the-host-30aa",
}
GIVEN = "planted-among-the-words-5d1f"
"""What somebody writes on the command line by mistake."""
SKILL = """---
name: needy
description: Asks three services at once.
argument-hint: "[city]"
required_environment_variables: [IN_ENVIRONMENT_KEY, IN_FILE_KEY, IN_KEYRING_KEY, OPENAI_API_KEY]
metadata:
  hermes:
    config:
      - {key: needy.IN_FILE_KEY, description: A value of the user's own, default: none}
---

# Needy

## Steps

Send ${IN_FILE_KEY} and $IN_ENVIRONMENT_KEY; the folder is ${METIER_SKILL_DIR}. !`echo $IN_KEYRING_KEY`
"""

WORDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "tour": ((),),
    "list": ((), ("--all",), ("--digests",)),
    "categories": ((),),
    "show": (
        ("needy",),
        ("needy", "--sections"),
        ("needy", "--section", "Steps"),
        ("needy", "--file", "scripts/ask.sh"),
        ("needy", "--cursor", ""),
    ),
    "check": ((".",),),
    "scan": ((".",), ("--format", "sarif", ".")),
    "observe": (("needy",),),
    "trust": (
        ("show", "needy"),
        ("approve", "needy", "--yes"),
        ("keys", "list"),
        ("source",),
        ("source", f"https://somebody:{GIVEN}@127.0.0.1:1/team/repo.git", "--yes"),
    ),
    "waive": ((), ("SC201", "needy", "--reason", f"api_key={GIVEN}"), ()),
    "audit": (("tail",), ("verify",)),
    "tree": ((), ("needy",)),
    "policy": (("show",), ("explain", "needy"), ("explain", f"https://x:{GIVEN}@h/r")),
    "why": (("needy",), ("nobody",)),
    "find": (("ask services",), ("needy", "--limit", "1"), ("--index",), ("--confusable",)),
    "prompt": (
        (),
        ("--budget", "60"),
        ("--format", "json"),
        ("--format", "markdown", "--task", "ask services"),
    ),
    "expand": (("/needy Oslo",), ("use $needy",), ("/nedy",), ("--commands",)),
    "setup": (
        ("needy",),
        ("needy", "--skip"),
        ("nobody",),
        ("needy", f"IN_FILE_KEY={GIVEN}"),
        (f"IN_FILE_KEY={GIVEN}",),
        ("needy", GIVEN),
        ("needy", f"--store={GIVEN}"),
        ("needy", "--store", GIVEN),
        ("needy", f"--{GIVEN}"),
    ),
    "secrets": (
        ("list",),
        ("unset", "NOBODY_KEY"),
        ("set", "OPENAI_API_KEY"),
        ("set", "NOT A NAME"),
        ("set", f"IN_FILE_KEY={GIVEN}"),
        ("set", GIVEN),
        ("set", "IN_FILE_KEY", GIVEN),
        ("unset", f"IN_FILE_KEY={GIVEN}"),
        ("unset", GIVEN),
        (f"IN_FILE_KEY={GIVEN}",),
        (GIVEN,),
        ("set", "X_KEY", f"--store={GIVEN}"),
        ("set", "X_KEY", f"--value={GIVEN}"),
        ("list", GIVEN),
    ),
    "add": (
        ("./.agents/skills/needy", "--dry-run"),
        ("./.agents/skills/needy", "--name", "again", "--yes"),
        (f"https://somebody:{GIVEN}@127.0.0.1:1/team/repo.git", "--yes"),
        (f"https://{GIVEN}@127.0.0.1:1/skill.zip", "--yes"),
        (f"ssh://somebody:{GIVEN}@127.0.0.1:1/team/repo", "--yes"),
    ),
    "update": ((), ("--check",), ("again", "--yes")),
    "outdated": ((),),
    "sync": ((), ("--frozen",)),
    "diff": (("again",), ("nobody",)),
    "merge": (("again",), ("again", "--abort")),
    "history": (("again",),),
    "rollback": (("again", "1"),),
    "adopt": (
        (".agents/skills/needy",),
        (".agents/skills/needy", "--source", f"https://somebody:{GIVEN}@127.0.0.1:1/team/repo.git"),
    ),
    "plugin": (
        ("enable", "./kit", "--yes"),
        ("list", "kit"),
        ("sync",),
        ("disable", "kit", "--yes"),
        ("enable", f"https://somebody:{GIVEN}@127.0.0.1:1/team/repo.git", "--yes"),
    ),
    "review": (("list", "--all"), ("show", "needy")),
    "search": (("services",),),
    "lock": (("export", "--format", "npx"), ("import", "--format", "npx")),
    "pack": ((".agents/skills/needy",),),
    "publish": ((".agents/skills/needy", "--well-known", "site"),),
    "push": (
        (".agents/skills/needy", "--to", f"oci://somebody:{GIVEN}@127.0.0.1:1/team/needy"),
        (
            ".agents/skills/needy",
            "--to",
            "oci://127.0.0.1:1/team/needy",
            "--source",
            f"https://somebody:{GIVEN}@x.example/r",
        ),
        (".agents/skills/needy", "--to", f"https://somebody:{GIVEN}@127.0.0.1:1/team/needy"),
    ),
    "sign": (("needy",),),
    "remove": (("again", "--yes"), ("nobody", "--yes")),
    "tap": (("list",), ("add", f"https://somebody:{GIVEN}@127.0.0.1:1/team/repo.git")),
    "gc": (("--dry-run",), ()),
    "web": (("--port", GIVEN), ("--listen", f"somebody:{GIVEN}@127.0.0.1:0"), (GIVEN,)),
    "hub": (
        ("token", "list"),
        ("queue",),
        ("policy",),
        ("webhook", "add", f"https://somebody:{GIVEN}@hooks.example.org/", "--namespace", "web"),
        ("grant", "list"),
        ("people",),
        (GIVEN,),
    ),
    "login": (("ftp://hub.example.org", "--token", GIVEN), (f"https://{GIVEN}@hub.example.org",)),
    "logout": (("https://hub.example.org",), (f"https://{GIVEN}@hub.example.org",)),
    "mcp": (
        (),
        ("config", "--for", "cursor"),
        ("config", "--for", "codex", "--http", "7331", "--write", "--yes"),
        ("config", "--for", GIVEN),
        (GIVEN,),
        ("config", GIVEN),
        ("--http", f"somebody:{GIVEN}@127.0.0.1:0"),
        (f"--http={GIVEN}",),
        (f"--token={GIVEN}",),
        ("--token", GIVEN),
    ),
    "run": (
        ("teller", "--dry-run"),
        ("teller", "--yes", "--raw"),
        ("teller", "--yes", "--", GIVEN),
        ("needy", "--yes"),
        (f"--token={GIVEN}",),
    ),
    "tools": ((),),
    "usage": ((),),
    "new": (("planted", "--description", "x"),),
    "disable": (("needy",),),
    "enable": (("needy",),),
    "doctor": ((), ("--agents",)),
    "status": ((),),
    "agents": ((),),
    "init": (("--yes",),),
    "config": ((), ("set", "hide_unready", "true"), ("get", GIVEN)),
    "info": (("needy",),),
    "path": (("needy",),),
    "open": (("nothing",),),
    "edit": (("needy",),),
    "version": ((),),
    "completion": (("bash",),),
}
"""Every command, in ways that come near a secret. They run in this order, on one machine."""


class Place:
    """A machine on which every store holds a value, and whatever metier printed on it."""

    def __init__(self, home: Home) -> None:
        """Plant the values."""
        self.folder = home.path / ".agents" / "skills" / "needy"
        (self.folder / "scripts").mkdir(parents=True)
        (self.folder / "SKILL.md").write_text(SKILL)
        (self.folder / "scripts" / "ask.sh").write_text("echo asked\n")
        teller = home.path / ".agents" / "skills" / "teller"
        (teller / "scripts").mkdir(parents=True)
        (teller / "SKILL.md").write_text(
            SKILL.replace("name: needy", "name: teller").replace(", OPENAI_API_KEY", "")
        )
        (teller / "scripts" / "tell.sh").write_text("env\nenv | base64 -w0 >&2\n")
        (home.path / "kit" / "skills" / "kitted").mkdir(parents=True)
        (home.path / "kit" / ".claude-plugin").mkdir()
        (home.path / "kit" / ".claude-plugin" / "plugin.json").write_text(
            '{"name": "kit", "version": "1.0.0"}'
        )
        (home.path / "kit" / "skills" / "kitted" / "SKILL.md").write_text(
            SKILL.replace("name: needy", "name: kitted")
        )
        (home.path / "ring.json").write_text("{}")
        config = home.path / ".config" / "metier" / "metier.toml"
        config.parent.mkdir(parents=True)
        config.write_text("[supply]\ndefault_taps = []\n")  # no test asks anybody on the network
        self.env = {
            **home.env,
            "PYTHONPATH": f"{SOURCE}{os.pathsep}{FAKES}",
            "PYTHON_KEYRING_BACKEND": "file_ring.FileRing",
            "RING_FILE": str(home.path / "ring.json"),
            "IN_ENVIRONMENT_KEY": PLANTED["IN_ENVIRONMENT_KEY"],
            "OPENAI_API_KEY": PLANTED["OPENAI_API_KEY"],
        }
        self.home, self.printed = home, [""]
        self.commands = subprocess.Popen(
            [sys.executable, f"{FAKES}/many_commands.py"],
            env=self.env,
            cwd=home.path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.metier("secrets", "set", "IN_FILE_KEY", given=PLANTED["IN_FILE_KEY"])
        self.metier(
            "secrets",
            "set",
            "IN_KEYRING_KEY",
            "--store",
            "keyring",
            given=PLANTED["IN_KEYRING_KEY"],
        )

    def metier(self, *words: str, given: str = "") -> int:
        """Run a command, and keep what it printed."""
        assert self.commands.stdin is not None
        assert self.commands.stdout is not None
        self.commands.stdin.write(json.dumps({"words": words, "given": given}) + "\n")
        self.commands.stdin.flush()
        done = json.loads(self.commands.stdout.readline())
        self.printed.append(
            f"{words[:2] if GIVEN not in str(words) else words[0]}: {done['out']}{done['err']}"
        )
        assert "Traceback" not in done["err"], done["err"]
        return int(done["code"])

    def leave(self) -> None:
        """Run nothing more."""
        self.commands.communicate()

    def shown(self) -> list[str]:
        """List the planted values that were printed, each with where."""
        values = {**PLANTED, "a word": GIVEN}
        return [
            f"{name} in {text[:200]}"
            for name, value in values.items()
            for text in self.printed
            if value in text
        ]

    def kept(self) -> Iterator[tuple[str, bytes]]:
        """Give every file that metier wrote, but for the one whose job it is to keep values."""
        for path in sorted(Path(self.env["METIER_HOME"]).rglob("*")):
            if path.is_file() and path.name != "values.env":
                yield path.name, path.read_bytes()


@pytest.fixture
def place(home: Home) -> Iterator[Place]:
    """Plant the values on a machine."""
    made = Place(home)
    yield made
    made.leave()


def test_every_command_is_tried() -> None:
    assert set(SUMMARIES) == set(WORDS)


def test_no_command_shows_a_secret_wherever_it_is_kept(place: Place) -> None:
    for command, ways in WORDS.items():
        for words in ways:
            place.metier(command, *words)
            place.metier(command, *words, "--json")

    assert [] == place.shown()
    assert [] == [
        name
        for name, data in place.kept()
        for value in (*PLANTED.values(), GIVEN)
        if value.encode() in data
    ]


@pytest.mark.bubblewrap
def test_a_script_that_tells_all_it_was_lent_is_shown_telling_names(place: Place) -> None:
    code = place.metier("run", "teller", "--yes")

    assert (0, []) == (code, place.shown())
    assert [True] * 3 == [
        f"{name}=[{name}]" in place.printed[-1] for name in PLANTED if name != "OPENAI_API_KEY"
    ]


def test_the_values_are_really_there_for_the_skill_that_declares_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(place, monkeypatch) as library:
        found = environment_of(library.context, "needy")

    assert {name: PLANTED[name] for name in PLANTED if name != "OPENAI_API_KEY"} == found


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("skills_list", {}),
    ("skills_list", {"category": "x"}),
    ("skills_categories", {}),
    ("skill_view", {"name": "needy"}),
    ("skill_view", {"name": "needy", "section": "Steps"}),
    ("skill_view", {"name": "needy", "file_path": "scripts/ask.sh"}),
    ("skill_view", {"name": "../../etc"}),
    ("search_skills", {"query": "services"}),
    ("load_skill", {"name": "needy"}),
    ("load_skill", {"name": "needy"}),
    ("read_skill_file", {"name": "needy", "path": "SKILL.md"}),
    ("run_skill_script", {"name": "needy", "script": "scripts/ask.sh"}),
    (
        "skill_manage",
        {"action": "patch", "name": "needy", "old_string": "Send", "new_string": "Post"},
    ),
    (
        "skill_manage",
        {
            "action": "create",
            "name": "other",
            "content": "---\nname: other\ndescription: Does other work.\n---\n\nDo it.\n",
        },
    ),
    ("skill_manage", {"action": "delete", "name": "other"}),
)


def test_no_tool_shows_a_secret_even_when_a_script_prints_its_own(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Talkative(KeptRunner):
        """Prints what it was given, as a careless script would."""

        def run(self, *given: Any) -> tuple[int, str]:
            """Say everything."""
            super().run(*given)
            return 0, json.dumps(given[3])

    (place.folder / "SKILL.md").write_text(
        SKILL.replace(", OPENAI_API_KEY", "")
    )  # with it, nothing would be run at all
    with opened(place, monkeypatch) as library:
        library.trust("needy", "approve")
        library.context.runner = runner = Talkative()

        answers = [repr(tools.call(library, name, arguments)) for name, arguments in CALLS]

        assert {name for name, _arguments in CALLS} == {
            schema["name"] for schema in tools.schemas()
        }
        assert runner.ran
        told = [
            *answers,
            repr(library.context.session),
            repr(library.vault()),
            repr(library.prepare("needy")),
            repr(library.context.machine),
            repr(library.plan_run("needy", "scripts/ask.sh")),
            *library.context.warnings,
        ]
    assert [] == [text[:200] for text in told for value in PLANTED.values() if value in text]


@contextmanager
def opened(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """Open the library of that machine in this process."""
    monkeypatch.setenv("RING_FILE", place.env["RING_FILE"])
    with used(FileRing()), metier.open(env=place.env, cwd=place.home.path) as library:  # type: ignore[no-untyped-call]
        yield library
