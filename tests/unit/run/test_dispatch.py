"""Who answers a task: by triggers, by a message alone, or by a tag in a model's words (CO-19, CO-20)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.codeskills import Calling, Hook, library_of

from metier.errors import UsageError
from metier.run import dispatch
from metier.run.model import ConsentRequest, Veto

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
    library.context.hooks = (hook,)

    made = dispatch.dispatch(library.context, "tell me the weather in Rome")

    assert ("third", "warm") == (made.taken and made.taken.name, made.answer)
    assert ["it gave no answer", "Skill 'second' failed: ZeroDivisionError: division by zero"] == [
        one.message for one in made.declined[:2]
    ]
    assert [("reading", dispatch.INSTRUCTIONS)] == [
        (one.match.name, one.kind) for one in made.declined[2:]
    ]
    assert {made.correlation} == {call.dispatch for call in hook.calls}


def test_a_veto_is_an_answer(tmp_path: Path) -> None:  # CO-19
    library = library_of(tmp_path, FILES)
    library.context.hooks = (Hook("p", lambda _call: Veto("not now")),)

    made = dispatch.dispatch(library.context, "weather?")

    assert "Skill 'third' was vetoed by plugin 'p': not now" == made.answer


@pytest.mark.parametrize(
    ("consent", "answer"), [("", None), ("yes", None), ("run wipe? yes: wipe", "wiped")]
)
def test_a_destructive_skill_needs_consent_in_a_dispatch_too(
    tmp_path: Path, consent: str, answer: str | None
) -> None:  # CO-18
    library = library_of(tmp_path, FILES)

    made = dispatch.dispatch(library.context, "clean up the disk", consent=consent)

    assert answer == made.answer
    assert (answer is None) == any("needs consent" in one.message for one in made.declined)


@pytest.mark.parametrize(
    ("answers", "result", "asked"),
    [
        (["wipe"], "wiped", 1),
        (["sure", "go on and wipe it"], "wiped", 2),
        (["yes", "ok"], None, 2),  # whoever says yes to everything has agreed to nothing
        ([True, True], None, 2),
        ([False], None, 1),
        ([None], None, 1),
    ],
)
def test_whoever_gives_consent_is_shown_the_act_and_has_to_name_it(
    tmp_path: Path, answers: list[str | bool | None], result: str | None, asked: int
) -> None:  # CO-18
    library = library_of(tmp_path, FILES)
    seen: list[ConsentRequest] = []

    def consent(request: ConsentRequest) -> str | bool | None:
        seen.append(request)
        return answers[len(seen) - 1]

    made = library.dispatch("clean up the disk", consent=consent)

    assert (result, asked) == (made.answer, len(seen))
    assert ("wipe", "clean up the disk", "wipe") == (seen[0].skill, seen[0].task, seen[0].act)
    assert seen[0].path.endswith("/wipe.py")
    assert "answer with the word 'wipe'" in seen[0].question


def test_words_of_consent_reach_a_dispatch_of_the_library(tmp_path: Path) -> None:  # CO-18
    library = library_of(tmp_path, FILES)

    assert "wiped" == library.dispatch("clean up the disk", consent="yes, wipe it").answer
    assert library.dispatch("clean up the disk").answer is None
    assert library.dispatch("clean up the disk", consent=None).answer is None
    assert library.dispatch("clean up the disk", consent=True).answer is None


@pytest.mark.parametrize(("said", "answer"), [(True, "warm"), (False, None), ("run third", "warm")])
def test_a_plain_yes_is_enough_where_only_the_policy_asks(
    tmp_path: Path, said: str | bool, answer: str | None
) -> None:
    asking = (
        'trust.rules = [{level = "trusted", verdict = "safe", phase = "run", action = "ask"}]\n'
    )
    library = library_of(tmp_path, {"third.py": FILES["third.py"]}, asking)

    assert library.dispatch("weather").answer is None
    assert answer == library.dispatch("weather", consent=lambda _request: said).answer
    if isinstance(said, bool):
        assert answer == library.dispatch("weather", consent=said).answer


def test_consent_that_fails_is_a_no_and_the_next_skill_may_try(tmp_path: Path) -> None:  # CO-18
    polite = text_of("'swept'", "clean up")
    library = library_of(tmp_path, {"wipe.py": WIPING, "sweep.py": polite})

    made = library.dispatch("clean up the disk", consent=lambda _request: 1 / 0)  # type: ignore[arg-type]

    assert "swept" == made.answer
    assert "nobody could be asked" in made.declined[0].message


def test_consent_is_words_or_a_function_and_not_for_an_attempt_of_one_s_own(
    tmp_path: Path,
) -> None:
    library = library_of(tmp_path, FILES)

    with pytest.raises(UsageError, match="consent is 5"):
        library.dispatch("weather", consent=5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="attempt calls them itself"):
        library.dispatch("weather", lambda _match: "mine", consent="yes")


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

    made = dispatch.dispatch_message(library.context, message)

    assert (answer, int(answer is not None)) == (made.answer, len(box.cages))


def test_tags_are_answered_through_the_same_gates_and_none_is_left(tmp_path: Path) -> None:  # CO-20
    library = library_of(tmp_path, FILES, 'skills.disabled = ["held"]\n')
    said = (
        "[SKILL:./third.py:x][SKILL:held:x]It is [SKILL:third:now]. [SKILL:second:x] [SKILL:first:x] [SKILL:none:x] [SKILL:wipe:clean up] [SKILL:reading:x] "
        "[SKILL:third:a[SKILL:third:b]] [SKILL:third:never ends"
    )

    answered = dispatch.resolve_tags(library.context, said, ())

    assert ("It is warm.", ("third",)) == (answered.text.strip(), answered.ran)
    assert [
        "./third.py",
        "held",
        "second",
        "first",
        "none",
        "wipe",
        "reading",
        "third",
        "third",
    ] == [note.partition(":")[0] for note in answered.notes]
    assert () == dispatch.find_tags(answered.text).tags
    assert "held: Skill not found: held" in answered.notes  # a model is not told that it is there


def test_a_text_without_tags_stays_as_it_is(tmp_path: Path) -> None:
    library = library_of(tmp_path, {})

    answered = dispatch.resolve_tags(library.context, "plain [text]\u200b", ())

    assert dispatch.ResolvedText("plain [text]\u200b", (), ()) == answered
