"""One table: whatever state a skill is in, every door gives the same answer.

A row is a state, with the one answer that belongs to it. A door is a way to ask: a command, a verb of the library, a
tool of a host, a method of MCP. What a door says follows from who asks there and from the row, and from nothing else:
a cell that differs is a bug in that door, or the row is wrong for all of them.

Who asks:

- a model is told of skills, and gets one that it names. What it may have is the same everywhere;
- a person sees in `metier list` what can be used and what waits for a yes, and in `metier list --all` everything;
- a person who names a skill gets it, or is asked first, or is refused. `/name` at the start of a message is a yes;
  `$name` inside a text and a list of skills to preload are none: texts are pasted, and programs write lists;
- a quarantined skill is told to nobody. A person who names it gets it, marked and with a warning, and nothing of it
  runs. Once it was blocked, the person is asked as well.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from fakes.cage import KeptSandbox
from fakes.codeskills import Calling
from fakes.conditions import (
    BODY_WORDS,
    CODE_NAME,
    CODE_TASK,
    DAMAGES,
    DECIDED,
    FILE,
    FILE_WORDS,
    HEADING,
    HOME_DAMAGES,
    NAME,
    NEIGHBOUR,
    OBSERVED,
    SCRIPT,
    TASK,
    WORDS_BEHIND,
    OneSkillMachine,
    in_state,
    look_at_all,
    machine,
)
from fakes.connected import ask, every, talk
from mcp.shared.exceptions import MCPError

from metier import tools
from metier.cli import main
from metier.errors import RefusedError
from metier.find.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from mcp.client.client import Client

    from metier.library import Library
    from metier.trust.approve import Verb

SEARCH = f"polish a {NAME} fruit"
TYPO = f"{NAME}x"
UNTRUSTED, QUARANTINED, WRITTEN = "marked untrusted", "marked quarantined", "as written"
GIVEN, ASKS, REFUSED, RUNS, TOLD, SILENT = "given", "asks", "refused", "runs", "told", "silent"
REFUSALS = frozenset(
    {
        "ask",
        "blocked",
        "quarantined",
        "hidden",
        "disabled",
        "unsupported",
        "refused",
        "skill-load-blocked",
        "mcp-blocked",
    }
)
"""The codes with which a door says no to a skill. Anything else is a fault of the test, or of the door."""


class Row(NamedTuple):
    """The one answer about a skill in a state."""

    shown: str
    """What `metier list --all` says: the state and the verdict."""
    model: bool
    """Whether a model is told of it, and gets it by its name."""
    person: str
    """What a person gets who names it without a yes: `given`, `asks` or `refused`. Where it asks, a yes gets it."""
    run: str
    """What becomes of a run without a yes: `runs`, `asks` or `refused`. Where it asks, a yes runs it."""
    mark: str = UNTRUSTED
    """How its words go to whoever gets them."""
    listed: bool = True
    """Whether the plain `metier list` has it."""
    command: bool = True
    """Whether the slash commands that are offered have it."""
    typed: bool = True
    """Whether `/name` at the start of a message gets it."""
    mentioned: bool = True
    """Whether `$name` inside a text, or a list of names to preload, gets it."""
    warned: bool = False
    """Whether a person who gets it is warned."""
    task: bool = False
    """Whether a person's task can set it off though no model is told of it."""
    named: bool = False
    """Whether a model that names it gets it though it is told nothing of it."""
    prompt: bool = False
    """Whether a person can call it as a prompt of MCP though no model gets it."""
    behind: str = ""
    """What `metier list --all` says of a copy that the name does not mean."""
    preloaded: bool = False
    """Whether a list of names to preload gets it though a mention does not."""


