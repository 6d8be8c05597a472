"""Who answers a task: by triggers, by a message alone, or by a tag in a model's words (CO-19, CO-20)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.codeskills import Calling, Hook, library_of

from metier.execute import tags
from metier.running import dispatching
from metier.running.dispatching import Manner
from metier.runs import Veto

if TYPE_CHECKING:
    from pathlib import Path


def text_of(result: str, *phrases: str, head: str = "") -> str:
    """Write a skill that gives the value of an expression."""
    return f"SKILL_TRIGGERS = {list(phrases)!r}\n{head}def run(task):\n    return {result}\n"


WIPING = text_of("'wiped'", "clean up the disk", head="SKILL_DESTRUCTIVE = True\n")
FILES = {
    "first.py": text_of("None", "the weather in Rome"),
    "second.py": text_of("1 / 0", "weather in Rome"),
    "third.py": text_of("'warm'", "weather"),
    "fourth.py": text_of("'never asked'", "rome"),
    "wipe.py": WIPING,
    "held.py": text_of("'held'", "held"),
    "reading/SKILL.md": "---\nname: reading\ndescription: Reads.\ntriggers: [weather in]\n---\nRead.\n",
}


def test_a_task_falls_through_to_the_first_that_takes_it(tmp_path: Path) -> None:  # CO-19
    hook = Hook()
    library = library_of(tmp_path, FILES)
    library.hooks = (hook,)

    made = dispatching.dispatch(library, "tell me the weather in Rome")

    assert ("third", "warm") == (made.taken and made.taken.name, made.answer)
    assert ["it gave no answer", "Skill 'second' failed: ZeroDivisionError: division by zero"] == [one.message for one in made.declined[:2]]
    assert [("reading", dispatching.INSTRUCTIONS)] == [(one.match.name, one.kind) for one in made.declined[2:]]
    assert {made.correlation} == {call.dispatch for call in hook.calls}


def test_a_veto_is_an_answer(tmp_path: Path) -> None:  # CO-19
    library = library_of(tmp_path, FILES)
    library.hooks = (Hook("p", lambda _call: Veto("not now")),)

    made = dispatching.dispatch(library, "weather?")

    assert "Skill 'third' was vetoed by plugin 'p': not now" == made.answer


@pytest.mark.parametrize(("consent", "answer"), [("", None), ("yes", None), ("run wipe? yes: wipe", "wiped")])
def test_a_destructive_skill_needs_consent_in_a_dispatch_too(tmp_path: Path, consent: str, answer: str | None) -> None:  # CO-18
    library = library_of(tmp_path, FILES)

    made = dispatching.dispatch(library, "clean up the disk", Manner(consent=consent))

    assert answer == made.answer
    assert (answer is None) == any("needs consent" in one.message for one in made.declined)


AUTO = [
    ('run.auto = ["third", "wipe"]\n', "weather", "warm"),
    ("", "weather", None),
    ('run.auto = ["fourth"]\n', "weather", None),
    ('run.auto = ["third"]\n', "weather " + "x" * 2_000, None),
    ('run.auto = ["wipe"]\n', "clean up the disk", None),
]


@pytest.mark.parametrize(("config", "message", "answer"), AUTO)
def test_a_message_sets_off_only_what_the_user_lists_and_nothing_destructive(
    tmp_path: Path, config: str, message: str, answer: str | None
) -> None:  # CO-20
    box = Calling()
    library = library_of(tmp_path, FILES, config, box=box)

    made = dispatching.auto(library, message, Manner(consent="wipe", ask=lambda _question, act: act))

    assert (answer, int(answer is not None)) == (made.answer, len(box.cages))


def test_tags_are_answered_through_the_same_gates_and_none_is_left(tmp_path: Path) -> None:  # CO-20
    library = library_of(tmp_path, FILES, 'skills.disabled = ["held"]\n')
    said = ("[SKILL:./third.py:x][SKILL:held:x]It is [SKILL:third:now]. [SKILL:second:x] [SKILL:first:x] [SKILL:none:x] [SKILL:wipe:clean up] [SKILL:reading:x] "
            "[SKILL:third:a[SKILL:third:b]] [SKILL:third:never ends")  # fmt: skip

    answered = dispatching.resolved(library, said)

    assert ("It is warm.", ("third",)) == (answered.text.strip(), answered.ran)
    assert ["./third.py", "held", "second", "first", "none", "wipe", "reading", "third", "third"] == [note.partition(":")[0] for note in answered.notes]
    assert () == tags.find(answered.text).tags
    assert "held: Skill not found: held" in answered.notes  # a model is not told that it is there


def test_a_text_without_tags_stays_as_it_is(tmp_path: Path) -> None:
    library = library_of(tmp_path, {})

    answered = dispatching.resolved(library, "plain [text]\u200b")

    assert dispatching.Resolved("plain [text]\u200b", (), ()) == answered
