"""Counts that many processes share: nothing is lost, nothing is spoilt by a killed one, nothing fails where nothing can be kept."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from doors import command

from metier.usage import io

if TYPE_CHECKING:
    from conftest import Home, Writer

PROCESSES, TIMES = 6, 20
COUNTER = """
import sys
from metier.usage.io import Count, add_counts
print("ready", flush=True)
number = 0
while sys.argv[2] == "on" or number < int(sys.argv[2]):
    number += 1
    trouble = add_counts(sys.argv[1], None, [Count("/pdf", "pdf", views=1, tokens=3, last=number), Count("/own", sys.argv[3], views=1)], 5)
    assert not trouble, trouble
"""


def counters(folder: str, count: int, times: str) -> list[subprocess.Popen[str]]:
    env = command.environment({})
    started = [
        subprocess.Popen(
            [sys.executable, "-c", COUNTER, folder, times, str(number)],
            env=env,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    for process in started:
        assert process.stdout is not None
        assert "ready\n" == process.stdout.readline()
    return started


def test_many_processes_lose_no_count(tmp_path: Path) -> None:
    folder = str(tmp_path / "state")

    running = counters(folder, PROCESSES, str(TIMES))
    for process in running:
        process.communicate()

    found = {one.name: one for one in io.read_counts(folder).used}
    assert [0] * PROCESSES == [process.returncode for process in running]
    assert (PROCESSES * TIMES, 3 * PROCESSES * TIMES) == (found["pdf"].views, found["pdf"].tokens)
    assert [TIMES] * PROCESSES == [found[str(number)].views for number in range(PROCESSES)]


def test_killed_processes_leave_whole_counts_that_go_on(tmp_path: Path) -> None:
    folder = str(tmp_path / "state")

    before = 0
    for _turn in range(3):
        running = counters(folder, 3, "on")
        while _views(folder) < before + 15:
            assert all(process.poll() is None for process in running)
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        before = _views(folder)
        found = io.read_counts(folder)
        assert ("", ()) == (found.trouble, found.spoilt)
        # Both rows of a writing are there, or neither is.
        assert before == sum(one.views for one in found.used if one.path == "/own")

    assert "" == io.add_counts(folder, None, [io.Count("/pdf", "pdf", views=1)], 5)
    assert before + 1 == _views(folder)


def _views(folder: str) -> int:
    return sum(one.views for one in io.read_counts(folder).used if one.path == "/pdf")


def test_commands_at_the_same_time_are_all_counted(home: Home, skill: Writer) -> None:
    root = str(skill("skills/pdf").parent)
    words = [sys.executable, "-m", "metier", "show", "pdf", "--root", root]
    running = [
        subprocess.Popen(words, env=command.environment(home.env), stdout=subprocess.DEVNULL)
        for _ in range(5)
    ]

    assert [0] * 5 == [process.wait() for process in running]
    assert [5] == [one.views for one in io.read_counts(home.env["METIER_HOME"]).used]


def test_where_nothing_can_be_written_a_skill_is_shown_all_the_same(
    home: Home, skill: Writer
) -> None:
    root, state = str(skill("skills/pdf").parent), Path(home.env["METIER_HOME"])
    command.run(home.env, "show", "pdf", "--root", root)
    state.chmod(0o500)
    (state / "usage.db").chmod(0o400)

    shown = command.run(home.env, "show", "pdf", "--root", root, powerless=True)
    usage = command.run(home.env, "usage", "--json", "--root", root, powerless=True)

    state.chmod(0o700)
    assert (0, 0) == (shown.code, usage.code), (shown.err, usage.err)
    assert "Do the one thing." in shown.out
    assert [("pdf", 1)] == [(one["name"], one["views"]) for one in usage.json["skills"]]


def test_a_spoilt_file_is_kept_under_another_name_and_said(home: Home, skill: Writer) -> None:
    root, state = str(skill("skills/pdf").parent), Path(home.env["METIER_HOME"])
    state.mkdir()
    (state / "usage.db").write_bytes(b"these are no counts " * 500)

    shown = command.run(home.env, "show", "pdf", "--root", root)
    usage = command.run(home.env, "usage", "--json", "--root", root)

    (kept,) = state.glob("usage.db.spoilt-*")
    assert b"these are no counts " * 500 == kept.read_bytes()
    assert 0 == shown.code
    assert [1] == [one["views"] for one in usage.json["skills"]]
    assert [f"counts from before could not be read; they were set aside: {kept}"] == usage.json[
        "notes"
    ]


def test_nothing_but_names_paths_and_numbers_is_kept(home: Home, skill: Writer) -> None:
    folder = skill(
        "skills/pdf", text="---\nname: pdf\ndescription: planted-description\n---\n\nplanted-body\n"
    )
    (folder / "planted-file.md").write_text("planted-content")

    for more in ((), ("--file", "planted-file.md"), ("--section", ""), ("--cursor", "")):
        assert 0 == command.run(home.env, "show", "pdf", "--root", str(folder.parent), *more).code
    command.run(home.env, "usage", "--root", str(folder.parent))

    kept = b"".join(path.read_bytes() for path in Path(home.env["METIER_HOME"]).glob("usage.db*"))
    assert b"skills/pdf" in kept
    assert b"planted" not in kept
