"""For any body: its sections cover it, parents hold their children, every name is its own and is found."""

from __future__ import annotations

from hypothesis import given, strategies as st

from metier.disclose.sections import SectionPart, section_named, sections

LINES = st.sampled_from(
    [
        "# A",
        "## A",
        "### B",
        "#",
        "A",
        "text",
        "===",
        "---",
        "",
        "```",
        "~~~",
        "<!--",
        "-->",
        "- item",
        "> quote",
        "    code",
        "<pre>",
        "</pre>",
        "# A (2)",
        "\ud800",
        "\0",
    ],
)
BODIES = st.lists(LINES, max_size=30).map("\n".join) | st.text(
    st.characters() | st.sampled_from("#=-`~<!> \n\r\t"), max_size=200
)


def top(parts: list[SectionPart]) -> list[SectionPart]:
    """Give the sections that lie in no other."""
    found: list[SectionPart] = []
    for part in parts:
        if not found or part.level == 0 or found[-1].level == 0 or part.level <= found[-1].level:
            found.append(part)
    return found


@given(BODIES)
def test_the_outermost_sections_are_the_body(body: str) -> None:
    parts = sections(body)

    assert body.strip() == "".join(part.content for part in top(parts)).strip()


@given(BODIES)
def test_every_section_lies_in_its_parent_whole(body: str) -> None:
    parts = sections(body)

    above: list[SectionPart] = []
    for part in parts:
        while above and above[-1].level >= part.level:
            above.pop()
        assert all(part.content in one.content for one in above if one.level)
        above.append(part)


@given(BODIES)
def test_every_section_has_a_name_of_its_own_and_is_found_by_it(body: str) -> None:
    parts = sections(body)

    assert len(parts) == len({part.heading for part in parts})
    assert parts == [section_named("any", part.heading, parts) for part in parts]


@given(BODIES)
def test_a_section_begins_on_the_line_it_names(body: str) -> None:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    for part in sections(body):
        first = part.content.replace("\r\n", "\n").replace("\r", "\n").split("\n")[0]
        assert part.level == 0 or first == lines[part.line - 1]
