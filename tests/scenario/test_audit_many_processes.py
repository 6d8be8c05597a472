"""Eight processes write one audit log, and some of them are killed: every event is there and the chain holds (CO-28)."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import metier
from metier.audit.chain import TORN, AuditEvent
from metier.audit.io import AuditLog

if TYPE_CHECKING:
    from collections.abc import Iterator

PROCESSES, EVENTS = 8, 50
ENV = {"PYTHONPATH": str(Path(metier.__file__).parent.parent)}
WRITER = """
import itertools, sys
from metier.audit.chain import AuditEvent
from metier.audit.io import AuditLog
log = AuditLog(sys.argv[1])
for number in range(int(sys.argv[3])) if sys.argv[3] != "on" else itertools.count():
    log.append(AuditEvent(None, "", "load", "allowed", f"{sys.argv[2]}-{number}", details={"text": "x" * 3000}))
print(log.trouble)
"""


def writers(folder: str, count: int, events: str) -> list[subprocess.Popen[str]]:
    command = [sys.executable, "-c", WRITER, folder]
    return [
        subprocess.Popen(
            [*command, str(number), events], env=ENV, stdout=subprocess.PIPE, text=True
        )
        for number in range(count)
    ]


def written(log: AuditLog) -> int:
    return sum(
        len(path.read_bytes().splitlines()) for path in Path(log.folder).glob("audit-*.jsonl")
    )


def until_written(log: AuditLog, count: int) -> Iterator[None]:
    while written(log) < count:
        time.sleep(0.01)
        yield


def test_eight_processes_lose_nothing_and_keep_one_chain(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path / "audit"))

    ended = [
        process.communicate()[0].strip() for process in writers(log.folder, PROCESSES, str(EVENTS))
    ]

    assert [""] * PROCESSES == ended
    assert (PROCESSES * EVENTS, True, None, "", 0, "ok") == log.verify()
    rows = log.tail(PROCESSES * EVENTS)
    expected = {f"{process}-{number}" for process in range(PROCESSES) for number in range(EVENTS)}
    assert expected == {row["name"] for row in rows}
    for process in range(PROCESSES):
        own = [row["name"] for row in rows if row["name"].startswith(f"{process}-")]
        assert [f"{process}-{number}" for number in range(EVENTS)] == own


def test_killed_processes_leave_a_log_that_is_good_and_goes_on(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path / "audit"))

    for turn in range(4):
        running = writers(log.folder, 3, "on")
        for _ in until_written(log, written(log) + 20 + turn):
            assert all(process.poll() is None for process in running)
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        stopped = log.verify()
        assert (True, None) == (stopped.ok, stopped.first_bad)

    log.append(AuditEvent(None, "", "load", "allowed", "after"))
    found = log.verify()

    assert "" == log.trouble
    assert (True, None, "", "ok") == (found.ok, found.first_bad, found.reason, found.hmac_status)
    assert "after" == log.tail(1)[0]["name"]
    assert found.torn == len([row for row in log.tail(found.events) if row["event"] == TORN])


def test_looking_while_others_write_raises_no_false_alarm(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path / "audit"))
    running = writers(log.folder, 2, "on")

    seen = [log.verify() for _ in until_written(log, 60)]
    for process in running:
        process.kill()
        process.communicate()

    assert all(found.ok for found in seen), [found for found in seen if not found.ok]
