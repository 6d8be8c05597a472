"""What an answer holds: copies once, triggers by what they say, skills without vectors fairly, and no part of a link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, skill
from fakes.embedder import GroupEmbedder
from fakes.engine import DictEngine

from metier.errors import UsageError
from metier.find import refresh, service
from metier.find.rank import SearchRequest, without_paths
from metier.find.service import About, IndexRanker
from metier.model import SCOPES
from metier.settings.model import FindSettings
from metier.trust.judge import judge_listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from metier.find.model import Floats, Hit
    from metier.library import Library


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def opened(place: Place, *roots: Path, meaning: bool = False, engine: bool = False) -> Library:
    """Open with words alone, or with an embedder that knows a few words."""
    library = place.open(*roots)
    library.context.embedder = GroupEmbedder()
    library.context.engine = DictEngine() if engine else None
    library.context.settings = library.context.settings._replace(
        route=FindSettings(vectors="auto" if meaning else "off")
    )
    return library


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.name for hit in hits]


# --- copies


def copied(place: Place, copies: int, count: int) -> Library:
    """Put copies of each of some skills into roots of their own."""
    roots = [place.base / f"r{number}" for number in range(copies)]
    for root in roots:
        for number in range(count):
            body = "Something else. " * (number + 1) + "\n"
            skill(
                root / f"z{number:02}",
                description=f"Paints zebra crossings, kind {number}.",
                body=body,
            )
    return opened(place, *roots)


@pytest.mark.parametrize(
    ("copies", "count", "limit", "expected"),
    [(3, 60, 100, 60), (15, 20, 10, 10), (15, 20, 100, 20), (1, 20, 5, 5)],
)
def test_copies_do_not_take_the_room_of_other_names(
    place: Place, copies: int, count: int, limit: int, expected: int
) -> None:
    found = copied(place, copies, count).find("paint zebra crossings", limit)

    assert expected == len(found) == len(set(names(found)))
    assert {"visible"} == {hit.state for hit in found}


@pytest.mark.parametrize("limit", [1, 7, 16, 30])
def test_a_shorter_answer_begins_a_longer_one_among_many_copies_too(
    place: Place, limit: int
) -> None:
    library = copied(place, 15, 40)

    few, many = (
        library.find("paint zebra crossings of kind 3", limit),
        library.find("paint zebra crossings of kind 3", 100),
    )

    assert [hit[:4] for hit in many[:limit]] == [hit[:4] for hit in few]
    assert sorted(many, key=lambda hit: (-hit.score, hit.name, hit.path)) == many


def test_an_engine_is_asked_again_only_for_want_of_names(place: Place) -> None:
    for number in range(140):
        skill(place.root / f"z{number:03}", description="Paints zebras.")
    library = opened(place, engine=True)
    assert isinstance(library.context.engine, DictEngine)
    judge_listed(library.context)

    library.find("zebras", 100)

    assert [service.CANDIDATE_POOL] == [asked.limit for asked in library.context.engine.asked]


def test_of_two_copies_that_say_the_same_the_one_that_is_ready_is_the_hit(place: Place) -> None:
    first, second = place.base / "first", place.base / "second"
    skill(
        first / "pdf",
        description="Fills in forms.",
        fields="required_environment_variables: [NOBODY_HAS_THIS]\n",
    )
    ready = skill(second / "pdf", description="Fills in forms.")

    (hit,) = opened(place, first, second).find("forms")

    assert (str(ready), "shadowed") == (hit.path, hit.state)


def test_of_two_copies_that_differ_the_passages_tell_which_is_the_better(place: Place) -> None:
    first, second = place.base / "first", place.base / "second"
    skill(
        first / "pdf",
        description="Fills in tax things.",
        body="tax. " + "Other words stand here. " * 12 + "forms.\n",
    )
    better = skill(
        second / "pdf",
        description="Fills in tax things.",
        body="Other words stand here. " * 12 + "More. The tax forms.\n",
    )

    (hit,) = opened(place, first, second).find("tax forms")

    assert str(better) == hit.path


# --- triggers


def test_a_trigger_of_words_that_say_nothing_brings_no_skill_up(place: Place) -> None:
    skill(
        place.root / "greedy",
        description="Sells shoes.",
        fields='triggers: ["can you please help me"]\n',
    )
    skill(place.root / "tax", description="Fills in tax forms.")
    library = opened(place)

    found = library.find("can you please help me with tax forms")

    assert ["tax"] == names(found)
    assert ["greedy"] == [match.name for match in library.matches("can you please help me")]


def test_triggers_need_no_vectors(place: Place) -> None:
    for name in ("pdf", "mail"):
        skill(place.root / name, fields=f"triggers: [my {name}]\n")
    library = opened(place, meaning=True)
    assert isinstance(library.context.embedder, GroupEmbedder)

    found = library.matches("take my mail")
    done = library.dispatch("take my pdf", lambda match: match.name)

    assert (["mail"], "pdf") == ([match.name for match in found], done.answer)
    assert 0 == library.context.embedder.embedded


def test_the_table_of_phrases_is_made_once_for_a_listing(place: Place) -> None:
    skill(place.root / "pdf", fields="triggers: [my pdf]\n")
    library = opened(place)

    first, again = service.trigger_table(library.context), service.trigger_table(library.context)
    skill(place.root / "mail", fields="triggers: [my mail]\n")
    library.reload()

    assert first is again
    assert {"my"} == set(first.first)
    assert first is not service.trigger_table(library.context)


def test_skills_with_the_same_phrase_go_by_how_well_they_fit_the_task(place: Place) -> None:
    skill(place.root / "alpha", description="Keeps time.", fields="triggers: [read it out]\n")
    skill(
        place.root / "beta",
        description="Reads letters aloud.",
        fields="triggers: [Read it  out]\n",
        body="Read a letter out.\n",
    )
    skill(place.root / "gamma", description="Other.", fields="triggers: [a letter]\n")
    library = opened(place)

    found = library.matches("here is a letter, read it out")

    assert ["beta", "alpha", "gamma"] == [match.name for match in found]
    assert found[0].score > found[1].score
    assert 0.0 == found[2].score


def test_scores_are_those_of_the_skills_that_are_named(place: Place) -> None:
    one, other = (
        str(skill(place.root / name, description=f"Fills in {name} forms."))
        for name in ("tax", "school")
    )
    library = opened(place)

    found = service.scores_of(library.context, "tax forms", [one, other, "/nowhere"])

    assert {one, other} == set(found)
    assert 1.0 == pytest.approx(found[one])
    assert found[one] > found[other]
    assert {} == service.scores_of(library.context, "tax forms", ["/nowhere"])


@pytest.mark.parametrize("searched", [False, True])
def test_which_of_two_matches_goes_first_does_not_depend_on_what_was_searched_before(
    place: Place, searched: bool
) -> None:
    skill(place.root / "alpha", description="Keeps time.", fields="triggers: [this paper]\n")
    skill(
        place.root / "zeta",
        description="Keeps a document.",
        fields="triggers: [this paper]\n",
        body="Nothing.\n",
    )
    library = opened(place, meaning=True)
    if searched:
        library.find("paper")

    assert ["alpha", "zeta"] == [match.name for match in library.matches("sign this paper")]


# --- meaning


def test_a_model_that_waits_for_an_answer_waits_for_few_vectors(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "MAX_VECTORS_AT_ONCE", 2)
    for name in ("pdf", "mail", "weather"):
        skill(place.root / name, description=f"About {name}.")
    library = opened(place, meaning=True)
    assert isinstance(library.context.embedder, GroupEmbedder)

    ranked = IndexRanker(library.context).rank("about pdf", library.skills())
    waited = library.context.embedder.embedded
    hits = library.find("paper", wait=True)

    assert ("pdf", 0, 3) == (ranked[0].name, waited, library.context.embedder.embedded)
    assert ["pdf"] == names(hits)
    assert [] == library.context.warnings


class Blind(GroupEmbedder):
    """Cannot embed one of the texts that it is given."""

    def passages(self, texts: Sequence[str]) -> Floats:
        """Fail for that one."""
        if any("unseeable" in text for text in texts):
            raise RuntimeError("cannot be embedded")
        return super().passages(texts)


class Counting(GroupEmbedder):
    """Counts how often it is asked."""

    calls = 0

    def passages(self, texts: Sequence[str]) -> Floats:
        """Count, and go on."""
        self.calls += 1
        return super().passages(texts)


def waiting(place: Place, others: int) -> Library:
    """Open a library in which one skill has no vector."""
    for number in range(others):
        skill(place.root / f"paper-{number:02}", description="Fills in a document.")
    skill(place.root / "late", description="Fills in a document, unseeable.")
    library = opened(place, meaning=True)
    library.context.embedder = Blind()
    return library


def test_a_skill_that_cannot_be_embedded_keeps_no_other_from_it(place: Place) -> None:
    library = waiting(place, 40)

    done = library.index()

    assert (40, 1) == (done.embedded, done.waiting)
    assert ["skills are found by their words alone: cannot be embedded"] == library.context.warnings


def test_an_embedder_that_fails_for_everything_is_not_asked_for_each_skill(place: Place) -> None:
    library = waiting(place, 100)
    library.context.embedder = Counting(broken=True)

    done = library.index()

    assert (0, 101) == (done.embedded, done.waiting)
    assert library.context.embedder.calls < 20


def test_with_few_skills_waiting_for_vectors_those_are_taken_to_be_as_near_as_the_others(
    place: Place,
) -> None:
    library = waiting(place, 40)

    first, *others = library.find("fill in this unseeable document", 100, wait=True)

    assert "late" == first.name
    assert 0 < first.why["vector"] <= max(hit.why["vector"] for hit in others)


def test_with_many_skills_waiting_only_words_count(place: Place) -> None:
    library = waiting(place, 5)

    found = library.find("fill in this document")

    assert {0.0} == {hit.why["vector"] for hit in found}
    assert not service.about(library.context).vectors


def test_what_a_skill_without_a_vector_was_lent_does_not_make_it_an_answer(place: Place) -> None:
    for number in range(40):
        skill(place.root / f"sky-{number:02}", description="Tells the weather.", body="Look up.\n")
    skill(place.root / "pdf", description="Fills in a document.")
    skill(place.root / "late", description="It, unseeable.")
    library = opened(place, meaning=True)
    library.context.embedder = Blind()

    assert ["pdf"] == names(library.find("what is it, a document for one of us", 100, wait=True))
    assert service.about(library.context).vectors


def test_vectors_that_another_process_made_are_seen_after_a_while(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "MAX_VECTORS_AT_ONCE", 0)
    skill(place.root / "pdf", description="Fills in a document.")
    library, minutes = opened(place, meaning=True), [0]
    clock = library.context.ports.clock_ns
    library.context.ports = library.context.ports._replace(
        clock_ns=lambda: clock() + minutes[0] * 60_000_000_000
    )
    before = library.find("paper")
    opened(place, meaning=True).index()

    at_once = library.find("paper")
    minutes[0] = 5
    later = library.find("paper")

    assert ([], [], ["pdf"]) == (before, at_once, names(later))


# --- what is asked


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limit": "3"}, "3 hits cannot be asked for"),
        ({"limit": 2.5}, "2.5 hits cannot be asked for"),
        ({"limit": None}, "None hits cannot be asked for"),
        ({"limit": True}, "True hits cannot be asked for"),
        ({"task": None}, "a task is a text, and no NoneType"),
        ({"task": b"forms"}, "a task is a text, and no bytes"),
        ({"states": [5]}, "states: 5 is no text"),
        ({"states": 5}, "states: 5 is no text"),
        ({"tags": [None]}, "tags: None is no text"),
        ({"category": 5}, "category: 5 is no text"),
        ({"scope": "nowhere"}, "there is no scope 'nowhere'"),
        ({"scope": ["user"]}, "there is no scope"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error_with_a_hint(
    place: Place, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as raised:
        opened(place).find(**{"task": "forms", **given})

    assert message in raised.value.message
    assert raised.value.hint


def test_a_scope_that_nearly_exists_is_named(place: Place) -> None:
    with pytest.raises(UsageError) as raised:
        opened(place).find("forms", scope="projct")

    assert f"did you mean 'project'? it can be {', '.join(SCOPES)}" == raised.value.hint


def test_one_text_stands_for_a_list_of_one(place: Place) -> None:
    skill(place.root / "pdf", description="Fills in forms.", fields="tags: [office]\n")
    skill(place.root / "tax", description="Fills in forms.")
    library = opened(place)

    assert ["pdf"] == names(library.find("forms", tags="office"))
    assert ["pdf", "tax"] == names(library.find("forms", states="visible"))


@pytest.mark.parametrize("least", ["half", [0.5], float("nan")])
def test_a_likeness_that_is_no_number_is_a_usage_error(place: Place, least: Any) -> None:
    with pytest.raises(UsageError, match="is no share"):
        opened(place).confusable(least)


def test_only_what_may_be_answered_is_counted(place: Place) -> None:
    first, second = place.base / "first", place.base / "second"
    skill(first / "pdf")
    skill(second / "pdf")
    skill(first / "blue" / "mail")
    skill(first / "shut", fields="disable-model-invocation: true\n")
    library = opened(place, first, second)

    assert About(2, vectors=False) == service.about(library.context)
    assert About(1, vectors=False) == service.about(library.context, SearchRequest(category="blue"))
    assert About(0, vectors=False) == service.about(library.context, SearchRequest(states=["ask"]))


# --- links


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("read https://mp.weixin.qq.com/s/SK5I96BM aloud", "read mp.weixin.qq.com  aloud"),
        ("(see http://a.example/x?q=zebra#y)", "(see a.example )"),
        ("https://a.example/zebra请帮我", "a.example 请帮我"),
        ("HTTPS://A.example?zebra", "A.example "),
        ("https://a.example and more", "https://a.example and more"),
        ("either/or, a://b", "either/or, a://b"),
    ],
)
def test_of_a_link_only_the_host_counts(task: str, expected: str) -> None:
    assert expected == without_paths(task)


def test_the_path_of_a_link_finds_nothing_unless_it_is_a_trigger(place: Place) -> None:
    skill(place.root / "zebra", description="Paints zebras.")
    skill(place.root / "chat", description="Reads weixin pages.")
    skill(place.root / "papers", description="Explains.", fields="triggers: [arxiv.org/abs]\n")
    library = opened(place)

    assert ["chat"] == names(library.find("read https://mp.weixin.qq.com/s/zebra"))
    assert ["papers"] == names(library.find("https://arxiv.org/abs/2401.1"))
