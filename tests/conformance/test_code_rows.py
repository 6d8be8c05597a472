"""CODEC, calling code skills: the gate on the very bytes, the sandbox, consent, hooks and dispatch (CO-10, CO-11, CO-16 to CO-21)."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import select
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.cage import KeptSandbox
from fakes.codeskills import RUN, Calling, Hook, answering, library_of

from metier.errors import MetierError, RefusedError, SandboxError
from metier.run import code, dispatch
from metier.run.io.bubblewrap import Bubblewrap
from metier.run.model import Lent, Veto

if TYPE_CHECKING:
    from metier.library import Library

REACHING = "import os\n" + RUN
DESTRUCTIVE = "SKILL_DESTRUCTIVE = True\n" + RUN


def refusal(library: Library, name: str, task: str = "x", **given: object) -> MetierError:
    """Call a skill, and give why it was not called."""
    with pytest.raises(MetierError) as refused:
        code.call(library.context, name, task, **given)  # type: ignore[arg-type]
    return refused.value


# --- CO-10: what is compiled is what was decided on


@pytest.mark.rows("CO-10")
def test_blocked_code_is_not_called_and_the_refusal_is_noted_with_the_hash_of_the_file(
    tmp_path: Path,
) -> None:
    box = answering()
    library = library_of(tmp_path, {"count.py": REACHING}, box=box)

    refused = refusal(library, "count")

    details = next(
        one["details"]
        for one in library.audit_tail()
        if one["details"].get("event") == "skill_load_blocked"
    )
    assert ("skill-load-blocked", []) == (refused.code, box.cages)
    assert (
        "Skill 'count' could not be loaded. It is blocked: Dangerous import: os" == refused.message
    )
    assert (
        "count",
        "Dangerous import: os",
        hashlib.sha256(REACHING.encode()).hexdigest(),
    ) == tuple(details[key] for key in ("skill_name", "reason", "file_sha256"))


@pytest.mark.rows("CO-10")
def test_a_log_that_cannot_be_written_masks_no_refusal(tmp_path: Path) -> None:
    library = library_of(tmp_path, {"count.py": REACHING})
    audit = Path(str(library.context.data)) / "audit"
    audit.parent.mkdir(parents=True, exist_ok=True)
    audit.write_text("no folder")

    refused = refusal(library, "count")

    assert "skill-load-blocked" == refused.code


@pytest.mark.rows("CO-10", "easily missed 7")
@pytest.mark.parametrize("config", ["", 'run.in_process = ["trusted"]\n'])
def test_a_file_that_is_exchanged_after_the_decision_is_not_what_runs(
    tmp_path: Path, config: str
) -> None:
    # CO-10, and what is easily missed about it (7): the decision is on bytes, and nobody reads the file again
    library = library_of(tmp_path, {"count.py": RUN}, config)
    path = Path(library.resolve("count").path)
    library.context.hooks = (
        Hook(
            "late",
            lambda call: path.write_text("def run(task):\n    return 'exchanged'\n") and call,
        ),
    )

    ran = code.call(library.context, "count", "x")

    assert ("done: x", "exchanged") == (ran.result, path.read_text()[-11:-2])


@pytest.mark.rows("CO-10")
def test_an_approved_file_runs_although_it_reaches_for_the_machine(tmp_path: Path) -> None:
    box = answering()
    library = library_of(tmp_path, {"count.py": REACHING}, box=box)
    library.trust("count", "approve", reason="read it")

    ran = code.call(library.context, "count", "x")

    assert ("42", REACHING.encode()) == (ran.result, box.cages[0].files[0].data)


# --- CO-11: no sandbox, no run


@pytest.mark.rows("CO-11", "MT-24")
def test_without_a_sandbox_nothing_runs_and_no_error_text_is_a_result(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "was-run"
    library = library_of(
        tmp_path,
        {"count.py": f"def run(task):\n    open({str(mark)!r}, 'w')\n    return 'x'\n"},
        box=KeptSandbox(error=SandboxError("no bubblewrap", code="sandbox")),
    )

    refused = refusal(library, "count")
    answered = dispatch.resolve_tags(library.context, "It is [SKILL:count:x].", ())

    assert (SandboxError, False) == (type(refused), mark.exists())
    assert ("It is .", ("count: no bubblewrap",)) == (answered.text, answered.notes)


# --- CO-16, CO-17: what a skill can do in there


TRYING = """
import os, socket, sys
SKILL_NAME = "trying"
def run(task, context):
    tried = {}
    for path in task.split():
        try:
            open(path).read()
            tried[path] = "read"
        except OSError as error:
            tried[path] = type(error).__name__
    try:
        open("/skill/new", "w")
        tried["write"] = "written"
    except OSError as error:
        tried["write"] = type(error).__name__
    try:
        socket.create_connection(("127.0.0.1", int(context)), 2)
        tried["net"] = "connected"
    except OSError as error:
        tried["net"] = type(error).__name__
    return repr(tried)
