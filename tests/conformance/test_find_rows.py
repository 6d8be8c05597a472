"""Finding a skill for a task, row by row: what other agents do, and what metier does instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conformance.folders import Place, skill
from fakes.embedder import GroupEmbedder
from fakes.engine import DictEngine

from metier.find import passages, refresh
from metier.find.rank import MAX_HITS, MAX_TASK_CHARS, MAX_TASK_END_CHARS
from metier.find.service import CANDIDATE_POOL
from metier.settings.model import FindSettings
from metier.usage.report import find_alike

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.find.model import Floats, Hit
    from metier.library import Library


def opened(place: Place, *, meaning: bool = False) -> Library:
    """Open the root with words alone, or with an embedder that knows a few words."""
    library = place.open()
    library.context.embedder = GroupEmbedder()
    library.context.settings = library.context.settings._replace(
        route=FindSettings(vectors="auto" if meaning else "off")
    )
    return library


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.name for hit in hits]


# --- by meaning


@pytest.mark.rows("ZE-30")
def test_not_only_the_description_is_embedded_but_how_the_body_begins_too(
    place: Place,
) -> None:
    """Zeph embeds descriptions and takes the top five; here the body has its part in the vector, and the caller says how many."""
    skill(
        place.root / "helper",
        description="Helps.",
        body="# Use\n\nTakes a document and completes it.\n",
    )
    skill(place.root / "other", description="Helps.")

    (hit,) = opened(place, meaning=True).find("paper", 1)

    assert ("helper", True) == (hit.name, hit.why["vector"] > 0)


class Sometimes(GroupEmbedder):
    """Fails for passages, and sees tasks well."""

    def passages(self, texts: Sequence[str]) -> Floats:  # noqa: ARG002
        """Fail."""
        raise RuntimeError("unsupported")


@pytest.mark.rows("ZE-30")
@pytest.mark.parametrize("embedder", [Sometimes(), GroupEmbedder(broken=True)])
def test_an_embedder_that_fails_leaves_the_words_and_is_mentioned_once(
    place: Place, embedder: GroupEmbedder
) -> None:
    """Zeph drops what it could not embed, or gives everything, or nothing; here no skill is lost: all are found by words."""
    skill(place.root / "pdf", description="Fills in a document.")
    skill(place.root / "mail", description="Sends a letter.")
    library = opened(place, meaning=True)
    library.context.embedder = embedder

    found = [names(library.find("document")) for _time in range(3)]

    assert [["pdf"]] * 3 == found
    assert len(set(library.context.warnings)) == len(library.context.warnings) <= 2


@pytest.mark.rows("ZE-31")
def test_a_category_is_a_filter_and_never_a_gate_that_could_lose_a_skill(
    place: Place,
) -> None:
    """Zeph first picks two categories by their centroids; here the best skill is found whatever its category is about."""
    for number in range(4):
        skill(place.root / "letters" / f"mail-{number}", description="Sends a letter by post.")
        skill(place.root / "sky" / f"rain-{number}", description="Tells the weather.")
    skill(place.root / "sky" / "odd-one-out", description="Fills in a document.")
    library = opened(place, meaning=True)

    assert "odd-one-out" == library.find("paper", wait=True)[0].name
    assert (
        "odd-one-out" == library.find("letter by post with a document", 100, category="sky")[0].name
    )


# --- by words


@pytest.mark.rows("ZE-32")
def test_short_words_count_and_a_word_that_is_said_twice_counts_once(place: Place) -> None:
    """Zeph leaves out tokens of less than three bytes; here `c#` and `go` are words like any other."""
    skill(place.root / "sharp", description="Writes C# programs.")
    skill(place.root / "gopher", description="Writes Go programs.")
    library = opened(place)

    once, twice = library.find("go"), library.find("go go go")

    assert (["gopher"], ["sharp"]) == (names(once), names(library.find("c#")))
    assert [hit.score for hit in once] == [hit.score for hit in twice]


@pytest.mark.rows("ZE-32", "CX-63")
def test_words_and_meaning_are_added_up_and_each_share_is_shown(
    place: Place,
) -> None:
    """Others fuse ranks (k = 60), in which how far ahead the first is gets lost; here scores are summed, and `why` has the parts."""
    skill(
        place.root / "pdf", description="Fills in a document.", body="# Forms\n\nFill in forms.\n"
    )

    (hit,) = opened(place, meaning=True).find("fill in this paper document")

    assert hit.why["lexical"] > 0 < hit.why["vector"]
    assert sum(hit.why.values()) == pytest.approx(hit.score)


@pytest.mark.rows("ZE-33")
def test_how_often_a_skill_went_well_is_a_weight_that_is_off_unless_it_is_asked_for(
    place: Place,
) -> None:
    """Zeph mixes every score with a bound on past success, under a name that is not what it computes; here it is off, and shown."""
    skill(place.root / "pdf", description="Fills in forms.")
    library = opened(place)

    (plain,) = library.find("forms")
    library.context.settings = library.context.settings._replace(
        route=FindSettings(vectors="off", usage=1.0)
    )
    (weighed,) = library.find("forms")

    assert "usage" not in plain.why
    assert 0.0 == weighed.why["usage"]


# --- what is alike


@pytest.mark.rows("ZE-34")
def test_pairs_are_reported_above_a_threshold_without_comparing_all_with_all(
    place: Place,
) -> None:
    """Zeph compares each with each; here the engine is asked for the few neighbours of each, and nothing is embedded again."""
    skill(place.root / "pdf", description="Fills in a document.")
    skill(place.root / "paper", description="Completes sheets.")
    skill(place.root / "sky", description="Tells the weather.")
    library = opened(place, meaning=True)
    library.context.engine = DictEngine()

    (pair,) = library.confusable(0.9).pairs

    assert {"pdf", "paper"} == {pair.first, pair.second}
    assert 3 == len(library.context.engine.neighbours_of)
    assert [] == library.context.engine.asked


@pytest.mark.rows("ZE-34")
def test_skills_without_vectors_are_listed_and_still_compared(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "MAX_VECTORS_AT_ONCE", 0)
    for name in ("one", "two"):
        skill(
            place.root / name, description="Fills in the very same document in the very same way."
        )

    found = opened(place, meaning=True).confusable(0.5)

    assert (str(place.root / "one"), str(place.root / "two")) == found.unseen
    assert 1 == len(found.pairs)
    assert find_alike([("/a", "a", "x y z"), ("/b", "b", "x y z")], 0.5)


@pytest.mark.rows("ZE-35")
def test_a_hit_is_a_value_with_reasons_and_names_its_rivals(place: Place) -> None:
    """Zeph asks a model for {skill_name, confidence, params}; here a hit says how well it fits, why, and what else would."""
    skill(place.root / "pdf-forms", description="Fills in PDF forms.")
    skill(place.root / "pdf-filler", description="Fills in the forms of a PDF.")
    library = opened(place)

    first, other = library.find("pdf forms")

    assert (other.name,) == first.confusable
    assert 1.0 >= first.score >= other.score
    assert {"name", "path", "score", "why", "passage", "confusable"} <= set(first._fields)


@pytest.mark.rows("ZE-36")
def test_what_changed_is_told_by_the_stats_of_a_file(place: Place) -> None:
    """Zeph hashes name and description of every skill each time; here no file is read unless its stats are others."""
    skill(place.root / "pdf", description="Fills in forms.")
    skill(place.root / "mail", description="Sends letters.")
    engine = DictEngine()
    ahead = 3_600_000_000_000
    for body in ("Do it.\n", "Do it.\n", "Do it with zebras.\n"):
        if "zebras" in body:
            skill(
                place.root / "mail", description="Sends letters.", body=body
            )  # name and description are what they were
        library = opened(place)
        library.context.engine = engine
        clock = library.context.ports.clock_ns
        library.context.ports = library.context.ports._replace(
            clock_ns=lambda clock=clock: clock() + ahead  # type: ignore[misc]
        )
        found = names(library.find("zebras"))

    assert ["mail"] == found
    assert ["mail", "pdf", "mail"] == [path.rpartition("/")[2] for path in engine.read]


# --- bounds


@pytest.mark.rows("CX-61")
def test_bounds_are_wide_and_the_end_of_a_long_task_counts_too(place: Place) -> None:
    """Codex takes 4 KiB or 64 terms of a query and 256 terms of a document; here whole bodies are searched, and more of a task."""
    skill(
        place.root / "late",
        description="Something.",
        body="filler words here. " * 5_000 + "zebra\n",
    )
    for number in range(60):
        skill(place.root / f"other-{number}", description="About zebras.")
    library = opened(place)

    found = library.find("once upon a time " * 10_000 + "there was a zebra", MAX_HITS)

    assert "late" in names(found)
    assert 61 == len(found) <= MAX_HITS
    assert (8_000, 2_000, 120, 64) == (
        MAX_TASK_CHARS,
        MAX_TASK_END_CHARS,
        CANDIDATE_POOL,
        passages.MAX_TASK_TERMS,
    )


@pytest.mark.rows("CX-61")
def test_words_that_say_nothing_do_not_make_an_answer(place: Place) -> None:
    skill(place.root / "pdf", description="Fills in the forms for you, as you want it.")
    skill(place.root / "sky", description="Looks at stars.")

    assert ["sky"] == names(opened(place).find("I want you to look at the stars for me"))


@pytest.mark.rows("CX-62")
def test_a_name_that_is_said_wins_and_ties_go_by_name_then_path(place: Place) -> None:
    """Codex has a table of points (256, 128, 64, …); here a name's words are a field of their own, and `why` says what they gave."""
    skill(place.root / "release-notes", description="Writes what changed.")
    skill(place.root / "beta", description="Writes release notes of what changed.")
    skill(place.root / "alpha", description="Writes release notes of what changed.")

    found = opened(place).find("release notes")

    assert ["release-notes", "alpha", "beta"] == names(found)
    assert found[0].why["name"] > 0 == found[1].why["name"]