VISIBLE = Row("visible safe", model=True, person=GIVEN, run=ASKS)
OWN = VISIBLE._replace(run=RUNS, mark=WRITTEN)
WAITING = Row("ask safe", model=False, person=ASKS, run=ASKS, mentioned=False, warned=True)
OUT = Row(
    "blocked safe",
    model=False,
    person=REFUSED,
    run=REFUSED,
    listed=False,
    command=False,
    typed=False,
    mentioned=False,
)
DANGEROUS = OUT._replace(shown="blocked dangerous")
QUARANTINE = OUT._replace(
    shown="quarantined safe",
    person=GIVEN,
    mark=QUARANTINED,
    typed=True,
    mentioned=True,
    warned=True,
)
AFTER_A_BLOCK = QUARANTINE._replace(person=ASKS, mentioned=False)
GATED = OUT._replace(shown="hidden safe", person=GIVEN)
UNOFFERED = VISIBLE._replace(
    shown="hidden safe", model=False, named=True, listed=False, command=False, warned=True
)
"""It is not worth offering here: nobody is told of it, and whoever names it gets it, with the reason (HE-13)."""
KEPT = VISIBLE._replace(shown="hidden safe", model=False, prompt=True, listed=False)
"""Its author keeps it from models: only a person calls it."""
RESERVED = VISIBLE._replace(model=False, task=True, command=False, typed=False, mentioned=False)
"""Its name is one that `mcp.blocked` keeps from agents: nobody hands it to one, and a person still runs it."""
FIRST = OWN._replace(behind="shadowed safe", mentioned=False, preloaded=True)
"""A name means the first of two copies, here a project's own. A mention means none of them (CX-45)."""
DAMAGED = WAITING
"""Nothing counts as approved any more, and what was never blocked asks."""
UNKNOWN = OUT._replace(shown="blocked unscanned")
"""Nobody can tell what was blocked, so everything is; nor what was judged."""

TABLE: dict[str, Row] = {
    "visible": VISIBLE,
    "own by metier new": OWN,
    "own by metier trust own": OWN,
    "own in a trusted project": OWN,
    "installed": VISIBLE,
    "edited": VISIBLE,
    "unscanned": VISIBLE._replace(shown="visible unscanned"),
    "caution": VISIBLE._replace(shown="visible caution", warned=True),
    "signed": VISIBLE._replace(run=RUNS),
    "changed since approved": WAITING,
    "project untrusted": WAITING,
    "dangerous": DANGEROUS,
    "dangerous and unscanned": DANGEROUS._replace(shown="visible unscanned", listed=True),
    "dangerous and own": DANGEROUS,
    "dangerous and kept from models": DANGEROUS,
    "dangerous, kept from models and unscanned": DANGEROUS._replace(shown="hidden unscanned"),
    "dangerous in an untrusted project": DANGEROUS,
    "dangerous in an untrusted project and unscanned": DANGEROUS._replace(
        shown="ask unscanned", listed=True
    ),
    "dangerous and quarantined": DANGEROUS,
    "dangerous, quarantined and unscanned": DANGEROUS._replace(shown="quarantined unscanned"),
    "quarantined": QUARANTINE,
    "unblocked": QUARANTINE,
    "changed since blocked": AFTER_A_BLOCK,
    "looks like a blocked one": AFTER_A_BLOCK,
    "blocked": OUT,
    "gated by platform": GATED,
    "gated by environment": UNOFFERED,
    "gated by tools": UNOFFERED,
    "kept from models": KEPT,
    "reserved": RESERVED,
    "shadowed": FIRST,
    "disabled": OUT._replace(shown="hidden safe"),
    **{f"visible, decisions {damage}": DAMAGED for damage in DAMAGES},
    **{f"approved, decisions {damage}": DAMAGED for damage in DAMAGES},
    **{f"blocked, decisions {damage}": OUT for damage in DAMAGES},
    **{f"{state}, decisions {damage}": UNKNOWN for state in DECIDED for damage in HOME_DAMAGES},
}


# --- who asks, and what the row says to them


def tells(row: Row) -> str:
    """Say what a model is told."""
    return TOLD if row.model else SILENT


def tells_people(row: Row) -> str:
    """Say what a person is told who looks for a command."""
    return TOLD if row.command else SILENT


def lists(row: Row) -> str:
    """Say what the plain list has."""
    return row.shown if row.listed else ""


def lists_all(row: Row) -> str:
    """Say what the list of everything has."""
    return f"{row.shown}, {row.behind}" if row.behind else row.shown


def gives(row: Row) -> str:
    """Say what a model gets that names it."""
    return row.mark if row.model or row.named else REFUSED


def tells_of_task(row: Row) -> str:
    """Say what a person's task can set off."""
    return TOLD if row.model or row.task else SILENT