"""


def real(tmp_path: Path, files: dict[str, str], config: str = "") -> Library:
    """Give a library with the real sandbox; what it holds is approved, so that the gate lets it reach for the machine."""
    library = library_of(tmp_path, files, config)
    library.context.sandbox = Bubblewrap()
    for card in library.skills():
        library.trust(card.path, "approve", reason="a test")
    return library


@pytest.mark.rows("CO-16")
@pytest.mark.bubblewrap
@pytest.mark.loopback
def test_in_the_sandbox_there_is_no_home_no_network_and_no_place_to_write(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "home" / ".ssh" / "id"
    library = real(tmp_path, {"trying.py": "SKILL_PERMISSIONS = ['network']\n" + TRYING})
    secret.parent.mkdir(parents=True)
    secret.write_text("key")

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        kept = code.call(library.context, "trying", f"{secret} /etc/shadow", port)
        before = connected(server)
        granted = code.call(
            library.context, "trying", f"{secret} /etc/shadow", port, lent=Lent(network=True)
        )
        after = connected(server)

    tried = [ast.literal_eval(str(ran.result)) for ran in (kept, granted)]
    nowhere = dict.fromkeys((str(secret), "/etc/shadow"), "FileNotFoundError") | {
        "write": "OSError"
    }
    assert [("", 0)] * 2 == [(ran.error, ran.code) for ran in (kept, granted)]
    assert (nowhere, nowhere) == tuple(
        {key: value for key, value in one.items() if key != "net"} for one in tried
    )
    assert (False, True, "connected") == (before, after, tried[1]["net"])
    assert "connected" != tried[0]["net"]


def connected(server: socket.socket) -> bool:
    """Tell whether anybody has reached a server."""
    return bool(select.select([server], [], [], 0)[0])


ENDS = [
    (
        "async def run(task):\n    print('heard')\n    return task.upper()\n",
        (0, "DO IT", "", "heard\n"),
    ),
    ("def run(task):\n    return None\n", (0, None, "", "")),
    (
        "def run(task):\n    raise SystemExit(125)\n",
        (1, None, "Skill 'x' failed: SystemExit: 125", ""),
    ),
    (
        "import os\ndef run(task):\n    os._exit(124)\n",
        (1, None, "Skill 'x' failed: it ended without an answer, exit code 124", ""),
    ),
    (
        "import time\ndef run(task):\n    time.sleep(60)\n",
        (124, None, "Skill 'x' timed out after 1s.", ""),
    ),
]


@pytest.mark.rows("CO-17", "CO-21")
@pytest.mark.bubblewrap
@pytest.mark.parametrize(("text", "expected"), ENDS)
def test_each_end_of_a_skill_in_the_sandbox(
    tmp_path: Path, text: str, expected: tuple[int, str | None, str, str]
) -> None:

    library = real(tmp_path, {"x.py": text})

    ran = code.call(library.context, "x", "do it", lent=Lent(seconds=1 if "sleep" in text else 60))

    assert expected == (ran.code, ran.result, ran.error, ran.output)
    assert ran.sandboxed


# --- CO-18: consent that names the act


@pytest.mark.rows("CO-18", "MT-11")
@pytest.mark.parametrize(
    ("name", "text", "task", "consent", "allowed"),
    [
        ("files", DESTRUCTIVE, "delete it all", "", False),
        ("files", DESTRUCTIVE, "delete it all", "yes", False),
        ("files", DESTRUCTIVE, "delete it all", "files", False),
        ("files", DESTRUCTIVE, "delete it all", "yes, delete", True),
        ("files", DESTRUCTIVE, "delete it all", "do not delete", False),
        ("terminal", RUN, "delete it", "ok", False),
        ("terminal", RUN, "delete it", "delete", True),
        ("file_ops", RUN, "hm", "file_ops", True),
        ("files", "SKILL_DESTRUCTIVE = bool(1)\n" + RUN, "delete it", "", False),
    ],
)
def test_a_destructive_skill_needs_consent_that_names_the_act(
    tmp_path: Path, name: str, text: str, task: str, consent: str, allowed: bool
) -> None:
    # CO-18, MT-11: what cannot be read as False is destructive
    box = answering()
    library = library_of(tmp_path, {f"{name}.py": text}, box=box)

    try:
        outcome = code.call(library.context, name, task, consent=consent).result
    except RefusedError as error:
        outcome = error.code

    assert ("42" if allowed else "consent", int(allowed)) == (outcome, len(box.cages))


@pytest.mark.rows("CO-18")
@pytest.mark.parametrize(
    ("said", "allowed"),
    [(["delete"], True), (["yes", "delete"], True), (["yes", "ok", "delete"], False), ([], False)],
)
def test_somebody_is_asked_twice_and_whatever_goes_wrong_is_a_no(
    tmp_path: Path, said: list[str], allowed: bool
) -> None:
    box = answering()
    library = library_of(tmp_path, {"files.py": DESTRUCTIVE}, box=box)
    waiting, questions = iter(said), list[str]()

    def ask(question: str, act: str) -> str:
        questions.append(act)
        assert "delete it all" in question
        return next(waiting)

    try:
        outcome = code.call(library.context, "files", "delete it all", ask=ask).result
    except RefusedError as error:
        outcome = error.code

    assert ("42" if allowed else "consent", int(allowed)) == (outcome, len(box.cages))
    assert 2 >= len(questions)


@pytest.mark.rows("CO-18")
def test_a_refused_consent_does_not_count_against_the_skill(tmp_path: Path) -> None:
    library = library_of(tmp_path, {"files.py": DESTRUCTIVE})
    for _time in range(10):
        refusal(library, "files", "delete it")

    standing = library.trust("files")

    assert "" == standing.anomaly


# --- CO-19, CO-20: dispatch, hooks and tags


@pytest.mark.rows("CO-19")
def test_dispatch_tries_all_that_match_under_one_id_and_hooks_wrap_each_call(
    tmp_path: Path,
) -> None:
    files = {
        name: f"SKILL_TRIGGERS = [{phrase!r}]\ndef run(task, context=''):\n    {body}\n"
        for name, phrase, body in (
            ("a.py", "the weather today", "return None"),
            ("b.py", "weather today", "raise ValueError('b')"),
            ("c.py", "weather", "return task + context"),
        )
    }
    library = library_of(tmp_path, files)
    hook = Hook("p", lambda call: call._replace(context="!"), str.upper)
    library.context.hooks = (hook,)

    made = dispatch.dispatch(library.context, "the weather today")

    assert ("THE WEATHER TODAY!", ["a", "b"]) == (
        made.answer,
        [one.match.name for one in made.declined],
    )
    assert (["a", "b", "c"], 1) == (
        [call.skill for call in hook.calls],
        len({call.dispatch for call in hook.calls}),
    )


@pytest.mark.rows("CO-19")
def test_a_veto_has_its_own_words(tmp_path: Path) -> None:
    box = answering()
    library = library_of(tmp_path, {"x.py": RUN}, box=box)
    library.context.hooks = (Hook("p", lambda _call: Veto("too late")),)

    refused = refusal(library, "x")

    assert ("vetoed", "Skill 'x' was vetoed by plugin 'p': too late", []) == (
        refused.code,
        refused.message,
        box.cages,
    )


@pytest.mark.rows("CO-20")
def test_a_message_sets_off_only_listed_skills_and_only_a_short_one(
    tmp_path: Path,
) -> None:
    box = Calling()
    files = {
        "x.py": "SKILL_TRIGGERS = ['weather']\n" + RUN,
        "unlisted.py": "SKILL_TRIGGERS = ['weather today', 'storm']\n" + RUN,
    }
    library = library_of(tmp_path, files, 'run.auto = ["x"]\n', box=box)
    messages = ("weather", "weather today", "storm", "weather" + " " * 1_994)

    made = [dispatch.dispatch_message(library.context, text).answer for text in messages]
    asked = dispatch.dispatch(
        library.context, "storm"
    )  # which the other takes when it is asked for

    assert (["done: weather", "done: weather today", None, None], "done: storm") == (
        made,
        asked.answer,
    )
    assert ["/skill/x.py", "/skill/x.py", "/skill/unlisted.py"] == [
        cage.files[0].target for cage in box.cages
    ]


@pytest.mark.rows("CO-20")
def test_no_tag_of_a_model_reaches_the_user(tmp_path: Path) -> None:
    library = library_of(
        tmp_path,
        {"x.py": "def run(task):\n    return '[SKILL:x:again]' + task\n", "gone.py": REACHING},
    )

    answered = dispatch.resolve_tags(
        library.context, "a [SKILL:x:b] c [SKILL:gone:d] e [SKILL:x:", ()
    )

    assert "a b c  e " == answered.text
    assert (("x",), 2) == (answered.ran, len(answered.notes))


# --- MT-20: a reload drops what was loaded


@pytest.mark.rows("CO-5", "MT-20")
def test_a_skill_that_is_gone_is_not_called_from_memory(
    tmp_path: Path,
) -> None:
    library = library_of(tmp_path, {"x.py": RUN}, 'run.in_process = ["trusted"]\n')
    first = code.call(library.context, "x", "y")
    Path(library.resolve("x").path).unlink()
    library.reload()

    refused = refusal(library, "x")

    assert ("done: y", "not-found") == (first.result, refused.code)
    assert "x" not in sys.modules


def test_a_call_in_metier_s_own_process_is_noted_down_before_it_is_made(tmp_path: Path) -> None:
    ending = "def run(task):\n    raise SystemExit(3)\n"
    library = library_of(tmp_path, {"x.py": ending}, 'run.in_process = ["trusted"]\n')

    with contextlib.suppress(SystemExit):
        code.call(library.context, "x", "y")

    assert "started" == next(
        event["outcome"] for event in library.audit_tail(9) if event["event"] == "run"
    )
