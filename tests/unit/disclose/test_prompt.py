"""The text that tells a model of skills: its three forms, its tiers, its report."""

from __future__ import annotations

import json

import pytest
from fakes.cards import ROOT, card

from metier.disclose.prompt import PromptOptions, disclose, order_for_prompt
from metier.model import Diagnostic
from metier.settings.model import PROMPT_ORDER
from metier.standard.plain_text import Estimate, estimate

PDF = card("pdf", "Fills in forms & reads <b>them</b>.", root="/s")
CSV = card("csv", "", root="/s")
FORMATS = ("xml", "markdown", "json")


def test_xml_has_one_skill_a_line() -> None:
    expected = """<available_skills>
<skill><name>pdf</name><description>Fills in forms &amp; reads &lt;b&gt;them&lt;/b&gt;.</description><location>/s/pdf/SKILL.md</location></skill>
<skill><name>csv</name><location>/s/csv/SKILL.md</location></skill>
</available_skills>"""

    assert expected == disclose([PDF, CSV], PromptOptions(2_000)).text


def test_markdown_has_one_skill_a_line() -> None:
    expected = "- pdf: Fills in forms & reads &lt;b>them&lt;/b>. (file: /s/pdf/SKILL.md)\n- csv: (file: /s/csv/SKILL.md)"

    assert expected == disclose([PDF, CSV], PromptOptions(2_000, "markdown")).text


def test_json_is_one_document() -> None:
    told = disclose([PDF, CSV], PromptOptions(2_000, "json"))

    expected = [
        {
            "name": "pdf",
            "description": "Fills in forms & reads <b>them</b>.",
            "location": "/s/pdf/SKILL.md",
        },
        {"name": "csv", "location": "/s/csv/SKILL.md"},
    ]
    assert {"skills": expected} == json.loads(told.text)
    assert 4 == len(told.text.splitlines())


@pytest.mark.parametrize("form", FORMATS)
def test_no_skills_no_text(form: str) -> None:
    told = disclose([], PromptOptions(2_000, form))

    assert ("", 0, 0, 0, [], "", []) == (*told[:5], told.instructions, told.warnings)


def test_the_location_is_the_file_that_was_read() -> None:
    lower = PDF._replace(diagnostics=(Diagnostic("SK002", "warning", "", "skill.md"),))
    flat = card("notes", path="/s/notes.md")._replace(kind="flat-md")

    told = disclose([lower, flat], PromptOptions(2_000, "markdown"))

    assert "(file: /s/pdf/skill.md)" in told.text
    assert "(file: /s/notes.md)" in told.text


def test_the_order_is_by_scope_then_name_then_path() -> None:
    cards = [
        card("b", scope="user"),
        card("z", scope="project"),
        card("a", scope="user", path="/2"),
        card("a", scope="user", path="/1"),
        card("y", scope="system"),
        card("x", scope="package"),
        card("w", scope="admin"),
    ]

    found = order_for_prompt(cards, PROMPT_ORDER)

    assert ["y", "w", "z", "a", "a", "b", "x"] == [one.name for one in found]
    assert ["/1", "/2"] == [one.path for one in found[3:5]]


def test_a_scope_that_the_order_forgets_comes_last() -> None:
    assert ["b", "a"] == [
        one.name
        for one in order_for_prompt(
            [card("a", scope="user"), card("b", scope="system")], ("system",)
        )
    ]


MANY = [
    card(f"skill-{at:02}", f"{at} " + "describes what it is for " * 10, root="/s")
    for at in range(20)
]


def test_everything_is_told_in_full_when_it_fits() -> None:
    told = disclose(MANY, PromptOptions(5_000))

    assert (20, 0, [], []) == (told.included, told.shortened, told.omitted, told.warnings)
    assert all(one.description in told.text for one in MANY)


def test_then_every_name_and_an_even_share_of_each_description() -> None:
    told = disclose(MANY, PromptOptions(800, "markdown"))

    shown = [int(row[2]) for row in told.rows]
    assert (20, 20, []) == (told.included, told.shortened, told.omitted)
    assert max(shown) - min(shown) <= 1
    assert [one.name for one in MANY] == told.cut
    assert 780 <= told.tokens <= 800  # up to the last whole word of each


def test_then_names_alone_as_many_as_fit_and_how_many_are_left_out() -> None:
    told = disclose(MANY, PromptOptions(100, "markdown"))

    assert told.included + len(told.omitted) == 20
    assert told.text.endswith(
        f"\n- {len(told.omitted)} additional skills omitted from this bounded skills list; search_skills finds them."
    )
    assert "describes" not in told.text
    assert told.tokens <= 100