def runs_for_task(row: Row) -> str:
    """Say what becomes of a run that a person's task sets off: nobody is there to say yes."""
    return RUNS if row.run == RUNS and (row.model or row.task) else REFUSED


def tells_prompt(row: Row) -> str:
    """Say what the prompts of MCP are, which people call."""
    return TOLD if row.model or row.prompt else SILENT


def gives_prompt(row: Row) -> str:
    """Say what a person gets who calls a prompt of MCP."""
    return row.mark if row.model or row.named or row.prompt else REFUSED


def gives_bytes(row: Row) -> str:
    """Say what a client gets that asks for a file by its hash: the very bytes, or nothing."""
    return WRITTEN if row.model else REFUSED


def shows(row: Row) -> str:
    """Say what a person gets who names it."""
    return row.mark if row.person == GIVEN else row.person


def shows_after_yes(row: Row) -> str:
    """Say what a person gets who says yes to it."""
    return REFUSED if row.person == REFUSED else row.mark


def expands(row: Row) -> str:
    """Say what a slash command gets."""
    return row.mark if row.typed else REFUSED


def expands_mention(row: Row) -> str:
    """Say what a mention gets."""
    return row.mark if row.mentioned else REFUSED


def preloads(row: Row) -> str:
    """Say what a list of names gets."""
    return row.mark if row.mentioned or row.preloaded else REFUSED


def outlines(row: Row) -> str:
    """Say whether a person who names it learns its headings, which have no mark around them."""
    return row.person


def outlines_after_yes(row: Row) -> str:
    """Say whether a person who says yes to it does."""
    return REFUSED if row.person == REFUSED else GIVEN


def warns(row: Row) -> str:
    """Say whether a person is warned."""
    return "warned" if row.warned else ""


def runs(row: Row) -> str:
    """Say what becomes of a run."""
    return row.run


def runs_after_yes(row: Row) -> str:
    """Say what becomes of a run that a person said yes to."""
    return RUNS if row.run == ASKS else row.run


def runs_for_model(row: Row) -> str:
    """Say what becomes of a run that a model wants: nobody is there to say yes."""
    return RUNS if row.run == RUNS and row.model else REFUSED


# --- what was answered, in one word


def naming(names: Iterable[str], name: str = NAME) -> str:
    """Say whether names have the skill in them, once."""
    return {0: SILENT, 1: TOLD}.get(list(names).count(name), "told twice")


def word(text: object, words: str = BODY_WORDS) -> str:
    """Say how the words of the skill stand in a text."""
    text = text if isinstance(text, str) else json.dumps(text)
    if words not in text:
        return REFUSED
    marks = {"[QUARANTINED SKILL: ": QUARANTINED, "[UNTRUSTED SKILL: ": UNTRUSTED}
    return next((said for mark, said in marks.items() if mark in text), WRITTEN)


def refusal(code: str, text: object = "", *, asks: bool = False) -> str:
    """Say that a door said no, provided that it does say that, and that nothing of the skill stands in it."""
    if code not in REFUSALS:
        return f"failed: {code}"
    if word(text) != REFUSED or word(text, FILE_WORDS) != REFUSED:
        return "leaked"
    return ASKS if asks and code == "ask" else REFUSED


class Asking(NamedTuple):
    """Somebody who asks at a door of a machine."""

    machine: OneSkillMachine
    command: Callable[..., tuple[int, Any]]
    """Runs a command there."""

    def library(self, look: Callable[[Library], str]) -> str:
        """Ask a library that was just opened."""
        with self.machine.open() as m:
            m.context.sandbox = Calling() if self.machine.code else KeptSandbox(out=b"polished\n")
            try:
                return look(m)
            except RefusedError as error:
                return refusal(error.code, error.as_dict(), asks=True)


# --- the doors


def _verb(look: Callable[[Library], str]) -> Callable[[Asking], str]:
    return lambda asking: asking.library(look)


def _list(*options: str) -> Callable[[Asking], str]:
    def asked(asking: Asking) -> str:
        code, found = asking.command("list", *options)
        rows = [one for one in found["skills"] if one["name"] == NAME]
        assert code == 0
        return ", ".join(f"{one['state']} {one['verdict']}" for one in rows)

    return asked


def _command(*words: str, said: str = BODY_WORDS) -> Callable[[Asking], str]:
    def asked(asking: Asking) -> str:
        code, found = asking.command(*words)
        if code:
            return refusal(found["code"], found, asks=True)
        return word(found.get("disclosed", found), said)

    return asked


