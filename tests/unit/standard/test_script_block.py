"""The `script` block of inline script metadata: found as the specification says, and checked word by word."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet

from metier.standard.script_block import (
    MOST_BLOCK,
    MOST_DEPENDENCIES,
    MOST_REQUIREMENT,
    ScriptBlock,
    read_block,
    requirement,
    unfit,
)

SPECIFIED = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""The expression that the specification gives."""


def script(*lines: str) -> str:
    return "\n".join(
        [
            "#!/usr/bin/env python3",
            "# /// script",
            *(f"# {line}" for line in lines),
            "# ///",
            "import rich",
            "",
        ]
    )


def test_a_block_is_read() -> None:
    text = script(
        'requires-python = ">=3.11"',
        "dependencies = [",
        '  "requests < 3",',
        '  "rich",',
        '  "rich",',
        "]",
        "",
        "[tool.uv]",
        "x = 1",
    )

    declared = read_block(text)

    assert ScriptBlock(">=3.11", ("requests<3", "rich")) == declared


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import this\n",
        "# /// script\n",
        "# /// script\n# ///\n",
        "# /// script\n# a = 1\n\n# ///\n",
        "## /// script\n# a = 1\n# ///",
        "# /// tool\n# a = 1\n# ///\n",
        " # /// script\n # a = 1\n # ///\n",
        "# /// script \n# a = 1\n# ///\n",
        "# /// script\n#a = 1\n# ///\n",
    ],
)
def test_what_is_no_block_is_none(text: str) -> None:
    declared = read_block(text)

    assert declared is None


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("# /// script\n#\n# ///", ScriptBlock()),
        ("# /// script\r\n# dependencies = ['a']\r\n# ///\r\n", ScriptBlock("", ("a",))),
        (
            "# /// other\n# /// script\n# ///\n\n# /// script\n# dependencies = ['a']\n# ///",
            ScriptBlock("", ("a",)),
        ),
        ("# /// script\n# x = '''\n# ///\n# '''\n# ///", ScriptBlock()),
    ],
)
def test_edges_of_the_specification(text: str, declared: ScriptBlock) -> None:
    found = read_block(text)

    assert declared == found


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (script().replace("# ///\nimport", "# a = 1\n# ///\nimport") * 2, "2 blocks"),
        (script("dependencies = ["), "no TOML"),
        (script("a = " + "[" * 5000), "no TOML"),
        (script("a = " + "9" * 6000), "no TOML"),
        (script("a = 1979-99-99"), "no TOML"),
        (script('a = "' + "x" * MOST_BLOCK + '"'), "characters"),
        (script("dependencies = 'requests'"), "no list"),
        (script("dependencies = [1]"), "no list"),
        (script("requires-python = 3"), "no short text"),
        (script("requires-python = '" + ">=3," * 200 + "'"), "no short text"),
        (
            script(f"dependencies = {['a' + str(n) for n in range(MOST_DEPENDENCIES + 1)]}"),
            "at most",
        ),
        (script("dependencies = ['" + "a" * (MOST_REQUIREMENT + 1) + "']"), "characters"),
        (script("dependencies = ['ok', '--index-url=https://evil.test']"), "no name"),
    ],
)
def test_a_block_that_cannot_be_used_says_why_and_nothing_else(text: str, word: str) -> None:
    declared = read_block(text)

    assert declared is not None
    assert ("", (), True) == (
        declared.requires_python,
        declared.dependencies,
        word in declared.problem,
    )


@given(
    st.lists(
        st.sampled_from(
            ["# /// script", "# /// other", "# ///", "#", "# a", "#b", "x", "", "# /// script "]
        ),
        max_size=14,
    )
)
def test_blocks_are_found_where_the_expression_of_the_specification_finds_them(
    lines: list[str],
) -> None:
    text = "\n".join(lines)
    expected = [match for match in SPECIFIED.finditer(text) if match["type"] == "script"]

    declared = read_block(text)

    assert (not expected) == (declared is None)
    assert (len(expected) > 1) == (declared is not None and "blocks" in declared.problem)


def test_many_openings_without_an_end_cost_one_pass() -> None:
    text = "# /// script\n" * 200_000

    declared = read_block(text)

    assert declared is None


