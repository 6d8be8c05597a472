"""From what is asked of a catalogue to its budget, its form and its cards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, skill

from metier.catalogue.wire import plain
from metier.disclose.prompt import budget_of
from metier.errors import UsageError
from metier.settings.model import PromptSettings
from metier.usage import counter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("asked", "window", "prompt", "expected"),
    [
        (None, 0, PromptSettings(), 2_000),
        (None, 200_000, PromptSettings(), 4_000),
        (None, 10, PromptSettings(), 1),
        (None, 200_000, PromptSettings(budget=300), 300),
        (None, 0, PromptSettings(budget=50_000), 10_000),  # configuration may not give more
        (50_000, 0, PromptSettings(budget=300), 50_000),  # a person may
        ("1500", 0, PromptSettings(), 1_500),
        ("5%", 100_000, PromptSettings(), 5_000),
        ("0.5 %", 100_000, PromptSettings(), 500),
        ("1%", 10, PromptSettings(), 1),
        (" 2.50% ", 1_000, PromptSettings(), 25),
    ],
)
def test_a_budget_is_what_is_asked_for_or_what_is_known(
    asked: int | str | None, window: int, prompt: PromptSettings, expected: int
) -> None:
    assert expected == budget_of(asked, window, prompt)


@pytest.mark.parametrize(
    "asked",
    [
        0,
        -5,
        True,
        "",
        "many",
        "1.5",
        "0%",
        "-1%",
        "101%",
        "nan%",
        "inf%",
        "%",
        "9" * 5_000,
        "1_000",
        "+5",
        "\u0661\u0662",
        "1e3",
        "\u0665%",
        "1e0%",
        "1_0%",
        "1.2.3%",
        "1.%x",
    ],
)
def test_a_budget_that_is_none_is_refused(asked: int | str) -> None:
    with pytest.raises(UsageError, match="invalid token budget"):
        budget_of(asked, 100_000, PromptSettings())


def test_a_share_needs_a_window() -> None:
    with pytest.raises(UsageError, match="of which window"):
        budget_of("2%", 0, PromptSettings())


@pytest.mark.parametrize("wish", [{"format": "yaml"}, {"mode": "tiny"}, {"window": -1}])
def test_a_wish_that_cannot_be_met_is_refused(tmp_path: Path, wish: dict[str, object]) -> None:
    with pytest.raises(UsageError), Place(tmp_path).open() as m:
        m.catalogue(**wish)  # type: ignore[arg-type]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    for name in ("one", "two"):
        skill(found.root / name, description=f"Does {name}.")
    return found


def test_only_visible_skills_are_told(place: Place) -> None:
    skill(place.root / "shy", fields="disable-model-invocation: true\n")
    skill(place.root / "unwanted")
    place.configure('[skills]\ndisabled = ["unwanted"]\n')

    told = place.open().catalogue()

    assert ["one", "two"] == [row[0] for row in told.rows]
    assert [] == told.omitted


def test_settings_give_what_the_wish_leaves_open(place: Place) -> None:
    place.configure('[prompt]\nformat = "markdown"\nwindow = 4000\n')

    told = place.open().catalogue()

    assert ("markdown", 80) == (told.format, told.budget)
    assert "Does one." not in told.text  # a small window: names alone
    assert "Does one." in place.open().catalogue(mode="full").text


def test_the_ports_of_the_library_are_used(place: Place) -> None:
    class Letters:
        def count(self, text: str) -> int:
            return len(text)

    library = place.open()
    library.context.counter = Letters()

    told = library.catalogue(150)

    assert len(told.text) == told.tokens <= 150


def test_a_reload_keeps_the_beginning(place: Place) -> None:
    library = place.open()
    before = library.catalogue()
    skill(place.root / "a-new-one")
    library.reload()

    after = library.catalogue(previous=before)

    assert ["one", "two", "a-new-one"] == [row[0] for row in after.rows]
    assert "a-new-one" in after.delta
    assert "two" not in after.delta


def test_an_earlier_catalogue_may_be_given_as_its_json(place: Place) -> None:
    library = place.open()
    before = json.loads(json.dumps(plain(library.catalogue())))
    skill(place.root / "a-new-one")
    library.reload()

    after = library.catalogue(previous=before)

    assert ["one", "two", "a-new-one"] == [row[0] for row in after.rows]


@pytest.mark.parametrize("previous", [{}, {"text": 1}, [], "text", 3])
def test_what_is_no_earlier_catalogue_is_refused(place: Place, previous: Any) -> None:
    with pytest.raises(UsageError, match="no earlier catalogue"):
        place.open().catalogue(previous=previous)


def test_how_well_a_skill_did_is_told_when_the_configuration_asks_for_it(place: Place) -> None:
    place.configure("[prompt]\nreliability = true\n")
    library = place.open()
    one = next(card for card in library.skills() if card.name == "one")
    texts = []
    runs: list[counter.What] = ["run", "run", "run", "run", "run", "failure", "run"]
    for what in runs:
        counter.count_use(library.context, one, what)
        texts.append(library.catalogue().text)

    assert not any("uses=" in text for text in texts[:4])
    assert '<skill reliability="100%" uses="5"><name>one</name>' in texts[4]
    assert '<skill reliability="80%" uses="5"><name>one</name>' in texts[5] == texts[6]
    assert "<skill><name>two</name>" in texts[6]


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("", ()),
        (
            "[prompt]\nbudget = 120\n",
            ("its description is shortened by the prompt's budget of 120 tokens",),
        ),
        (
            "[prompt]\nbudget = 5\n",
            (
                "left out of the catalogue by the prompt's budget of 5 tokens; it can still be searched for",
            ),
        ),
        (
            "[prompt]\nwindow = 8000\n",
            ("told by its name alone: the window is smaller than 8,192 tokens",),
        ),
        (
            '[prompt]\nnames_only = ["office"]\n',
            ("told by its name alone: prompt.names_only has its category office",),
        ),
        (
            "[prompt]\ninclude = false\n",
            ("no model is told of it: prompt.include = false in the configuration",),
        ),
    ],
)
def test_why_says_what_the_budget_does_to_a_visible_skill(
    tmp_path: Path, config: str, reason: tuple[str, ...]
) -> None:
    place = Place(tmp_path)
    skill(place.root / "office/pdf", description="Fills in forms. " * 60)
    place.configure(config)

    (choice,) = place.open().why("pdf").candidates

    assert (
        reason == choice.reasons[-1:]
        if reason
        else not any(
            "the catalogue" in told or "its description" in told for told in choice.reasons
        )
    )


def test_why_without_the_budget_makes_no_catalogue_and_judges_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for name in ("pdf", "ocr"):
        skill(place.root / f"office/{name}")
    library = place.open()

    (choice,) = library.why("pdf", budget=False).candidates

    assert "pdf" == choice.path.rpartition("/")[2]
    assert [""] == [card.verdict for card in library.skills(all=True) if card.name == "ocr"]
