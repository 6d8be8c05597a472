"""What holds for every mirror: it is read back as written, equal mirrors are equal bytes, and damage never does more than refuse."""

from __future__ import annotations

import json

from fakes.mirrors import MIRRORS, a_candidate, a_mirror
from hypothesis import HealthCheck, given, settings, strategies as st

from metier.errors import StoreError
from metier.plugins.mirror_json import mirror_bytes, needed_trees, read_mirror, trim_decided
from metier.plugins.model import Mirror

FEW = settings(
    max_examples=40,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)
"""A mirror is a large thing to draw. Examples that come slowly, or come out too large and are drawn
again, say nothing about it.
"""
WRITTEN = mirror_bytes(
    a_mirror("docx", "pdf", candidates=[a_candidate(1), a_candidate(2, status="rejected")])
)


@FEW
@given(MIRRORS)
def test_a_mirror_is_read_back_as_it_was_written(mirror: Mirror) -> None:
    data = mirror_bytes(mirror)

    assert mirror == read_mirror(data)
    assert data.isascii()
    assert data.endswith(b"}\n")


@FEW
@given(MIRRORS)
def test_equal_mirrors_are_equal_bytes(mirror: Mirror) -> None:
    turned = mirror._replace(plugins=mirror.plugins[::-1], skills=mirror.skills[::-1])

    assert mirror_bytes(mirror) == mirror_bytes(turned)
    assert mirror_bytes(mirror) == mirror_bytes(read_mirror(mirror_bytes(mirror)))


@FEW
@given(MIRRORS)
def test_every_plugin_skill_and_candidate_has_a_line_of_its_own(mirror: Mirror) -> None:
    tables = (mirror.plugins, mirror.skills, mirror.candidates)

    lines = mirror_bytes(mirror).count(b"\n")

    assert len(tables) + 1 + sum(len(table) + bool(table) for table in tables) == lines


def read_or_refused(data: bytes) -> Mirror | None:
    try:
        return read_mirror(data)
    except StoreError as error:
        told = error
    assert ("state", True, True) == (told.code, bool(told.hint), told.message.isprintable())
    return None


@settings(max_examples=200)
@given(st.integers(0, len(WRITTEN) - 1), st.integers(0, 255))
def test_a_changed_byte_leaves_a_mirror_or_is_refused(at: int, byte: int) -> None:
    found = read_or_refused(WRITTEN[:at] + bytes([byte]) + WRITTEN[at + 1 :])

    assert found is None or found == read_mirror(mirror_bytes(found))


@given(st.integers(0, len(WRITTEN) - 3))
def test_a_file_that_was_cut_off_is_refused(length: int) -> None:
    assert read_or_refused(WRITTEN[:length]) is None


@given(st.integers(0, len(WRITTEN)), st.integers(0, len(WRITTEN)), st.integers(0, 200))
def test_parts_that_were_moved_leave_a_mirror_or_are_refused(
    at: int, start: int, length: int
) -> None:
    found = read_or_refused(WRITTEN[:at] + WRITTEN[start : start + length] + WRITTEN[at:])

    assert found is None or found == read_mirror(mirror_bytes(found))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def bent(draw: st.DrawFn) -> bytes:
    """Draw a written mirror in which one value, wherever it is, became another."""
    document = json.loads(WRITTEN)
    spots: list[tuple[object, object]] = []

    def walk(value: object) -> None:
        pairs = (
            value.items()
            if isinstance(value, dict)
            else enumerate(value)
            if isinstance(value, list)
            else ()
        )
        for key, inner in pairs:
            spots.append((value, key))
            walk(inner)

    walk(document)
    holder, key = draw(st.sampled_from(spots))
    holder[key] = draw(JSON)  # type: ignore[index]
    return json.dumps(document).encode()


@settings(max_examples=150)
@given(bent())
def test_a_value_of_another_kind_leaves_a_mirror_or_is_refused(data: bytes) -> None:
    found = read_or_refused(data)

    assert found is None or found == read_mirror(mirror_bytes(found))


@FEW
@given(MIRRORS)
def test_what_is_needed_survives_being_written_and_trimmed(mirror: Mirror) -> None:
    versions = {version.digest for skill in mirror.skills for version in skill.versions}

    found = needed_trees(mirror)

    assert found >= versions
    assert "" not in found
    assert found == needed_trees(trim_decided(read_mirror(mirror_bytes(mirror))))
