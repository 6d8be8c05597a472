"""Decisions on disk."""

from __future__ import annotations

import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.decisions import old_bytes

import metier
from metier import tools
from metier.discover.io.machine import HostMachine
from metier.errors import RefusedError, StoreError
from metier.trust.decision_records import (
    MAX_STATE_BYTES,
    DecisionRow,
    Decisions,
    LoggedDecisions,
    TrustedProject,
    state_bytes,
)
from metier.trust.io import decisions_file
from metier.trust.model import Approval

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Home, Writer

DECIDED = Decisions(
    (
        DecisionRow(
            Approval("pdf", "sha256:aa", "approved", "verified", "2026-03-01"), "/skills/pdf"
        ),
    ),
    (TrustedProject("/work", "2026-03-01"),),
)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_a_moment_is_in_iso_form_and_in_utc_wherever_the_machine_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = "%Y-%m-%dT%H:%M:%SZ"
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Etc/GMT-12")
        time.tzset()

        before, found, after = (
            datetime.now(UTC).strftime(form),
            decisions_file.now(),
            datetime.now(UTC).strftime(form),
        )

    time.tzset()
    assert before <= found <= after
    assert (20, "T", "Z") == (len(found), found[10], found[-1])


# --- decisions


def test_without_a_folder_or_a_file_nothing_was_decided(tmp_path: Path) -> None:
    assert (
        Decisions()
        == decisions_file.read_decisions(None)
        == decisions_file.read_decisions(str(tmp_path))
        == decisions_file.read_decisions(str(tmp_path / "absent"))
    )


def test_a_change_is_read_back_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = str(tmp_path / "home")

    changed = decisions_file.change_decisions(
        folder, None, lambda before: DECIDED if before == Decisions() else before
    )

    assert DECIDED == changed == decisions_file.read_decisions(folder)
    assert [0o700, 0o600, 0o600, 0o600] == [
        mode(path)
        for path in (
            folder,
            f"{folder}/{decisions_file.STATE_FILE}",
            f"{folder}/{decisions_file.COPY_FILE}",
            f"{folder}/{decisions_file.LOCK_FILE}",
        )
    ]
    assert {decisions_file.STATE_FILE, decisions_file.COPY_FILE, decisions_file.LOCK_FILE} == set(
        os.listdir(folder)
    )


def test_a_change_sees_what_was_decided_before_it(tmp_path: Path) -> None:
    decisions_file.change_decisions(str(tmp_path), None, lambda _before: DECIDED)

    after = decisions_file.change_decisions(
        str(tmp_path), None, lambda before: before._replace(projects=())
    )

    assert Decisions(DECIDED.rows) == after == decisions_file.read_decisions(str(tmp_path))


def test_without_a_folder_nothing_is_decided() -> None:
    with pytest.raises(StoreError, match="no place to keep decisions"):
        decisions_file.change_decisions(None, None, lambda before: before)


def test_a_home_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    home = str(tmp_path / "nobody")

    with pytest.raises(StoreError, match="does not exist"):
        decisions_file.change_decisions(f"{home}/.metier", home, lambda before: before)

    assert not os.path.lexists(home)


def test_a_folder_outside_the_home_is_made_even_when_there_is_no_home(tmp_path: Path) -> None:
    decisions_file.change_decisions(
        str(tmp_path / "nobody-else" / "metier"), str(tmp_path / "nobody"), lambda _before: DECIDED
    )

    assert DECIDED == decisions_file.read_decisions(str(tmp_path / "nobody-else" / "metier"))


@pytest.mark.parametrize("data", [b"", b"{", b"{}", state_bytes(DECIDED)[:-3]])
def test_decisions_that_cannot_be_read_are_never_replaced(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / decisions_file.STATE_FILE
    file.write_bytes(data)

    with pytest.raises(StoreError, match="it is left as it is"):
        decisions_file.change_decisions(str(tmp_path), None, lambda _before: DECIDED)

    assert data == file.read_bytes()
    assert decisions_file.read_decisions(str(tmp_path)).broken


def test_an_edit_that_fails_leaves_the_decisions_and_no_file_behind(tmp_path: Path) -> None:
    decisions_file.change_decisions(str(tmp_path), None, lambda _before: DECIDED)

    def refuse(_before: Decisions) -> Decisions:
        raise RefusedError("no")

    with pytest.raises(RefusedError):
        decisions_file.change_decisions(str(tmp_path), None, refuse)

    assert DECIDED == decisions_file.read_decisions(str(tmp_path))
    assert {decisions_file.STATE_FILE, decisions_file.COPY_FILE, decisions_file.LOCK_FILE} == set(
        os.listdir(tmp_path)
    )


def test_a_link_in_place_of_the_decisions_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(state_bytes(DECIDED))
    (tmp_path / decisions_file.STATE_FILE).symlink_to(tmp_path / "real.json")

    found = decisions_file.read_decisions(str(tmp_path))

    assert found.broken
    assert ((), ()) == found[:2]


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / decisions_file.STATE_FILE)

    assert "not a regular file" in decisions_file.read_decisions(str(tmp_path)).broken


