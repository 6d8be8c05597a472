"""What an MCP server says of its skills, read as a stranger's words."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from metier.errors import IntegrityError, MetierError, RefusedError, SourceError
from metier.supply.sources import mcp_skills
from metier.supply.sources.mcp_skills import (
    RemoteFile,
    RemoteSkill,
    arranged,
    listed_skill,
    path_below,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = "skill://acme/pdf"
DIGEST = f"sha256:{hashlib.sha256(b'x').hexdigest()}"
MAIN = {"uri": f"{ROOT}/SKILL.md", "digest": DIGEST, "size": 1}
ENTRY: dict[str, Any] = {
    "uri": f"{ROOT}/SKILL.md",
    "frontmatter": {"name": "pdf", "description": "d"},
    "resources": [MAIN],
}


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        (f"{ROOT}/SKILL.md", "SKILL.md"),
        (f"{ROOT}/references/a%20b%23c.md", "references/a b#c.md"),
        (f"{ROOT}/%C3%A4.md", "ä.md"),
        (f"{ROOT}/%252e%252e/x", "%2e%2e/x"),
    ],
)
def test_a_uri_below_the_skill_is_a_path(uri: str, path: str) -> None:
    assert path == path_below(ROOT, uri)


TRICKS = [
    f"{ROOT}/../ocr/SKILL.md",
    f"{ROOT}/%2e%2e/ocr/SKILL.md",
    f"{ROOT}/%2E%2E%2Focr",
    f"{ROOT}/a%2fb",
    f"{ROOT}/a%5cb",
    f"{ROOT}//etc/passwd",
    f"{ROOT}/%2fetc%2fpasswd",
    f"{ROOT}/",
    f"{ROOT}/./x",
    f"{ROOT}/x%00",
    f"{ROOT}/%ff",
    f"{ROOT}/x?y",
    f"{ROOT}/x#y",
    f"{ROOT}/x\\y",
    f"{ROOT}/c%3a/x",
    f"{ROOT}/con",
    f"{ROOT}/.git/config",
    f"{ROOT}/a b",
    f"{ROOT}x/SKILL.md",
    ROOT,
    "skill://acme/ocr/SKILL.md",
    "file:///etc/passwd",
    "https://acme/pdf/SKILL.md",
    "SKILL://acme/pdf/x",
    "/etc/passwd",
    "",
    f"{ROOT}/" + "a/" * 40 + "x",
    f"{ROOT}/" + "a" * 5_000,
    f"{ROOT}/\u2024\u2024/x",
]


@pytest.mark.parametrize("uri", TRICKS)
def test_a_uri_that_could_mean_another_place_is_refused(uri: str) -> None:
    with pytest.raises(RefusedError) as refused:
        path_below(ROOT, uri)

    assert refused.value.code in {"unsafe-path", "too-deep"}


@pytest.mark.parametrize(
    "uri",
    [
        "skill://acme/../../etc/SKILL.md",
        "skill://acme/./pdf/SKILL.md",
        "skill://a/%2e%2E/b/SKILL.md",
    ],
)
def test_a_skill_s_own_uri_does_not_climb_either(uri: str) -> None:
    with pytest.raises(RefusedError) as refused:
        listed_skill({"uri": uri})

    assert refused.value.code == "unsafe-path"


NONSENSE: list[Callable[[dict[str, Any]], object]] = [
    lambda one: one.update(uri=None),
    lambda one: one.update(uri=[ROOT]),
    lambda one: one.update(uri=f"{ROOT}/README.md"),
    lambda one: one.pop("frontmatter"),
    lambda one: one.update(frontmatter="name: pdf"),
    lambda one: one.update(frontmatter={"name": "ocr"}),
    lambda one: one.update(frontmatter={"name": ["pdf"]}),
    lambda one: one.update(uri="skill://a/Bad Name/SKILL.md"),
    lambda one: one.update(resources=None),
    lambda one: one.update(resources="all"),
    lambda one: one.update(resources=["SKILL.md"]),
    lambda one: one.update(resources=[]),
    lambda one: one.update(resources=[MAIN, MAIN]),
    lambda one: one.update(resources=[{**MAIN, "digest": None}]),
    lambda one: one.update(resources=[{**MAIN, "digest": "md5:0"}]),
    lambda one: one.update(resources=[{**MAIN, "size": -1}]),
    lambda one: one.update(resources=[{**MAIN, "size": True}]),
    lambda one: one.update(resources=[{**MAIN, "size": "1"}]),
    lambda one: one.update(resources=[{**MAIN, "size": 1 << 60}]),
    lambda one: one.update(resources=[MAIN, {**MAIN, "uri": "file:///etc/passwd"}]),
    lambda one: one.update(resources=[MAIN] * (mcp_skills.MAX_SKILL_FILES + 1)),
]


@pytest.mark.parametrize("spoil", NONSENSE)
def test_an_entry_that_is_none_is_refused(spoil: Callable[[dict[str, Any]], object]) -> None:
    entry = dict(ENTRY)
    spoil(entry)

    with pytest.raises((SourceError, RefusedError)):
        mcp_skills.read_entry(entry)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*ENTRY, *MAIN, "name", "files", "path", "hash", "contents", "text", "blob"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_a_server_says_is_read_or_is_an_error_of_ours(said: Any) -> None:
    skill = RemoteSkill("pdf", ROOT, ())
    codes: set[str] = set()
    entry = {**ENTRY, **said} if isinstance(said, dict) else {**ENTRY, "resources": said}
    for read in (
        lambda: mcp_skills.read_entry(entry),
        lambda: mcp_skills.read_manifest(skill, said),
        lambda: mcp_skills.listed_skill(entry),
        lambda: mcp_skills.contents_of(entry, RemoteFile("x", f"{ROOT}/x")),
        lambda: mcp_skills.next_cursor({"nextCursor": said}, set()),
    ):
        try:
            read()
        except MetierError as error:
            codes.add(error.code)

    assert codes <= {"malformed", "unsafe-path", "too-many", "too-deep", "digest"}


def test_bytes_are_held_to_size_and_digest() -> None:
    file = RemoteFile("x", f"{ROOT}/x", 1, DIGEST[7:])

    def said(**row: str) -> dict[str, Any]:
        return {"contents": [{"uri": file.uri, **row}]}

    assert b"x" == mcp_skills.contents_of(said(text="x"), file)
    assert b"x" == mcp_skills.contents_of(said(blob=base64.b64encode(b"x").decode()), file)
    for lie in (said(text="y"), said(text="xx"), said(text=""), said(blob="eHg=")):
        with pytest.raises(IntegrityError):
            mcp_skills.contents_of(lie, file)
    none: dict[str, Any] = {"contents": []}
    for junk in (said(), said(blob="%%%"), said(text="\ud800"), none):
        with pytest.raises(SourceError):
            mcp_skills.contents_of(junk, file)


def test_skills_of_one_name_get_folders_of_their_own_and_inner_ones_are_not_the_outer_s() -> None:
    def skill(root: str, *paths: str) -> RemoteSkill:
        files = tuple(RemoteFile(path, f"{root}/{path}", 1, "a") for path in ("SKILL.md", *paths))
        return RemoteSkill(root.rpartition("/")[2], root, files)

    found = arranged(
        [skill("skill://a/pdf"), skill("skill://b/pdf"), skill("skill://out", "in/SKILL.md"), skill("skill://out/in")],
        {},
    ).skills  # fmt: skip

    paths = {one.root: one.path for one in found}
    assert ("out", "in") == (paths["skill://out"], paths["skill://out/in"])
    assert paths["skill://a/pdf"] != paths["skill://b/pdf"]
    assert all(paths[f"skill://{one}/pdf"].endswith("/pdf") for one in "ab")
    outer = next(one for one in found if one.name == "out")
    assert ["SKILL.md"] == [file.path for file in outer.files]


def test_a_list_that_goes_round_in_circles_ends() -> None:
    seen: set[str] = set()
    assert "a" == mcp_skills.next_cursor({"nextCursor": "a"}, seen)
    assert "b" == mcp_skills.next_cursor({"nextCursor": "b"}, seen)

    with pytest.raises(RefusedError) as refused:
        mcp_skills.next_cursor({"nextCursor": "a"}, seen)

    assert "too-many" == refused.value.code
