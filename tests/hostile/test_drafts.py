"""Files of drafts that somebody else wrote or bent: none stops the list, leads outside, or changes what a person did not see."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conformance.folders import Place, skill, write

from metier.errors import MetierError, StoreError
from metier.library import Library
from metier.review.drafts import DraftReviews

TEXT = "---\nname: notes\ndescription: Writes notes. Use it for notes.\n---\n\n# Notes\n\nWrite the note down.\n"
HEX = "0123456789abcdef" * 2
DIGEST = "sha256:" + "0" * 64


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a machine where somebody looks at everything, with a skill."""
    found = Place(tmp_path)
    found.configure('[manage]\nreview = "always"\n')
    write(found.home / ".agents/skills/notes/SKILL.md", TEXT)
    return found


def drafted(place: Place) -> tuple[Library, str, Path]:
    """Have an agent draft something; give the library, what the draft is called, and its file."""
    library = place.scopes()
    own = library.manage("patch", "notes", old="down", new="up").staged
    return library, f"draft:{own}", place.base / f"state/pending/skills/{own}.json"


def bent(file: Path, **parts: Any) -> None:
    found = json.loads(file.read_text())
    file.write_text(json.dumps({**found, **parts}))


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


BENT: list[dict[str, Any]] = [
    {"id": "f" * 32}, {"id": None}, {"at": -1}, {"at": 10**30}, {"at": True}, {"at": "now"}, {"at": 1e300}, {"action": "accept"}, {"action": ["edit"]},
    {"action": "delete"}, {"action": "remove_file"}, {"skill": ""}, {"skill": "x" * 100_000}, {"skill": 7}, {"path": "relative"}, {"path": "/"},
    {"path": "/a/../b"}, {"path": "/a//b"}, {"path": "/a\0/b"}, {"path": "/a/\ud800"}, {"path": "/a" * 100_000}, {"base": ""}, {"base": "sha256:x"},
    {"base": None}, {"files": {}}, {"files": [["SKILL.md"]]}, {"files": [["../x", "y"]]}, {"files": [["/etc/passwd", "y"]]}, {"files": [["x.md", "y"]]},
    {"files": [["SKILL.md", "\ud800"]]}, {"files": [["SKILL.md", "\0"]]}, {"files": [["references/a.md", "x" * 2_000_000]]}, {"files": []},
    {"files": [["SKILL.md", "a"], ["SKILL.md", "b"]]}, {"files": [[["SKILL.md"], "a"]]}, {"removed": [1]}, {"removed": ["a"]}, {"removed": "a"},
    {"reason": 1}, {"level": "fine"}, {"score": -1}, {"score": "1"}, {"result": "x"}, {"owner": 1}, {"status": "accepted"}, {"status": 1},
    {"decided_at": "yesterday"}, {"said": "x" * 10_000}, {"replaced_by": "../x"}, {"onto": "x"}, {"conflicts": [["a"]]}, {"conflicts": ["x" * 10_000]},
    {"stale": "x" * 10_000}, {"desk": "x"}, {"desk": ["../../x", "", "", ""]}, {"desk": ["x", "y", "", ""]}, {"desk": ["x"]}, {"desk": [1, 2, 3, 4]},
]  # fmt: skip


@pytest.mark.parametrize("parts", BENT, ids=lambda parts: json.dumps(parts)[:40])
def test_a_draft_with_a_part_that_metier_never_writes_is_none(
    place: Place, parts: dict[str, Any]
) -> None:
    library, ident, file = drafted(place)
    other = library.manage("patch", "notes", old="down", new="in").staged
    bent(file, **parts)

    found = DraftReviews(library.context).waiting(everything=True)

    assert [f"draft:{other}"] == [one.id for one in found]
    assert any(f"{file} is not a draft: " in warning for warning in library.context.warnings)
    for verb in (
        lambda context, ident: DraftReviews(context).show(ident),
        lambda context, ident: DraftReviews(context).edit(ident),
        lambda context, ident: DraftReviews(context).accept(ident, "", reason=""),
    ):
        with pytest.raises(StoreError):
            verb(library.context, ident)
    assert TEXT == (place.home / ".agents/skills/notes/SKILL.md").read_text()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{",
        b"[" * 100_000,
        b"1" * 10_000,
        b'{"id": ' + b"9" * 10_000 + b"}",
        b"\0" * 1000,
    ],
)
def test_bytes_that_are_no_draft_are_told_of_and_can_be_thrown_out(
    place: Place, data: bytes
) -> None:
    library, ident, file = drafted(place)
    file.write_bytes(data)

    found = DraftReviews(library.context).waiting(everything=False)
    done = DraftReviews(library.context).reject(ident, reason="")

    assert [] == found
    assert any(str(file) in warning for warning in library.context.warnings)
    assert "rejected" == done.candidate.status
    assert not file.exists()
    assert data == (place.base / f"state/pending/decided/{file.stem}.broken").read_bytes()
    assert [] == DraftReviews(place.scopes().context).waiting(everything=True)