def test_decisions_may_be_as_long_as_the_limit_and_no_longer(tmp_path: Path) -> None:
    file = tmp_path / decisions_file.STATE_FILE
    file.write_bytes(old_bytes(DECIDED).ljust(MAX_STATE_BYTES))
    longest = decisions_file.read_decisions(str(tmp_path))

    file.write_bytes(old_bytes(DECIDED).ljust(MAX_STATE_BYTES + 1))

    assert DECIDED == longest
    assert (
        f"more than {MAX_STATE_BYTES:,} bytes"
        in decisions_file.read_decisions(str(tmp_path)).broken
    )


def test_a_decision_waits_for_the_lock_and_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr(decisions_file, "WAIT_SECONDS", 0.0)
    holder = os.open(tmp_path / decisions_file.LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(holder, fcntl.LOCK_EX)

    with pytest.raises(StoreError, match="another process holds its lock"):
        decisions_file.change_decisions(str(tmp_path), None, lambda _before: DECIDED)
    os.close(holder)

    assert DECIDED == decisions_file.change_decisions(str(tmp_path), None, lambda _before: DECIDED)


def test_a_log_without_decisions_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit/log").write_bytes(bytes(decisions_file.LONG_LOG_BYTES + 1))
    asked: list[str] = []

    def ask(folder: str) -> LoggedDecisions:
        asked.append(folder)
        return LoggedDecisions()

    monkeypatch.setattr(decisions_file, "read_log", ask)
    found = [decisions_file.read_decisions(str(tmp_path)) for _time in range(3)]

    assert [Decisions(), Decisions(), Decisions()] == found
    assert len(set(asked)) == 1
    assert len(asked) <= 2  # once to know, once to be sure while nobody else writes


# --- a folder that cannot be looked into


def _file_in_place(folder: Path) -> None:
    folder.write_text("in the way")


def _link_to_itself(folder: Path) -> None:
    folder.symlink_to(folder)


def _link_to_nothing(folder: Path) -> None:
    folder.symlink_to(folder.with_name("unmounted"))


def _file_above(folder: Path) -> None:
    folder.parent.rename(folder.parent.with_name("before"))
    folder.parent.write_text("in the way")


OUT_OF_SIGHT: tuple[Callable[[Path], None], ...] = (
    _file_in_place,
    _link_to_itself,
    _link_to_nothing,
    _file_above,
)


def hide(folder: Path, how: Callable[[Path], None]) -> None:
    """Put something in the place of a folder, which lies elsewhere from then on."""
    folder.rename(folder.with_name("moved"))
    how(folder)


@pytest.mark.parametrize("how", OUT_OF_SIGHT)
def test_every_reader_says_that_a_folder_cannot_be_looked_into(
    how: Callable[[Path], None], tmp_path: Path
) -> None:
    folder = tmp_path / "above" / "data"
    decisions_file.change_decisions(str(folder), None, lambda _before: DECIDED)
    machine = HostMachine({"METIER_HOME": str(folder)}, str(tmp_path))
    before = machine.said(machine.decisions())

    hide(folder, how)
    read = decisions_file.read_decisions(str(folder))
    said = machine.said(machine.decisions())

    assert ("", {"/work"}) == (before.broken, set(before.projects))
    assert (True, True, True) == (bool(read.broken), read.all_blocked, said.all_blocked)
    assert (read.doubt, frozenset()) == (said.broken, said.projects)
    assert str(tmp_path / "above") in read.broken


def test_a_closed_folder_is_no_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may look into every folder: what the system says to anybody else is said here."""

    def refuse(path: str, **_more: object) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("metier.discover.io.disk.os.access", lambda *_given, **_more: False)
    monkeypatch.setattr("metier.discover.io.disk.os.lstat", refuse)

    found = decisions_file.read_decisions(str(tmp_path / "data"))

    assert found.broken.endswith(f"({tmp_path / 'data'}: Permission denied)")
    assert found.all_blocked


@pytest.mark.parametrize("how", OUT_OF_SIGHT[:3])
def test_no_door_takes_a_skill_for_free_that_may_have_been_blocked(
    home: Home, skill: Writer, tmp_path: Path, how: Callable[[Path], None]
) -> None:
    skill("home/.agents/skills/x")
    skill("home/.agents/skills/y")
    with metier.open(env=home.env, cwd=home.path) as m:
        m.catalogue()
        m.trust("x", "block")
        m.trust("y", "approve")
    hide(tmp_path / "metier-home", how)

    with metier.open(env=home.env, cwd=home.path) as m:
        states = {card.name: card.state for card in m.skills(all=True)}
        told = [list(m.catalogue().rows), m.find("does one thing"), m.commands()]
        said = list(m.context.warnings)
        hint = tools.call(m, "skills_list", {})["hint"]
        expanded = m.expand("/x now")
        for name in ("x", "y"):
            with pytest.raises(RefusedError):
                m.view(name, consent=True)

    assert ({"x": "blocked", "y": "blocked"}, [[], [], []]) == (states, told)
    assert ([], True) == (expanded.skills, expanded.refused)
    doubt = next(one for one in said if "the record of your decisions cannot be read" in one)
    assert (doubt, True) == (hint, any(doubt in one for one in expanded.warnings))
