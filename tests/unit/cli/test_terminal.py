"""Texts on a terminal: counted in cells, cut, folded, and with short paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from wcwidth import wcswidth

from metier.cli import output, terminal
from metier.cli.terminal import cells, cut, fold, has_colour, share_out, shorten_paths, wrapped

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "👩\u200d👩\u200d👧"  # three people and two joiners: one character as people see it


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("plain", 5),
        ("表格整理", 8),
        ("cafe\u0301", 4),
        (FAMILY, 2),
        ("\x1b[31mred\x1b[0m", 3),
        ("", 0),
    ],
)
def test_a_text_is_as_wide_as_the_cells_it_takes(text: str, wide: int) -> None:
    assert wide == cells(text)


@pytest.mark.parametrize(
    "text", ["表格整理と集計", f"{FAMILY * 6} family", "a" * 30, "한국어 문서 정리"]
)
@pytest.mark.parametrize("room", [4, 5, 9])
def test_what_is_cut_fits_and_says_that_it_was_cut(text: str, room: int) -> None:
    short = cut(text, room)

    assert wcswidth(short) <= room
    assert short.endswith("…")


def test_a_joined_character_is_never_taken_apart() -> None:
    assert f"{FAMILY}…" == cut(FAMILY * 3, 4)


def test_of_a_path_the_end_is_kept() -> None:
    assert "…/skills/pdf" == cut("~/.agents/skills/pdf", 12)


@pytest.mark.parametrize(
    ("needs", "room", "sizes"),
    [
        ([5, 6, 7], 60, [5, 6, 7]),  # all of it fits
        ([30, 7, 8, 6, 300], 80, [26, 7, 8, 6, 25]),  # the wide ones share what is left
        ([30, 300], 60, [29, 29]),
        ([8, 300], 60, [8, 50]),  # what needs little gets it
    ],
)
def test_a_width_is_shared_out_by_need(needs: list[int], room: int, sizes: list[int]) -> None:
    assert sizes == share_out(needs, room)


@pytest.mark.parametrize("room", [60, 80])
def test_a_table_of_many_columns_fits_all_the_same(room: int) -> None:
    sizes = share_out([30, 9, 9, 9, 9, 12, 10, 80], room)

    assert room >= sum(sizes) + 2 * 7


def test_a_line_is_folded_below_its_own_beginning() -> None:
    assert "  one two\n    three\n    four" == fold("  one two three four", 11)
    assert "hint: one two\n      three" == fold("hint: one two three", 14)


def test_a_word_that_is_too_long_stays_whole_to_be_copied() -> None:
    path = "/srv/" + "x" * 40

    assert f"see\n  {path}\n  there" == fold(f"see {path} there", 20)


@pytest.mark.parametrize(
    ("line", "folded"),
    [
        ("Review them, then run: metier trust project .", "metier trust project ."),
        ("so much is wrong with it: metier check .agents/skills", "metier check .agents/skills"),
        ("hint: say what is to be done: metier find 'fill in a form'", "metier find 'fill in a form'"),
        ("did you mean, by any chance, 'metier mcp config'? see", "'metier mcp config'?"),
        ("next: write a policy, or try one: METIER_POLICY=FILE metier show", "METIER_POLICY=FILE metier show"),
        ("note: like this: metier hub token add --name me, if you can", "metier hub token add --name me,"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("room", [38, 40, 44, 48])
def test_a_command_to_be_copied_stays_on_one_line(line: str, folded: str, room: int) -> None:
    lines = fold(line, room).split("\n")

    assert 1 == sum(folded in one for one in lines)
    assert all(cells(one) <= room for one in lines)


def test_metier_is_a_word_like_any_other_where_it_is_the_subject() -> None:
    assert "it is there because metier\n  installed it" == fold(
        "it is there because metier installed it", 27
    )


def test_a_command_that_fits_no_line_is_folded_like_any_other_text() -> None:
    lines = fold("see: metier add ./a-folder --skill pdf --to codex", 24).split("\n")

    assert all(cells(one) <= 24 for one in lines)


@pytest.mark.parametrize(
    "text", ["整理数字表格,并说明有什么异常。" * 5, "说明: " + "整理数字表格" * 9]
)
@pytest.mark.parametrize("room", [20, 21, 60])
def test_a_text_without_spaces_is_folded_anywhere(text: str, room: int) -> None:
    lines = fold(text, room).split("\n")

    assert all(cells(one) <= room for one in lines)
    assert text.replace(" ", "") == "".join(lines).replace(" ", "")
    assert all(cells(one) <= room for one in wrapped(text, room))


def test_no_line_begins_with_what_ends_a_sentence() -> None:
    assert ["整理数字表", "格。"] == wrapped("整理数字表格。", 12)[-2:]


def test_a_path_stays_whole_in_any_script() -> None:
    path = "~/.agents/skills/" + "表格整理工具箱" * 4

    assert f"see\n  {path}\n  there" == fold(f"see {path} there", 20)


def test_a_coloured_line_is_folded_by_what_is_seen_of_it() -> None:
    assert "\x1b[31merror:\x1b[0m one\n       two" == fold("\x1b[31merror:\x1b[0m one two", 11)


def test_nothing_is_folded_where_nobody_looks() -> None:
    line = "word " * 100

    assert line == fold(line, terminal.UNBOUNDED_COLUMNS)


def test_help_is_folded_between_words() -> None:
    assert ["one two", "three"] == wrapped("one two three", 8)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("{home}/x", "~/x"),
        ("at {home}/x:3:1:", "at ~/x:3:1:"),
        ("'{home}'", "'~'"),
        ("{here}/a/b", "a/b"),
        ("metier trust project {here}", "metier trust project ."),
        ("metier trust project '{here}' offers", "metier trust project '.' offers"),
        ("{home}friend/x", "{home}friend/x"),
        ("/srv{home}/x", "/srv{home}/x"),
        ("{here}-old/x", "~/work-old/x"),
        ("\x1b[36m{home}/x\x1b[0m", "\x1b[36m~/x\x1b[0m"),
        ("{here} is trusted", "~/work is trusted"),
    ],
)
def test_paths_are_written_as_people_write_them(
    text: str, short: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    here = home / "work"
    here.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)

    written = text.format(home=home, here=here)

    assert short.format(home=home, here=here) == shorten_paths(written)


def test_in_the_home_folder_paths_begin_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert "~/.agents/skills" == shorten_paths(f"{tmp_path}/.agents/skills")


@pytest.mark.parametrize(
    ("words", "env", "coloured"),
    [
        ((), {}, False),  # this is no terminal
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"CLICOLOR_FORCE": "1"}, True),
        ((), {"FORCE_COLOR": "0"}, False),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("list", "--color", "always"), {"NO_COLOR": "1"}, True),
        (("list", "--color=never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_who_decides_about_colour(
    words: tuple[str, ...], env: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    terminal.choose_colour(words)

    try:
        assert coloured == has_colour()
    finally:
        terminal.choose_colour(())


def test_in_a_pipe_a_table_is_whole_and_has_no_tabs() -> None:
    text = output.table([("pdf", "Fill in forms. " * 20)], ("NAME", "DESCRIPTION"))

    assert "Fill in forms. " * 19 in text
    assert "\t" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (FAMILY, FAMILY),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("a\u200db", r"a\u200db"),
        ("表\u200d👧", r"表\u200d👧"),
        ("👩\u200d", r"👩\u200d"),
        ("\u200d👩", r"\u200d👩"),
        ("👩\u200d\u200d👧", r"👩\u200d\u200d👧"),
    ],
)
def test_a_joiner_is_kept_between_two_pictures_and_shown_for_what_it_is_elsewhere(
    text: str, shown: str
) -> None:
    assert shown == output.clean(text)


def test_a_path_in_a_table_is_short_before_it_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(output, "width", lambda: 40)

    shown = output.table([["pdf", f"{tmp_path}/.agents/skills/pdf"]], ["NAME", "PATH"])

    assert "pdf   ~/.agents/skills/pdf\n" == shown.partition("\n")[2]


def test_who_waits_without_a_terminal_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    quick, slow = output.Announcer(), output.Announcer()
    slow.begun -= output.METER_DELAY_SECONDS

    quick("skills judged", 1, 300)
    slow("skills judged", 1, 3)
    for count in range(1, 4):
        slow("skills judged", count, 300)

    assert ("", "scanning 300 skills, once; the next time is quicker\n") == capsys.readouterr()


def test_letters_that_are_counted_quickly_take_the_cells_that_the_library_says() -> None:
    from metier.cli.terminal import _quick_cells

    wrong = [
        f"{number:x}"
        for number in range(0xA0, 0x20000)
        if not 0xD800 <= number < 0xE000
        and _quick_cells(chr(number)) not in {-1, wcswidth(chr(number))}
    ]

    assert [] == wrong


def test_of_an_address_the_end_is_kept() -> None:
    assert "…demo/team-skills" == cut("file:///home/anna/demo/team-skills", 17)
    assert "see https://exam…" == cut("see https://example.org/page", 17)
