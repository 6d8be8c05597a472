"""`metier find`: a table for people, one document for scripts, and an answer to every odd question."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, Answer, environment, error_of, on_screen, python, run

from metier.find.io.embedding_model import why_unavailable
from metier.find.io.index_folder import (
    FILL_LOCK,
    TRIED,
    fill_alone,
    is_being_filled,
    let_settle,
)
from metier.find.refresh import MAX_VECTORS_AT_ONCE
from metier.store import lock_holder

if TYPE_CHECKING:
    from conftest import Home, Writer

TAX = "---\nname: tax\ndescription: Fills in tax forms.\ntags: [office]\ntriggers: [my taxes]\n---\n\n# Fill in a form\n\nFill in the tax form.\n"


@pytest.fixture
def root(home: Home, skill: Writer, tmp_path: Path) -> str:
    """Give a folder with three skills; only words count, so that no model is loaded."""
    (tmp_path / "metier.toml").write_text('[route]\nvectors = "off"\n')
    home.env["METIER_CONFIG"] = str(tmp_path / "metier.toml")
    skill("skills/mail", description="Sends a letter about taxes.")
    skill(
        "skills/needy",
        text="---\nname: needy\ndescription: Reads the sky.\ndisable-model-invocation: true\n---\n\nForms.\n",
    )
    return str(skill("skills/tax", text=TAX).parent)


def test_a_table_says_what_fits_and_why(home: Home, root: str) -> None:
    answer = run(home.env, "find", "fill in a tax form", "--root", root)

    head, first, *_rest = answer.out.splitlines()
    assert (0, "") == (answer.code, answer.err)
    assert ["#", "NAME", "SCORE", "WHY", "PASSAGE", "DESCRIPTION"] == head.split()
    assert first.startswith("1  tax ")
    assert "words " in first
    assert "Fill in a form" in first
    assert first.endswith("Fills in tax forms.")


def test_a_document_has_the_fields_of_the_contract(home: Home, root: str) -> None:
    found = run(home.env, "find", "do my taxes", "--json", "--root", root).json

    hit = found["hits"][0]
    assert {"query", "took_ms", "hits", "vectors", "skills"} == set(found)
    assert ("do my taxes", False, 2) == (found["query"], found["vectors"], found["skills"])
    assert ("tax", f"{root}/tax") == (hit["name"], hit["path"])
    assert {"lexical", "vector", "trigger", "name"} <= set(hit["why"])
    assert hit["why"]["trigger"] > 0
    assert {
        "description",
        "scope",
        "category",
        "state",
        "readiness",
        "passage",
        "confusable",
    } <= set(hit)
    assert found["took_ms"] >= 0


def test_nothing_that_fits_is_exit_1_with_a_hint(home: Home, root: str) -> None:
    answer = run(home.env, "find", "zebra crossing", "--root", root)

    assert (1, "") == (answer.code, answer.out)
    assert (
        "nothing among 2 skills fits that\n\nhint: say it in other words, or see what there is: metier list\n"
        == answer.err
    )


def test_skills_of_a_project_that_is_not_trusted_are_said_to_wait(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    skill("project/.agents/skills/pdf")
    (tmp_path / "project" / ".git").mkdir()

    answer = run(home.env, "find", "do the one thing", cwd=tmp_path / "project")
    prompt = run(home.env, "prompt", cwd=tmp_path / "project")

    assert (1, "") == (answer.code, answer.out)
    assert "1 skill is waiting, because you haven't trusted this project yet" in answer.err
    assert "metier trust project ." in answer.err
    assert (0, "") == (prompt.code, prompt.out)
    assert "1 skill is waiting, because you haven't trusted this project yet" in prompt.err
    assert "metier trust project ." in prompt.err


def test_nothing_that_fits_is_an_empty_list_for_a_script(home: Home, root: str) -> None:
    answer = run(home.env, "find", "zebra crossing", "--json", "--root", root)

    assert (1, "", []) == (answer.code, answer.err, answer.json["hits"])


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((), "metier find needs a TASK"),
        (("",), "metier find needs a TASK"),
        (("  ",), "metier find needs a TASK"),
        (("tax", "--limit", "0"), "--limit cannot be '0'"),
        (("tax", "--limit", "-1"), "--limit cannot be '-1'"),
        (("tax", "--limit", "101"), "--limit cannot be '101'"),
        (("tax", "--limit", "ten"), "--limit cannot be 'ten'"),
        (("tax", "--limit", "9" * 5000), f"--limit cannot be '{'9' * 40}'"),
        (("tax", "--state", "blocked"), "skills in the state 'blocked' are never suggested"),
        (("tax", "--state", "hidden"), "skills in the state 'hidden' are never suggested"),
        (("tax", "--scope", "nowhere"), None),
        (("tax", "--confusable"), "--confusable compares skills, and takes no task"),
        (("-",), "metier find needs a TASK"),
        (("tax", "--tag", ""), "--tag needs a tag"),
        (("tax", "--tag", "office", "--tag", " "), "--tag needs a tag"),
        (
            ("--confusable", "--limit", "3", "--scope", "user"),
            "there are no hits to narrow by --limit without a TASK",
        ),
        (
            ("--confusable", "--category", ""),
            "there are no hits to narrow by --category without a TASK",
        ),
        (
            ("--confusable", "--state", "ask"),
            "there are no hits to narrow by --state without a TASK",
        ),
        (
            ("--index", "--limit", "3", "--tag", "x", "--typing"),
            "there are no hits to narrow by --limit without a TASK",
        ),
        (("--index", "--typing"), "there are no hits to narrow by --typing without a TASK"),
        (
            ("--index", "--confusable", "--tag", "x"),
            "there are no hits to narrow by --tag without a TASK",
        ),
    ],
)
def test_what_cannot_be_asked_is_exit_2(
    words: tuple[str, ...], error: str | None, home: Home, root: str
) -> None:
    answer = run(home.env, "find", *words, "--root", root)

    said, hint = error_of(answer)
    assert (2, "") == (answer.code, answer.out)
    assert said == (error or said)
    assert hint


def test_options_that_would_do_nothing_are_named_in_the_hint(home: Home, root: str) -> None:
    compared = error_of(
        run(home.env, "find", "--confusable", "--limit", "3", "--scope", "user", "--root", root)
    )
    indexed = error_of(
        run(home.env, "find", "--index", "--limit", "3", "--tag", "x", "--typing", "--root", root)
    )

    assert "leave --limit and --scope away" == compared[1]
    assert "leave --limit and --tag and --typing away, or say what is to be done" == indexed[1]


def test_a_dash_reads_the_task_from_standard_input(home: Home, root: str) -> None:
    answer = fed(home, b"fill in a \xff tax form\n", "--root", root)

    assert (0, "") == (answer.code, answer.err)
    assert ("fill in a \ufffd tax form", "tax") == (
        answer.json["query"],
        answer.json["hits"][0]["name"],
    )


def test_a_task_of_a_million_bytes_comes_from_standard_input_and_no_longer_one_does(
    home: Home, root: str
) -> None:
    largest, larger = (
        fed(home, b"tax form " + b"x" * (length - 9), "--root", root)
        for length in (1 << 20, (1 << 20) + 1)
    )

    assert (0, "tax") == (largest.code, largest.json["hits"][0]["name"])
    assert (2, "usage", "the task on standard input has more than 1,048,576 bytes") == (
        larger.code,
        larger.json["code"],
        larger.json["message"],
    )


def fed(home: Home, given: bytes, *words: str) -> Answer:
    """Run `metier find -` with something to read."""
    command = [sys.executable, "-m", "metier", "find", "-", "--json", *words]
    done = subprocess.run(
        command,
        input=given,
        env=environment(home.env),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_an_agent_is_offered_what_lies_in_its_own_folders(
    home: Home, root: str, skill: Writer, tmp_path: Path
) -> None:
    assert root
    (tmp_path / "empty").mkdir()
    skill("home/.claude/skills/claude-tax", description="Fills in tax forms for Claude.")
    skill("home/.codex/skills/codex-tax", description="Fills in tax forms for Codex.")

    def names(*words: str) -> set[str]:
        return {
            hit["name"]
            for hit in run(
                home.env, "find", "tax forms", "--json", *words, cwd=tmp_path / "empty"
            ).json["hits"]
        }

    assert {"claude-tax"} == names("--agent", "claude-code")
    assert {"codex-tax"} == names("--agent", "codex")
    assert {"claude-tax", "codex-tax"} == names()


def test_an_error_is_a_document_too(home: Home, root: str) -> None:
    answer = run(home.env, "find", "tax", "--state", "blocked", "--json", "--root", root)

    assert (2, "", "usage") == (answer.code, answer.err, answer.json["code"])


def test_filters_are_passed_on(home: Home, root: str) -> None:
    def names(*words: str) -> list[str]:
        return [
            hit["name"]
            for hit in run(home.env, "find", *words, "--json", "--root", root).json["hits"]
        ]

    assert ["tax", "mail"] == names("taxes")
    assert ["tax"] == names("taxes", "--limit", "1")
    assert ["tax"] == names("taxes", "--tag", "office")
    assert [] == names("taxes", "--scope", "project")
    assert [] == names("taxes", "--category", "nothing")
    assert [] == names("taxes", "--state", "shadowed", "--state", "ask")
    assert ["tax"] == names("fills in ta", "--typing", "--limit", "1")


def test_index_alone_says_what_it_did(home: Home, root: str) -> None:
    text = run(home.env, "find", "--index", "--root", root)
    found = run(home.env, "find", "--index", "--json", "--root", root)

    assert (0, "3 in the index, 3 read, 0 gone, 0 embedded\n", "") == text
    assert {"skills": 3, "gone": 0, "embedded": 0, "waiting": 0} == {
        key: found.json[key] for key in ("skills", "gone", "embedded", "waiting")
    }


def test_index_with_a_task_goes_on_to_find(home: Home, root: str) -> None:
    assert (
        "tax"
        == run(home.env, "find", "tax form", "--index", "--json", "--root", root).json["hits"][0][
            "name"
        ]
    )


def test_skills_that_could_be_mistaken_are_shown(home: Home, root: str, skill: Writer) -> None:
    skill("skills/sky-one", description="Looks at the stars of the sky by night.")
    skill("skills/sky-two", description="Looks at the stars of the sky by night!")

    text, found = (
        run(home.env, "find", "--confusable", "--root", root),
        run(home.env, "find", "--confusable", "--json", "--root", root),
    )
    beside = run(home.env, "find", "stars", "--root", root)

    assert ["ALIKE", "NAME", "AND", "PATH", "OF", "THE", "SECOND"] == text.out.splitlines()[
        0
    ].split()
    assert [("sky-one", "sky-two")] == [
        (pair["first"], pair["second"]) for pair in found.json["pairs"]
    ]
    assert [] == found.json["unseen"]
    assert beside.out.endswith("\nsky-one is easily mistaken for sky-two\n")


def test_when_no_two_are_alike_it_says_so(home: Home, root: str) -> None:
    assert (0, "No two skills answer the same tasks.\n", "") == run(
        home.env, "find", "--confusable", "--root", root
    )


def test_a_stranger_s_words_do_not_reach_the_terminal_as_they_are(
    home: Home, root: str, skill: Writer
) -> None:
    skill(
        "skills/evil",
        text='---\nname: evil\ndescription: "tax \\e]0;owned\\a form"\n---\n\n# tax \x1b[2J form\n\ntax form\n',
    )

    answer = run(home.env, "find", "tax form", "--root", root)

    assert "evil" in answer.out
    assert "\x1b" not in answer.out + answer.err


@pytest.mark.parametrize("task", ["🧾", "how do I do this", "税务", "\udcff", "--", "--limit"])
def test_odd_tasks_are_answered(task: str, home: Home, root: str) -> None:
    answer = run(
        home.env,
        "find",
        "--json",
        "--root",
        root,
        "--",
        os.fsencode(task).decode("utf-8", "surrogateescape"),
    )

    assert answer.code in {0, 1}
    assert "Traceback" not in answer.err


def test_prompt_without_a_task_loads_no_numbers(home: Home, root: str) -> None:
    code = f"import sys; from metier.cli.main import main; main(['prompt', '--root', {root!r}]); sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(home.env),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )

    assert set() == {"numpy", "metier.find.service"} & set(done.stderr.split())


def test_prompt_with_a_task_ranks_as_find_does(home: Home, root: str, skill: Writer) -> None:
    for number in range(30):
        skill(f"skills/other-{number:02}", description=f"Does thing {number}.")
    skill(
        "skills/zz-body",
        text="---\nname: zz-body\ndescription: Nothing to see.\n---\n\n# Zebra crossing\n\nPaint a zebra crossing.\n",
    )

    answer = run(
        home.env, "prompt", "--task", "paint a zebra crossing", "--budget", "300", "--root", root
    )

    assert 0 == answer.code
    assert "Nothing to see." in answer.out


def test_an_interrupt_is_exit_130_and_leaves_an_index_that_works(
    home: Home, root: str, skill: Writer
) -> None:
    for number in range(400):
        skill(
            f"skills/other-{number:03}",
            text=f"---\nname: other-{number:03}\ndescription: Does it.\n---\n\n" + "word " * 5_000,
        )
    begun = subprocess.Popen(
        [sys.executable, "-m", "metier", "find", "tax", "--root", root],
        env=environment(home.env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(0.4)  # somewhere in the middle of it, or before, or after: each is to end well
    begun.send_signal(signal.SIGINT)
    begun.communicate(timeout=PATIENCE)

    after = run(home.env, "find", "tax form", "--json", "--root", root)

    assert begun.returncode in {0, 130, -signal.SIGINT}
    assert (0, "tax") == (after.code, after.json["hits"][0]["name"])


def test_progress_is_for_a_terminal_alone(home: Home, root: str) -> None:
    """With a terminal for standard error nothing is left there once the answer is printed; without one nothing ever is."""
    reader, writer = pty.openpty()
    try:
        words = [sys.executable, "-m", "metier", "find", "tax", "--root", root]
        done = subprocess.run(
            words,
            env=environment(home.env),
            stdout=subprocess.PIPE,
            stderr=writer,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(writer)
        os.close(reader)

    assert (0, True) == (done.returncode, done.stdout.startswith(b"#"))
    assert "" == run(home.env, "find", "tax", "--root", root).err


# --- vectors that nobody waits for

WORDS = "Ranked by words; meanings are being prepared (`metier find --index` to wait).\n"
WORDS_ALONE = "Ranked by words alone. To rank by meaning too: metier find --index\n"


@pytest.fixture
def many(home: Home, skill: Writer) -> str:
    """Give a folder with more skills than get vectors while somebody waits; vectors count."""
    if why_unavailable():
        pytest.skip("needs metier[embed]")
    home.env["METIER_BACKGROUND"] = "auto"
    for number in range(MAX_VECTORS_AT_ONCE):
        skill(f"many/thing-{number}", description=f"Does thing number {number}.")
    return str(skill("many/invoices", description="Bills a customer for work.").parent)


def index_of(home: Home) -> Path:
    """Give the folder of the one index."""
    (found,) = Path(home.env["METIER_HOME"], "route").iterdir()
    return found


def wait_for_vectors(home: Home, root: str) -> Answer:
    """Ask again and again until meaning counts: what makes it count has the least priority."""
    limit = time.monotonic() + 8 * PATIENCE
    while time.monotonic() < limit:
        answer = run(home.env, "find", "charge a client", "--json", "--root", root)
        if answer.json["vectors"]:
            return answer
        time.sleep(0.2)
    raise AssertionError("the vectors never came")


def test_the_first_answer_is_by_words_and_vectors_come_after_it(home: Home, many: str) -> None:
    first = run(home.env, "find", "bill a customer", "--root", many)

    later = wait_for_vectors(home, many)

    assert (0, WORDS) == (first.code, first.err)
    assert "words " in first.out
    assert "meaning" not in first.out
    assert "invoices" == later.json["hits"][0]["name"]
    assert "" == run(home.env, "find", "bill a customer", "--root", many).err


def test_vectors_made_in_the_background_rank_as_those_that_were_waited_for(
    home: Home, many: str, tmp_path: Path
) -> None:
    run(home.env, "find", "charge a client", "--root", many)
    background = wait_for_vectors(home, many).json["hits"]
    other = {**home.env, "METIER_HOME": str(tmp_path / "other")}

    waited = run(other, "find", "charge a client", "--index", "--json", "--root", many).json["hits"]

    assert waited == background


@pytest.mark.parametrize("why", [{"METIER_BACKGROUND": "off"}, {"CI": "1"}])
def test_where_no_process_may_be_left_behind_index_makes_the_vectors(
    home: Home, many: str, why: dict[str, str]
) -> None:
    home.env.pop("METIER_BACKGROUND")
    env = {**home.env, "METIER_BACKGROUND": "", **why}

    first = run(env, "find", "bill a customer", "--root", many)
    in_json = run(env, "find", "bill a customer", "--json", "--root", many)
    made = run(env, "find", "bill a customer", "--index", "--json", "--root", many)

    assert (0, WORDS_ALONE) == (first.code, first.err)
    assert ("", False, True) == (in_json.err, in_json.json["vectors"], made.json["vectors"])
    assert not (index_of(home) / TRIED).exists()


def test_one_process_at_a_time_makes_vectors(home: Home, many: str) -> None:
    run({**home.env, "METIER_BACKGROUND": "off"}, "find", "bill", "--root", many)
    folder = index_of(home)

    with fill_alone(str(folder), "another") as free:
        beside = run(home.env, "find", "bill a customer", "--root", many)
        second = run(home.env, "__index", "--root", many)
        found = run(home.env, "find", "bill", "--json", "--root", many).json
        begun = (folder / TRIED).read_text()

    assert (True, WORDS, 0) == (free, beside.err, second.code)
    assert ("another", False) == (begun, found["vectors"])


def test_what_was_begun_and_did_not_end_is_not_begun_again_at_once(home: Home, many: str) -> None:
    let_settle()
    first = run(home.env, "find", "bill a customer", "--root", many)
    folder = index_of(home)
    limit = time.monotonic() + PATIENCE
    while not (folder / TRIED).exists() and time.monotonic() < limit:
        time.sleep(0.005)
    holder = lock_holder.read((folder / FILL_LOCK).read_bytes())
    if holder is not None:
        os.kill(holder.pid, signal.SIGKILL)
    while is_being_filled(str(folder)):
        time.sleep(0.005)

    after = run(home.env, "find", "bill a customer", "--root", many)

    assert (WORDS, 0) == (first.err, after.code)
    assert after.err in {WORDS_ALONE, ""}, "it was killed, or it was quicker"
    assert "invoices" in after.out


def test_the_process_in_the_background_holds_no_terminal(home: Home, many: str) -> None:
    screen = on_screen(home.env, "find", "bill a customer", "--root", many)

    said = " ".join(line.strip() for line in screen.lines if line.strip())

    assert 0 == screen.code
    assert said.endswith(WORDS.strip())
    wait_for_vectors(home, many)


def test_what_lies_in_the_working_folder_is_no_module_of_ours(
    home: Home, many: str, tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("metier", "numpy"):
        (trap / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\n")
    code = "from metier.cli.main import main; main()"
    words = ["-P", "-c", code, "find", "bill a customer", "--root", many]

    first = python(home.env, *words, cwd=trap)
    wait_for_vectors(home, many)

    assert WORDS == first.err
    assert not (tmp_path / "sprung").exists()