@pytest.mark.parametrize(
    ("text", "given_on"),
    [
        ("requests", "requests"),
        (" Requests ", "Requests"),
        ("a[x, y]>=1,<2", "a[x,y]>=1,<2"),
        ("a (>= 1.0)", "a>=1.0"),
        ("a[]", "a"),
        ("a==1.*", "a==1.*"),
        ("a~=1.0; python_version < '3.12'", "a~=1.0; python_version < '3.12'"),
        (
            "a ; (os_name == \"nt\" or 'x' not in sys_platform)",
            "a; (os_name == \"nt\" or 'x' not in sys_platform)",
        ),
        ("a===1.0+local", "a===1.0+local"),
        ("a==1!2.0", "a==1!2.0"),
        ("zope.interface", "zope.interface"),
    ],
)
def test_a_dependency_has_one_form(text: str, given_on: str) -> None:
    form = requirement(text)

    assert given_on == form
    assert Requirement(text) == Requirement(form)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-r more.txt",
        "--index-url=https://evil.test",
        "-e .",
        ".",
        "./wheel",
        "/etc/passwd",
        "../x",
        "a/b",
        "c:\\x",
        "a @ https://x.test",
        "a@https://x.test",
        "a @ file:///etc",
        "https://x.test/a.whl",
        "git+https://x.test/a",
        "a.whl",
        "a-1.tar.gz",
        "A.ZIP",
        "a --pre",
        "a>=1 --pre",
        "a>=1 b",
        "a b",
        "a>=",
        "a>=1,",
        "a=>1",
        "a[x",
        "a[x]]",
        "a[-x]",
        "a[x y]",
        "a;",
        "a; ",
        "a; evil == 'x'",
        "a; import os",
        "a; os_name == 'x\\'",
        "a; os_name == 'x",
        "a\n--pre",
        "a; os_name\n== 'x'",
        "a;os_name=='\x1b[2J'",
        "é",
        "a>=1$(x)",
        "a # x",
        "${X}",
        "%s",
        "a>=1;;",
    ],
)
def test_anything_else_is_no_dependency(text: str) -> None:
    with pytest.raises(ValueError, match=r"dependency|package|address") as raised:
        requirement(text)

    assert str(raised.value).isprintable()


@given(st.text("ab1.-_[](),;<>=~!@ '\"/:\\\n*+", max_size=24))
def test_what_is_handed_on_is_what_the_installer_understands(text: str) -> None:
    try:
        form = requirement(text)
    except ValueError:
        form = ""

    try:
        understood = Requirement(form or "a")
    except InvalidRequirement:  # our check is of words and signs; versions and markers that make no sense are the installer's to refuse
        understood = Requirement("a")

    assert understood.url is None
    assert not form.startswith(("-", ".", "/"))
    assert not set(form) & set("@/\\\n")


@pytest.mark.parametrize(
    "clause",
    [
        ">=3.8",
        "<4",
        ">=3.8,<3.12",
        "==3.11.*",
        "!=3.11.*",
        "==3.11",
        "==3.11.7",
        "~=3.8",
        "~=3.10.2",
        "~=3.11.2",
        ">3.11",
        ">3.11.7",
        "<=3.11",
        "<3.11.7",
        "!=3.11.7",
        "===3.11.7",
        ">= 3.9 , < 3.11",
        "==3.*",
        ">=3.11.0.0",
    ],
)
def test_versions_of_python_are_compared_as_everywhere(clause: str) -> None:
    expected = SpecifierSet(clause).contains("3.11.7")

    reason = unfit(clause, (3, 11, 7))

    assert expected == (not reason)


@pytest.mark.parametrize(
    "clause",
    ["3.11", ">=", ">=x", ">=3.*", "~=3", "3.8 or 3.9", ">=3.8,", ">=3.12rc1", "^3.8", "\x1b[2J"],
)
def test_what_is_no_version_of_python_fits_none(clause: str) -> None:
    reason = unfit(clause, (3, 11, 7))

    assert "not understood" in reason
    assert reason.isprintable()


def test_a_script_that_says_nothing_about_python_fits_any() -> None:
    reason = unfit("", (3, 11, 7))

    assert "" == reason
