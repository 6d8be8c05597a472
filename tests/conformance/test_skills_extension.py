"""What the skills extension of MCP (SEP-2640) asks of a server, rule by rule, through the SDK's own client."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import yaml
from fakes.connected import ERAS, ask, every, refused, talk, until_new
from mcp.client._memory import InMemoryTransport
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.methods import CACHEABLE_METHODS

import metier
from metier.mcp import catalogue
from metier.mcp.copies import MAX_BYTES, MAX_FILES
from metier.mcp.server import make_server
from metier.trust.judge import judge_listed

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer
    from mcp.client.client import Client

    from metier.library import Library
    from metier.mcp.server import SkillServer

INVALID = -32602
TEXT = """---
name: pdf
description: Fills in PDF forms.
license: MIT
version: 1.20
"on": true
metadata:
  depth: 3
  words: ["1", two]
  none:
---

Do it.
"""
pytestmark = pytest.mark.parametrize("mode", ERAS)


@pytest.fixture
def library(home: Home, tmp_path: Path, skill: Writer) -> Library:
    """Give a library with a skill of many kinds of files, and a plain one."""
    folder = skill("skills/pdf", text=TEXT)
    for path, data in {
        "references/a b#c.md": b"# a\n",
        "references/deep/x.txt": b"x",
        "scripts/run.sh": b"echo\n",
        "logo.bin": b"\xff\0",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / "empty").mkdir()
    skill("skills/pdf/inner/nested")
    skill("skills/ocr")
    return metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])


def entries(library: Library, mode: str) -> dict[str, dict[str, Any]]:
    """List all skills, by URI."""
    found: list[dict[str, Any]] = []

    async def use(client: Client) -> None:
        found.extend(await every(client, "skills/list", "skills"))

    talk(library, use, mode)
    return {entry["uri"]: entry for entry in found}


def one(library: Library, mode: str, method: str, **params: Any) -> dict[str, Any]:
    """Give one answer."""
    found: dict[str, Any] = {}

    async def use(client: Client) -> None:
        found.update(await ask(client, method, **params))

    talk(library, use, mode)
    return found


def codes_of(library: Library, mode: str, method: str, asked: list[dict[str, str]]) -> list[int]:
    """Give the codes of the errors that requests must meet."""
    found: list[int] = []

    async def use(client: Client) -> None:
        for params in asked:
            found.append((await refused(client, method, **params)).code)  # noqa: PERF401 - one after the other

    talk(library, use, mode)
    return found


# --- capabilities


def test_server_declares_the_extension_and_resources(library: Library, mode: str) -> None:
    # "Capability negotiation": the extension, directoryRead, and the resources it rests on.
    found: list[Any] = []

    async def use(client: Client) -> None:
        found.append(client.server_capabilities)

    talk(library, use, mode)

    assert {"io.modelcontextprotocol/skills": {"directoryRead": True}} == found[0].extensions
    assert found[0].resources is not None


# --- entries


def test_entry_has_uri_frontmatter_and_resources(library: Library, mode: str) -> None:
    found = entries(library, mode)

    assert {
        "skill://ocr/SKILL.md",
        "skill://pdf/SKILL.md",
        "skill://pdf/inner/nested/SKILL.md",
    } == set(found)
    assert {"uri", "frontmatter", "resources"} == set(found["skill://pdf/SKILL.md"])


def test_frontmatter_is_what_a_reader_of_yaml_gives(library: Library, mode: str) -> None:
    # "Frontmatter": identical in content, every field the author wrote.
    expected = yaml.safe_load(TEXT.split("---")[1])

    assert expected == entries(library, mode)["skill://pdf/SKILL.md"]["frontmatter"]


def test_last_segment_of_the_skill_path_is_the_name(library: Library, mode: str) -> None:
    for uri, entry in entries(library, mode).items():
        assert entry["frontmatter"]["name"] == uri.removesuffix("/SKILL.md").rpartition("/")[2]


def test_resources_name_every_file_once_with_digest_and_size(
    library: Library, mode: str, tmp_path: Path
) -> None:
    # "Resources": complete, nested skills included, each exactly once, sha256 of the raw bytes.
    folder = tmp_path / "skills/pdf"
    on_disk = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }

    listed = entries(library, mode)["skill://pdf/SKILL.md"]["resources"]

    assert len(on_disk) == len({item["uri"] for item in listed}) == len(listed)
    assert all(item["uri"].startswith("skill://pdf/") for item in listed)
    assert {
        ("sha256:" + hashlib.sha256(data).hexdigest(), len(data)) for data in on_disk.values()
    } == {(item["digest"], item["size"]) for item in listed}
    assert "skill://pdf/inner/nested/SKILL.md" in {item["uri"] for item in listed}


def test_every_listed_resource_reads_as_the_bytes_of_its_digest(
    library: Library, mode: str
) -> None:
    # "Verification on read", from the server's side.
    unlike: list[str] = []
    seen: list[str] = []

    async def use(client: Client) -> None:
        for entry in await every(client, "skills/list", "skills"):
            for item in entry["resources"]:
                content = (await ask(client, "resources/read", uri=item["uri"]))["contents"][0]
                data = (
                    base64.b64decode(content["blob"])
                    if "blob" in content
                    else content["text"].encode()
                )
                seen.append(content["uri"])
                if (item["digest"], item["size"]) != (
                    "sha256:" + hashlib.sha256(data).hexdigest(),
                    len(data),
                ):
                    unlike.append(item["uri"])

    talk(library, use, mode)

    assert [] == unlike
    assert "skill://pdf/references/a%20b%23c.md" in seen


@pytest.mark.parametrize("told", [True, False])
def test_a_file_that_changes_after_the_listing_reads_as_what_is_listed_then(
    library: Library, mode: str, tmp_path: Path, told: bool
) -> None:
    # "Verification on read": what is read is what an entry says, the one from before or the one from now.
    uri = "skill://ocr/SKILL.md"
    text = "---\nname: ocr\ndescription: Reads otherwise.\n---\n"
    found: list[Any] = []

    async def use(client: Client) -> None:
        before = (await ask(client, "skills/get", uri=uri))["skill"]
        (tmp_path / "skills/ocr/SKILL.md").write_text(text)
        if told:
            await until_new(client, uri, before["resources"])
        data = (await ask(client, "resources/read", uri=uri))["contents"][0]["text"].encode()
        after = (await ask(client, "skills/get", uri=uri))["skill"]
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        found.extend((digest, after["resources"][0]["digest"], after["frontmatter"]["description"]))

    talk(library, use, mode)

    assert found[0] == found[1]
    assert "Reads otherwise." == found[2]


def test_two_skills_of_one_name_have_two_uris(
    home: Home, tmp_path: Path, skill: Writer, mode: str
) -> None:
    # "Names": names may repeat within a listing; URIs may not.
    skill(home.path / ".agents/skills/pdf")
    plugin = tmp_path / "plug"
    skill(plugin / "skills/pdf")
    (plugin / ".claude-plugin").mkdir()
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "acme"}')
    library = metier.open(
        env=home.env,
        cwd=tmp_path,
        roots=[str(home.path / ".agents/skills"), str(plugin / "skills")],
    )

    assert {"skill://pdf/SKILL.md", "skill://plugin.acme/pdf/SKILL.md"} == set(
        entries(library, mode)
    )


@pytest.mark.parametrize(
    ("files", "size", "served"),
    [(MAX_FILES, 1, True), (MAX_FILES + 1, 1, False), (2, MAX_BYTES // 2, False)],
)
def test_skill_over_the_limits_is_left_out(
    home: Home, tmp_path: Path, skill: Writer, mode: str, files: int, size: int, served: bool
) -> None:
    # "Limits": at most 512 resources and 16 MiB, SKILL.md included.
    folder = skill("skills/big")
    for number in range(files - 1 if size == 1 else files):
        (folder / f"{number}.txt").write_bytes(b"x" * size)
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])

    assert served == ("skill://big/SKILL.md" in entries(library, mode))


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: Bad Name\ndescription: It is there.\n---\n",
        "---\nname: odd\nname: odd\ndescription: It is there.\n---\n",
        "---\nname: odd\ndescription: &a It is there.\nother: *a\n---\n",
        "---\nname: odd\ndescription: It is there.\nsize: .inf\n---\n",
        "---\nname: odd\ndescription: It is there.\n<<: {more: of it}\n---\n",
        '---\nname: odd\ndescription: "It is \\ud800 there."\n---\n',
    ],
)
def test_skill_that_cannot_be_told_verbatim_is_left_out(
    home: Home, tmp_path: Path, skill: Writer, mode: str, text: str
) -> None:
    # "Skill format": what is served conforms; what readers of YAML would read differently is not served as files.
    skill("skills/odd", text=text)
    skill("skills/good")
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])

    assert {"skill://good/SKILL.md"} == set(entries(library, mode))


# --- listing


def test_listing_is_complete_and_cacheable(library: Library, mode: str) -> None:
    found = one(library, mode, "skills/list")

    assert ("complete", 5_000, "private") == (
        found["resultType"],
        found["ttlMs"],
        found["cacheScope"],
    )


def test_listing_goes_page_by_page_and_splits_no_entry(
    home: Home, tmp_path: Path, skill: Writer, mode: str
) -> None:
    for number in range(60):
        skill(f"skills/s{number}")
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])
    judge_listed(library.context)
    pages: list[int] = []

    async def use(client: Client) -> None:
        first = await ask(client, "skills/list")
        second = await ask(client, "skills/list", cursor=first["nextCursor"])
        pages.extend((len(first["skills"]), len(second["skills"]), "nextCursor" in second))

    talk(library, use, mode)

    assert [50, 10, False] == pages


def test_listing_may_be_empty(home: Home, tmp_path: Path, mode: str) -> None:
    (tmp_path / "skills").mkdir()
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])

    found = one(library, mode, "skills/list")

    assert ([], False) == (found["skills"], "nextCursor" in found)


def test_cursor_is_good_for_its_own_list_and_server_alone(
    home: Home, tmp_path: Path, skill: Writer, mode: str
) -> None:
    for number in range(51):
        skill(f"skills/s{number}")
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])
    judge_listed(library.context)
    cursor = one(library, mode, "skills/list")["nextCursor"]
    codes: list[int] = codes_of(library, mode, "skills/list", [{"cursor": cursor}])

    async def use(client: Client) -> None:
        own = (await ask(client, "skills/list"))["nextCursor"]
        codes.extend(
            [
                (await refused(client, method, cursor=own)).code
                for method in ("resources/list", "prompts/list")
            ]
        )

    talk(library, use, mode)

    assert [INVALID] * 3 == codes


def test_foreign_cursor_is_refused(library: Library, mode: str) -> None:
    cursors = ["nonsense", "AAAA" * 9, "ÄÖ", "x" * 5_000]

    codes = codes_of(library, mode, "skills/list", [{"cursor": cursor} for cursor in cursors])

    assert [INVALID] * len(cursors) == codes


def test_who_pages_goes_on_after_a_change(
    home: Home, tmp_path: Path, skill: Writer, mode: str
) -> None:
    for number in range(51):
        skill(f"skills/s{number}")
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])
    judge_listed(library.context)
    found: list[int] = []

    async def use(client: Client) -> None:
        cursor = (await ask(client, "skills/list"))["nextCursor"]
        skill("skills/a-new-one")
        library.reload()
        found.append(len((await ask(client, "skills/list", cursor=cursor))["skills"]))

    talk(library, use, mode)

    assert [1] == found


def test_cursor_of_a_forgotten_order_is_stale(
    home: Home, tmp_path: Path, skill: Writer, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "MAX_REMEMBERED_ORDERS", 2)
    for number in range(51):
        skill(f"skills/s{number}")
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])
    judge_listed(library.context)
    found: list[tuple[int, str]] = []

    async def use(client: Client) -> None:
        cursor = (await ask(client, "skills/list"))["nextCursor"]
        for number in range(3):
            skill(f"skills/more{number}")
            library.reload()
            await ask(client, "skills/get", uri="skill://s1/SKILL.md")
        error = await refused(client, "skills/list", cursor=cursor)
        found.append((error.code, error.message))

    talk(library, use, mode)

    assert [(INVALID, "the cursor is stale; begin again without one")] == found


# --- one skill


def test_get_gives_the_entry_of_the_listing(library: Library, mode: str) -> None:
    # "Getting a skill": for every skill that is served.
    expected = entries(library, mode)

    found = [one(library, mode, "skills/get", uri=uri) for uri in expected]

    assert [*expected.values()] == [answer["skill"] for answer in found]
    assert {("complete", 5_000, "private")} == {
        (answer["resultType"], answer["ttlMs"], answer["cacheScope"]) for answer in found
    }
    assert not any("nextCursor" in answer for answer in found)


HOSTILE = [
    "skill://none/SKILL.md",
    "skill://pdf",
    "skill://pdf/",
    "skill://pdf/../ocr/SKILL.md",
    "skill://pdf/%2e%2e/ocr/SKILL.md",
    "skill://pdf/references%2fa b%23c.md",
    "skill://pdf/SKILL.md?x",
    "skill://pdf/SKILL.md#x",
    "file:///etc/passwd",
    "skill://",
    "",
    "skill://pdf//SKILL.md",
    "skill://pdf/%00",
    "skill://" + "a/" * 10_000,
    "skill://pdf/references",
    "skill://PDF/SKILL.md",
    "skill://pdf\\SKILL.md",
    "skill://pdf/%2e%2e%2focr/SKILL.md",
    "skill://pdf/\u2024\u2024/ocr/SKILL.md",
    "skill://x@pdf/SKILL.md",
    "skill://pdf:80/SKILL.md",
    "skill://pdf/SKILL.md/",
    "skill://pdf/%ff",
    "skill://pdf/SKILL%2Emd%00",
    "SKILL://pdf/SKILL.md",
]


@pytest.mark.parametrize(
    ("method", "also"), [("skills/get", ["skill://pdf/logo.bin"]), ("resources/read", [])]
)
def test_what_is_not_served_is_an_invalid_parameter(
    library: Library, mode: str, method: str, also: list[str]
) -> None:
    # "Error handling".
    codes = codes_of(library, mode, method, [{"uri": uri} for uri in (*HOSTILE, *also)])

    assert [INVALID] * len(codes) == codes


def test_error_says_what_is_not_served(library: Library, mode: str) -> None:
    # "Error handling": informative messages.
    found: list[str] = []

    async def use(client: Client) -> None:
        found.append((await refused(client, "skills/get", uri="skill://none/SKILL.md")).message)
        found.append(
            (await refused(client, "resources/directory/read", uri="skill://ocr/SKILL.md")).message
        )

    talk(library, use, mode)

    assert [
        "no skill is served at skill://none/SKILL.md",
        "skill://ocr/SKILL.md is no folder",
    ] == found


def test_fault_of_the_server_is_an_internal_error_that_tells_nothing(
    library: Library, mode: str
) -> None:
    # "Error handling": -32603.
    found: list[tuple[int, str]] = []

    async def use(client: Client) -> None:
        error = await refused(client, "skills/get", uri="skill://ocr/SKILL.md")
        found.append((error.code, error.message))

    def broken(serving: SkillServer) -> None:
        del serving.files.served  # whatever it is, nobody expected it

    talk(library, use, mode, tuned=broken)

    assert [(-32603, "the server failed")] == found


def test_nested_skill_is_an_entry_of_its_own(library: Library, mode: str) -> None:
    # "Nested skills": flat publication, at a URI below that of the enclosing skill.
    found = one(library, mode, "skills/get", uri="skill://pdf/inner/nested/SKILL.md")

    assert ["skill://pdf/inner/nested/SKILL.md"] == [
        item["uri"] for item in found["skill"]["resources"]
    ]


# --- folders


@pytest.mark.parametrize(
    ("uri", "names"),
    [
        ("skill://pdf", ["pdf", "empty", "inner", "logo.bin", "references", "scripts"]),
        ("skill://pdf/references", ["a b#c.md", "deep"]),
    ],
)
def test_folder_lists_its_direct_children(
    library: Library, mode: str, uri: str, names: list[str]
) -> None:
    found = one(library, mode, "resources/directory/read", uri=uri)

    assert names == [child["name"] for child in found["resources"]]
    assert "complete" == found["resultType"]
    folders = [child for child in found["resources"] if child["mimeType"] == "inode/directory"]
    assert folders
    assert not any(child["uri"].endswith("/") for child in found["resources"])


def test_every_folder_of_every_level_can_be_listed(
    library: Library, mode: str, tmp_path: Path
) -> None:
    # "Reading directories": every directory within the namespaces, nested skills included.
    top = tmp_path / "skills"
    expected = {
        f"skill://{path.relative_to(top).as_posix()}": len([*path.iterdir()])
        for path in top.rglob("*")
        if path.is_dir()
    }
    found: dict[str, int] = {}

    async def use(client: Client) -> None:
        for uri in expected:
            found[uri] = len(await every(client, "resources/directory/read", "resources", uri=uri))

    talk(library, use, mode)

    assert expected == found


def test_long_folder_comes_in_pages_however_long_its_name_is(
    library: Library, mode: str, tmp_path: Path
) -> None:
    deep = "/".join(["a" * 200, "b" * 200])
    (tmp_path / "skills/ocr" / deep).mkdir(parents=True)
    for number in range(51):
        (tmp_path / "skills/ocr" / deep / f"{number}.md").write_text("x")
    found: list[int] = []

    async def use(client: Client) -> None:
        found.append(
            len(
                await every(
                    client, "resources/directory/read", "resources", uri=f"skill://ocr/{deep}"
                )
            )
        )

    talk(library, use, mode)

    assert [51] == found


def test_empty_folder_has_no_children(library: Library, mode: str) -> None:
    assert (
        [] == one(library, mode, "resources/directory/read", uri="skill://pdf/empty")["resources"]
    )


def test_folder_that_is_none_is_an_invalid_parameter(library: Library, mode: str) -> None:
    uris = [
        "skill://pdf/SKILL.md",
        "skill://pdf/none",
        "skill://none",
        "skill://pdf/references/",
        "skill://pdf/",
    ]

    codes = codes_of(library, mode, "resources/directory/read", [{"uri": uri} for uri in uris])

    assert [INVALID] * len(uris) == codes


# --- resources


def test_own_file_is_listed_with_name_description_and_type(library: Library, mode: str) -> None:
    # "Resource metadata".
    found = one(library, mode, "resources/list")["resources"]

    own = next(item for item in found if item["uri"] == "skill://pdf/SKILL.md")
    assert ("pdf", "Fills in PDF forms.", "text/markdown") == (
        own["name"],
        own["description"],
        own["mimeType"],
    )


def test_older_clients_find_a_manifest(library: Library, mode: str) -> None:
    found = one(library, mode, "resources/read", uri="skill://ocr/_manifest")["contents"][0]

    manifest = json.loads(found["text"])
    assert ("ocr", ["SKILL.md"]) == (
        manifest["skill"],
        [file["path"] for file in manifest["files"]],
    )
    assert {"path", "size", "hash"} == set(manifest["files"][0])


def test_error_about_what_is_not_served_names_its_uri(library: Library, mode: str) -> None:
    found: list[Any] = []

    async def use(client: Client) -> None:
        error = await refused(client, "resources/read", uri="skill://none/SKILL.md")
        found.append((error.code, error.data))

    talk(library, use, mode)

    assert [(INVALID, {"uri": "skill://none/SKILL.md"})] == found


# --- what may be kept

KEPT: dict[str, dict[str, str]] = {
    "server/discover": {},
    "tools/list": {},
    "prompts/list": {},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": "skill://pdf/SKILL.md"},
    "resources/directory/read": {"uri": "skill://pdf"},
    "skills/list": {},
    "skills/get": {"uri": "skill://pdf/SKILL.md"},
}
"""The methods whose results must say how long a client may keep them, and for whom."""
NOT_KEPT = {
    "ping",
    "tools/call",
    "prompts/get",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
}


def test_every_method_says_whether_its_result_may_be_kept(library: Library, mode: str) -> None:
    # A method that is added later stands in neither list, and fails here until somebody decides.
    served = make_server(library, "stdio" if mode == ERAS[0] else "http").server

    assert {*KEPT, *NOT_KEPT} == set(served._request_handlers)  # noqa: SLF001 - no other list
    assert CACHEABLE_METHODS <= set(KEPT)


@pytest.mark.parametrize("method", KEPT)
def test_results_that_may_be_kept_say_for_how_long_and_for_whom(
    library: Library, mode: str, method: str
) -> None:
    if mode == ERAS[0] and method in CACHEABLE_METHODS:
        return  # the older protocol has no such fields, or no such method

    found = one(library, mode, method, **KEPT[method])

    assert type(found["ttlMs"]) is int
    assert found["ttlMs"] >= 0
    assert found["cacheScope"] in {"public", "private"}


# --- every version


async def result_of(reading: Any) -> dict[str, Any]:
    """Give the result of the answer that comes next."""
    found = (await reading.receive()).message
    assert isinstance(found, JSONRPCResponse)
    return found.result


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_methods_answer_at_every_version_whatever_the_client_declares(
    library: Library, mode: str, version: str
) -> None:
    if mode != ERAS[0]:
        version = "2025-03-26"
    answers: list[Any] = []

    async def main() -> None:
        with anyio.fail_after(30):
            async with InMemoryTransport(make_server(library).server) as (reading, writing):
                hello = {
                    "protocolVersion": version,
                    "capabilities": {},
                    "clientInfo": {"name": "t", "version": "0"},
                }
                await writing.send(
                    SessionMessage(
                        JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params=hello)
                    )
                )
                answers.append((await result_of(reading))["protocolVersion"])
                await writing.send(
                    SessionMessage(
                        JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")
                    )
                )
                await writing.send(
                    SessionMessage(
                        JSONRPCRequest(jsonrpc="2.0", id=2, method="skills/list", params={})
                    )
                )
                answers.append(len((await result_of(reading))["skills"]))

    anyio.run(main)

    assert [version, 3] == answers