def _tool_tells(name: str, field: str, **arguments: Any) -> Callable[[Asking], str]:
    def look(m: Library) -> str:
        return naming(row["name"] for row in tools.call(m, name, arguments)[field])

    return _verb(look)


def _tool(name: str, said: str = BODY_WORDS, **arguments: Any) -> Callable[[Asking], str]:
    def look(m: Library) -> str:
        found = tools.call(m, name, {"name": m.resolve(NAME).name, **arguments})
        if not found["success"]:
            return refusal(found["error"]["code"], found)
        return RUNS if found.get("output") == "polished\n" else word(found["content"], said)

    return _verb(look)


def _suggest_to_model(m: Library) -> str:
    error = tools.call(m, "skill_view", {"name": TYPO})["error"]
    assert "not-found" == error["code"]
    return naming(error["available_skills"])


def _suggest_command(m: Library) -> str:
    return TOLD if f"/{NAME}?" in " ".join(m.expand(f"/{TYPO} it").warnings) else SILENT


def _expand(text: str) -> Callable[[Asking], str]:
    def look(m: Library) -> str:
        found = m.expand(text)
        assert found.skills in ([], [NAME])
        assert found.skills or found.message in text  # who gets nothing of it gets no word of it
        return word(found.message)

    return _verb(look)


def _sections(*, consent: bool) -> Callable[[Library], str]:
    def look(m: Library) -> str:
        return (
            GIVEN if HEADING in [one.section for one in m.sections(NAME, consent=consent)] else ""
        )

    return look


def _show_sections(asking: Asking) -> str:
    code, found = asking.command("show", NAME, "--sections")
    if code:
        return refusal(found["code"], found, asks=True)
    return GIVEN if HEADING in [one["section"] for one in found["sections"]] else ""


def _warning(m: Library) -> str:
    m.view(NAME, consent=True)
    return "warned" if any(NAME in said for said in m.context.warnings) else ""


DOORS: dict[str, tuple[Callable[[Row], str], Callable[[Asking], str]]] = {
    # what a person sees
    "metier list": (lists, _list()),
    "metier list --all": (lists_all, _list("--all")),
    "metier show": (shows_after_yes, _command("show", NAME)),
    "metier show --file": (
        shows_after_yes,
        _command("show", NAME, "--file", FILE, said=FILE_WORDS),
    ),
    "metier show --sections": (outlines_after_yes, _show_sections),
    "view": (shows, _verb(lambda m: word(m.view(NAME).disclosed))),
    "view, yes": (shows_after_yes, _verb(lambda m: word(m.view(NAME, consent=True).disclosed))),
    "view a file": (shows, _verb(lambda m: word(m.view(NAME, FILE).disclosed, FILE_WORDS))),
    "view a file, yes": (
        shows_after_yes,
        _verb(lambda m: word(m.view(NAME, FILE, consent=True).disclosed, FILE_WORDS)),
    ),
    "load": (shows, _verb(lambda m: word(m.load(NAME).text))),
    "load, yes": (shows_after_yes, _verb(lambda m: word(m.load(NAME, consent=True).text))),
    "sections": (outlines, _verb(_sections(consent=False))),
    "sections, yes": (outlines_after_yes, _verb(_sections(consent=True))),
    "section": (shows, _verb(lambda m: word(m.section(NAME, HEADING).disclosed))),
    "section, yes": (
        shows_after_yes,
        _verb(lambda m: word(m.section(NAME, HEADING, consent=True).disclosed)),
    ),
    "page": (shows, _verb(lambda m: word(m.page(NAME).disclosed))),
    "page, yes": (shows_after_yes, _verb(lambda m: word(m.page(NAME, consent=True).disclosed))),
    "page of a file": (shows, _verb(lambda m: word(m.page(NAME, FILE).disclosed, FILE_WORDS))),
    "warnings": (lambda row: warns(row) if row.person != REFUSED else REFUSED, _verb(_warning)),
    "commands": (tells_people, _verb(lambda m: naming(one.name for one in m.commands()))),
    "/name, misspelt": (tells_people, _verb(_suggest_command)),
    "/name": (expands, _expand(f"/{NAME} go")),
    "$name": (expands_mention, _expand(f"Please use ${NAME} now.")),
    "preload": (preloads, _verb(lambda m: word(m.preload([NAME]).prompt))),
    # what a model is told
    "prompt": (tells, _verb(lambda m: naming(str(row[0]) for row in m.catalogue().rows))),
    "prompt for a task": (
        tells,
        _verb(lambda m: naming({str(row[0]) for row in m.catalogue(task=SEARCH).rows})),
    ),
    "find": (tells, _verb(lambda m: naming(hit.name for hit in m.find(SEARCH)))),
    "triggers": (tells_of_task, _verb(lambda m: naming(match.name for match in m.matches(TASK)))),
    "skills_list": (tells, _tool_tells("skills_list", "skills")),
    "search_skills": (tells, _tool_tells("search_skills", "hits", query=SEARCH)),
    "skill_view, misspelt": (tells, _verb(_suggest_to_model)),
    # what a model gets
    "skill_view": (gives, _tool("skill_view")),
    "skill_view, a section": (gives, _tool("skill_view", section=HEADING)),
    "skill_view, a file": (gives, _tool("skill_view", FILE_WORDS, file_path=FILE)),
    "load_skill": (gives, _tool("load_skill")),
    "read_skill_file": (gives, _tool("read_skill_file", FILE_WORDS, path=FILE)),
    # what runs
    "run": (runs, _verb(lambda m: RUNS if m.run(NAME).code == 0 else "failed")),
    "run, yes": (
        runs_after_yes,
        _verb(lambda m: RUNS if m.run(NAME, consent=True).code == 0 else "failed"),
    ),
    "run_skill_script": (runs_for_model, _tool("run_skill_script", script=SCRIPT)),
}


