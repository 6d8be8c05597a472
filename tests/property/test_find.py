"""What holds of every answer, whatever the skills say and whatever is asked."""

from __future__ import annotations

import string
from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING

import pytest
from fakes.engine import DictEngine
from hypothesis import HealthCheck, given, settings, strategies as st

import metier
from metier.find.score import ALWAYS_SHOWN, Scored, joined, on_one_scale
from metier.settings.model import FindSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from metier.find.model import IndexCandidate, IndexQuery
    from metier.library import Library

WORDS = ("tax", "form", "fill", "letter", "send", "rain", "the", "a", "image", "c++", "überall")
SOME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
SKILLS = st.lists(
    st.tuples(SOME, SOME, st.sampled_from(("", "disable-model-invocation: true\n"))),
    min_size=1,
    max_size=8,
)
TASKS = st.one_of(
    SOME,
    st.text(min_size=1, max_size=40).filter(str.strip),
    st.text(string.printable, min_size=1).filter(str.strip),
)


class Mixed(DictEngine):
    """Gives its candidates in another order each time."""

    turn = 0

    def query(self, asked: IndexQuery) -> Sequence[IndexCandidate]:
        """Give them turned round."""
        found = list(super().query(asked))
        self.turn += 1
        at = self.turn % (len(found) or 1)
        return [*found[at:], *found[:at]][:: -1 if self.turn % 2 else 1]


def opened(folder: Path, skills: Sequence[tuple[str, str, str]]) -> Library:
    """Write skills into two roots, every other with the name of the one before, and open them."""
    for number, (description, body, fields) in enumerate(skills):
        place = folder / ("first" if number % 2 else "second") / f"skill-{number // 2}"
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text(
            f"---\nname: {place.name}\ndescription: {description}\n{fields}---\n\n{body}\n"
        )
    for root in ("first", "second"):
        (folder / root).mkdir(exist_ok=True)
    library = metier.open(
        roots=[str(folder / "first"), str(folder / "second")], env={"HOME": str(folder)}
    )
    library.context.engine = Mixed()
    library.context.settings = library.context.settings._replace(route=FindSettings(vectors="off"))
    return library


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> pytest.TempPathFactory:
    """Give a maker of folders: each example needs its own."""
    return tmp_path_factory


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(skills=SKILLS, task=TASKS, limit=st.integers(1, 12))
def test_the_order_is_total_stable_and_a_shorter_answer_begins_a_longer_one(
    folders: pytest.TempPathFactory, skills: list[tuple[str, str, str]], task: str, limit: int
) -> None:
    library = opened(folders.mktemp("find"), skills)

    found, again, few = library.find(task, 100), library.find(task, 100), library.find(task, limit)

    assert sorted(found, key=lambda hit: (-hit.score, hit.name, hit.path)) == found == again
    assert [hit[:4] for hit in found[:limit]] == [hit[:4] for hit in few]
    assert len({hit.name for hit in found}) == len(found)


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(skills=SKILLS, task=TASKS)
def test_what_is_kept_from_models_never_appears_and_neither_do_its_copies(
    folders: pytest.TempPathFactory, skills: list[tuple[str, str, str]], task: str
) -> None:
    library = opened(folders.mktemp("find"), skills)
    states = {card.path: card for card in library.skills(all=True)}
    hidden = {card.name for card in states.values() if card.state == "hidden"}

    for hit in library.find(task, 100, states=["visible", "shadowed", "ask"]):
        assert states[hit.path].state in {"visible", "shadowed"}
        assert not states[hit.path].held
        assert hit.name not in hidden


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(skills=SKILLS, task=TASKS)
def test_every_share_of_a_score_is_accounted_for(
    folders: pytest.TempPathFactory, skills: list[tuple[str, str, str]], task: str
) -> None:
    library = opened(folders.mktemp("find"), skills)

    for hit in library.find(task, 100):
        assert set(ALWAYS_SHOWN) <= set(hit.why)
        assert sum(hit.why.values()) == pytest.approx(hit.score)


NUMBERS = st.floats(-100, 100, allow_nan=False).map(lambda number: round(number, 3))


def of(score: float) -> Scored:
    """Give a score that is all due to words."""
    why = {**dict.fromkeys(ALWAYS_SHOWN, 0.0), "lexical": score}
    return Scored(fsum(why.values()), why)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=6), st.lists(NUMBERS, max_size=6))
def test_what_was_not_read_never_overtakes_what_was_and_keeps_its_order(
    read: list[tuple[float, float]], unread: list[float]
) -> None:
    rest = sorted(unread, reverse=True)

    found = joined(
        [(f"r{at}", of(after), before) for at, (before, after) in enumerate(read)],
        [(f"u{at}", of(one)) for at, one in enumerate(rest)],
    )

    scores = [found[f"u{at}"].score for at in range(len(rest))]
    assert all(one >= other - 1e-9 for one, other in pairwise(scores))
    assert not read or not rest or scores[0] <= min(after for _before, after in read) + 1e-9


@given(st.dictionaries(st.text(max_size=3), NUMBERS, max_size=8))
def test_one_scale_keeps_the_order_and_ends_at_one(scores: dict[str, float]) -> None:
    found = on_one_scale({path: of(score) for path, score in scores.items()})

    assert all(found[path].score <= 1 + 1e-9 for path in found if max(scores.values()) > 0)
    assert sorted(scores, key=lambda path: (-scores[path], path)) == sorted(
        found, key=lambda path: (-found[path].score, path)
    )
