"""Plugin manifests of four kinds."""

from __future__ import annotations

import json

import pytest

from metier.model import MANIFESTS, Diagnostic
from metier.standard.plugin_manifest import PluginManifest, read_manifest

CLAUDE = ".claude-plugin/plugin.json"
SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def manifest(fields: object, where: str = CLAUDE, folder: str = "folder") -> PluginManifest:
    read = read_manifest(json.dumps(fields).encode(), where, folder)
    assert isinstance(read, PluginManifest)
    return read


def test_manifests_are_tried_in_one_order() -> None:  # CX-30
    assert (
        ".codex-plugin/plugin.json",
        ".claude-plugin/plugin.json",
        ".cursor-plugin/plugin.json",
        "plugin.json",
    ) == MANIFESTS


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (".codex-plugin/plugin.json", "codex"),
        (".claude-plugin/plugin.json", "claude"),
        (".cursor-plugin/plugin.json", "cursor"),
        ("plugin.json", "agent-plugins"),
    ],
)
def test_each_place_has_its_format(where: str, expected: str) -> None:  # CX-30
    assert expected == manifest({"$schema": SCHEMA, "name": "p"}, where).format


def test_a_manifest_gives_its_name_version_and_description() -> None:
    read = manifest(
        {"name": " my\n plugin ", "version": "1.10", "description": "Two\nlines", "author": {}}
    )

    assert PluginManifest("my plugin", "1.10", "Two lines", (), "claude") == read


@pytest.mark.parametrize("fields", [{}, {"name": ""}, {"name": "  \n"}, {"name": None}])
def test_a_blank_name_is_the_folder_name(fields: dict[str, object]) -> None:  # CX-30
    assert "folder" == manifest(fields).name


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("./skills/", ("skills",)),
        (["./skills/a", "skills/b", "./skills/a"], ("skills/a", "skills/b")),
        (["./"], (".",)),
        (["/etc", "../x", "a/../../b", "~/x", "C:\\x", "a\\..\\b", "", "a\x00b", 3, None], ()),
        ({"a": 1}, ()),
        (None, ()),
        ([".hidden/x", "a..b"], (".hidden/x", "a..b")),
    ],
)
def test_declared_paths_stay_inside_the_plugin(declared: object, expected: tuple[str, ...]) -> None:
    assert expected == manifest({"name": "p", "skills": declared}).skills


def test_an_agent_plugin_cannot_move_its_skills() -> None:
    assert () == manifest({"$schema": SCHEMA, "name": "p", "skills": ["x"]}, "plugin.json").skills


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"name": "p"}',
        b'{"$schema": "https://example.org/agent-plugins.org/"}',
        b'{"$schema": 5}',
        b"[]",
        b"not json",
        b"\xff",
    ],
)
def test_a_plugin_json_of_another_kind_is_nothing(data: bytes) -> None:  # CX-30
    assert read_manifest(data, "plugin.json", "folder") is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "not valid JSON"),
        (b"", "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"name": 5}', "name is not text"),
        (b" " * (256 * 1024 + 1), "larger than 256 KiB"),
        (b"[" * 200_000, "reasonable shape"),
        (b'{"a":' * 40_000, "reasonable shape"),
        (b'{"name": ' + b"9" * 10_000 + b"}", "reasonable shape"),
    ],
)
def test_an_unreadable_manifest_is_a_diagnostic(data: bytes, words: str) -> None:
    read = read_manifest(data, CLAUDE, "folder")

    assert isinstance(read, Diagnostic)
    assert ("SK095", "warning", CLAUDE) == (read.code, read.severity, read.path)
    assert words in read.message


def test_a_broken_agent_plugin_is_a_diagnostic() -> None:
    read = read_manifest(f'{{"$schema": "{SCHEMA}", '.encode(), "plugin.json", "folder")

    assert isinstance(read, Diagnostic)


def test_a_byte_order_mark_is_accepted() -> None:
    read = read_manifest(b'\xef\xbb\xbf{"name": "p"}', CLAUDE, "folder")

    assert PluginManifest("p", "", "", (), "claude") == read


def test_half_a_surrogate_pair_never_leaves_the_reader() -> None:
    read = read_manifest(b'{"name": "a\\ud800"}', CLAUDE, "folder")

    assert isinstance(read, PluginManifest)
    assert "a?" == read.name