@pytest.mark.rows("CX-62")
def test_the_beginning_of_a_name_finds_it_while_somebody_types(place: Place) -> None:
    skill(place.root / "kubernetes", description="Deploys.")
    skill(place.root / "pdf", description="Fills in forms.")
    library = opened(place)

    assert ["kubernetes"] == names(library.find("kuber", unfinished=True))


@pytest.mark.rows("CX-63")
def test_a_slip_of_the_pen_in_a_name_still_finds_it(place: Place) -> None:
    """Codex compares character n-grams as a strategy of its own; here the one index knows which names are nearly those words."""
    skill(place.root / "kubernetes", description="Deploys.")
    skill(place.root / "pdf", description="Fills in forms.")

    assert ["kubernetes"] == names(opened(place).find("kubernets"))


@pytest.mark.rows("CX-63")
def test_a_task_of_several_parts_finds_a_skill_for_each(place: Place) -> None:
    """Codex splits a query into views; here one question finds both, for no word of a task rules a skill out."""
    skill(place.root / "pdf", description="Fills in forms.")
    skill(place.root / "mail", description="Sends letters.")
    skill(place.root / "sky", description="Looks at stars.")

    assert {"pdf", "mail"} == set(
        names(opened(place).find("fill in the forms and then send the letters"))
    )


@pytest.mark.rows("CX-63")
def test_what_was_used_lately_does_not_go_first(place: Place) -> None:
    """Codex has strategies that begin with what was used last; here a rare skill is found as easily as a common one."""
    skill(place.root / "alpha", description="Fills in forms.")
    skill(place.root / "beta", description="Fills in forms.")
    library = opened(place)

    before = library.find("forms")
    for _time in range(5):
        library.view("beta")

    assert before == library.find("forms")
