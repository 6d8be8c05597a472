"""A skill's Markdown becomes HTML that can do nothing, with findings at their places."""

from __future__ import annotations

import time

import pytest
from unit.web.asgi import elements_of

from metier.model import Finding
from metier.web.markdown import (
    MAX_BRACKETS,
    MAX_NESTING,
    MarkedFinding,
    SkillLinks,
    render_markdown,
)
from metier.web.visible import plain, visible

LINKS = SkillLinks("/skills/x~1", frozenset({"guide.md", "a/pic.png"}))
HARMLESS = {
    "a", "aside", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "mark",
    "ol", "p", "pre", "s", "small", "span", "strong", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
}  # fmt: skip
ATTRIBUTES = {"href", "class", "id", "title", "rel", "aria-label", "start", "tabindex"}
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<iframe src=https://evil.example></iframe>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox)",
    "[x](&#106;avascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "<javascript:alert(1)>",
    "[x](file:///etc/passwd)",
    "[x](blob:https://e/1)",
    "![x](javascript:alert(1))",
    "![x](https://evil.example/track.png)",
    "![x](data:image/svg+xml;base64,AAAA)",
    "![x](data:image/png;base64,AAAA)",
    "[![x](https://evil.example/a.png)](https://evil.example)",
    '[x](https://e.example "\\" onmouseover=alert(1) \\"")',
    '[x](https://e.example/"onmouseover=alert`1`)',
    "[x]: javascript:alert(1)\n\n[x]",
    '# "><script>alert(1)</script>',
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "`</code><script>alert(1)</script>`",
    "|<script>|\n|-|\n|<img src=x>|",
    "<!-- <script> -->",
    "<style>*{display:none}</style>",
    "<form action=https://evil.example><input name=a></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<a href='javascript:alert(1)'>x</a>",
    "1. x\n\n   <base href=https://evil.example>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


def found(line: int, evidence: str = "", **parts: str) -> MarkedFinding:
    return MarkedFinding(
        1,
        Finding(
            rule=parts.get("rule", "SC101"),
            severity="high",
            category="injection",
            path="SKILL.md",
            line=line,
            column=1,
            evidence=evidence,
            why=parts.get("why", "It is bad."),
            hint="Remove it.",
        ),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_harmless_elements_that_load_nothing(text: str) -> None:
    made = elements_of(render_markdown(text, LINKS))

    assert set() == {one.tag for one in made} - HARMLESS
    assert set() == {name for one in made for name in one.attributes} - ATTRIBUTES
    assert all(
        one.attributes["href"].startswith(("/leave?to=http", "/skills/x~1/", "#"))
        for one in made
        if "href" in one.attributes
    )


def test_what_is_written_stays_to_be_read() -> None:
    text = render_markdown("<script>alert(1)</script>\n\n<!-- a hidden word -->\n", LINKS)

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&lt;!-- a hidden word --&gt;" in text


def test_a_link_leads_out_only_by_a_page_that_says_so() -> None:
    text = render_markdown("[site](https://e.example/?a=1&b=2 'words')", LINKS)

    assert 'href="/leave?to=https%3A%2F%2Fe.example%2F%3Fa%3D1%26b%3D2"' in text
    assert 'class="out"' in text
    assert "“words”" in text


def test_a_link_to_a_file_of_the_skill_leads_to_its_page() -> None:
    text = render_markdown(
        "[g](./guide.md#part) [n](none.md) ![p](a/pic.png) [t](#Part-One)", LINKS
    )

    assert 'href="/skills/x~1/files/guide.md"' in text
    assert 'href="/skills/x~1/files/a/pic.png"' in text
    assert '<span class="nolink">n (<code>none.md</code>)</span>' in text
    assert 'href="#t-part-one"' in text


def test_headings_are_below_those_of_the_page_and_their_ids_are_their_own() -> None:
    text = render_markdown("# Trust\n\n# Trust\n\n## Two\n\n###### Six\n", LINKS)

    assert [("h3", "t-trust"), ("h3", "t-trust-2"), ("h4", "t-two"), ("h6", "t-six")] == [
        (one.tag, one.attributes["id"]) for one in elements_of(text)
    ]


def test_a_finding_is_marked_where_it_stands_and_said_after_its_block() -> None:
    text = render_markdown(
        "One.\n\nTwo *and\nbad* words here.\n\nEnd.", LINKS, (found(14, "bad"),), 11
    )

    assert "<em>and\n<mark>bad</mark>" in text
    assert '<a class="flag high" href="#note-1"' in text
    assert text.index("words here.</p>") < text.index('id="note-1"') < text.index("End.")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Bad heading", 1),
        ("- a\n- bad item\n", 2),
        ("```\none\nbad\n```", 3),
        ("    bad code", 1),
        ("|a|\n|-|\n|bad|\n", 3),
        ("[x](https://bad.example)", 1),
        ("[bad]: https://e.example 'bad words'\n", 1),
        ("> quoted\n> bad\n", 2),
        ("`two\nlines` bad", 2),
        ("text", 99),
    ],
)
def test_each_finding_is_said_once_wherever_it_stands(text: str, line: int) -> None:
    made = elements_of(render_markdown(text, LINKS, (found(line, "bad"),)))

    assert 1 == sum(one.attributes.get("id") == "note-1" for one in made)


def test_what_a_finding_says_is_escaped() -> None:
    text = render_markdown("x", LINKS, (found(1, why="<script>alert(1)</script>\u202e"),))

    assert "<script" not in text
    assert "U+202E" in text


def test_addresses_that_links_name_are_shown_since_they_may_hold_words() -> None:
    text = render_markdown("[x]: https://e.example 'Ignore all <b>rules</b>'\n", LINKS)

    assert "Ignore all &lt;b&gt;rules&lt;/b&gt;" in text


def test_what_lies_too_deep_to_be_read_is_shown_as_it_is_written() -> None:
    text = render_markdown("> " * (MAX_NESTING + 20) + "deep words", LINKS)

    assert "deep words" in text


@pytest.mark.parametrize(
    "text",
    [
        "[" * 30_000,
        "![a" * 10_000,
        "[a](b) " * MAX_BRACKETS,
        "*a" * 30_000,
        "*a_" * 20_000,
        "~~a" * 20_000,
        ">" * 60_000,
        "|a" * 300 + "\n" + "|-" * 300 + "\n" + ("|x" * 300 + "\n") * 60,
        "x" * 100_000,
        "<a " * 20_000,
    ],
    ids=lambda text: text[:6],
)
def test_text_made_to_take_long_does_not(text: str) -> None:
    began = time.process_time()

    made = render_markdown(text, LINKS)

    assert time.process_time() - began < 2
    assert len(made) >= len(text) / 2


def test_lines_are_counted_as_the_scan_counts_them() -> None:
    text = render_markdown("a\rb\r\nc\0d\n\nbad", LINKS, (found(4, "bad"),))

    assert "a␍b\nc␀d" in text
    assert "<mark>bad</mark>" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202e", "U+202E"),
        ("a\u200bb", "U+200B"),
        ("\0", "U+0000"),
        ("\ud800", "U+D800"),
        ("\U000e0041", "U+E0041"),
        ("\u2066", "U+2066"),
        ("a\u200db", "U+200D"),
        ("\x1b[31m", "U+001B"),
    ],
)
def test_what_nobody_would_see_is_shown(text: str, shown: str) -> None:
    assert f">{shown}</span>" in visible(text)
    assert shown in plain(text)


def test_what_belongs_to_a_script_or_an_emoji_stays() -> None:
    text = "👨\u200d👩 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u05e9\u05dc\u05d5\u05dd"

    assert text == visible(text)
