"""Records that a stranger wrote: any bytes are a record or a fault of that file, at no more cost than their size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from metier.errors import ConfigError
from metier.supply.model import Lock
from metier.supply.records import apm, clawhub, gh, hermes, npx

if TYPE_CHECKING:
    from metier.supply.records.foreign import ForeignSkill

READERS = {
    "npx": npx.read,
    "gh": gh.read,
    "hermes": hermes.read,
    "clawhub": clawhub.read,
    "apm": apm.read,
}
WRITERS = {
    "npx": npx.write,
    "gh": gh.write_user,
    "hermes": hermes.write,
    "clawhub": clawhub.write,
    "apm": apm.write,
}
BOMB = b"lockfile_version: '1'\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
BAD = {
    "nothing": b"",
    "no text": b"\xff\xfe",
    "NUL": b"\0" * 100,
    "a list": b"[]",
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "deep blocks": b"- " * 100_000,
    "aliases": BOMB,
    "a tag": b"lockfile_version: !!python/object:os.system x\n",
    "two documents": b"a: 1\n--- \nb: 2\n",
    "a key twice": b"lockfile_version: '1'\nlockfile_version: '1'\n",
    "skills of another kind": b'{"version": 1, "skills": 7, "installed": 7, "lockfile_version": "1", "dependencies": 7}',
    "half a conflict": b"<<<<<<< a\n{}\n",
    "a long number": b'{"version": ' + b"9" * 10_000 + b"}",
    "too long": b" " * (16 * 1024 * 1024 + 1),
}


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("case", BAD)
def test_a_broken_record_is_a_fault_of_that_file(form: str, case: str) -> None:
    with pytest.raises(ConfigError) as caught:
        READERS[form](BAD[case])

    assert caught.value.code in {"record", "record-version"}
    assert len(caught.value.message) < 500


TEXTS = st.sampled_from(
    [
        "",
        "x",
        "../..",
        "/etc",
        "github",
        "a/b",
        "a\0b",
        "\ud800",
        "C:\\x",
        "skills/x/SKILL.md",
        "x" * 9000,
        "git@h:x",
        "https://u:p@h/x",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "source",
    "sourceType",
    "sourceUrl",
    "skillPath",
    "ref",
    "pinnedRef",
    "identifier",
    "install_path",
    "version",
    "ownerHandle",
    "repo_url",
    "deployed_files",
    "virtual_path",
    "deployed_file_hashes",
    "computedHash",
    "installedAt",
)
ENTRIES = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6) | VALUES


@given(st.dictionaries(TEXTS, ENTRIES, max_size=4), st.sampled_from(sorted(READERS)))
def test_whatever_a_record_says_is_read_or_refused_and_written_again(
    entries: dict[str, object], form: str
) -> None:
    packages = [entry for entry in entries.values() if isinstance(entry, dict)]
    rows = {"skills": entries, "installed": entries, "dependencies": packages}
    data = json.dumps(
        {"version": 3 if form == "gh" else 1, "lockfile_version": "1", **rows}
    ).encode()

    try:
        found: tuple[ForeignSkill, ...] = READERS[form](data)
    except ConfigError as error:
        assert ("apm", "record") == (form, error.code)  # noqa: PT017 - half a character and a very long key are no YAML
        return

    assert found == READERS[form](WRITERS[form](Lock(), data, "2026-01-01T00:00:00Z"))


@given(
    st.recursive(
        st.text(max_size=12),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_what_is_written_as_yaml_is_read_back(value: object) -> None:
    document = {"top": value}

    assert document == apm.read_yaml(apm.write_yaml(document), "it")
