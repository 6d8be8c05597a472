"""What a script says when it fails is read for what the sandbox refused, and shown after that."""

from __future__ import annotations

import pytest

from metier.cli.commands.run import (
    ERROR_HOLD_SECONDS,
    MAX_HELD_CHARS,
    MAX_TRACEBACK_SECONDS,
    ScriptOutput,
)
from metier.run.model import SKILL, Cage, Mount
from metier.run.output import MAX_DENIALS, DenialFacts, DenialReader

MISSING = "FileNotFoundError: [Errno 2] No such file or directory: "
HERE = {"form.pdf", "out", "/data", "/data/sales.csv", "/home/anna/.ssh/id_rsa"}


def reader(
    *, network: bool = False, declares: bool = True, mounts: tuple[Mount, ...] = ()
) -> DenialReader:
    cage = Cage(("python3",), (Mount("/store/x", SKILL), *mounts), network=network)

    def place(path: str) -> tuple[str, str]:
        return (path, "") if path in HERE else ("", "it is not there")

    return DenialReader(DenialFacts("pdf", cage, declares, place, {"REGION"}))


@pytest.mark.parametrize(
    "line",
    [
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "curl: (6) Could not resolve host: example.com",
        "wget: unable to resolve host address 'example.com'",
        "  [cause]: Error: getaddrinfo EAI_AGAIN example.com",
        "Error: connect EACCES 1.1.1.1:443",
        "dial tcp: lookup example.com: no such host",
        "OSError: [Errno 101] Network is unreachable",
        '  File "socket.py", line 836\nPermissionError: [Errno 13] Permission denied',
    ],
)
def test_every_way_to_say_that_there_is_no_network(line: str) -> None:
    assert [
        "network access. This skill declares it: allow it for one run with --network"
    ] == reader().read(line)
    assert [] == reader(network=True).read(line)


@pytest.mark.parametrize(
    ("line", "way"),
    [
        (f"{MISSING}'form.pdf'", "--read form.pdf"),
        (f"{MISSING}'/scratch/form.pdf'", "--read form.pdf"),
        (f"{MISSING}'/data/sales.csv'", "--read /data/sales.csv"),
        (f"{MISSING}'/data/new.csv'", "--write /data"),
        ("Error: ENOENT: no such file or directory, open 'form.pdf'", "--read form.pdf"),
        ("cat: form.pdf: No such file or directory", "--read form.pdf"),
        ("/bin/sh: 1: cannot create out/a: Directory nonexistent", "--write out"),
        ("touch: cannot touch '/skill/a': Read-only file system", "--write DIR"),
        ("REGION: unbound variable", "metier setup pdf"),
    ],
)
def test_every_way_to_say_what_is_not_lent(line: str, way: str) -> None:
    (told,) = reader().read(f"a line before\n{line}\n")

    assert way in told


@pytest.mark.parametrize(
    "line",
    [
        "FileNotFoundError",
        f"{MISSING}'nothing.pdf'",
        f"{MISSING}'/skill/nothing.pdf'",
        f"{MISSING}'{'x' * 1000}'",
        "Permission denied",
        "OTHER: unbound variable",
        "KeyError: 'REGION'",
    ],
)
def test_a_fault_of_the_script_s_own_is_left_to_it(line: str) -> None:
    assert [] == reader().read(line)


def test_what_is_lent_to_read_is_told_to_be_lent_to_change() -> None:
    lent = reader(mounts=(Mount("/data", "/data"),))

    assert [] == lent.read(f"{MISSING}'/data/sales.csv'")
    (told,) = lent.read("OSError: [Errno 30] Read-only file system: '/data/sales.csv'")
    assert told.endswith("add: --write /data/sales.csv")


def test_nobody_is_talked_into_lending_a_key() -> None:
    (told,) = reader().read(f"{MISSING}'/home/anna/.ssh/id_rsa'")

    assert "read the script before you lend it this" in told
    assert "add:" not in told


def test_each_refusal_is_told_once_and_few_of_them_in_all() -> None:
    denials = reader()
    line = f"{MISSING}'form.pdf'"

    assert (1, 0) == (len(denials.read(line)), len(denials.read(line)))
    names = "\n".join(f"{MISSING}'/data/{number}/x'" for number in range(99))
    HERE.update(f"/data/{number}" for number in range(99))
    assert MAX_DENIALS - 1 == len(denials.read(names))


def test_a_line_made_to_be_slow_is_read_in_no_time() -> None:
    assert [] == reader().read("connect " * 100_000 + "'" * 100_000 + "socket" * 100_000)


# --- what is shown when


class Shown:
    """A screen and a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.said: list[tuple[str, str]] = []
        self.output = ScriptOutput(reader(), lambda *said: self.said.append(said), lambda: self.now)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        assert not self.output.tick()


def test_standard_output_is_shown_at_once_and_errors_before_it() -> None:
    shown = Shown()

    shown.output.hear("err", "half a line")
    shown.output.hear("out", "data\n")

    assert [("err", "half a line"), ("out", "data\n")] == shown.said


def test_errors_wait_a_moment_and_no_longer() -> None:
    shown = Shown()

    shown.output.hear("err", "working ")
    shown.wait(ERROR_HOLD_SECONDS / 2)
    early = list(shown.said)
    shown.wait(ERROR_HOLD_SECONDS)

    assert ([], [("err", "working ")]) == (early, shown.said)


def test_a_traceback_that_goes_on_is_held_together_but_not_for_ever() -> None:
    shown = Shown()

    shown.output.hear("err", "before\nTraceback (most recent call last):\n  File\n")
    shown.wait(2 * ERROR_HOLD_SECONDS)
    first = list(shown.said)
    shown.output.hear("out", "data\n")
    shown.wait(2 * MAX_TRACEBACK_SECONDS)

    assert [("err", "before\n")] == first
    assert ["before\n", "data\n", "Traceback (most recent call last):\n  File\n"] == [
        text for _stream, text in shown.said
    ]


def test_no_more_is_held_than_is_worth_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Shown()

    shown.output.hear("err", "Traceback (most recent call last):\n" + " x\n" * MAX_HELD_CHARS)

    assert 1 == len(shown.said)
    assert "" == capsys.readouterr().err


def test_what_is_held_is_shown_at_the_end_after_the_refusal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = Shown()

    with shown.output:
        shown.output.hear("err", f"{MISSING}'form.pdf'\n")

    assert [("err", f"{MISSING}'form.pdf'\n")] == shown.said
    assert capsys.readouterr().err.startswith("denied: form.pdf is not in the sandbox.")