async def _mcp_tool(client: Client, name: str, said: str = BODY_WORDS, **arguments: Any) -> str:
    answer = await client.call_tool(name, {"name": NAME, **arguments})
    found = answer.structured_content or {}
    if answer.is_error:
        return refusal(found["error"]["code"], found)
    return RUNS if found.get("output") == "polished\n" else word(found["content"], said)


async def _mcp_asked(client: Client, method: str, **params: Any) -> str:
    try:
        return word(await ask(client, method, **params))
    except MCPError as error:
        code = error.error.data["code"] if isinstance(error.error.data, dict) else ""
        return refusal(code, str(error))


async def _mcp_search(client: Client) -> str:
    answer = await client.call_tool("search_skills", {"query": SEARCH})
    return naming(hit["name"] for hit in (answer.structured_content or {})["hits"])


async def _mcp_suggest(client: Client) -> str:
    answer = await client.call_tool("load_skill", {"name": TYPO})
    error = (answer.structured_content or {})["error"]
    assert "not-found" == error["code"]
    return naming(error["hint"].removeprefix("choose one of: ").split(", "))


async def _mcp_listed(client: Client, method: str, field: str, named: Callable[[Any], str]) -> str:
    return naming({named(one) for one in await every(client, method, field)})


SERVED: dict[str, tuple[Callable[[Row], str], Callable[[Client], Awaitable[str]]]] = {
    "mcp search_skills": (tells, _mcp_search),
    "mcp skills/list": (
        tells,
        lambda client: _mcp_listed(
            client, "skills/list", "skills", lambda one: one["frontmatter"]["name"]
        ),
    ),
    "mcp resources/list": (
        tells,
        lambda client: _mcp_listed(
            client, "resources/list", "resources", lambda one: one["uri"].split("/")[2]
        ),
    ),
    "mcp prompts/list": (
        tells_prompt,
        lambda client: _mcp_listed(client, "prompts/list", "prompts", lambda one: one["name"]),
    ),
    "mcp load_skill, misspelt": (tells, _mcp_suggest),
    "mcp read_skill_file": (
        gives,
        lambda client: _mcp_tool(client, "read_skill_file", FILE_WORDS, path=FILE),
    ),
    "mcp run_skill_script": (
        runs_for_model,
        lambda client: _mcp_tool(client, "run_skill_script", script=SCRIPT),
    ),
    "mcp resources/read": (
        gives_bytes,
        lambda client: _mcp_asked(client, "resources/read", uri=f"skill://{NAME}/SKILL.md"),
    ),
    "mcp load_skill": (gives, lambda client: _mcp_tool(client, "load_skill")),
    "mcp prompts/get": (
        gives_prompt,
        lambda client: _mcp_asked(client, "prompts/get", name=NAME, arguments={}),
    ),
}


