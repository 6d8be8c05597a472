"""Bundles: several skills under one command, and what is wrong with a file."""

from __future__ import annotations

import pytest

from metier.disclose.slash import (
    MAX_BUNDLE_BYTES,
    MAX_BUNDLE_SKILLS,
    Bundle,
    read_bundle,
    read_bundles,
)

GOOD = b"name: Back End\ndescription: For services.\nskills:\n  - api\n  - tests\n  - api\ninstruction: |\n  Begin with the tests.\n"


def test_a_bundle_has_a_name_a_description_skills_and_an_instruction() -> None:
    expected = Bundle(
        "Back End",
        "back-end",
        "For services.",
        ("api", "tests"),
        "Begin with the tests.",
        "/b/x.yaml",
    )

    assert (expected, []) == read_bundle(GOOD, "/b/x.yaml")


def test_a_bundle_without_a_name_is_called_like_its_file() -> None:
    bundle, warnings = read_bundle(b"skills: [api]\n", "/b/web-work.yaml")

    assert bundle is not None
    assert ("web-work", []) == (bundle.slug, warnings)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"name: [", "not valid YAML"),
        (b"name: x\nskills: api\n", "/b/x.yaml:2:9: 'skills' must be a list of names"),
        (b"name: x\nskills:\n  - {a: b}\n", "'skills' must be a list of names"),
        (b"name: x\n", "'skills' must be a list of names"),
        (b"name: x\nskills: []\n", "'skills' must be a list of names"),
        (b"name: '!!!'\nskills: [a]\n", "'name' has no letter or digit"),
        (b"- a\n- b\n", "not a mapping"),
        (b"just text", "not a mapping"),
        (b"", "not a mapping"),
        (b"name: x\n\xff\xfe", "/b/x.yaml:2:1: not UTF-8"),
        (b"\0", "/b/x.yaml:1:"),
        (b"[" * 50_000, "/b/x.yaml:1:"),
        (b"a: &a [x]\nb: [*a, *a]\nskills: *a\n", "/b/x.yaml:"),
        (b"x" * (MAX_BUNDLE_BYTES + 1), "larger than 64 KiB"),
    ],
)
def test_a_broken_file_is_a_warning_with_its_place(data: bytes, told: str) -> None:
    bundle, warnings = read_bundle(data, "/b/x.yaml")

    assert bundle is None
    assert any(told in warning for warning in warnings)


def test_a_wrong_field_costs_only_itself() -> None:
    bundle, warnings = read_bundle(
        b"name: x\ndescription: [a]\nskills: [api]\ninstruction: {a: b}\n", "/b/x.yaml"
    )

    assert bundle is not None
    assert (("api",), "", "") == (bundle.skills, bundle.description, bundle.instruction)
    assert [
        "/b/x.yaml:2:14: 'description' must be a text",
        "/b/x.yaml:4:14: 'instruction' must be a text",
    ] == warnings


def test_too_many_skills_are_cut_and_said() -> None:
    bundle, warnings = read_bundle(
        b"skills: [" + b", ".join(b"s%d" % number for number in range(99)) + b"]\n", "/b/x.yaml"
    )

    assert bundle is not None
    assert (MAX_BUNDLE_SKILLS, 1) == (len(bundle.skills), len(warnings))


def test_of_two_bundles_with_one_slug_the_first_counts_and_the_second_is_named() -> None:
    found = read_bundles(
        [
            ("/b/a.yaml", b"name: Web\nskills: [a]\n"),
            ("/b/b.yaml", b"name: web\nskills: [b]\n"),
            ("/b/c.yaml", b"["),
        ]
    )

    assert {"web": "/b/a.yaml"} == {slug: bundle.path for slug, bundle in found.by_slug.items()}
    assert ["/b/b.yaml", "/b/c.yaml"] == [warning.partition(":")[0] for warning in found.warnings]
