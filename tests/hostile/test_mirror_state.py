"""A file about mirrored plugins that somebody else wrote: it is refused with one error, whatever it says, and soon."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.mirrors import a_candidate, a_mirror

from metier.errors import StoreError
from metier.plugins import mirror_json
from metier.plugins.mirror_json import mirror_bytes, read_mirror

WRITTEN = mirror_bytes(a_mirror(candidates=[a_candidate()]))
EMPTY: dict[str, Any] = {"version": 1, "place": "", "plugins": [], "skills": [], "candidates": []}


def written(**changed: Any) -> bytes:
    return json.dumps({**EMPTY, **changed}).encode()


CASES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "Expecting value"),
    "no JSON": (b"{", "Expecting property name"),
    "no UTF-8": (b'{"version": 1, "place": "\xff"}', "utf-8"),
    "UTF-16": (written().decode().encode("utf-16"), "utf-8"),
    "no object": (b"[]", "does not say its version"),
    "no version": (b"{}", "does not say its version"),
    "a version that is a text": (written(version="1"), "does not say its version"),
    "a version that is true": (written(version=True), "does not say its version"),
    "a newer version": (written(version=2), "a newer metier wrote it"),
    "an older version than there ever was": (written(version=0), "it is not made of"),
    "a version of ten thousand digits": (b'{"version": 1' + b"0" * 10_000 + b"}", "digits"),
    "a key too many": (
        written(more=[]),
        "it is not made of version, place, plugins, skills, candidates",
    ),
    "a key too few": (
        b'{"version": 1, "place": "", "plugins": [], "skills": []}',
        "it is not made of",
    ),
    "a key twice": (
        b'{"version": 1, "version": 1, "place": "", "plugins": [], "skills": [], "candidates": []}',
        "twice",
    ),
    "a key twice further in": (
        written(plugins=["?"]).replace(b'"?"', b'{"a": 1, "a": 2}'),
        "twice",
    ),
    "tables that are objects": (written(skills={}), "'skills' is no list"),
    "rows that are texts": (
        written(skills=["abcdefgh"]),
        "a skill is not made of name, owner, lineage",
    ),
    "rows that are objects": (
        written(plugins=[{str(at): at for at in range(9)}]),
        "a plugin is not made of plugin_id, name",
    ),
    "rows that are nothing": (written(plugins=[None]), "a plugin is not made of"),
    "rows that are short": (written(candidates=[[]]), "a candidate is not made of id, kind"),
    "no number": (WRITTEN.replace(b",1.0,", b",NaN,"), "NaN is no number"),
    "a number beyond all": (WRITTEN.replace(b",1.0,", b",1e999,"), "no number from 0 to 1"),
    "a number of ten thousand digits": (
        WRITTEN.replace(b",1.0,", b"," + b"9" * 10_000 + b","),
        "digits",
    ),
    "a place that is a list": (written(place=[]), "'place' is no path"),
    "a hundred thousand lists in each other": (b"[" * 100_000, "nested too deeply"),
    "as many, closed": (
        written(skills="?").replace(b'"?"', b"[" * 100_000 + b"]" * 100_000),
        "nested too deeply",
    ),
    "a zero byte": (WRITTEN.replace(b"office", b"off\x00ce"), "control character"),
    "a zero byte, written out": (
        WRITTEN.replace(b'["office"', b'["off\\u0000ce"', 1),
        "'plugin_id' of a plugin is not one line",
    ),
    "a name of a megabyte": (
        WRITTEN.replace(b'["pdf","plugin', b'["' + b"p" * 2**20 + b'","plugin', 1),
        "no name that a folder may have",
    ),
    "an id of a megabyte": (
        WRITTEN.replace(b'["office"', b'["' + b"p" * 2**20 + b'"', 1),
        "'plugin_id' of a plugin is not one line",
    ),
    "half a character in a name": (
        WRITTEN.replace(b'["pdf","plugin', b'["p\\ud800","plugin', 1),
        "no name that a folder may have",
    ),
    "a byte that is no UTF-8 in a name": (
        WRITTEN.replace(b'["pdf","plugin', b'["p\\udc80","plugin', 1),
        "no name",
    ),
    "a digest with a line end": (
        WRITTEN.replace(b'"sha256:', b'"sha256:\\n', 1),
        "64 digits of hexadecimal",
    ),
    "a digest in capitals": (
        WRITTEN.replace(b'"sha256:', b'"SHA256:', 1),
        "64 digits of hexadecimal",
    ),
    "digits of another script": (
        WRITTEN.replace(b"v0001", "v\u0660\u0660\u0660\u0661".encode()),
        "'v' and at least four digits",
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_a_file_that_is_not_as_metier_writes_it_is_refused_with_what_is_wrong(what: str) -> None:
    data, why = CASES[what]

    with pytest.raises(StoreError) as caught:
        read_mirror(data)

    assert "state" == caught.value.code
    assert why in caught.value.message
    assert len(caught.value.message) < 500
    assert caught.value.message.isprintable()
    assert caught.value.hint


def test_a_file_that_is_too_long_is_not_even_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_json, "MAX_MIRROR_BYTES", len(WRITTEN) - 1)

    with pytest.raises(StoreError, match="longer than"):
        read_mirror(WRITTEN)


def test_a_path_may_have_bytes_that_are_no_utf8() -> None:
    mirror = a_mirror()
    plugin = mirror.plugins[0]
    odd = plugin._replace(source=plugin.source._replace(kind="folder", location="/home/me/\udcff"))

    found = read_mirror(mirror_bytes(mirror._replace(plugins=(odd,))))

    assert (odd,) == found.plugins