# --- the table


class Machines:
    """The machines of this module: one for each state, and a new one each time where nothing is judged yet."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        """Build none yet."""
        self._folder = folder
        self._made: dict[tuple[str, bool], OneSkillMachine] = {}
        self._served: dict[str, dict[str, str]] = {}

    def of(self, state: str, *, code: bool = False) -> OneSkillMachine:
        """Give a machine with the skill in a state."""
        if "unscanned" in state:
            return in_state(self._folder(), state, code=code)
        if (state, code) not in self._made:
            self._made[state, code] = in_state(self._folder(), state, code=code)
        return self._made[state, code]

    def served(self, state: str, door: str) -> str:
        """Give what a client of MCP gets at one of its doors. One client asks at all of them, except where the first
        to ask is to be the one.
        """
        if "unscanned" in state:
            return serve(self.of(state), [door])[door]
        if state not in self._served:
            self._served[state] = serve(self.of(state), SERVED)
        return self._served[state][door]


def serve(made: OneSkillMachine, doors: Iterable[str], transport: str = "stdio") -> dict[str, str]:
    """Connect a client, and ask at some doors."""
    found: dict[str, str] = {}

    async def use(client: Client) -> None:
        for door in doors:
            found[door] = await SERVED[door][1](client)

    with made.open() as m:
        m.context.sandbox = KeptSandbox(out=b"polished\n")
        talk(m, use, door=transport)
    return found


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Machines:
    """Give the machines that the cells of the table share."""
    return Machines(lambda: tmp_path_factory.mktemp("machine"))


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, Any]]:
    """Give commands in this process, with `--json`, on a machine of the table."""

    def given(made: OneSkillMachine, *words: str) -> tuple[int, Any]:
        for name, value in made.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(made.project)
        code = main.main([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return given


def _cells(table: Iterable[str], doors: Iterable[str]) -> list[Any]:
    doors = list(doors)
    return [
        pytest.param(
            state,
            door,
            id=f"{state} - {door}",
        )
        for state in table
        for door in doors
    ]


@pytest.mark.parametrize(("state", "door"), _cells(TABLE, DOORS))
def test_every_door_gives_the_answer_of_the_state(
    machines: Machines, command: Callable[..., tuple[int, Any]], state: str, door: str
) -> None:
    expected, asked = DOORS[door]
    made = machines.of(state)

    found = asked(Asking(made, lambda *words: command(made, *words)))

    assert expected(TABLE[state]) == found


@pytest.mark.parametrize(("state", "door"), _cells(TABLE, SERVED))
def test_every_door_of_mcp_gives_the_answer_of_the_state(
    machines: Machines, state: str, door: str
) -> None:
    assert SERVED[door][0](TABLE[state]) == machines.served(state, door)


@pytest.mark.parametrize("state", list(TABLE))
def test_every_door_of_mcp_gives_the_same_over_http(machines: Machines, state: str) -> None:
    expected = {door: answer(TABLE[state]) for door, (answer, _asked) in SERVED.items()}

    assert expected == serve(machines.of(state), SERVED, "http")


@pytest.mark.bubblewrap
@pytest.mark.parametrize("state", list(TABLE))
def test_the_command_that_runs_a_script_gives_the_answer_of_the_state(
    machines: Machines, command: Callable[..., tuple[int, Any]], state: str
) -> None:
    code, found = command(machines.of(state), "run", NAME, "--yes")

    if runs_after_yes(TABLE[state]) == RUNS:
        assert (0, "polished\n") == (code, found["output"])
    else:
        assert (125, "refused") == (code, found["code"])


@pytest.mark.parametrize(
    "door",
    [door for door, (expected, _asked) in DOORS.items() if expected in {tells, tells_of_task}],
)
def test_a_door_that_is_silent_about_one_skill_tells_of_the_other(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """Without this, a door that says nothing at all would pass for one that keeps its word."""
    monkeypatch.setattr(f"{__name__}.naming", lambda names: TOLD if NEIGHBOUR in names else SILENT)
    if "misspelt" in door:
        monkeypatch.setattr(f"{__name__}.TYPO", f"{NEIGHBOUR}s")

    assert TOLD == DOORS[door][1](Asking(machines.of("blocked"), lambda *_words: (0, {})))


def test_the_doors_of_mcp_that_are_silent_about_one_skill_tell_of_the_other(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    doors = [door for door, (expected, _asked) in SERVED.items() if expected is tells]
    monkeypatch.setattr(f"{__name__}.naming", lambda names: TOLD if NEIGHBOUR in names else SILENT)
    monkeypatch.setattr(f"{__name__}.TYPO", f"{NEIGHBOUR}s")

    assert dict.fromkeys(doors, TOLD) == serve(machines.of("blocked"), doors)


# --- of two copies, the one that the name does not mean


class TwoCopies(NamedTuple):
    """A machine on which a trusted project has a copy of the skill, and the user another."""

    machine: OneSkillMachine
    behind: str
    """The path of the user's copy, which nobody means by the name."""


