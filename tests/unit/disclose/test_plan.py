"""What is planned with and without a past: the tier, the aliases, the lines that stay."""

from __future__ import annotations

import pytest
from fakes.cards import card

from metier.disclose.plan import recall
from metier.disclose.prompt import Disclosure, PromptOptions, disclose

DEEP = "/a/rather/long/way/down/to/the/skills"
MANY = [card(f"skill-{at:03}", "Does one thing or another. " * 5, root=DEEP) for at in range(200)]
EVEN = [card(f"s{at}", "d" * 60, root="/s") for at in range(6)]


def shown(told: Disclosure) -> list[int]:
    return [int(row[2]) for row in told.rows]


# --- without a past


def test_one_name_is_told_by_its_path_where_an_alias_would_leave_room_for_none() -> None:
    told = disclose(MANY, PromptOptions(46, "markdown"))

    assert (1, {}) == (told.included, told.aliases)


def test_an_alias_whose_skills_found_no_room_is_in_no_table() -> None:
    here = [card(f"a{at}", root=DEEP) for at in range(9)]
    there = [
        card(f"{'long-' * 40}{at}", root="/another/rather/long/way/to/skills") for at in range(9)
    ]

    told = disclose([*here, *there], PromptOptions(150, "markdown"))

    assert {"r0": DEEP} == told.aliases
    assert 9 == told.included
    assert told.text == disclose([*here, *there], PromptOptions(150, "markdown"), told).text


def test_without_an_alias_that_found_no_use_a_whole_path_may_fit() -> None:
    here, there = "/home/someone/skills", f"/long/{'z' * 60}"
    cards = [
        card(letter * length, "", path=f"{root}/{at}", root=root)
        for at, (letter, length, root) in enumerate(
            [("a", 40, here), ("b", 40, there), ("c", 1, here), ("d", 40, there), ("e", 1, there)]
        )
    ]

    told = disclose(cards, PromptOptions(75, "markdown"))

    assert {"r0": here} == told.aliases
    assert f"\n- e: (file: {there}/4/SKILL.md)\n" in told.text
    assert told.text == disclose(cards, PromptOptions(75, "markdown"), told).text


# --- with a past: when it is given up


def test_the_old_order_is_not_kept_when_the_first_line_does_not_stay() -> None:
    cards = [card("a"), card("b"), card("c")]
    before = disclose(cards, PromptOptions(2_000), disclose(cards[1:], PromptOptions(2_000)))

    after = disclose(
        [cards[0], cards[1]._replace(description="Changed."), cards[2]],
        PromptOptions(2_000),
        before,
    )

    assert ["b", "c", "a"] == [row[0] for row in before.rows]
    assert ["a", "b", "c"] == [row[0] for row in after.rows]


def test_an_opening_is_not_kept_for_itself_when_none_of_its_lines_stays() -> None:
    before = disclose(MANY[:5], PromptOptions(5_000))
    others = [card(f"other-{at}", root="/srv/skills") for at in range(5)]

    assert disclose(others, PromptOptions(5_000)) == disclose(
        others, PromptOptions(5_000), before
    )._replace(delta="")


def test_a_library_that_grew_out_of_its_paths_gets_aliases() -> None:
    before = disclose(MANY[:5], PromptOptions(2_000))

    grown, new = disclose(MANY, PromptOptions(2_000), before), disclose(MANY, PromptOptions(2_000))

    assert {"r0": DEEP} == grown.aliases
    assert new.included == grown.included


@pytest.mark.parametrize(("count", "keeps"), [(1, True), (60, False)])
def test_a_past_may_cost_a_few_names_and_no_more(count: int, keeps: bool) -> None:
    long = [card(f"long-{'name-' * 15}{at:02}", root="/s") for at in range(60)]
    short = [card(f"a{at:02}", root="/s") for at in range(count)]
    before = disclose(long, PromptOptions(800))

    after, new = (
        disclose([*short, *long], PromptOptions(800), before),
        disclose([*short, *long], PromptOptions(800)),
    )

    assert before.omitted
    assert keeps is (recall(before).rows[0] == recall(after).rows[0])
    assert keeps is (new.text != after.text)
    assert 100 * after.included >= 95 * new.included


