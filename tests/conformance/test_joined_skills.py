"""What the skills extension asks of a server and of a host, held against one endpoint that joins other
servers' skills to its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import yaml
from fakes.connected import ERAS, ask, every, refused, talk
from fakes.mcp_server import Answers, ToyServer
from fakes.shop import document

import metier

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Home, Writer
    from mcp.client.client import Client

    from metier.library import Library

pytestmark = [pytest.mark.loopback, pytest.mark.parametrize("mode", ERAS)]
ODD = {
    "SKILL.md": document("pdf", fields="license: MIT\nmetadata:\n  depth: 3\n").encode(),
    "references/a b#c.md": b"# a\n",
    "logo.bin": b"\xff\0",
}


@pytest.fixture
def toys() -> Iterator[list[ToyServer]]:
    """Give three servers: one with the extension, one of before, one that lists open."""
    ways = ("extension", "manifest", "dynamic")
    made = [ToyServer(Answers({"pdf": dict(ODD)}, way)) for way in ways]
    for toy in made:
        toy.__enter__()
    yield made
    for toy in made:
        toy.__exit__()


@pytest.fixture
def library(home: Home, tmp_path: Path, skill: Writer, toys: list[ToyServer]) -> Library:
    skill("skills/pdf")
    config = tmp_path / "metier.toml"
    config.write_text("[mcp]\nrefresh_seconds = 1\n")
    made = metier.open(env=home.env, cwd=tmp_path, config=config, roots=[str(tmp_path / "skills")])
    for server in made.join_upstreams([f"up{at}={toy.url}" for at, toy in enumerate(toys)]):
        assert "" == made.refresh_upstream(server.name).trouble
    return made


async def read(client: Client, uri: str) -> bytes:
    """Read a resource."""
    content = (await ask(client, "resources/read", uri=uri))["contents"][0]
    return base64.b64decode(content["blob"]) if "blob" in content else content["text"].encode()


def test_one_endpoint_serves_all_of_them_whole_under_names_that_differ(
    library: Library, mode: str
) -> None:
    # "Names", "Frontmatter", "Resources", "Verification on read", for what comes from others.
    found: dict[str, Any] = {}
    tools: list[dict[str, Any]] = []
    prompts: list[str] = []
    manifests: list[dict[str, Any]] = []

    async def use(client: Client) -> None:
        for entry in await every(client, "skills/list", "skills"):
            same = (await ask(client, "skills/get", uri=entry["uri"]))["skill"]
            data = {one["uri"]: await read(client, one["uri"]) for one in entry["resources"]}
            found[entry["uri"]] = entry, same, data
        for name in ("pdf", "up0:pdf", "up1:pdf", "up2:pdf"):
            asked = {"name": "load_skill", "arguments": {"name": name}}
            tools.append(await ask(client, "tools/call", **asked))
        prompts.extend(one["name"] for one in await every(client, "prompts/list", "prompts"))
        text = await read(client, "skill://plugin.up1/pdf/_manifest")
        manifests.append(json.loads(text))

    talk(library, use, mode)

    uris = {f"skill://plugin.up{at}/pdf/SKILL.md" for at in range(3)}
    assert {"skill://pdf/SKILL.md", *uris} == set(found)
    for uri, (entry, same, data) in found.items():
        assert entry == same
        assert uri.removesuffix("/SKILL.md").endswith(f"/{entry['frontmatter']['name']}")
        assert {
            one["uri"]: (f"sha256:{hashlib.sha256(data[one['uri']]).hexdigest()}", len(data[one["uri"]]))
            for one in entry["resources"]
        } == {one["uri"]: (one["digest"], one["size"]) for one in entry["resources"]}  # fmt: skip
    for uri in uris:
        assert sorted(ODD.values()) == sorted(found[uri][2].values())
        assert yaml.safe_load(ODD["SKILL.md"].split(b"---")[1]) == found[uri][0]["frontmatter"]
    assert not any(one.get("isError") for one in tools)
    assert all(f"up{at}" in tools[at + 1]["content"][0]["text"] for at in range(3))
    assert 4 == len(prompts) == len(set(prompts))
    assert 3 == len(manifests[0]["files"])


def test_a_change_of_one_withdraws_it_and_tells_clients_and_a_yes_brings_it_back(
    library: Library, toys: list[ToyServer], mode: str, home: Home, tmp_path: Path
) -> None:
    # Approval is for the whole set of files and digests, and any change revokes it.
    uri = "skill://plugin.up0/pdf/SKILL.md"
    told: list[str] = []
    codes: list[Any] = []
    texts: list[bytes] = []

    async def hear(message: Any) -> None:
        told.append(getattr(message, "method", ""))

    async def until(served: bool) -> None:
        while served != (uri in {one["uri"] for one in await every(client_now[0], "skills/list", "skills")}):  # fmt: skip  # noqa: ASYNC110 - nothing sets an event
            await anyio.sleep(0.05)

    client_now: list[Client] = []

    async def use(client: Client) -> None:
        client_now.append(client)
        await until(served=True)
        toys[0].answers.skills["pdf"]["logo.bin"] = b"\xfe"
        toys[1].hang.set()
        await until(served=False)
        codes.append((await refused(client, "resources/read", uri=uri)).data)
        texts.append(await read(client, "skill://plugin.up1/pdf/SKILL.md"))
        with metier.open(env=home.env, cwd=tmp_path) as person:
            person.trust("up0:pdf", "approve")
        await until(served=True)
        texts.append(await read(client, "skill://plugin.up0/pdf/logo.bin"))
        if mode == ERAS[0]:
            while "notifications/resources/list_changed" not in told:  # noqa: ASYNC110 - nothing sets an event
                await anyio.sleep(0.05)

    talk(library, use, mode, message_handler=hear)

    assert ["ask"] == [one["code"] for one in codes]
    assert [ODD["SKILL.md"], b"\xfe"] == texts