def two_copies(base: Path, config: str = "") -> TwoCopies:
    """Make such a machine; the words of the table stand in the copy that comes first."""
    made = machine(base, config=config)
    made.put(made.project_skills)
    behind = made.put(made.user_skills, words=WORDS_BEHIND)
    with made.open() as m:
        m.trust_project(str(made.project))
    return TwoCopies(look_at_all(made), behind)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> TwoCopies:
    """Give a machine with two copies of the skill."""
    return two_copies(tmp_path_factory.mktemp("copies"))


@pytest.fixture(scope="module")
def reserved_copies(tmp_path_factory: pytest.TempPathFactory) -> TwoCopies:
    """Give a machine with two copies of a skill whose name no agent gets."""
    return two_copies(tmp_path_factory.mktemp("reserved"), f'mcp.blocked = ["{NAME}"]\n')


@pytest.mark.parametrize(
    "door", [door for door, (expected, _asked) in DOORS.items() if expected is tells]
)
def test_a_copy_behind_does_not_bring_a_reserved_name_back(
    reserved_copies: TwoCopies, door: str
) -> None:
    assert SILENT == DOORS[door][1](Asking(reserved_copies.machine, lambda *_words: (0, {})))


def by_path(made: OneSkillMachine, path: str, words: str) -> dict[str, str]:
    """Ask for a skill by its path, at every door where a model can."""
    found: dict[str, str] = {}

    async def use(client: Client) -> None:
        answer = await client.call_tool("load_skill", {"name": path})
        said = answer.structured_content or {}
        found["mcp load_skill"] = (
            refusal(said["error"]["code"], said)
            if answer.is_error
            else word(said["content"], words)
        )

    with made.open() as m:
        for tool in ("skill_view", "load_skill"):
            said = tools.call(m, tool, {"name": path})
            found[tool] = (
                word(said["content"], words)
                if said["success"]
                else refusal(said["error"]["code"], said)
            )
        talk(m, use)
    return found


def test_the_copy_behind_is_given_to_a_model_that_names_its_path(copies: TwoCopies) -> None:
    assert {UNTRUSTED} == set(by_path(copies.machine, copies.behind, WORDS_BEHIND).values())


@pytest.mark.parametrize("verb", ["block", "quarantine"])
def test_a_path_leads_no_model_to_a_copy_behind_that_is_kept_out(
    tmp_path: Path, verb: Verb
) -> None:
    copies = two_copies(tmp_path / "machine")
    with copies.machine.open() as m:
        m.trust(copies.behind, verb, reason="A test.")

    assert {REFUSED} == set(by_path(copies.machine, copies.behind, WORDS_BEHIND).values())


# --- skills of code: who sets one off


