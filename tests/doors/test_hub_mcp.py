"""Skills of a hub over MCP: the SDK's own client, in both eras of the protocol, and metier as a client."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from doors.command import PATIENCE, run
from fakes.connected import ERAS, ask, every, refused
from fakes.hub_offering import Offering, hub_offering
from fakes.hub_skills import publish_archive
from fakes.shop import Shop
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from metier.hub.model import LOCAL
from metier.supply.archives.write_tar import PackFile, pack_tar_gz

pytestmark = pytest.mark.loopback
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HEAD = "---\nname: {0}\ndescription: Formats tables. Use it when one is ragged.\n---\n\nAlign.\n"


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Offering]:
    with hub_offering(tmp_path / "hub") as one:
        packed = pack_tar_gz(
            [
                PackFile("SKILL.md", HEAD.format("with-files").encode()),
                PackFile("notes/deep/more.md", b"More.\n"),
                PackFile("assets/picture.png", PICTURE),
            ]
        )
        made = publish_archive(one.served.hub, LOCAL, "with-files", packed, "open", "1.0.0")
        assert "approved" == made.release.state, made.release.findings
        yield one


@asynccontextmanager
async def client_of(
    offering: Offering, path: str = "/mcp", token: str = "", era: str = ERAS[0]
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as line:
        streams = streamable_http_client(f"{offering.served.url}{path}", http_client=line)
        async with Client(streams, mode=era) as client:
            yield client


@pytest.mark.parametrize("era", ERAS)
def test_a_client_lists_reads_and_verifies_what_is_public(offering: Offering, era: str) -> None:
    wrong: list[str] = []

    async def main() -> tuple[list[str], list[str], list[str]]:
        async with client_of(offering, era=era) as client:
            skills = await every(client, "skills/list", "skills")
            for entry in skills:
                for item in entry["resources"]:
                    got = (await client.read_resource(item["uri"])).contents[0]
                    text = getattr(got, "text", None)
                    if text is not None:
                        found = hashlib.sha256(text.encode()).hexdigest()
                        wrong.extend([item["uri"]] * (f"sha256:{found}" != item["digest"]))
            listed = [str(one.uri) for one in (await client.list_resources()).resources]
            folder = await ask(
                client, "resources/directory/read", uri="skill://open/with-files/notes"
            )
            return (
                [entry["uri"] for entry in skills],
                listed,
                [one["uri"] for one in folder["resources"]],
            )

    skills, listed, folder = anyio.run(main)

    assert ["skill://open/table-tidy/SKILL.md", "skill://open/with-files/SKILL.md"] == skills
    assert skills == listed
    assert ["skill://open/with-files/notes/deep"] == folder
    assert [] == wrong


@pytest.mark.parametrize("era", ERAS)
def test_what_is_private_or_waits_is_served_to_nobody_without_a_token(
    offering: Offering, era: str
) -> None:
    hidden = "skill://secret/hidden-thing/SKILL.md"
    asked = (hidden, "skill://open/cleaner/SKILL.md", "skill://nobody/never-was/SKILL.md")

    async def main() -> tuple[list[str], list[str], set[int]]:
        async with client_of(offering, era=era) as client:
            codes = {(await refused(client, "skills/get", uri=uri)).error.code for uri in asked}
        async with client_of(offering, token=offering.token, era=era) as client:
            whole = [one["uri"] for one in await every(client, "skills/list", "skills")]
        async with client_of(offering, "/ns/secret/mcp", offering.token, era) as client:
            one = [one["uri"] for one in await every(client, "skills/list", "skills")]
            codes.add(
                (
                    await refused(client, "resources/read", uri="skill://open/table-tidy/SKILL.md")
                ).error.code
            )
        return whole, one, codes

    whole, one, codes = anyio.run(main)

    assert {-32602} == codes
    assert hidden in whole
    assert len(whole) == 3
    assert [hidden] == one


def test_metier_adds_from_a_hub_over_mcp(offering: Offering, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "machine")
    shop.configure(f'[supply]\nprivate_hosts = ["{offering.served.url[7:]}"]\n')
    source = f"mcp+{offering.served.url}/mcp"

    added = run(shop.env, "add", source, "--skill", "with-files", "--yes", cwd=shop.project)

    folder = shop.project / ".agents/skills/with-files"
    assert 0 == added.code, added
    assert PICTURE == (folder / "assets/picture.png").read_bytes()
    assert b"More.\n" == (folder / "notes/deep/more.md").read_bytes()


def test_there_is_nothing_to_listen_to(offering: Offering) -> None:
    assert 405 == offering.get("/mcp").status
