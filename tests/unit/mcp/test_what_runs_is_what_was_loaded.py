"""What a conversation is given of a skill, and what is run for it, is the skill as it was when that conversation loaded it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from fakes.cage import KeptSandbox
from fakes.served import Place

from metier.mcp import copies, tools
from metier.mcp.server import make_server
from metier.mcp.sessions import Conversation
from metier.model import Digest
from metier.trust import approve as vetting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Home, Writer

    from metier.mcp.copies import SkillCopy
    from metier.mcp.server import SkillServer
    from metier.model import Card

    Serve = Callable[[], tuple[SkillServer, KeptSandbox]]


@pytest.fixture
def place(home: Home, tmp_path: Path, skill: Writer) -> Place:
    """Give a place where agents may run what is trusted."""
    made = Place(home, tmp_path, skill)
    made.config.write_text("[mcp]\nrun = true\n")
    return made


@pytest.fixture
def serve(place: Place) -> Iterator[Serve]:
    """Give what serves the place; the skills are written by then."""
    with ExitStack() as opened:

        def served() -> tuple[SkillServer, KeptSandbox]:
            library = opened.enter_context(place.open())
            box = KeptSandbox()
            library.context.sandbox = box
            return make_server(library), box

        yield served


def told(
    serving: SkillServer, tool: str, talk: Conversation | None, **arguments: Any
) -> dict[str, Any]:
    found = serving.tools.call(tool, arguments, talk)["structuredContent"]
    assert isinstance(found, dict)
    return found


def code_of(found: dict[str, Any]) -> str:
    error = found.get("error")
    return str(error["code"]) if isinstance(error, dict) else ""


def approve(serving: SkillServer) -> None:
    """Have a person approve of the skill as it lies there."""
    serving.library.reload()
    vetting.trust(serving.library.context, "pdf", "approve", reason="read it", level="trusted")
    serving.library.reload()


@pytest.mark.parametrize("file", ["scripts/say.sh", "SKILL.md", "other.txt"])
def test_after_any_change_of_a_skill_nothing_of_it_is_run_until_it_is_loaded_again(
    place: Place, serve: Serve, file: str
) -> None:
    folder = place.skill("skills/pdf", scripts__say_sh="echo one\n", other_txt="one\n")
    (serving, box), talk, run = serve(), Conversation(), {"name": "pdf", "script": "scripts/say.sh"}
    approve(serving)
    told(serving, "load_skill", talk, name="pdf")
    before = told(serving, "run_skill_script", talk, **run)
    (folder / file).write_text((folder / file).read_text() + "\nThe other one.\n")
    approve(serving)  # a person knows of the change, but the conversation does not

    after = told(serving, "run_skill_script", talk, **run)
    ran = len(box.cages)
    told(serving, "load_skill", talk, name="pdf")
    again = told(serving, "run_skill_script", talk, **run)

    assert ["", "revision-gone", ""] == [code_of(one) for one in (before, after, again)]
    assert (1, 2) == (ran, len(box.cages))


def test_who_has_loaded_nothing_runs_what_lies_there(place: Place, serve: Serve) -> None:
    place.skill("skills/pdf", scripts__say_sh="echo one\n")
    serving, box = serve()
    approve(serving)

    found = told(serving, "run_skill_script", Conversation(), name="pdf", script="scripts/say.sh")

    assert ("", 1) == (code_of(found), len(box.cages))


def test_a_skill_whose_files_are_not_those_that_were_judged_is_not_given(
    place: Place, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.skill("skills/pdf")
    (serving, _box), talk, copied = serve(), Conversation(), copies.copy_skill

    def other(card: Card) -> SkillCopy:
        return copied(card)._replace(digest=Digest("sha256:" + "cd" * 32))

    monkeypatch.setattr(tools, "copy_skill", other)

    found = told(serving, "load_skill", talk, name="pdf")

    assert "'pdf' changed while it was read" == found["error"]["message"]
    assert {} == talk.loaded


def test_of_a_skill_with_too_many_files_to_hold_nothing_is_read_after_a_change_until_it_is_loaded_again(
    place: Place, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "MAX_FILES", 1)
    folder = place.skill("skills/pdf", references__a_md="one\n", references__b_md="one\n")
    (serving, _box), talk, read = (
        serve(),
        Conversation(),
        {"name": "pdf", "path": "references/a.md"},
    )
    told(serving, "load_skill", talk, name="pdf")
    before = told(serving, "read_skill_file", talk, **read)
    (folder / "references/b.md").write_text("other\n")
    serving.served.forget()  # as whoever watches the folder has it do

    after = told(serving, "read_skill_file", talk, **read)
    told(serving, "load_skill", talk, name="pdf")
    again = told(serving, "read_skill_file", talk, **read)

    assert ["", "revision-gone", ""] == [code_of(one) for one in (before, after, again)]