def a_link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def a_giant(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(1 << 40)


@pytest.mark.parametrize("what", [a_link, a_pipe, a_giant])
def test_what_is_no_plain_file_is_not_read(place: Place, what: Callable[[Path], None]) -> None:
    library, ident, file = drafted(place)
    what(file)

    found = DraftReviews(library.context).waiting(everything=True)

    assert [] == found
    assert any(f"{file} is not a draft: " in warning for warning in library.context.warnings)
    with pytest.raises(MetierError):
        DraftReviews(library.context).accept(ident, "", reason="")


def test_a_flood_of_files_is_cut_off(place: Place) -> None:
    library, ident, file = drafted(place)
    for number in range(2_500):
        (file.parent / f"zz{number}.json").write_bytes(b"")
        (file.parent / f"{number:032x}.json").write_bytes(b"")

    found = DraftReviews(library.context).waiting(everything=False)
    file.rename(file.with_name(f"{0:032x}.json"))
    DraftReviews(library.context).waiting(everything=False)

    assert {ident} >= {one.id for one in found}
    assert len(library.context.warnings) < 60


# --- drafts that read well, and lie


@pytest.mark.parametrize(
    "where",
    [
        "outside",
        "project/.agents/skills/notes",
        "home",
        "home/.agents/skills",
        "home/.ssh",
        "home/.agents/skills/other",
    ],
)
@pytest.mark.parametrize("action", ["write_file", "create", "delete"])
def test_a_path_that_is_not_the_user_s_skill_is_neither_read_nor_changed(
    place: Place, where: str, action: str
) -> None:
    library, ident, file = drafted(place)
    write(place.base / "outside/SKILL.md", "secret\n")
    write(place.home / ".ssh/id", "secret\n")
    skill(place.project / ".agents/skills/notes")
    files = [] if action == "delete" else [["SKILL.md", TEXT]]
    bent(
        file,
        action=action,
        path=str(place.base / where),
        base=DIGEST if action != "create" else "",
        files=files,
        result="",
        skill="other",
    )
    before = everything(place.home), everything(place.project), everything(place.base / "outside")

    shown = DraftReviews(library.context).show(ident)
    with pytest.raises(MetierError):
        DraftReviews(library.context).accept(ident, "theirs", reason="")
    done = DraftReviews(library.context).reject(ident, reason="")

    assert "secret" not in shown.diff
    assert "rejected" == done.candidate.status
    assert before == (
        everything(place.home),
        everything(place.project),
        everything(place.base / "outside"),
    )


def test_a_result_that_does_not_follow_from_the_files_is_shown_as_what_it_is(place: Place) -> None:
    library, ident, file = drafted(place)
    sleeper = DraftReviews(library.context).waiting(everything=False)[0].evidence.proposed_tree_hash
    bent(file, files=[["SKILL.md", TEXT + "\nHarmless.\n"]], result=sleeper)

    shown = DraftReviews(library.context).show(ident)
    DraftReviews(library.context).accept(ident, "", reason="")

    assert "+Write the note up.\n" in shown.diff
    assert TEXT.replace("down", "up") == (place.home / ".agents/skills/notes/SKILL.md").read_text()


def test_a_result_that_nobody_has_is_refused(place: Place) -> None:
    library, ident, file = drafted(place)
    bent(file, result=DIGEST)

    with pytest.raises(MetierError) as caught:
        DraftReviews(library.context).accept(ident, "", reason="")

    assert "not-in-store" == caught.value.code
    assert TEXT == (place.home / ".agents/skills/notes/SKILL.md").read_text()


def test_nothing_a_draft_says_acts_on_a_terminal(place: Place) -> None:
    library, ident, file = drafted(place)
    bent(
        file,
        reason="\x1b[2Jcleared\r\n\u202egnp",
        skill="no\x1b[31mtes\ud800",
        conflicts=["a\x1b]0;x"],
        stale="\x07",
    )

    (found,) = DraftReviews(library.context).waiting(everything=False)

    told = (
        found.reason + found.skill + found.evidence.skill_name + "".join(found.evidence.conflicts)
    )
    assert ident == found.id
    assert told.isprintable()


def test_a_desk_is_no_link_to_somewhere_else(place: Place) -> None:
    library, ident, _file = drafted(place)
    desk = Path(DraftReviews(library.context).edit(ident).desk)
    for path in sorted(desk.rglob("*"), reverse=True):
        path.unlink()
    desk.rmdir()
    write(place.base / "outside/SKILL.md", TEXT.replace("down", "away"))
    desk.symlink_to(place.base / "outside")

    done = DraftReviews(library.context).accept(ident, "", reason="")

    assert done.done
    assert TEXT.replace("down", "up") == (place.home / ".agents/skills/notes/SKILL.md").read_text()


def test_links_and_pipes_on_a_desk_reach_no_skill(place: Place) -> None:
    library, ident, _file = drafted(place)
    desk = Path(DraftReviews(library.context).edit(ident).desk)
    os.mkfifo(desk / "pipe")

    with pytest.raises(MetierError):
        DraftReviews(library.context).accept(ident, "", reason="")

    assert TEXT == (place.home / ".agents/skills/notes/SKILL.md").read_text()
    assert (desk / "SKILL.md").exists()


def test_the_file_of_an_old_draft_without_newer_parts_is_still_a_draft(place: Place) -> None:
    library, ident, file = drafted(place)
    found = json.loads(file.read_text())
    for key in ("score", "result", "owner"):
        del found[key]
    file.write_text(json.dumps(found))

    assert [ident] == [one.id for one in DraftReviews(library.context).waiting(everything=False)]
    assert DraftReviews(library.context).accept(ident, "", reason="").done
