"""What somebody at a terminal is asked: which skills and agents, what to do with each change that waits, and which skill is meant. Elsewhere nobody is."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from doors.command import Session, error_of, on_screen, run
from doors.upstream import DANGEROUS, LINES, text_of
from wcwidth import wcswidth

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer
    from doors.upstream import Project, Upstream

ESC, DOWN, ENTER, CTRL_A, CTRL_C, BACKSPACE = b"\x1b", b"\x1b[B", b"\r", b"\x01", b"\x03", b"\x7f"
KEYS_OF_TICKS = "esc: cancel"
KEYS_OF_A_LIST = "enter: pick, esc: cancel"
MINE, THEIRS = (
    text_of("pdf", LINES.replace("Line 3 ", "My line 3 ")),
    text_of("pdf", LINES.replace("Line 3 ", "Their line 3 ")),
)


def at(project: Project, *words: str, **more: str) -> Session:
    """Give a command in a project, on a terminal."""
    return Session({**project.home.env, **more}, *words, cwd=project.folder)


# --- add


@pytest.fixture
def offer(tmp_path: Path) -> str:
    """Give a folder with three skills to add."""
    for name in ("ocr", "pdf", "xls"):
        (tmp_path / "offer" / name).mkdir(parents=True)
        (tmp_path / "offer" / name / "SKILL.md").write_text(text_of(name))
    return str(tmp_path / "offer")


def installed_in(project: Project, folder: str = ".agents/skills") -> set[str]:
    """Name the skills of a folder."""
    path = project.folder / folder
    return {one.name for one in path.iterdir()} if path.is_dir() else set()


def test_add_lets_you_tick_skills_and_then_agents(project: Project, offer: str) -> None:
    (project.home.path / ".claude").mkdir()
    (project.home.path / ".codex").mkdir()

    session = at(project, "add", offer).wait("Which of these 3 skills").wait(KEYS_OF_TICKS)
    session.press(b" " + DOWN + DOWN + b" " + ENTER).wait("ocr, xls")
    session.wait("Codex reads .agents/skills. Which other agents").wait("Claude Code")
    session.wait(KEYS_OF_TICKS).press(ENTER).wait("Install 2 skills? [y/N]")
    screen = session.press(b"y\n").end()

    assert 0 == screen.code
    assert {"ocr", "xls"} == installed_in(project) == installed_in(project, ".claude/skills")


def test_an_agent_whose_tick_is_taken_away_gets_nothing(project: Project, offer: str) -> None:
    (project.home.path / ".claude").mkdir()

    session = at(project, "add", offer).wait(KEYS_OF_TICKS).press(CTRL_A + ENTER)
    session.wait("Which agents").wait(KEYS_OF_TICKS).press(b" " + ENTER)
    session.wait("Install 3 skills?").press(b"y\n").end()

    assert {"ocr", "pdf", "xls"} == installed_in(project)
    assert set() == installed_in(project, ".claude/skills")


def test_agents_are_not_asked_about_where_to_names_them(project: Project, offer: str) -> None:
    (project.home.path / ".claude").mkdir()

    session = at(project, "add", offer, "--to", "codex").wait(KEYS_OF_TICKS).press(b" " + ENTER)
    screen = session.wait("Install 1 skill?").press(b"y\n").end()

    assert (0, {"ocr"}) == (screen.code, installed_in(project))
    assert "Which agents" not in screen.text


def test_typing_narrows_what_can_be_ticked(project: Project, offer: str) -> None:
    session = at(project, "add", offer).wait(KEYS_OF_TICKS)
    session.press(b"XL").wait("filter: XL  (1 of 3 fit)").press(b" " + BACKSPACE * 2 + b" " + ENTER)

    screen = session.wait("ocr, xls").wait("Install 2 skills?").press(b"n\n").end()

    assert (1, set()) == (screen.code, project.left())


def test_enter_without_a_tick_says_what_is_missing(project: Project, offer: str) -> None:
    session = at(project, "add", offer).wait(KEYS_OF_TICKS).press(ENTER)

    screen = session.wait("nothing is selected yet").press(ESC).end()

    assert (1, set()) == (screen.code, project.left())


@pytest.mark.parametrize("key", [ESC, CTRL_C])
@pytest.mark.parametrize("first", [b"", b" " + ENTER])
def test_who_leaves_changes_nothing(key: bytes, first: bytes, project: Project, offer: str) -> None:
    (project.home.path / ".claude").mkdir()
    session = at(project, "add", offer).wait(KEYS_OF_TICKS)
    if first:
        session.press(first).wait("Which agents").wait(KEYS_OF_TICKS)

    screen = session.press(key).end()

    assert (1, "nothing was changed") == (screen.code, screen.lines[-2])
    assert "error" not in screen.text
    assert set() == project.left()


def test_skills_that_share_a_name_are_told_apart_by_their_paths(
    project: Project, tmp_path: Path
) -> None:
    for folder in ("a", "b"):
        (tmp_path / "offer" / folder / "pdf").mkdir(parents=True)
        text = text_of("pdf", f"From {folder}.\n")
        (tmp_path / "offer" / folder / "pdf" / "SKILL.md").write_text(text)

    session = at(project, "add", str(tmp_path / "offer")).wait("pdf (b/pdf)").wait(KEYS_OF_TICKS)
    session.press(DOWN + b" " + ENTER).wait("Install 1 skill?").press(b"y\n").end()

    assert "From b." in project.file("pdf").read_text()


@pytest.mark.parametrize(
    ("words", "env"), [(("--json",), {}), (("--yes",), {}), ((), {"CI": "true"})]
)
def test_a_script_on_a_terminal_is_not_asked(
    words: tuple[str, ...], env: dict[str, str], project: Project, offer: str
) -> None:
    screen = at(project, "add", offer, *words, **env).end()

    assert 1 == screen.code
    assert KEYS_OF_TICKS not in screen.text
    assert "ocr" in screen.text


@pytest.mark.parametrize("columns", [60, 80])
def test_a_list_fits_the_terminal_and_what_strangers_wrote_is_harmless(
    columns: int, project: Project, tmp_path: Path
) -> None:
    for name in (
        "one",
        "表格整理工具箱",
        "a-name-that-goes-on-and-on-until-it-has-all-sixty-letters",
    ):
        (tmp_path / "offer" / name).mkdir(parents=True)
        (tmp_path / "offer" / name / "SKILL.md").write_text(
            f'---\nname: {name}\ndescription: "x\\e[2J\\u202e {"整理" * 80}"\n---\n\nDo it.\n'
        )
    session = Session(
        project.home.env, "add", str(tmp_path / "offer"), cwd=project.folder, columns=columns
    )

    screen = session.wait("esc: cancel").press(ESC).end()

    assert [] == [line for line in screen.lines if wcswidth(line) > columns]
    assert "\x1b[2J" not in screen.text
    assert "\u202e" not in screen.text


def test_a_long_list_says_how_many_more_there_are(project: Project, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / "offer" / f"skill-{number:02}").mkdir(parents=True)
        text = text_of(f"skill-{number:02}")
        (tmp_path / "offer" / f"skill-{number:02}" / "SKILL.md").write_text(text)

    session = at(project, "add", str(tmp_path / "offer")).wait("and 18 more").wait("esc: cancel")
    session.press(b"\x1b[6~\x1b[6~\x1b[6~ ").wait("1").press(ENTER)  # page down
    screen = session.wait("skill-29").wait("Install 1 skill?").press(b"n\n").end()

    assert (1, set()) == (screen.code, project.left())


def test_a_request_to_end_gives_the_terminal_back(project: Project, offer: str) -> None:
    session = at(project, "add", offer).wait(KEYS_OF_TICKS)

    session.process.send_signal(signal.SIGTERM)
    screen = session.end()

    assert 128 + signal.SIGTERM == screen.code
    assert screen.text.rindex("\x1b[?25h") > screen.text.rindex("\x1b[?25l")  # the cursor
    assert "Traceback" not in screen.text
    assert set() == project.left()


# --- show, list and find


@pytest.fixture
def skills(home: Home, skill: Writer) -> Path:
    """Give a home with three skills."""
    for name in ("forms", "notes", "表格"):
        skill(f"home/.agents/skills/{name}", name=name, description=f"What {name} is for.")
    return home.path / ".agents/skills"


def test_show_without_a_name_lets_you_pick_by_typing(home: Home, skills: Path) -> None:
    session = Session(home.env, "show", cwd=skills).wait(KEYS_OF_A_LIST).press("表".encode())

    screen = session.wait("(1 of 3 fit)").press(ENTER).wait("Which skill? 表格").end()

    assert 0 == screen.code
    assert any(line.startswith("表格  ") for line in screen.lines)


@pytest.mark.parametrize("words", [("show",), ("list", "--pick"), ("find", "notes", "--pick")])
def test_who_leaves_a_list_has_picked_nothing(
    words: tuple[str, ...], home: Home, skills: Path
) -> None:
    screen = Session(home.env, *words, cwd=skills).wait(KEYS_OF_A_LIST).press(ESC).end()

    assert (1, "nothing was picked") == (screen.code, screen.lines[-2])


@pytest.mark.parametrize("words", [("list", "--pick"), ("find", "what notes is for", "--pick")])
def test_what_was_picked_is_shown_or_its_path_goes_into_a_pipe(
    words: tuple[str, ...], home: Home, skills: Path
) -> None:
    shown = Session(home.env, *words, cwd=skills).wait(KEYS_OF_A_LIST).press(b"notes" + ENTER)
    screen = shown.end()
    piped = Session(home.env, *words, cwd=skills, stdout=subprocess.PIPE)
    piped.wait(KEYS_OF_A_LIST).press(b"notes" + ENTER).end()

    assert any(line.startswith("notes  ") for line in screen.lines)
    assert piped.process.stdout is not None
    with piped.process.stdout as out:
        assert f"{skills}/notes\n" == out.read().decode()


def test_without_a_terminal_nobody_picks(home: Home, skills: Path) -> None:
    bare = run(home.env, "show", cwd=skills)
    listed = run(home.env, "list", "--pick", cwd=skills)
    found = run(home.env, "find", "notes", "--pick", cwd=skills)
    as_json = Session(home.env, "list", "--pick", "--json", cwd=skills).end()
    half = on_screen(home.env, "show", cwd=skills)  # nobody types

    assert (2, "metier show needs NAME") == (bare.code, error_of(bare)[0])
    assert [(2, "there is no terminal to pick on")] * 2 == [
        (one.code, error_of(one)[0]) for one in (listed, found)
    ]
    assert (2, True) == (as_json.code, "a document cannot" in as_json.text)
    assert (2, True) == (half.code, "metier show needs NAME" in half.text)


def test_where_there_is_no_skill_there_is_none_to_pick(home: Home, tmp_path: Path) -> None:
    screen = Session(home.env, "show", cwd=tmp_path).end()

    assert (1, True) == (screen.code, "there is no skill to pick" in screen.text)


# --- merge


@pytest.fixture
def held(installed: Project, upstream: Upstream) -> Project:
    """Give a project with an update that conflicts."""
    installed.file("pdf").write_text(MINE)
    upstream.commit({"skills/pdf/SKILL.md": THEIRS})
    assert 1 == installed("update", "--yes").code
    return installed


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """Give a program that does to the files it is started with what the file `edits` says, one line for each time."""
    program = tmp_path / "editor"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib, sys\n"
        f"plan = pathlib.Path({str(tmp_path / 'edits')!r})\n"
        "first, *rest = plan.read_text().splitlines()\n"
        "plan.write_text('\\n'.join(rest))\n"
        "print('edited', *(pathlib.Path(one).name for one in sys.argv[1:]))\n"
        "if first == 'fail':\n"
        "    sys.exit(3)\n"
        "if first != 'leave':\n"
        "    pathlib.Path(sys.argv[1]).write_text(json.loads(first))\n"
    )
    program.chmod(0o755)
    return program


def plan_edits(tmp_path: Path, *edits: str) -> None:
    """Say what the editor does each time: the text that it leaves, `leave` or `fail`."""
    lines = [one if one in {"leave", "fail"} else json.dumps(one) for one in edits]
    (tmp_path / "edits").write_text("\n".join(lines))


BOTH = text_of("pdf", LINES.replace("Line 3 ", "Our line 3 "))


@pytest.mark.parametrize("name", ["VISUAL", "EDITOR"])
def test_merge_opens_the_editor_on_the_conflict_and_applies_what_was_made(
    name: str, held: Project, editor: Path, tmp_path: Path
) -> None:
    plan_edits(tmp_path, BOTH)

    session = at(held, "merge", "pdf", **{name: str(editor)}).wait("conflict in pdf: SKILL.md")
    session.wait("edited SKILL.md").wait("No conflict is left. Apply the merge? [y/N]")
    screen = session.press(b"y\n").end()

    assert (0, BOTH) == (screen.code, held.file("pdf").read_text())
    assert "merged pdf" in "\n".join(screen.lines)


def test_markers_that_are_left_are_named_and_can_be_edited_again(
    held: Project, editor: Path, tmp_path: Path
) -> None:
    plan_edits(tmp_path, "leave", BOTH)

    session = at(held, "merge", "pdf", EDITOR=str(editor)).wait("SKILL.md:")
    session.wait("still have a conflict marker. Edit again? [y/N]").press(b"y\n")
    screen = session.wait("Apply the merge? [y/N]").press(b"y\n").end()

    assert (0, BOTH) == (screen.code, held.file("pdf").read_text())


def test_a_no_keeps_what_was_edited_for_later(held: Project, editor: Path, tmp_path: Path) -> None:
    plan_edits(tmp_path, BOTH)

    screen = at(held, "merge", "pdf", EDITOR=str(editor)).wait("[y/N]").press(b"n\n").end()
    document = held("merge", "pdf", "--json").json
    later = at(held, "merge", "pdf", EDITOR="false").wait("Apply the merge?").press(b"y\n").end()

    assert (1, True) == (screen.code, "your edits are kept" in " ".join(screen.lines))
    assert (["SKILL.md"], []) == (
        [one["path"] for one in document["conflicts"]],
        document["left"],
    )
    assert (0, BOTH) == (later.code, held.file("pdf").read_text())


def test_an_editor_that_fails_leaves_the_update_waiting(
    held: Project, editor: Path, tmp_path: Path
) -> None:
    plan_edits(tmp_path, "fail")

    screen = at(held, "merge", "pdf", EDITOR=str(editor)).end()

    assert (1, MINE) == (screen.code, held.file("pdf").read_text())
    assert "the editor ended with 3" in screen.text
    assert "metier merge pdf --theirs" in screen.text


def test_without_an_editor_the_ways_are_shown_as_ever(held: Project) -> None:
    screen = at(held, "merge", "pdf", EDITOR="/no/such/editor").end()

    assert (1, True) == (screen.code, "cannot start /no/such/editor" in screen.text)
    assert "metier merge pdf --theirs" in screen.text


@pytest.mark.parametrize("way", ["--yes", "--json"])
def test_a_script_that_merges_gets_no_editor(
    way: str, held: Project, editor: Path, tmp_path: Path
) -> None:
    plan_edits(tmp_path, BOTH)

    screen = at(held, "merge", "pdf", way, EDITOR=str(editor)).end()

    assert (1, True) == (screen.code, "edited" not in screen.lines)
    assert json.dumps(BOTH) == (tmp_path / "edits").read_text()


# --- review


@pytest.fixture
def waiting(project: Project, tmp_path: Path) -> Project:
    """Give a project with a plugin of three skills, each of which was changed upstream."""
    plugin = tmp_path / "kit"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "kit", "version": "1.0.0"}')
    for name in ("logo", "palette", "tone"):
        (plugin / "skills" / name).mkdir(parents=True)
        (plugin / "skills" / name / "SKILL.md").write_text(text_of(name))
    assert 0 == project("plugin", "enable", str(plugin), "--yes").code
    for name in ("logo", "palette", "tone"):
        newer = text_of(name).replace("Line 20 ", "Newer line 20 ")
        (plugin / "skills" / name / "SKILL.md").write_text(newer)
    project("plugin", "sync")
    assert 3 == len(project("review", "list", "--json").json["candidates"])
    return project


def test_review_goes_through_all_that_waits(waiting: Project) -> None:
    session = at(waiting, "review").wait("1 of 3").wait("update of logo").wait("What now?")
    session.wait("accept").wait("press a letter").press(b"d").wait("+Newer line 20")
    session.wait("press a letter").press(b"a").wait("published")
    session.wait("2 of 3").wait("update of palette").wait("press a letter").press(b"r")
    session.wait("rejected").wait("3 of 3").wait("update of tone").wait("press a letter")
    screen = session.press(b"s").end()

    assert (0, True) == (
        screen.code,
        "1 accepted, 1 rejected, 1 still waiting" in screen.lines,
    )
    assert [True, False, False] == [
        "Newer" in waiting.file(name).read_text() for name in ("logo", "palette", "tone")
    ]


def test_enter_alone_decides_nothing(waiting: Project) -> None:
    session = at(waiting, "review")
    for number in (1, 2, 3):
        session.wait(f"{number} of 3").wait("press a letter").press(ENTER)
    screen = session.end()

    assert (0, True) == (screen.code, "3 still waiting" in screen.lines)


def test_quitting_leaves_the_rest_waiting(waiting: Project) -> None:
    session = at(waiting, "review").wait("press a letter").press(b"a").wait("2 of 3")
    screen = session.wait("press a letter").press(b"q").end()

    assert (0, True) == (screen.code, "1 accepted, 2 still waiting" in screen.lines)


@pytest.mark.parametrize("key", [ESC, CTRL_C])
def test_who_leaves_the_queue_before_deciding_changes_nothing(key: bytes, waiting: Project) -> None:
    screen = at(waiting, "review").wait("press a letter").press(key).end()

    assert (1, "nothing was changed") == (screen.code, screen.lines[-2])


def test_a_change_is_edited_before_it_is_accepted(
    waiting: Project, editor: Path, tmp_path: Path
) -> None:
    edited = text_of("logo").replace("Line 20 ", "My own line 20 ")
    plan_edits(tmp_path, edited)

    session = at(waiting, "review", EDITOR=str(editor)).wait("press a letter").press(b"e")
    session.wait("edited SKILL.md").wait("update of logo").wait("press a letter").press(b"a")
    session.wait("published").wait("press a letter").press(b"q").end()

    assert edited == waiting.file("logo").read_text()


def test_a_conflict_offers_the_sides_and_no_plain_yes(held: Project) -> None:
    session = at(held, "review").wait("conflict in pdf").wait("What now?").wait("ours")
    screen = session.wait("theirs").wait("press a letter").press(b"a").press(b"t").end()

    assert (0, True) == (screen.code, "1 accepted, 0 still waiting" in screen.lines)
    assert THEIRS == held.file("pdf").read_text()


def test_what_is_dangerous_can_only_be_rejected_or_edited(project: Project, tmp_path: Path) -> None:
    plugin = tmp_path / "kit"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "kit", "version": "1.0.0"}')
    (plugin / "skills/bad").mkdir(parents=True)
    (plugin / "skills/bad/SKILL.md").write_text(text_of("bad"))
    assert 0 == project("plugin", "enable", str(plugin), "--yes").code
    (plugin / "skills/bad/SKILL.md").write_text(DANGEROUS)
    project("plugin", "sync")

    session = at(project, "review").wait("dangerous").wait("What now?").wait("press a letter")
    screen = session.press(b"a").press(b"r").end()

    assert (0, True) == (screen.code, "1 rejected, 0 still waiting" in screen.lines)
    assert text_of("bad") == project.file("bad").read_text()


def test_where_nothing_waits_review_says_so_and_without_a_terminal_it_lists(
    project: Project,
) -> None:
    screen, piped = at(project, "review").end(), project("review")

    assert (0, True) == (screen.code, "Nothing waits for you." in screen.lines)
    assert (0, project("review", "list").out) == (piped.code, piped.out)
