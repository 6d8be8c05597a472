"""`metier mcp --upstream` and `metier add mcp+…`, as processes that speak to each other."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
import sys
from typing import TYPE_CHECKING

import anyio
import pytest
from doors.command import PATIENCE, run
from doors.served import serving
from fakes import mcp_server
from fakes.connected import ask, every
from fakes.mcp_server import Answers, ToyServer
from fakes.shop import Shop, document, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client

pytestmark = pytest.mark.loopback
CLIENTS = 20


def skills(mark: str, count: int) -> dict[str, dict[str, bytes]]:
    return {
        f"{mark}-{at}": {
            "SKILL.md": document(f"{mark}-{at}").encode(),
            "notes/more.md": f"More of {at}.\n".encode() * 20,
        }
        for at in range(count)
    }


def test_many_clients_of_a_joined_endpoint_never_get_a_wrong_byte(tmp_path: Path) -> None:
    far = Shop(tmp_path / "far")
    for name in ("count", "sum"):
        write_skill(far.home / ".agents/skills" / name, name)
    near = Shop(tmp_path / "near")
    write_skill(near.home / ".agents/skills/count", "count", "Mine.\n")
    liar = ToyServer(Answers(skills("lie", 2), "extension"), token="for-the-liar")
    liar.answers.lies_every = 3
    older = ToyServer(Answers(skills("old", 2), "manifest"))
    wrong: list[str] = []
    read: list[str] = []

    async def use(client: Client) -> None:
        for entry in await every(client, "skills/list", "skills"):
            for item in entry["resources"]:
                answer = (await ask(client, "resources/read", uri=item["uri"]))["contents"][0]
                data = (
                    base64.b64decode(answer["blob"])
                    if "blob" in answer
                    else answer["text"].encode()
                )
                read.append(item["uri"])
                if f"sha256:{hashlib.sha256(data).hexdigest()}" != item["digest"]:
                    wrong.append(item["uri"])

    with liar, older, serving(far.env, far.project) as own:
        near.configure(
            f'[mcp]\nrefresh_seconds = 1\n[mcp.upstreams.far]\nurl = "{own.url}"\ntoken = "FAR"\n'
            f'[mcp.upstreams.liar]\nurl = "{liar.url}"\ntoken = "LIAR"\n'
        )
        near.env.update(FAR=own.token, LIAR="for-the-liar")
        words = ("--http", "127.0.0.1:0", "--upstream", f"old={older.url}")
        with serving(near.env, near.project, *words) as joined:

            async def soak() -> None:
                with anyio.fail_after(PATIENCE):
                    async with joined.client("auto") as client:
                        while len(await every(client, "skills/list", "skills")) < 7:  # noqa: ASYNC110 - the client has no event
                            await anyio.sleep(0.1)
                    async with anyio.create_task_group() as tasks:
                        for _ in range(CLIENTS):
                            tasks.start_soon(one_client)

            async def one_client() -> None:
                async with joined.client("auto") as client:
                    await use(client)

            anyio.run(soak)
            code, _out, told = joined.stop()

    assert [] == wrong
    assert liar.answers.lies
    # what the liar lied about twice in one look comes with the next
    assert CLIENTS * 7 < len(read)
    served = {uri.removeprefix("skill://").partition("/")[0] for uri in read}
    assert {"count", "plugin.far", "plugin.liar", "plugin.old"} == served
    assert (0, "") == (code, told if "Traceback" in told else "")
    assert own.token not in str([*liar.heads, *older.heads])
    assert "for-the-liar" not in str(older.heads)


def test_a_command_is_shown_and_asked_about_before_it_is_started(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.offer("count")
    command = shlex.join([sys.executable, mcp_server.__file__, str(shop.shelf)])

    unasked = run(shop.env, "-C", str(shop.project), "add", f"mcp+stdio:{command}")
    document_asked = run(shop.env, "-C", str(shop.project), "add", f"mcp+stdio:{command}", "--json")
    agreed = run(shop.env, "-C", str(shop.project), "add", f"mcp+stdio:{command}", "--yes")

    assert 2 == unasked.code
    assert "outside the sandbox" in unasked.err
    assert "--yes" in json.loads(document_asked.out or document_asked.err)["hint"]
    assert (0, True) == (agreed.code, shop.working("count", "SKILL.md").exists()), agreed
    assert "outside the sandbox" in agreed.err