@pytest.mark.parametrize("budget", [1_500, 5_500])
def test_a_table_with_a_row_that_nothing_uses_any_more_is_given_up(budget: int) -> None:
    elsewhere = "/another/rather/long/way/to/skills"
    there = [
        card(f"other-{at}", "Does one thing or another. " * 5, root=elsewhere) for at in range(5)
    ]
    before = disclose([*MANY[:3], *there, *MANY[3:]], PromptOptions(budget))

    fewer, rest = (
        disclose([*MANY[:3], there[0], *MANY[3:]], PromptOptions(budget), before),
        disclose(MANY, PromptOptions(budget), before),
    )

    assert {DEEP, elsewhere} == set(before.aliases.values()) == set(fewer.aliases.values())
    assert recall(before).rows[0] == recall(fewer).rows[0]
    assert disclose(MANY, PromptOptions(budget)).text == rest.text
    assert {DEEP} == set(rest.aliases.values())


def test_everything_in_full_is_not_given_up_for_an_old_table() -> None:
    cards = [MANY[0]._replace(description="Short."), *MANY[1:30]]
    before = disclose(cards, PromptOptions(1_000, "markdown"))
    fewer = [cards[0], card("other", root="/s")]
    budget = disclose(fewer, PromptOptions(5_000, "markdown")).tokens

    after = disclose(fewer, PromptOptions(budget, "markdown"), before)

    assert "- skill-000: Short. (file: r0/skill-000/SKILL.md)" in before.text
    assert (2, 0, {}) == (after.included, after.shortened, after.aliases)


def test_room_that_became_free_is_used() -> None:
    before = disclose(MANY[:50], PromptOptions(1_500))

    fewer, more = (
        disclose(MANY[:30], PromptOptions(1_500), before),
        disclose(MANY[:50], PromptOptions(1_900), before),
    )

    assert disclose(MANY[:30], PromptOptions(1_500)).text == fewer.text
    assert disclose(MANY[:50], PromptOptions(1_900)).text == more.text


def test_a_little_room_that_became_free_is_not_worth_a_new_text() -> None:
    before = disclose(MANY[:50], PromptOptions(1_500))

    after = disclose(MANY[:49], PromptOptions(1_500), before)

    assert recall(before).rows[:49] == recall(after).rows


@pytest.mark.parametrize(
    ("budget", "keeps"), [(200, True), (252, True), (253, False), (278, False)]
)
def test_a_past_may_leave_a_quarter_of_the_room_empty_and_no_more(budget: int, keeps: bool) -> None:
    cards = [card(f"s{at}", "d" * 400, root="/s") for at in range(6)]
    before = disclose(cards, PromptOptions(200, "markdown"))

    after, new = (
        disclose(cards, PromptOptions(budget, "markdown"), before),
        disclose(cards, PromptOptions(budget, "markdown")),
    )

    told, room = (
        sum(shown(text)) + len(cards) for text in (before, new)
    )  # before each description stands a space
    assert keeps is (4 * (room - told) <= room)
    assert (before if keeps else new).text == after.text


# --- with a past: what stays, and what the others get


@pytest.mark.parametrize(
    ("budget", "old", "new", "expected"),
    [
        (
            60,
            [19, 18, 18, 18, 18],
            [11, 10, 10, 10, 10, 10],
            [19, 18, 6, 6, 6, 6],
        ),  # two stay: half of eleven, rounded up, is six
        (
            55,
            [15, 14, 14, 14, 14],
            [7, 7, 7, 7, 7, 6],
            [15, 6, 5, 5, 5, 5],
        ),  # with a second one there would be three for the others
        (51, [11, 11, 11, 11, 11], [5, 4, 4, 4, 4, 4], [5, 4, 4, 4, 4, 4]),  # not even one can stay
    ],
)
def test_lines_stay_to_the_last_byte_that_every_other_skill_can_spare(
    budget: int, old: list[int], new: list[int], expected: list[int]
) -> None:
    before = disclose(EVEN[:5], PromptOptions(budget, "markdown"))

    after = disclose(EVEN, PromptOptions(budget, "markdown"), before)

    assert (old, new) == (shown(before), shown(disclose(EVEN, PromptOptions(budget, "markdown"))))
    assert expected == shown(after)