def test_a_shorter_name_fits_after_a_longer_one_was_left_out() -> None:
    cards = [card("a", root="/s"), card("long-" * 40, root="/s"), card("z", root="/s")]

    told = disclose(cards, PromptOptions(50, "markdown"))

    assert (["a", "z"], ["long-" * 40]) == ([row[0] for row in told.rows], told.omitted)
    assert (
        "\n- 1 additional skill omitted from this bounded skills list; search_skills finds it."
        in told.text
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("budget", [1, 5, 12])
def test_a_budget_too_small_for_anything_gives_no_text_and_says_so(form: str, budget: int) -> None:
    told = disclose(MANY, PromptOptions(budget, form))

    assert ("", 0, 0, 20, "") == (
        told.text,
        told.tokens,
        told.included,
        len(told.omitted),
        told.instructions,
    )
    assert ["too small" in warning for warning in told.warnings] == [True]


def test_names_alone_are_told_in_a_compact_text_and_counted_as_shortened() -> None:
    told = disclose(MANY[:3], PromptOptions(2_000, "markdown", compact=True))

    assert "- skill-00: (file: /s/skill-00/SKILL.md)" == told.text.splitlines()[0]
    assert (3, 3, []) == (told.included, told.shortened, told.warnings)


def test_a_category_may_be_told_by_names_alone() -> None:
    quiet = MANY[0]._replace(category="games")

    told = disclose([quiet, MANY[1]], PromptOptions(2_000, silent=frozenset({"games"})))

    assert (["skill-00"], 2) == (told.cut, told.included)
    assert MANY[1].description in told.text


@pytest.mark.parametrize(
    ("uses", "expected"),
    [(4, "<skill><name>pdf</name>"), (5, '<skill reliability="80%" uses="5"><name>pdf</name>')],
)
def test_how_well_a_skill_does_is_told_once_it_was_used_often_enough(
    uses: int, expected: str
) -> None:
    assert expected in disclose([PDF], PromptOptions(2_000, stats={"pdf": (uses, 80)})).text


def test_only_xml_tells_how_well_a_skill_does() -> None:
    assert (
        "80" not in disclose([PDF], PromptOptions(2_000, "markdown", stats={"pdf": (9, 80)})).text
    )


@pytest.mark.parametrize(
    ("stats", "expected"),
    [
        ((9, 99), ("90", "5")),
        ((10, 100), ("100", "10")),
        ((49, 9), ("0", "20")),
        ((99, 55), ("50", "50")),
        ((1_999, 70), ("70", "1000")),
    ],
)
def test_a_line_does_not_change_with_every_use(
    stats: tuple[int, int], expected: tuple[str, str]
) -> None:
    text = disclose([PDF], PromptOptions(2_000, stats={"pdf": stats})).text

    assert f'<skill reliability="{expected[0]}%" uses="{expected[1]}"><name>pdf</name>' in text


NEEDY = PDF._replace(readiness="setup_needed")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("xml", '<skill readiness="setup_needed"><name>pdf</name>'),
        ("json", '{"readiness":"setup_needed","name":"pdf",'),
        ("markdown", "- pdf: Fills"),
    ],
)
def test_a_skill_that_is_not_ready_is_marked_and_reported(form: str, expected: str) -> None:
    told = disclose([NEEDY, CSV], PromptOptions(2_000, form))

    assert expected in told.text
    assert ["pdf"] == told.unready
    assert estimate(told.text) == told.tokens


def test_what_is_left_out_is_not_reported_as_not_ready() -> None:
    assert [] == disclose([NEEDY], PromptOptions(10)).unready


def test_both_marks_are_told_and_paid_for() -> None:
    cards = [one._replace(readiness="unsupported") for one in MANY]
    stats = {one.name: (7, 100) for one in MANY}

    told = disclose(cards, PromptOptions(1_200, stats=stats))

    assert 20 == told.text.count(
        '<skill readiness="unsupported" reliability="100%" uses="5"><name>'
    )
    assert 1_160 <= told.tokens == estimate(told.text) <= 1_200


class Words:
    """A counter for which every run of characters without a space is a token."""

    def count(self, text: str) -> int:
        """Count them."""
        return len(text.split())


def test_an_exact_counter_may_let_more_in_than_the_estimate() -> None:
    told = disclose(MANY, PromptOptions(300, "markdown", counter=Words()))

    assert disclose(MANY, PromptOptions(300, "markdown")).shortened
    assert told.tokens == Words().count(told.text) <= 300
    assert told.tokens > 250


