"""Which skills a skill needs, in every form in use; what cannot be read is said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from metier.standard.document import read_document
from metier.standard.needs import read_needs
from metier.standard.requirements import MAX_REQUIREMENTS, read_requirements


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ("b", ("b", "", "", "")),
        ("plugin:b", ("plugin:b", "", "", "")),
        ("m1", ("m1", "", "", "")),
        ("b@^1.2", ("b", "^1.2", "", "")),
        ("b@1", ("b", "1", "", "")),
        ("b@latest", ("b", "", "", "")),
        ("b>=1,<2", ("b", ">=1,<2", "", "")),
        ("b >=1, <2", ("b", ">=1, <2", "", "")),
        ("b (>=1.0)", ("b", "(>=1.0)", "", "")),
        ("skill:b", ("b", "", "", "")),
        ("../b", ("b", "", "", "../b")),
        ("owner/repo/skills/b@^1.2", ("b", "^1.2", "owner/repo/skills/b", "")),
        ("owner/repo#v1:skills/b", ("b", "", "owner/repo#v1:skills/b", "")),
        ("owner/repo#^1.2.0", ("repo", "^1.2.0", "owner/repo", "")),
        ("https://h.example/r.git", ("r", "", "https://h.example/r.git", "")),
        ("git@h.example:o/r.git", ("r", "", "git@h.example:o/r.git", "")),
        ("clawhub:slug@1.2.0", ("slug", "1.2.0", "clawhub:slug", "")),
        ({"name": "b", "version": "^1"}, ("b", "^1", "", "")),
        ({"skill": "b", "source": "o/r", "path": "skills/b"}, ("b", "", "o/r#:skills/b", "")),
        (
            {"git": "ssh://git@h.example/t/s.git", "ref": "v1"},
            ("s", "", "ssh://git@h.example/t/s.git#v1", ""),
        ),
    ],
)
def test_one_entry_in_its_forms(entry: Any, found: tuple[str, ...]) -> None:
    assert [found] == [tuple(one) for one in read_requirements({"depends-on": [entry]}).skills]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"depends-on": "b>=1,<2, c d@^2"}, ["b", "c", "d"]),
        ({"depends_on": {"b": "^1", "c": {"source": "o/r/c"}}}, ["b", "c"]),
        ({"requires": {"skills": ["b"], "bins": ["git"]}}, ["b"]),
        ({"dependencies": ["requests>=2", "numpy", "skill:b", "o/r/c", {"skill": "d"}, {"name": "x"}]}, ["b", "c", "d"]),
        ({"dependencies": {"skills": ["b"], "packages": ["numpy"]}}, ["b"]),
        ({"dependencies": ["@scope/package", "./local", "a/b"]}, []),
        ({"requires": ["skill:b", "jq", "python>=3.11", "o/r/c", "skills/x/SKILL.md"]}, ["b", "c"]),
        ({"requires": ["GITHUB_TOKEN", "pdftotext", "numpy>=1.20", "WebFetch", "b"]}, []),
        ({"depends": ["curl", "libc6"], "dependencies": ["b"]}, []),  # of the machine, and of Python
        ({"metadata": {"requires": ["skill:b"]}, "requires": "git, jq"}, ["b"]),
        ({"metadata": {"depends-on": "b c", "any": {"requires": {"skills": ["d"]}}}}, ["b", "c", "d"]),
        ({"metadata": {"hermes": {"requires_skills": ["b"], "related_skills": ["x"]}}}, ["b"]),
        ({"related_skills": ["x"]}, []),
    ],
)  # fmt: skip
def test_where_they_stand(fields: dict[str, Any], names: list[str]) -> None:
    assert names == [one.name for one in read_requirements(fields).skills]


def test_an_apm_manifest_beside_it_counts_and_related_skills_are_hints() -> None:
    apm = {"dependencies": {"apm": ["o/r/skills/w#v1.0.0"], "mcp": ["x"]}}

    found = read_requirements({"related_skills": ["x", "y"]}, apm)

    assert [("w", "o/r/skills/w#v1.0.0")] == [(one.name, one.source) for one in found.skills]
    assert ("x", "y") == found.hints


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("b@banana", "SK062"),
        ("b>=banana", "SK063"),
        ("/etc/b", "SK062"),
        ("~/b", "SK062"),
        ("file:///etc", "SK062"),
        ("C:\\\\b", "SK062"),
        ("x" * 400, "SK062"),
        ("a\u202eb", "SK062"),
        (7, "SK062"),
        ([["b"]], "SK062"),
        ({"version": "1"}, "SK062"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_code(entry: Any, code: str) -> None:
    found = read_requirements({"depends-on": [entry, "good"]})

    assert (["good"], [code]) == (
        [one.name for one in found.skills],
        [one.code for one in found.faults],
    )


def test_a_bomb_is_cut_and_said() -> None:
    found = read_requirements({"depends-on": [f"n{number}" for number in range(10_000)]})

    assert (MAX_REQUIREMENTS, True, ["SK064"]) == (
        len(found.skills),
        found.cut,
        [one.code for one in found.faults],
    )


def test_a_bad_entry_is_a_diagnostic_at_its_line_and_the_others_count() -> None:
    text = b"---\nname: a\ndescription: D.\ndepends-on: [b, 'c>=banana', /etc/x]\n---\nText.\n"
    document = read_document(text, folder="a", file="SKILL.md", size=len(text))
    assert document is not None

    _gates, needs, notes = read_needs(document.fields, document.spans, None)

    assert needs is not None
    assert ("b",) == needs.skills
    assert [("SK063", 4), ("SK062", 4)] == [(one.code, one.line) for one in notes]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_no_frontmatter_breaks_the_reader(value: Any, other: Any) -> None:
    fields = {
        "depends-on": value,
        "dependencies": other,
        "requires": {"skills": other},
        "metadata": {"x": value, "requires": value},
    }

    found = read_requirements(fields, {"dependencies": {"apm": value}})

    assert all(one.name for one in found.skills)