def test_a_new_skill_gets_at_least_half_of_what_it_would_get_without_a_past() -> None:
    before = disclose(MANY[:50], PromptOptions(1_500))
    newest = card(
        "zz-new", "The new one, which nobody has told of before, in as many words.", root=DEEP
    )

    after, new = (
        disclose([*MANY[:50], newest], PromptOptions(1_500), before),
        disclose([*MANY[:50], newest], PromptOptions(1_500)),
    )

    assert 2 * shown(after)[-1] >= shown(new)[-1]
    assert recall(before).rows[:30] == recall(after).rows[:30]


# --- with a task


def test_of_a_text_for_a_task_only_the_first_part_counts_as_a_beginning() -> None:
    rare = card("zebra", "Counts stripes.", root=DEEP)
    before = disclose([*MANY, rare], PromptOptions(800, task="stripes"))

    after = disclose([*MANY, rare], PromptOptions(800), before)

    assert "zebra" in before.text
    assert disclose([*MANY, rare], PromptOptions(800)).text == after.text


def test_the_first_part_of_a_text_for_a_task_stays_when_a_skill_comes() -> None:
    before = disclose(MANY, PromptOptions(800, task="another thing"))
    core = [row for row in before.rows if row[4] == 2]

    after = disclose(
        [card("aaa", root=DEEP), *MANY], PromptOptions(800, task="something or another"), before
    )

    assert 10 < len(core)
    assert core == after.rows[: len(core)]
    assert 0 == after.rows[len(core)][4]


def test_the_first_part_is_filled_again_when_one_of_its_skills_went() -> None:
    before = disclose(MANY, PromptOptions(800, task="another thing"))
    core = [row for row in before.rows if row[4] == 2]

    after = disclose([*MANY[:3], *MANY[4:]], PromptOptions(800, task="another thing"), before)

    now = [row for row in after.rows if row[4] == 2]
    assert [*core[:3], *core[4:]] == now[: len(core) - 1]
    assert len(core) == len(now)


def test_a_task_after_a_text_without_one_gives_the_same_bytes_again() -> None:
    first = disclose(MANY[5:], PromptOptions(800))
    second = disclose(MANY, PromptOptions(800, task="thing"), first)

    third = disclose(MANY, PromptOptions(800, task="thing"), second)

    assert (second.text, "") == (third.text, third.delta)


def test_the_first_part_stays_what_it_was_though_a_shorter_name_would_fit_into_it() -> None:
    late = [card(f"m-{at}", root="/s") for at in range(4)] + [
        card(f"n-{'long-' * 60}{at}", root="/s") for at in range(20)
    ]
    first = disclose(late, PromptOptions(400))
    cards = [*(card(f"a{at}", root="/s") for at in range(9)), *late]
    second = disclose(cards, PromptOptions(400, task="long"), first)

    third = disclose(cards, PromptOptions(400, task="long"), second)

    assert ["m-0", "m-1", "m-2", "m-3"] == [row[0] for row in second.rows if row[4] == 2]
    assert (second.text, "") == (third.text, third.delta)


def test_a_long_name_that_went_from_the_first_part_makes_room_for_several() -> None:
    cards = [
        card("a", root="/s"),
        card(f"b-{'long-' * 15}", root="/s"),
        *(card(f"c{at:02}", root="/s") for at in range(60)),
    ]
    before = disclose(cards, PromptOptions(300, task="c30"))

    after = disclose([cards[0], *cards[2:]], PromptOptions(300, task="c30"), before)

    cores = [[row[0] for row in told.rows if row[4] == 2] for told in (before, after)]
    assert cores[0][2:] == cores[1][1 : len(cores[0]) - 1]
    assert len(cores[1]) > len(cores[0])


def test_lines_of_a_text_without_a_task_do_not_limit_the_first_part() -> None:
    cards = [card(f"skill-{at:03}", root="/s") for at in range(200)]
    before = disclose(cards[50:], PromptOptions(300))

    after = disclose(cards, PromptOptions(1_500, task="what it does"), before)

    assert before.omitted
    assert before.rows[0][:2] == after.rows[0][:2]
    assert len([row for row in after.rows if row[4] == 2]) > before.included