def test_everything_is_told_where_an_exact_counter_lets_it_however_cheap_it_is() -> None:
    class Free:
        def count(self, text: str) -> int:
            return 1 if text else 0

    told = disclose(MANY, PromptOptions(1, counter=Free()))

    assert (20, 0, 1) == (told.included, told.shortened, told.tokens)


@pytest.mark.parametrize("budget", [150, 333])
def test_an_exact_counter_finds_the_same_text_again(budget: int) -> None:
    before = disclose(MANY, PromptOptions(budget, counter=Words()))

    again = disclose(MANY, PromptOptions(budget, counter=Words()), before)
    cheaper = disclose(MANY, PromptOptions(budget, counter=Cheaper()), before)

    assert before.room
    assert (before.text, "") == (again.text, again.delta)
    assert len(cheaper.text) > len(before.text)  # another counter is asked anew


def test_a_search_that_would_end_elsewhere_is_not_made_again() -> None:
    class Odd:
        def count(self, text: str) -> int:
            return -(-len(text) // 3) + text.count(" ")

    long = "x" * 30
    cards = [
        card("s0", "", root="/s"),
        card(f"s1{long}", "w w w w w w w ", root="/s"),
        card(f"s2{long}", "d" * 43, root="/s"),
    ]
    before = disclose(cards, PromptOptions(139, counter=Odd()))

    again = disclose(cards, PromptOptions(139, counter=Odd()), before)

    assert (before.text, "") == (again.text, again.delta)


class Cheaper(Words):
    """Half the price."""

    def count(self, text: str) -> int:
        """Count them."""
        return super().count(text) // 2


class Dear:
    """A counter for which every byte is a token."""

    def count(self, text: str) -> int:
        """Count them."""
        return len(text.encode())


def test_an_exact_counter_may_let_less_in_than_the_estimate() -> None:
    told = disclose(MANY, PromptOptions(600, "markdown", counter=Dear()))

    assert told.text
    assert 550 <= told.tokens == len(told.text.encode()) <= 600


def test_the_estimate_is_a_counter() -> None:
    assert estimate("four bytes and more") == Estimate().count("four bytes and more") == 5


# --- the beginning of the text


def test_a_new_skill_comes_last_though_its_name_comes_first() -> None:
    before = disclose(MANY[:5], PromptOptions(2_000))

    after = disclose([card("aaa", root="/s"), *MANY[:5]], PromptOptions(2_000), before)

    assert after.text.startswith(before.text.removesuffix("\n</available_skills>"))


def test_a_change_ends_what_is_kept_and_the_changed_skill_stays_where_it_was() -> None:
    before = disclose(MANY[:5], PromptOptions(2_000))
    edited = [*MANY[:3], MANY[3]._replace(description="New."), MANY[4]]

    after = disclose(edited, PromptOptions(2_000), before)

    at = before.text.index("<skill><name>skill-03")
    assert before.text[:at] == after.text[:at]
    assert [row[0] for row in before.rows] == [row[0] for row in after.rows]


def test_shortened_lines_stay_as_they_are_when_another_skill_comes() -> None:
    before = disclose(MANY[:19], PromptOptions(800, "markdown"))

    after = disclose(MANY, PromptOptions(800, "markdown"), before)

    old, new = before.text.splitlines(), after.text.splitlines()
    kept = next(at for at, line in enumerate(new) if line != old[at])
    assert kept >= 15
    assert (20, []) == (after.included, after.omitted)
    assert after.tokens <= 800


def test_everything_is_in_full_again_as_soon_as_it_fits() -> None:
    before = disclose(MANY, PromptOptions(800, "markdown"))

    after = disclose(MANY, PromptOptions(5_000, "markdown"), before)

    assert (0, 20) == (after.shortened, after.included)


def test_old_aliases_stay_with_the_text_that_used_them() -> None:
    cards = [card(f"skill-{at:02}") for at in range(40)]
    before = disclose(cards, PromptOptions(400))

    after = disclose([*cards, card("zz")], PromptOptions(400), before)

    assert {"r0": ROOT} == before.aliases == after.aliases
    assert before.text.rpartition("\n<omitted>")[0] == after.text.rpartition("\n<omitted>")[0]


def test_a_past_in_another_form_is_no_past() -> None:
    before = disclose(MANY, PromptOptions(800, "markdown"))

    assert (
        disclose(MANY, PromptOptions(800)).text == disclose(MANY, PromptOptions(800), before).text
    )