FREE = OWN._replace(typed=False, mentioned=False)
UNAPPROVED = WAITING._replace(run=REFUSED)
"""Code that waits for a yes is compiled once it is approved: a yes to one run is none to these bytes (CO-10)."""
CODE_TABLE: dict[str, Row] = {
    "visible": FREE,
    "own by metier trust own": FREE,
    "own in a trusted project": FREE,
    "unscanned": FREE,
    "caution": FREE,
    "signed": FREE,
    "shadowed": FREE,
    "changed since approved": UNAPPROVED,
    "project untrusted": UNAPPROVED,
    "dangerous": DANGEROUS,
    "dangerous and unscanned": DANGEROUS,
    "dangerous and own": DANGEROUS,
    "dangerous in an untrusted project": DANGEROUS,
    "dangerous and quarantined": DANGEROUS,
    "quarantined": QUARANTINE,
    "changed since blocked": AFTER_A_BLOCK,
    "blocked": OUT,
    "reserved": RESERVED._replace(run=RUNS),
    "disabled": OUT,
    **{f"visible, decisions {damage}": UNAPPROVED for damage in DAMAGES},
    **{f"approved, decisions {damage}": UNAPPROVED for damage in DAMAGES},
    **{f"blocked, decisions {damage}": OUT for damage in DAMAGES},
    **{f"{state}, decisions {damage}": OUT for state in DECIDED for damage in HOME_DAMAGES},
}
"""A code skill has no gates and is not edited where it was installed: those states are none of its."""


def _answered(said: str | None) -> str:
    return RUNS if said == "moved" else REFUSED


def _code_tool(m: Library) -> str:
    arguments = {"name": CODE_NAME, "script": CODE_TASK}
    found = tools.call(m, "run_skill_script", arguments)
    return _answered(found["result"]) if found["success"] else refusal(found["error"]["code"])


def _code_over_mcp(m: Library) -> str:
    found: list[str] = []

    async def use(client: Client) -> None:
        arguments = {"name": CODE_NAME, "script": CODE_TASK}
        answer = await client.call_tool("run_skill_script", arguments)
        said = answer.structured_content or {}
        found.append(
            refusal(said["error"]["code"]) if answer.is_error else _answered(said["result"])
        )

    talk(m, use)
    return found[0]


def _observed(m: Library) -> str:
    found = m.observe(Observation(OBSERVED), datetime(2026, 5, 4, tzinfo=UTC), lambda _one: True)
    return naming((one.name for one in found if one.outcome == "fired"), CODE_NAME)


CODE_DOORS: dict[str, tuple[Callable[[Row], str], Callable[[Library], str]]] = {
    "find": (tells, lambda m: naming((hit.name for hit in m.find("moves boxes")), CODE_NAME)),
    "triggers": (
        tells_of_task,
        lambda m: naming((one.name for one in m.matches(CODE_TASK)), CODE_NAME),
    ),
    "dispatch": (runs_for_task, lambda m: _answered(m.dispatch(CODE_TASK).answer)),
    "a host's dispatch": (
        tells_of_task,
        lambda m: TOLD if m.dispatch(CODE_TASK, lambda match: match.name).answer else SILENT,
    ),
    "auto": (runs_for_task, lambda m: _answered(m.auto(CODE_TASK).answer)),
    "observe": (tells_of_task, _observed),
    "tags": (runs_for_model, lambda m: _answered(m.fill_tags(f"[SKILL:{CODE_NAME}:{CODE_TASK}]"))),
    "run": (runs, lambda m: _answered(m.run(CODE_NAME, CODE_TASK).result)),
    "run, yes": (
        runs_after_yes,
        lambda m: _answered(m.run(CODE_NAME, CODE_TASK, consent=True).result),
    ),
    "run_skill_script": (runs_for_model, _code_tool),
    "mcp run_skill_script": (runs_for_model, _code_over_mcp),
}


@pytest.mark.parametrize(("state", "door"), _cells(CODE_TABLE, CODE_DOORS))
def test_every_way_to_set_a_code_skill_off_gives_the_answer_of_the_state(
    machines: Machines, state: str, door: str
) -> None:
    expected, look = CODE_DOORS[door]

    found = Asking(machines.of(state, code=True), lambda *_words: (0, {})).library(look)

    assert expected(CODE_TABLE[state]) == found


@pytest.mark.parametrize("state", [state for state in CODE_TABLE if state in TABLE])
def test_a_code_skill_is_in_the_state_that_its_row_is_about(machines: Machines, state: str) -> None:
    """Without this, a machine that is not in its state would pass for one that is."""
    with machines.of(state, code=True).open() as m:
        found = [
            f"{card.state} {card.verdict or 'unscanned'}"
            for card in m.skills(all=True)
            if card.name == CODE_NAME
        ]

    assert lists_all(TABLE[state]) == ", ".join(found)
