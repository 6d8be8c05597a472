"""Consent that names the act (CO-18)."""

from __future__ import annotations

import pytest

from metier.run.confirm import act_of, is_destructive, names_act, question

ACTS = [
    ("files", "Works with files.", "Delete the old logs", "delete"),
    ("files", "Works with files.", "please start deleting, then remove", "delete"),
    ("files", "Works with files.", "WIPED it", "wipe"),
    ("files", "Works with files.", "stopping now", "stop files"),
    ("files", "Works with files.", "create a list, then wipe the disk", "wipe"),
    ("files", "Works with files.", "stop nagging and erase it", "erase"),
    ("files", "Works with files.", "please run it", "run files"),
    ("mail", "Sends letters.", "to Anna, with love", "send"),
    ("mail", "Sends letters.", "about undeleted things", "send"),
    ("files", "Works with files.", "what is there?", "files"),
    ("yes", "Agrees.", "hm", "run yes"),
    ("ok-do-it", "Agrees.", "hm", "run ok-do-it"),
]


@pytest.mark.parametrize(("name", "description", "task", "act"), ACTS)
def test_an_act_is_what_the_task_asks_for_or_what_the_skill_is_for_or_its_name(
    name: str, description: str, task: str, act: str
) -> None:  # CO-18
    found = act_of(name, description, task)

    assert act == found


ANSWERS = [
    ("delete", "delete", True), ("Yes, DELETE them.", "delete", True), ("ok: delete", "delete", True),
    ("yes", "delete", False), ("ok", "delete", False), ("sure, go ahead", "delete", False), ("", "delete", False),
    ("undelete", "delete", False), ("deleted", "delete", False), ("delete-all", "delete", False),
    ("no, do not delete", "delete", False), ("don't delete", "delete", False), ("Don\u2019t delete", "delete", False),
    ("never delete anything", "delete", False), ("delete " + "x" * 2_000, "delete", False),
    ("yes", "run yes", False), ("run yes", "run yes", True), ("yes", "yes", False), ("x", "", False),
    ("stop", "stop files", False), ("please stop files", "stop files", True), ("delete? hardly", "delete", False),
    ("keep, i said delete nothing", "delete", False), ("delete?", "delete", False), ("file_ops, please", "file_ops", True), ("file", "file_ops", False), ("a.*b", "a.*b", True),
    ("aXXb", "a.*b", False), ("no", "no", True),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "act", "expected"), ANSWERS)
def test_only_an_answer_that_says_the_word_and_no_word_against_it_agrees(
    answer: str, act: str, expected: bool
) -> None:  # CO-18
    agrees = names_act(answer, act)

    assert expected == agrees


@pytest.mark.parametrize(
    ("name", "declared", "expected"),
    [
        ("weather", False, False),
        ("weather", True, True),
        ("terminal", False, True),
        ("Python-Exec", False, True),
        ("file_write", False, True),
        ("skill_forge", False, True),
        ("my_terminal", False, False),
        ("Process Manager", False, True),
        ("plugin:terminal", False, True),
    ],
)
def test_a_skill_is_destructive_when_it_says_so_or_is_known_for_it(
    name: str, declared: bool, expected: bool
) -> None:  # CO-18
    found = is_destructive(name, declared=declared)

    assert expected == found


def test_a_question_says_what_will_be_done_and_which_word_agrees() -> None:  # CO-18
    asked = question("files", "delete", "delete the logs", again=True)

    assert (
        "That does not name the act. Skill 'files' is about to delete: delete the logs\nTo agree, answer with the word 'delete'."
        == asked
    )
