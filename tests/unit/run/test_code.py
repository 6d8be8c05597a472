"""A code skill from its name to its answer: what it is given, what is read of it, and what is noted down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from fakes.cage import KeptSandbox
from fakes.codeskills import RUN, Hook, answering, library_of, report

from metier.errors import MetierError, NotFoundError, RefusedError, SandboxError, UsageError
from metier.run import code
from metier.run.model import Lent, RunEnded

if TYPE_CHECKING:
    from pathlib import Path


def test_a_skill_is_given_its_own_bytes_and_nothing_else_of_the_machine(tmp_path: Path) -> None:
    box = answering()
    library = library_of(tmp_path, {"count.py": RUN, "other.py": RUN}, box=box)

    code.call(library.context, "count", "how many?", "of these")

    cage = box.cages[0]
    files = {one.target: one.data for one in cage.files}
    assert ["/run/metier/call.json", "/run/metier/inside.py", "/skill/count.py"] == sorted(files)
    assert RUN.encode() == files["/skill/count.py"]
    assert {"task": "how many?", "context": "of these"} == json.loads(
        files["/run/metier/call.json"]
    )
    assert not any("how many" in word for word in cage.command)
    assert (False, True, []) == (
        cage.network,
        cage.reports,
        [one for one in cage.mounts if one.writable],
    )


NETWORK = "SKILL_PERMISSIONS = ['network']\n" + RUN


@pytest.mark.parametrize(
    ("text", "config", "lent", "expected"),
    [
        (NETWORK, "", Lent(), False),
        (NETWORK, "", Lent(network=True), True),
        (NETWORK, 'run.network = "trusted"\n', Lent(), True),
        (RUN, 'run.network = "declared"\n', Lent(network=True), False),
    ],
)
def test_the_network_is_what_it_declares_and_the_user_allows(
    tmp_path: Path, text: str, config: str, lent: Lent, expected: bool
) -> None:
    # CO-16
    box = answering()
    library = library_of(tmp_path, {"count.py": text}, config, box=box)

    code.call(library.context, "count", "x", lent=lent)

    assert expected == box.cages[0].network


ENDED = [
    (RunEnded(0, report=report("42")), (0, "42", "", False)),
    (RunEnded(0, report=report("")), (0, "", "", False)),
    (RunEnded(0, report=report(None)), (0, None, "", True)),
    (
        RunEnded(1, report=report(None, error="ValueError: no")),
        (1, None, "Skill 'count' failed: ValueError: no", False),
    ),
    (
        RunEnded(1, report=report(None, error="E: e", loaded=False)),
        (1, None, "Skill 'count' could not be loaded. E: e", False),
    ),
    (
        RunEnded(124, report=b""),
        (1, None, "Skill 'count' failed: it ended without an answer, exit code 124", False),
    ),
    (RunEnded(125, report=report("42")), (0, "42", "", False)),
    (RunEnded(0, report=b"{"), (1, None, "Skill 'count' failed: its answer cannot be read", False)),
    (
        RunEnded(124, "time", report=report("42")),
        (124, None, "Skill 'count' timed out after 120s.", False),
    ),
    (
        RunEnded(137, "memory", report=report("42")),
        (137, None, "Skill 'count' was stopped: it went over its limit of memory.", False),
    ),
    (RunEnded(0, report=report("\x1b[31mred\x1b[0m")), (0, "red", "", False)),
]


@pytest.mark.parametrize(("ended", "expected"), ENDED)
def test_a_limit_is_the_sandbox_s_word_and_all_else_the_skill_s_own(
    tmp_path: Path, ended: RunEnded, expected: tuple[int, str | None, str, bool]
) -> None:  # CO-17, CO-21
    library = library_of(tmp_path, {"count.py": RUN}, box=KeptSandbox(ended=ended))

    ran = code.call(library.context, "count", "x")

    assert expected == (ran.code, ran.result, ran.error, ran.declined)


@pytest.mark.parametrize(
    ("task", "context"), [("x" * 5_001, ""), ("x", "y" * 10_001), (5, ""), ("x", None)]
)
def test_more_than_a_skill_is_ever_asked_is_refused(
    tmp_path: Path, task: str, context: str
) -> None:  # CO-21
    box = answering()
    library = library_of(tmp_path, {"count.py": RUN}, box=box)

    with pytest.raises(UsageError):
        code.call(library.context, "count", task, context)

    assert [] == box.cages


def test_what_is_no_code_skill_is_not_called(tmp_path: Path) -> None:
    library = library_of(
        tmp_path, {"pdf/SKILL.md": "---\nname: pdf\ndescription: Reads.\n---\nRead.\n"}
    )

    with pytest.raises(UsageError):
        code.call(library.context, "pdf", "x")
    with pytest.raises(NotFoundError):
        code.call(library.context, "nothing", "x")


def test_a_run_is_noted_down_with_digest_policy_time_and_exit_code(tmp_path: Path) -> None:
    library = library_of(tmp_path, {"count.py": RUN}, box=answering())

    ran = code.call(library.context, "count", "x", door="a door")

    event = library.audit_tail(1)[0]
    details = event["details"]
    assert ("run", "done", "count", ran.digest, "a door") == tuple(
        event[key] for key in ("event", "outcome", "name", "digest", "source")
    )
    assert (0, 0.5, True, False) == (
        details["exit_code"],
        details["seconds"],
        details["policy"]["sandboxed"],
        details["policy"]["network"],
    )


def test_a_sandbox_that_fails_is_an_error_and_no_result(
    tmp_path: Path,
) -> None:  # CO-11, MT-24
    library = library_of(
        tmp_path, {"count.py": RUN}, box=KeptSandbox(error=SandboxError("bubblewrap is missing"))
    )

    with pytest.raises(SandboxError) as failed:
        code.call(library.context, "count", "x")

    assert ("bubblewrap is missing", "see: metier doctor") == (
        failed.value.message,
        failed.value.hint,
    )
    assert ("run", "failed") == (
        library.audit_tail(1)[0]["event"],
        library.audit_tail(1)[0]["outcome"],
    )


@pytest.mark.parametrize(
    ("error", "code_"),
    [(KeyboardInterrupt(), 130), (SystemExit(143), 143), (SandboxError("broken"), 125)],
)
def test_a_call_that_is_broken_off_is_an_event_with_time_and_code_too(
    tmp_path: Path, error: BaseException, code_: int
) -> None:
    library = library_of(tmp_path, {"count.py": RUN}, box=KeptSandbox(error=error))

    with pytest.raises(type(error)):
        code.call(library.context, "count", "x")

    event = library.audit_tail(1)[0]
    details = event["details"]
    assert ("failed", type(error).__name__, code_) == (
        event["outcome"],
        details["error"],
        details["exit_code"],
    )
    assert (True, True) == (details["seconds"] >= 0, details["policy"]["sandboxed"])


def test_uses_are_counted(tmp_path: Path) -> None:
    library = library_of(tmp_path, {"count.py": RUN}, box=answering())
    code.call(library.context, "count", "x")
    library.context.sandbox = answering(None, error="E: e")
    code.call(library.context, "count", "x")

    used = library.usage().skills[0]

    assert (2, 1) == (used.runs, used.failures)


def test_output_is_heard_as_it_comes_and_cleaned(tmp_path: Path) -> None:
    library = library_of(
        tmp_path,
        {"count.py": RUN},
        box=KeptSandbox(out=b"\x1b]0;title\x07hello\n", ended=RunEnded(0, report=report())),
    )
    heard: list[tuple[str, str]] = []

    ran = code.call(
        library.context, "count", "x", hear=lambda stream, text: heard.append((stream, text))
    )

    assert ("hello\n", [("out", "hello\n")]) == (ran.output, heard)


def test_a_hook_may_not_turn_an_act_that_was_agreed_to_into_another(
    tmp_path: Path,
) -> None:  # CO-18, CO-19
    box = answering()
    library = library_of(tmp_path, {"files.py": "SKILL_DESTRUCTIVE = True\n" + RUN}, box=box)
    library.context.hooks = (Hook("p", lambda call: call._replace(task="wipe the disk")),)

    with pytest.raises(RefusedError) as refused:
        code.call(library.context, "files", "rename a file", consent="rename")

    assert ("consent", []) == (refused.value.code, box.cages)


@pytest.mark.parametrize(
    ("consent", "allowed"), [("", False), ("yes", False), ("count", True), ("yes, run count", True)]
)
def test_a_skill_that_policy_asks_about_wants_its_own_name(
    tmp_path: Path, consent: str, allowed: bool
) -> None:
    box = answering()
    library = library_of(tmp_path, {"count.py": RUN}, box=box, level="community")

    try:
        outcome = code.call(library.context, "count", "x", consent=consent).result
    except MetierError as error:
        outcome = error.code

    assert ("42" if allowed else "ask", int(allowed)) == (outcome, len(box.cages))


@pytest.mark.parametrize(
    ("text", "expected"), [(RUN, "42"), ("SKILL_DESTRUCTIVE = True\n" + RUN, "consent")]
)
def test_a_plain_yes_is_enough_only_where_nothing_can_be_destroyed(
    tmp_path: Path, text: str, expected: str
) -> None:  # CO-18
    library = library_of(tmp_path, {"count.py": text}, box=answering(), level="community")

    try:
        outcome = code.call(library.context, "count", "x", agreed=True).result
    except MetierError as error:
        outcome = error.code

    assert expected == outcome
