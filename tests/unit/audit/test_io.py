"""The log on disk. CO-28: one line per event, 0600, daily files, never raises; CO-10: never in the way of a refusal."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import metier
from metier.audit import chain
from metier.audit.chain import AuditEvent
from metier.audit.io import HEAD_FILE, AuditLog, account_name

if TYPE_CHECKING:
    from collections.abc import Callable

NOON = 1_700_000_000.0
DAY = 86_400.0
FIRST = "audit-2023-11-14.jsonl"

as_anybody = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


def log_in(folder: Path, at: float = NOON) -> AuditLog:
    return AuditLog(str(folder / "audit"), clock=lambda: at)


def noted(log: AuditLog, *names: str) -> AuditLog:
    for name in names:
        log.append(AuditEvent(None, "", "load", "allowed", name))
    return log


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    """Give a log with five events."""
    made = noted(log_in(tmp_path), "a", "b", "c", "d", "e")
    assert "" == made.trouble
    return made


def lines_of(log: AuditLog, name: str = FIRST) -> list[bytes]:
    return chain.split_lines((Path(log.folder) / name).read_bytes())


def rewritten(log: AuditLog, lines: list[bytes], name: str = FIRST) -> None:
    (Path(log.folder) / name).write_bytes(b"".join(lines))


def names_in(log: AuditLog) -> list[str]:
    return [row["name"] for row in log.tail(1000) if row["event"] == "load"]


def test_events_are_kept_in_order_and_the_log_is_good(log: AuditLog) -> None:
    assert (5, True, None, "", 0, "ok") == log.verify()
    assert ["a", "b", "c", "d", "e"] == names_in(log)
    assert [1, 2, 3, 4, 5] == [row["seq"] for row in log.tail(5)]


def test_tail_gives_the_last_events_only(log: AuditLog) -> None:
    assert ["d", "e"] == [row["name"] for row in log.tail(2)]
    assert [] == log.tail(0)


def test_a_log_that_was_never_written_is_empty_and_looking_at_it_makes_nothing(
    tmp_path: Path,
) -> None:
    log = log_in(tmp_path)

    assert (0, True, None) == log.verify()[:3]
    assert [] == log.tail(5)
    assert [] == list(tmp_path.iterdir())


def test_an_event_says_who_and_when(log: AuditLog) -> None:
    row = log.tail(1)[0]

    assert (account_name(), "2023-11-14T22:13:20.000000Z") == (row["who"], row["ts"])


def test_only_the_owner_may_read_the_log(log: AuditLog) -> None:  # CO-28
    folder = Path(log.folder)

    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in [*folder.iterdir(), Path(log.key_file)]
    }

    assert {FIRST: 0o600, HEAD_FILE: 0o600, "lock": 0o600, "audit.key": 0o600} == modes
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)


def test_a_log_that_was_opened_to_others_is_closed_again(log: AuditLog) -> None:
    os.chmod(log.folder, 0o700 | stat.S_IROTH | stat.S_IXOTH)
    os.chmod(f"{log.folder}/{FIRST}", 0o644)

    noted(log, "f")

    assert 0o700 == stat.S_IMODE(os.stat(log.folder).st_mode)
    assert 0o600 == stat.S_IMODE(os.stat(f"{log.folder}/{FIRST}").st_mode)


def test_each_day_has_its_file_and_the_chain_runs_on(
    tmp_path: Path,
) -> None:  # CO-28: daily rotation; nothing is deleted
    for day in range(40):
        noted(log_in(tmp_path, NOON + day * DAY), f"day-{day}")

    log = log_in(tmp_path)
    files = [name for name in os.listdir(log.folder) if name.startswith("audit-")]
    assert 40 == len(files)
    assert (40, True, None) == log.verify()[:3]
    assert ["day-37", "day-38", "day-39"] == [row["name"] for row in log.tail(3)]


def test_a_clock_that_went_back_does_not_put_events_out_of_order(tmp_path: Path) -> None:
    noted(log_in(tmp_path, NOON + 5 * DAY), "late")
    log = noted(log_in(tmp_path), "early")

    assert (2, True, None) == log.verify()[:3]
    assert ["late", "early"] == names_in(log)


@pytest.mark.parametrize(
    ("touch", "first_bad"),
    [
        (lambda lines: [*lines[:2], lines[2].replace(b"allowed", b"refused"), *lines[3:]], 3),
        (lambda lines: lines[1:], 1),
        (lambda lines: [*lines[:2], *lines[3:]], 3),
        (lambda lines: lines[:-1], 5),
        (lambda lines: lines[:-3], 3),
        (lambda _lines: [], 1),
        (lambda lines: [*lines[:-1], lines[-1][:50]], 6),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: [*lines, lines[-1]], 6),
        (lambda lines: [*lines, b"garbage\n"], 6),
    ],
    ids=[
        "edit",
        "first gone",
        "middle gone",
        "last gone",
        "last three gone",
        "emptied",
        "cut",
        "reordered",
        "repeated",
        "garbage",
    ],
)
def test_tampering_is_shown_and_stays_to_be_seen(
    log: AuditLog, touch: Callable[[list[bytes]], list[bytes]], first_bad: int
) -> None:
    rewritten(log, touch(lines_of(log)))

    found = log.verify()
    noted(log, "later", "much later")
    after = log.verify()

    assert (False, first_bad) == (found.ok, found.first_bad)
    assert found.reason.startswith(FIRST)
    assert not after.ok
    assert ["later", "much later"] == names_in(log)[-2:]
    assert "" == log.trouble


@pytest.mark.parametrize("gone", [(FIRST,), (HEAD_FILE,), (FIRST, HEAD_FILE)])
def test_a_file_that_was_taken_away_is_shown_and_stays_to_be_seen(
    log: AuditLog, gone: tuple[str, ...]
) -> None:
    for name in gone:
        os.unlink(f"{log.folder}/{name}")

    found = log.verify()
    noted(log, "later")
    after = log.verify()

    assert (False, False) == (found.ok, after.ok)
    assert ["later"] == names_in(log)[-1:]


def test_a_whole_folder_that_was_taken_away_is_shown_by_the_key(log: AuditLog) -> None:
    shutil.rmtree(log.folder)

    found = log.verify()
    noted(log, "later")

    assert not found.ok
    assert not log.verify().ok


def test_a_day_in_the_middle_that_was_taken_away_is_shown(tmp_path: Path) -> None:
    for day in range(3):
        noted(log_in(tmp_path, NOON + day * DAY), "x", "y")
    log = log_in(tmp_path)
    os.unlink(f"{log.folder}/audit-2023-11-15.jsonl")

    found = log.verify()

    assert (False, 3) == (found.ok, found.first_bad)
    assert found.reason.startswith("audit-2023-11-16.jsonl:1: ")


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"garbage", b'{"seq":2,"hash":"00"}', b"\xff" * 10_000]
)
def test_a_head_that_was_changed_is_shown_and_stays_to_be_seen(log: AuditLog, text: bytes) -> None:
    Path(log.folder, HEAD_FILE).write_bytes(text)

    found = log.verify()
    noted(log, "later")

    assert not found.ok
    assert not log.verify().ok
    assert ["later"] == names_in(log)[-1:]


def test_an_older_head_put_back_with_an_older_log_is_the_limit_of_what_can_be_shown(
    log: AuditLog,
) -> None:
    """Both were sealed with the key at the time; only a copy of the newer head elsewhere tells. The docstring says so."""
    old = lines_of(log), Path(log.folder, HEAD_FILE).read_bytes()
    noted(log, "f")
    rewritten(log, old[0])
    Path(log.folder, HEAD_FILE).write_bytes(old[1])

    assert log.verify().ok


def test_a_lost_key_is_said_and_the_log_goes_on(log: AuditLog) -> None:  # CO-28: hmac_status
    os.unlink(log.key_file)

    noted(log, "f")

    assert (6, False, 1) == log.verify()[:3]
    assert "missing" == log.verify().hmac_status
    assert "missing" == log.tail(1)[0]["hmac_status"]
    assert not os.path.exists(log.key_file)


def test_a_strange_key_is_shown(log: AuditLog) -> None:
    Path(log.key_file).write_bytes(b"\xff\x00 another key")

    assert (False, "bad") == (log.verify().ok, log.verify().hmac_status)


@pytest.mark.parametrize("later", [0.0, DAY])
@pytest.mark.parametrize("kept", [1, 40, -2])
def test_half_a_line_stays_and_nothing_is_lost(log: AuditLog, kept: int, later: float) -> None:
    before, head = lines_of(log), Path(log.folder, HEAD_FILE).read_bytes()
    noted(log, "half")
    half = lines_of(log)[-1][:kept]
    rewritten(log, [*before, half])
    Path(log.folder, HEAD_FILE).write_bytes(
        head
    )  # as a process leaves it that is stopped while it writes
    stopped = log.verify()
    log.clock = lambda: NOON + later

    noted(log, "f", "g")

    assert (5, True, None, 1) == (*stopped[:3], stopped.torn)
    assert "incomplete" in stopped.reason
    assert (8, True, None, "", 1, "ok") == log.verify()
    assert (
        b"".join([*before, half])
        == Path(log.folder, FIRST).read_bytes()[: len(b"".join(before)) + len(half)]
    )
    assert ["a", "b", "c", "d", "e", "f", "g"] == names_in(log)
    assert {"bytes": len(half)}.items() <= next(
        row for row in log.tail(9) if row["event"] == chain.TORN
    )["details"].items()


def test_many_events_at_once_are_one_line_each_and_three_writes_to_the_disk(
    log: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = list[int]()
    monkeypatch.setattr(os, "fsync", brought.append)

    log.append(*(AuditEvent(None, "", "load", "allowed", str(number)) for number in range(100)))

    assert 3 == len(brought)  # the head that announces them, the lines, and the head after them
    assert (105, True, None, "", 0, "ok") == log.verify()
    assert [str(number) for number in range(100)] == names_in(log)[5:]


def test_so_many_events_that_they_take_several_writes_are_one_chain(log: AuditLog) -> None:
    details = {"text": ["x" * 4_000] * 5}

    log.append(
        *(AuditEvent(None, "", "load", "allowed", str(one), details=details) for one in range(20))
    )

    assert (25, True, None, "", 0, "ok") == log.verify()
    assert 20 * 20_000 > 2 * chain.MAX_BATCH_BYTES


def test_events_of_two_days_at_once_lie_in_the_files_of_their_days(log: AuditLog) -> None:
    days = [NOON, NOON, NOON + DAY, NOON + DAY]

    log.append(*(AuditEvent(at, "", "load", "allowed", "x") for at in days))

    assert (9, True, None, "", 0, "ok") == log.verify()
    assert 7 == len(lines_of(log))
    assert 2 == len(lines_of(log, "audit-2023-11-15.jsonl"))


def test_whatever_a_stopped_process_left_of_many_events_the_log_is_good_and_goes_on(
    log: AuditLog,
) -> None:
    before, head = b"".join(lines_of(log)), json.loads(Path(log.folder, HEAD_FILE).read_bytes())
    key = Path(log.key_file).read_bytes().strip()
    announced = chain.head_text(chain.link_of(head), key, 8)  # what is written before the lines
    log.append(*(AuditEvent(None, "", "load", "allowed", f"n{number}") for number in range(8)))
    new = b"".join(lines_of(log))[len(before) :]
    wrong = list[str]()

    for kept in range(0, len(new) + 1, 7):
        rewritten(log, [before, new[:kept]])
        Path(log.folder, HEAD_FILE).write_bytes(announced)
        stopped = log.verify()
        noted(log, "later")
        whole = new[:kept].count(b"\n")
        named = ["a", "b", "c", "d", "e", *(f"n{number}" for number in range(whole)), "later"]
        if not (stopped.ok and log.verify().ok and names_in(log) == named):
            wrong.append(f"{kept} bytes: {stopped} {log.verify()}")

    assert [] == wrong


def test_more_lines_than_the_head_announced_are_shown(log: AuditLog) -> None:
    head = json.loads(Path(log.folder, HEAD_FILE).read_bytes())
    key = Path(log.key_file).read_bytes().strip()
    noted(log, "f", "g", "h")
    announced = chain.head_text(chain.link_of(head), key, 2)
    Path(log.folder, HEAD_FILE).write_bytes(announced)

    found = log.verify()

    assert (False, 8) == (found.ok, found.first_bad)


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_whole_line_that_the_head_does_not_know_yet_is_an_event(
    log: AuditLog, end: bytes
) -> None:
    head = Path(log.folder, HEAD_FILE).read_bytes()
    noted(log, "f")
    rewritten(log, [*lines_of(log)[:-1], lines_of(log)[-1].removesuffix(b"\n") + end])
    Path(log.folder, HEAD_FILE).write_bytes(head)
    stopped = log.verify()

    noted(log, "g")

    assert (6, True, None) == stopped[:3]
    assert (7, True, None, "", 0, "ok") == log.verify()
    assert ["a", "b", "c", "d", "e", "f", "g"] == names_in(log)


def test_an_empty_file_of_a_new_day_hides_no_half_line(log: AuditLog) -> None:
    before, head = lines_of(log), Path(log.folder, HEAD_FILE).read_bytes()
    rewritten(log, [*before, b'{"half'])
    Path(log.folder, HEAD_FILE).write_bytes(head)
    Path(log.folder, "audit-2023-11-15.jsonl").touch()
    log.clock = lambda: NOON + DAY

    noted(log, "f")

    assert (7, True, None, "", 1, "ok") == log.verify()


def test_a_process_stopped_before_the_first_line_leaves_nothing_wrong(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    os.makedirs(log.folder)
    Path(log.folder, HEAD_FILE).write_bytes(
        chain.head_text(chain.CHAIN_START, b"a key that was never put in its place")
    )

    noted(log, "a")

    assert (1, True, None, "", 0, "ok") == log.verify()


@pytest.mark.parametrize("name", [FIRST, HEAD_FILE + ".tmp", "lock"])
def test_a_link_planted_in_the_log_is_not_followed(tmp_path: Path, name: str) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"mine\n")
    log = log_in(tmp_path)
    os.makedirs(log.folder)
    os.symlink(target, f"{log.folder}/{name}")

    noted(log, "a")

    assert b"mine\n" == target.read_bytes()
    assert bool(log.trouble) == (name != HEAD_FILE + ".tmp")


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "audit")
    log = noted(log_in(tmp_path), "a")

    assert [] == os.listdir(tmp_path / "elsewhere")
    assert "isn't a folder" in log.trouble
    assert not log.verify().ok
    assert ["unreadable"] == [row["event"] for row in log.tail(5)]


def test_a_pipe_in_place_of_a_file_neither_hangs_nor_raises(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    os.makedirs(log.folder)
    os.mkfifo(f"{log.folder}/{FIRST}")

    noted(log, "a")

    assert log.trouble
    assert not log.verify().ok
    assert ["unreadable"] == [row["event"] for row in log.tail(5)]


def test_a_link_in_place_of_a_file_is_a_log_that_is_not_good(log: AuditLog, tmp_path: Path) -> None:
    shutil.move(f"{log.folder}/{FIRST}", tmp_path / "moved")
    os.symlink(tmp_path / "moved", f"{log.folder}/{FIRST}")

    assert not log.verify().ok


@pytest.mark.parametrize("place", ["/dev/null/audit", "/proc/nowhere/audit", "a\0b"])
def test_a_log_that_cannot_be_written_never_raises(place: str) -> None:  # CO-10, CO-28
    log = noted(AuditLog(place, clock=lambda: NOON), "a")

    assert log.trouble.startswith("cannot write the audit log")
    assert [] == [row for row in log.tail(5) if row["event"] != "unreadable"]
    assert 0 == log.verify().events


@as_anybody
def test_a_folder_that_may_not_be_written_to_never_raises(log: AuditLog) -> None:
    before = lines_of(log)
    os.chmod(f"{log.folder}/{FIRST}", 0o400)

    noted(log, "f")

    assert log.trouble
    assert before == lines_of(log)


def test_a_home_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    log = noted(
        AuditLog(f"{tmp_path}/home/.local/share/metier/audit", home=f"{tmp_path}/home"), "a"
    )

    assert "does not exist" in log.trouble
    assert [] == list(tmp_path.iterdir())


def test_an_event_of_the_wrong_kind_never_raises(tmp_path: Path) -> None:
    log = log_in(tmp_path)

    log.append(AuditEvent(None, "", "load", "allowed", details=5))  # type: ignore[arg-type]
    log.append(None)  # type: ignore[arg-type]

    assert log.trouble


def test_hostile_bytes_in_the_log_are_rows_that_say_so(log: AuditLog) -> None:
    rewritten(log, [*lines_of(log), b"\xff\x00\x1b[2J\n", b"[" * 300_000 + b"\n", b"\n"])

    rows = log.tail(100)

    assert ["load"] * 5 == [row["event"] for row in rows][:5]
    assert {"unreadable"} == {row["event"] for row in rows[5:]}
    assert (5, False, 6) == log.verify()[:3]


WRITER = """
import resource, sys
from metier.audit.chain import AuditEvent
from metier.audit.io import AuditLog
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
log = AuditLog(sys.argv[1])
for number in range(20):
    log.append(AuditEvent(1_700_000_000.0, "", "load", "allowed", str(number)))
print(log.trouble)
"""


def test_a_full_disk_leaves_whole_lines_and_the_next_event_goes_on(tmp_path: Path) -> None:
    env = {"PYTHONPATH": str(Path(metier.__file__).parent.parent)}
    log = log_in(tmp_path)

    ran = subprocess.run(
        [sys.executable, "-c", WRITER, log.folder],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    full = log.verify()
    noted(log, "later")

    assert "cannot write the audit log" in ran.stdout
    assert full.ok
    assert 0 < full.events < 20
    assert (full.events + 1, True, None, "", 0, "ok") == log.verify()


def test_the_log_holds_no_secret(log: AuditLog) -> None:  # CO-28
    log.append(
        AuditEvent(
            None,
            "",
            "run",
            "allowed",
            details={"env": {"API_KEY": "hunter2"}, "args": ["--token", "--password=hunter2"]},
        )
    )

    assert b"hunter2" not in Path(log.folder, FIRST).read_bytes()
    assert "[redacted: secret]" == json.loads(lines_of(log)[-1])["details"]["env"]["API_KEY"]
