"""Every kind of source, all the way: added, locked, restored from nothing but the lock, and updated when it changes."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fakes import mcp_server
from fakes.archives import honest_tar, honest_zip
from fakes.hub_skills import publish_archive
from fakes.mcp_server import Answers, ToyServer
from fakes.registry import TITLE, shared
from fakes.repositories import Repository, served
from fakes.served_hub import ServedHub, served_hub
from fakes.shop import SAFE, Shop, document, yes
from fakes.site import Says, Site

from metier.errors import MetierError
from metier.hub.model import LOCAL
from metier.supply.archives.write_tar import PackFile, pack_tar_gz
from metier.supply.sources.registries import NEW_INDEX_PATH, OLD_INDEX_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.loopback
NEWER = "Count the words of a text, and its lines.\n"
SCRIPT = "echo counted\n"


class Source(NamedTuple):
    """A source as somebody names it, what its pin should say, and a way to change what it offers."""

    said: str
    kind: str
    locked: str
    """The source as the lock writes it."""
    change: Callable[[], None]
    files: frozenset[str] = frozenset({"SKILL.md", "run.sh"})
    skills: tuple[str, ...] = ()
    config: str = ""
    hosts: tuple[str, ...] = ()
    """Hosts on this machine that it lies on, beside the site."""


def files(body: str, below: str = "") -> dict[str, str]:
    return {f"{below}SKILL.md": document("count", body), f"{below}run.sh": SCRIPT}


def data(body: str) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files(body).items()}


# --- what there is to install from


def folder(shop: Shop, _site: Site) -> Source:
    shop.offer("count", files={"run.sh": SCRIPT})
    return Source(
        "../shelf/count",
        "folder",
        str(shop.shelf / "count"),
        lambda: _write(shop.shelf / "count/SKILL.md", document("count", NEWER)),
    )


def archive(form: str) -> Callable[[Shop, Site], Source]:
    def made(shop: Shop, _site: Site) -> Source:
        if form == "tar.zst":
            pytest.importorskip("zstandard")

        def put(body: str) -> None:
            (shop.shelf / f"count.{form}").write_bytes(
                honest_zip(data(body))
                if form == "zip"
                else honest_tar(data(body), form.removeprefix("tar."))
            )

        put(SAFE)
        return Source(
            f"../shelf/count.{form}",
            "archive",
            str(shop.shelf / f"count.{form}"),
            lambda: put(NEWER),
        )

    return made


def remote_archive(_shop: Shop, site: Site) -> Source:
    site.pages["/count.zip"] = honest_zip(data(SAFE))
    return Source(
        f"{site.url}/count.zip",
        "archive",
        f"{site.url}/count.zip",
        lambda: site.pages.update({"/count.zip": honest_zip(data(NEWER))}),
    )


def raw_document(_shop: Shop, site: Site) -> Source:
    page = "/count/SKILL.md"
    site.pages[page] = document("count").encode()
    return Source(
        site.url + page,
        "file",
        site.url + page,
        lambda: site.pages.update({page: document("count", NEWER).encode()}),
        frozenset({"SKILL.md"}),
    )


def index(_shop: Shop, site: Site) -> Source:
    def put(body: str) -> None:
        packed = honest_zip(data(body))
        entry = {
            "name": "count",
            "type": "archive",
            "description": "d",
            "url": "count.zip",
            "digest": f"sha256:{sha256(packed).hexdigest()}",
        }
        other = {**entry, "name": "other", "url": "other.zip"}
        site.pages[NEW_INDEX_PATH] = json.dumps({"skills": [entry, other]}).encode()
        site.pages[f"{NEW_INDEX_PATH.rpartition('/')[0]}/count.zip"] = packed

    put(SAFE)
    return Source(site.url, "well-known", site.url, lambda: put(NEWER), skills=("count",))


def older_index(_shop: Shop, site: Site) -> Source:
    def put(body: str) -> None:
        site.pages[OLD_INDEX_PATH] = json.dumps(
            {"skills": [{"name": "count", "description": "d", "files": sorted(data(body))}]}
        ).encode()
        site.pages.update(
            {
                f"{OLD_INDEX_PATH.rpartition('/')[0]}/count/{path}": text
                for path, text in data(body).items()
            }
        )

    put(SAFE)
    return Source(site.url, "well-known", site.url, lambda: put(NEWER))


def registry(_shop: Shop, site: Site) -> Source:
    def put(body: str, version: str) -> None:
        site.pages["/api/v1/skills/count"] = json.dumps(
            {"skill": {"slug": "count"}, "latestVersion": {"version": version}}
        ).encode()
        site.pages[f"/api/v1/download?slug=count&version={version}"] = honest_zip(data(body))

    put(SAFE, "1.0.0")
    return Source(
        f"clawhub:{site.url}/count",
        "clawhub",
        f"clawhub:{site.url}/count",
        lambda: put(NEWER, "1.1.0"),
    )


def artifact(form: str) -> Callable[[Shop, Site], Source]:
    def made(shop: Shop, _site: Site) -> Source:
        oci = shared()
        name = f"skills/{sha256(str(shop.base).encode()).hexdigest()[:16]}"

        def put(body: str) -> None:
            if form == "a file in each layer":
                plain = "application/vnd.oci.image.layer.v1.tar"
                oci.push(
                    name, "v1", [(plain, text, {TITLE: path}) for path, text in data(body).items()]
                )
                return
            packed = honest_tar({f"count/{path}": text for path, text in data(body).items()}, "gz")
            kind = "application/vnd.agentskills.skill.content.v1.tar+gzip"
            digest = oci.push(name, "v1", [(kind, packed, {})])
            if form == "a collection":
                other = oci.push(
                    name,
                    "other",
                    [(kind, honest_tar({"other/SKILL.md": document("other").encode()}, "gz"), {})],
                )
                oci.collection(name, "v1", {"count": digest, "other": other})

        put(SAFE)
        return Source(
            f"oci://{oci.place}/{name}:v1",
            "oci",
            f"oci://{oci.place}/{name}",
            lambda: put(NEWER),
            skills=("count",) if form == "a collection" else (),
            hosts=(oci.place,),
        )

    return made


def hub(shop: Shop, _site: Site) -> Source:
    held = served_hub(shop.base / "hub")
    one = held.__enter__()
    HUBS.append(held)

    def put(body: str, version: str) -> None:
        archive = pack_tar_gz(PackFile(path, text) for path, text in data(body).items())
        publish_archive(one.hub, LOCAL, "count", archive, version=version)

    put(SAFE, "1.0.0")
    place = f"hub+{one.url}/team/count"
    return Source(f"{place}@^1.0", "hub", place, lambda: put(NEWER, "1.1.0"))


def git(form: str) -> Callable[[Shop, Site], Source]:
    def made(shop: Shop, _site: Site) -> Source:
        repository = Repository(shop.base / "git/source")
        repository.commit(
            {**files(SAFE, "skills/count/"), "skills/other/SKILL.md": document("other")}
        )
        repository.git("tag", "v1")
        repository.git("branch", "release")

        def change() -> None:
            repository.commit(files(NEWER, "skills/count/"))
            repository.git("branch", "-f", "release", "main")
            repository.git("tag", "-f", "v1", "main")

        said = f"git+{repository.address}"
        return Source(
            said + form, "git", repository.address, change, skills=() if ":" in form else ("count",)
        )

    return made


def tap(shop: Shop, site: Site) -> Source:
    source = git("")(shop, site)
    return source._replace(said="tap:ours", config=f'taps = ["ours={source.said}"]\n')


def plain_name(shop: Shop, site: Site) -> Source:
    source = git("")(shop, site)
    return source._replace(said="count", skills=(), config=f'taps = ["{source.said}"]\n')


def market(
    where: str, entry: dict[str, object], at: str = "plugins/words/skills/count/"
) -> Callable[[Shop, Site], Source]:
    def made(shop: Shop, _site: Site) -> Source:
        repository = Repository(shop.base / "git/market")
        listing = {"name": "ours", "owner": {"name": "us"}, "plugins": [{"name": "words", **entry}]}
        repository.commit(
            {
                where: json.dumps(listing),
                **files(SAFE, at),
                "unlisted/SKILL.md": document("unlisted"),
            }
        )
        return Source(
            f"marketplace:git+{repository.address}",
            "git",
            repository.address,
            lambda: _commit(repository, files(NEWER, at)),
        )

    return made


def manifest(where: str, fields: dict[str, object], at: str) -> Callable[[Shop, Site], Source]:
    def made(shop: Shop, _site: Site) -> Source:
        repository = Repository(shop.base / "git/plugin")
        repository.commit(
            {
                where: json.dumps({"name": "words", **fields}),
                **files(SAFE, at),
                "other/SKILL.md": document("count", NEWER),
            }
        )
        change = partial(_commit, repository, files(NEWER, at))
        return Source(
            f"git+{repository.address}", "git", repository.address, change, skills=("words:count",)
        )

    return made


def server(
    way: str, *, stream: bool = False, modern: bool = False
) -> Callable[[Shop, Site], Source]:
    def made(_shop: Shop, _site: Site) -> Source:
        toy = ToyServer(Answers({}, way, modern=modern), token="open-sesame", stream=stream)
        other = {"SKILL.md": document("other").encode()}

        def put(body: str) -> None:
            toy.answers.skills = {"count": data(body), "other": other}

        put(SAFE)
        SERVERS.append(toy.__enter__())
        config = f'[mcp.upstreams.toy]\nurl = "{toy.url}"\ntoken = "TOY_TOKEN"\n'
        said = f"mcp+{toy.url}"
        return Source(said, "mcp", said, lambda: put(NEWER), skills=("count",), config=config)

    return made


def command_server(shop: Shop, _site: Site) -> Source:
    shop.offer("count", files={"run.sh": SCRIPT})
    words = [sys.executable, mcp_server.__file__, str(shop.shelf)]
    said = f"mcp+stdio:{shlex.join(words)}"
    return Source(
        said,
        "mcp",
        said,
        lambda: _write(shop.shelf / "count/SKILL.md", document("count", NEWER)),
        config=f"[mcp.upstreams.toy]\ncommand = {json.dumps(words)}\n",
    )


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _commit(repository: Repository, changed: dict[str, str]) -> None:
    repository.commit(changed)


AGENT_PLUGIN = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
CLAUDE, CODEX = ".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"
SOURCES = {
    "folder": folder, "zip": archive("zip"), "tar.gz": archive("tar.gz"), "tar.xz": archive("tar.xz"), "tar.zst": archive("tar.zst"),
    "an archive on the web": remote_archive, "a raw document": raw_document, "an index": index, "an older index": older_index,
    "a registry": registry, "a repository": git(""), "a branch": git("#release"), "a path": git("#:skills/count"),
    "a tag and a path": git("#v1:skills/count"), "a tap": tap, "a plain name": plain_name,
    "a marketplace of Claude": market(CLAUDE, {"source": "./plugins/words"}),
    "a list that stands in for manifests": market(CLAUDE, {"source": "./", "strict": False, "skills": ["./kit/count"]}, "kit/count/"),
    "a marketplace of Codex": market(CODEX, {"source": {"source": "local", "path": "./plugins/words"}}),
    "a plugin of Claude": manifest(".claude-plugin/plugin.json", {"skills": ["./kit/count"]}, "kit/count/"),
    "a plugin of Codex": manifest(".codex-plugin/plugin.json", {"skills": "./kit/"}, "kit/count/"),
    "an MCP server": server("extension"), "one with streams": server("extension", stream=True),
    "one without a handshake": server("extension", modern=True), "one whose lists are open": server("dynamic"),
    "one of before": server("manifest"), "one that lists resources": server("plain"), "a command": command_server,
    "a packed artifact": artifact("packed"), "an artifact with a file in each layer": artifact("a file in each layer"),
    "a collection of artifacts": artifact("a collection"),
    "a hub": hub, "an agent plugin": manifest("plugin.json", {"$schema": AGENT_PLUGIN}, "skills/count/"),
}  # fmt: skip


# --- what is done with each


SERVERS: list[ToyServer] = []
HUBS: list[AbstractContextManager[ServedHub]] = []


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running
    while SERVERS:
        SERVERS.pop().__exit__()
    while HUBS:
        HUBS.pop().__exit__(None, None, None)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.docker_registry) if "artifact" in name else name
        for name in SOURCES
    ],
)
def test_a_skill_of_any_source_is_installed_restored_from_the_lock_alone_and_updated(
    shop: Shop, site: Site, name: str
) -> None:
    source = SOURCES[name](shop, site)
    shop.env["TOY_TOKEN"] = "open-sesame"
    hosts = json.dumps([site.place, *source.hosts])
    shop.configure(f"[supply]\nprivate_hosts = {hosts}\n{source.config}")

    with shop.open() as m:
        added = m.add(source.said, skills=list(source.skills))
        fresh = m.outdated()
    pin = shop.pins()["count"]
    shutil.rmtree(shop.data)
    shutil.rmtree(shop.project / ".agents")
    with shop.open() as m:
        restored = m.sync(frozen=True)
    bytes_again = {path.name: path.read_text() for path in shop.working("count").iterdir()}
    source.change()
    with shop.open() as m:
        stale = m.outdated()
        m.update(consent=yes)

    assert (["count"], ()) == ([one.name for one in added.installed], added.refused)
    assert (source.kind, source.locked) == (pin["kind"], pin["source"])
    assert (True, ["current"]) == (restored.ok, [one.state for one in fresh])
    assert {path: text for path, text in files(SAFE).items() if path in source.files} == bytes_again
    assert ["outdated"] == [one.state for one in stale]
    assert document("count", NEWER) == shop.working("count", "SKILL.md").read_text()


@pytest.mark.parametrize("ref", ["main", "v1", "commit", ""])
def test_a_repository_is_installed_over_http_by_branch_tag_and_commit(shop: Shop, ref: str) -> None:
    repository = Repository(shop.base / "git/source")
    first = repository.commit(files(SAFE, "skills/count/"))
    repository.git("tag", "v1")
    second = repository.commit(files(NEWER, "skills/count/"))
    with served(shop.base / "git") as server:
        shop.configure(f'[supply]\nprivate_hosts = ["{server.place}"]\n')

        with shop.open() as m:
            m.add(
                f"git+{server.address('source/.git')}#{first if ref == 'commit' else ref}:skills/count"
            )

    commit, body = (first, SAFE) if ref in {"v1", "commit"} else (second, NEWER)
    assert (commit, "skills/count") == (
        shop.pins()["count"]["commit"],
        shop.pins()["count"]["path"],
    )
    assert document("count", body) == shop.working("count", "SKILL.md").read_text()


def test_a_closed_repository_opens_to_the_user_s_own_credential_helper_and_no_secret_is_kept(
    shop: Shop,
) -> None:
    Repository(shop.base / "git/source").commit(files(SAFE, "skills/count/"))
    helper = '!f() { test "$1" = get && echo username=ada && echo password=open-sesame; }; f'
    with served(shop.base / "git") as server:
        server.secrets["/source"] = "ada:open-sesame"
        shop.configure(f'[supply]\nprivate_hosts = ["{server.place}"]\n')
        said = f"git+{server.address('source/.git')}"
        with shop.open() as m, pytest.raises(MetierError) as closed:
            m.add(said)
        (shop.home / ".gitconfig").write_text(f"[credential]\n\thelper = {json.dumps(helper)}\n")

        with shop.open() as m:
            added = m.add(said)

    kept = b"".join(
        path.read_bytes()
        for root in (shop.project, shop.data)
        for path in root.rglob("*")
        if path.is_file()
    )
    assert "git" == closed.value.code
    assert ["count"] == [one.name for one in added.installed]
    assert b"open-sesame" not in kept


def test_a_plugin_that_a_marketplace_keeps_on_another_server_is_fetched_from_there_at_its_commit(
    shop: Shop,
) -> None:
    plugin = Repository(shop.base / "git/plugin")
    first = plugin.commit(files(SAFE, "kit/count/"))
    plugin.commit(files(NEWER, "kit/count/"))
    with served(shop.base / "git") as server:
        source = {
            "source": "git-subdir",
            "url": server.address("plugin/.git"),
            "path": "kit",
            "sha": first,
        }
        listing = {"name": "ours", "plugins": [{"name": "words", "source": source}]}
        Repository(shop.base / "git/market").commit({CLAUDE: json.dumps(listing)})
        shop.configure(f'[supply]\nprivate_hosts = ["{server.place}"]\n')

        with shop.open() as m:
            added = m.add(f"marketplace:git+{server.address('market/.git')}", skills=["count"])

    assert ["count"] == [one.name for one in added.installed]
    assert (server.address("plugin/.git"), first) == (
        shop.pins()["count"]["source"],
        shop.pins()["count"]["commit"],
    )
    assert document("count") == shop.working("count", "SKILL.md").read_text()


def test_an_edit_survives_an_update_from_an_mcp_server(shop: Shop) -> None:
    text = "First line.\n\nSecond line.\n\nThird line.\n"
    with ToyServer(Answers({"count": data(text)})) as toy:
        shop.configure(f'[mcp.upstreams]\ntoy = "{toy.url}"\n')
        with shop.open() as m:
            m.add(f"mcp+{toy.url}")
        mine = shop.working("count", "SKILL.md")
        mine.write_text(mine.read_text().replace("First line.", "My line."))
        toy.answers.skills["count"] = data(text.replace("Third", "Last"))
        with shop.open() as m:
            updated = m.update(consent=yes)

    assert ["three_way"] == [one.mode for one in updated.installed]
    assert "My line.\n\nSecond line.\n\nLast line.\n" in mine.read_text()


def test_a_site_that_moved_is_followed_and_its_index_is_relative_to_the_new_place(
    shop: Shop, site: Site
) -> None:
    text = document("count").encode()
    entry = {
        "name": "count",
        "type": "skill-md",
        "description": "d",
        "url": "count/SKILL.md",
        "digest": f"sha256:{sha256(text).hexdigest()}",
    }
    with Site(
        {
            NEW_INDEX_PATH: json.dumps({"skills": [entry]}).encode(),
            f"{NEW_INDEX_PATH.rpartition('/')[0]}/count/SKILL.md": text,
        }
    ) as moved:
        site.pages[NEW_INDEX_PATH] = Says(
            status=301, headers={"Location": moved.url + NEW_INDEX_PATH, "Content-Length": "0"}
        )
        shop.configure(f'[supply]\nprivate_hosts = ["{site.place}", "{moved.place}"]\n')

        with shop.open() as m:
            m.add(site.url)

    assert site.url == shop.pins()["count"]["source"]
    assert document("count") == shop.working("count", "SKILL.md").read_text()
