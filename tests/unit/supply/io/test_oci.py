"""Registries that lie: whatever is wrong is refused with its code, and what was there stays."""

from __future__ import annotations

import base64
import json
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

import pytest
from fakes.archives import honest_tar, honest_zip
from fakes.shop import Shop, document, yes
from fakes.site import Says, Site

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.supply.io import oci, registry
from metier.supply.io.http import HttpClient
from metier.supply.io.registry import RegistryClient
from metier.supply.model import Origin
from metier.supply.sources import oci_manifest
from metier.supply.sources.oci_manifest import INDEX_TYPE, MANIFEST_TYPE, MAX_LAYERS
from metier.supply.sources.oci_names import repository_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from metier.supply.io.quarantine import Quarantine

pytestmark = pytest.mark.loopback
TITLE = "org.opencontainers.image.title"
PACKED = "application/vnd.oci.image.layer.v1.tar+gzip"
PLAIN = "application/vnd.oci.image.layer.v1.tar"
TEXT = document("count").encode()
BLOBS = "/v2/acme/count/blobs/"
MANIFESTS = "/v2/acme/count/manifests/"
BUNDLE = honest_tar({"SKILL.md": TEXT}, "gz")


def digest_of(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def row(data: bytes, kind: str = PLAIN, title: str = "", **more: Any) -> dict[str, Any]:
    notes = {"annotations": {TITLE: title}} if title else {}
    return {"mediaType": kind, "digest": digest_of(data), "size": len(data), **notes, **more}


def manifest(*layers: Any, **more: Any) -> dict[str, Any]:
    return {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": row(b"{}", "application/vnd.oci.empty.v1+json"),
        "layers": list(layers),
        **more,
    }


def index(*rows: Any) -> dict[str, Any]:
    return {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": list(rows)}


def typed(data: bytes, kind: str = MANIFEST_TYPE) -> Says:
    return Says(data, headers={"Content-Type": kind, "Content-Length": str(len(data))})


def put(site: Site, found: Any, *blobs: bytes, tag: str = "v1") -> None:
    data = found if isinstance(found, bytes) else json.dumps(found).encode()
    kind = INDEX_TYPE if isinstance(found, dict) and "manifests" in found else MANIFEST_TYPE
    site.pages[MANIFESTS + tag] = site.pages[MANIFESTS + digest_of(data)] = typed(data, kind)
    site.pages.update({BLOBS + digest_of(blob): blob for blob in blobs})


def one(*blobs: bytes, **fields: Any) -> Callable[[Site], None]:
    """Give a manifest of one file, with a field of its own."""
    return lambda site: put(site, manifest(row(TEXT, title="SKILL.md", **fields)), TEXT, *blobs)


def of(found: Any, *blobs: bytes) -> Callable[[Site], None]:
    return lambda site: put(site, found, *blobs)


def says(body: Says) -> Callable[[Site], None]:
    def made(site: Site) -> None:
        put(site, manifest(row(TEXT, title="SKILL.md")))
        site.pages[BLOBS + digest_of(TEXT)] = body

    return made


def led(where: str) -> Callable[[Site], None]:
    return says(Says(status=307, headers={"Location": where, "Content-Length": "0"}))


def wants(challenge: str) -> Callable[[Site], None]:
    answer = Says(status=401, headers={"WWW-Authenticate": challenge, "Content-Length": "0"})
    return lambda site: site.pages.update({MANIFESTS + "v1": answer})


def listed(site: Site) -> None:
    inner = json.dumps(index(row(b"x", MANIFEST_TYPE))).encode()
    put(site, index(row(inner, MANIFEST_TYPE)))
    site.pages[MANIFESTS + digest_of(inner)] = typed(inner, INDEX_TYPE)


def wrong_manifest(site: Site) -> None:
    put(site, manifest(row(TEXT, title="SKILL.md")), TEXT)
    inner = row(b"another", MANIFEST_TYPE)
    site.pages[MANIFESTS + inner["digest"]] = site.pages[MANIFESTS + "v1"]
    put(site, index(inner))


GONE = honest_tar({"SKILL.md": TEXT, ".wh.run.sh": b""}, "gz")
HOSTILE: dict[str, tuple[str, Callable[[Site], None]]] = {
    "a blob that is not there": ("not-found", of(manifest(row(TEXT, title="SKILL.md")))),
    "a blob that is longer than it says": ("digest", one(size=len(TEXT) - 1)),
    "a blob that is shorter than it says": ("digest", one(size=len(TEXT) + 1)),
    "a blob of other bytes": ("digest", says(Says(TEXT[::-1]))),
    "a blob without an end": ("digest", says(Says(TEXT, headers={}, drip=True))),
    "a blob that breaks off": ("malformed", says(Says(TEXT[:9], headers={"Content-Length": str(len(TEXT))}))),
    "layers too large together": ("too-large", one(size=1 << 40)),
    "too many layers": ("too-many", of(manifest(*[row(TEXT, title="x")] * (MAX_LAYERS + 1)))),
    "a manifest without an end": ("too-large", lambda site: put(site, b" " * (5 << 20))),
    "no JSON": ("malformed", of(b"<html>")),
    "a key twice": ("malformed", of(b'{"schemaVersion":2,"schemaVersion":2}')),
    "nested without end": ("malformed", of(b"[" * 100_000)),
    "an old manifest": ("malformed", of({**manifest(), "schemaVersion": 1})),
    "no list of layers": ("malformed", of({**manifest(), "layers": {}})),
    "a manifest and an index": ("malformed", of({**manifest(), "manifests": []})),
    "another type": ("malformed", of({**manifest(), "mediaType": "application/x"})),
    "another type than announced": ("malformed", of({**index(), "mediaType": MANIFEST_TYPE, "layers": []})),
    "a layer that is a number": ("malformed", of(manifest(1))),
    "a digest that is a path": ("malformed", one(digest="sha256:../../x")),
    "another kind of digest": ("malformed", one(digest="sha512:" + "0" * 128)),
    "a size below nothing": ("malformed", one(size=-1)),
    "a size that is true": ("malformed", one(size=True)),
    "annotations that are no texts": ("malformed", one(annotations={TITLE: 1})),
    "a title that climbs": ("unsafe-path", of(manifest(row(TEXT, title="../SKILL.md")), TEXT)),
    "an absolute title": ("unsafe-path", of(manifest(row(TEXT, title="/etc/x")), TEXT)),
    "two titles that are one": ("collision", of(manifest(row(TEXT, title="SKILL.md"), row(TEXT, title="skill.MD")), TEXT)),
    "a layer of no known type": ("malformed", of(manifest(row(TEXT, "application/x")), TEXT)),
    "a zip that says tar": ("malformed", of(manifest(row(honest_zip({"SKILL.md": TEXT}), PACKED)), honest_zip({"SKILL.md": TEXT}))),
    "an archive that is none": ("malformed", of(manifest(row(TEXT, PACKED)), TEXT)),
    "two layers with one file": ("collision", of(manifest(row(BUNDLE, PACKED), row(TEXT, title="SKILL.md")), BUNDLE, TEXT)),
    "a layer that removes a file": ("unsafe-entry", of(manifest(row(GONE, PACKED)), GONE)),
    "nothing at all": ("no-skill", of(manifest())),
    "an index of nothing": ("no-skill", of(index())),
    "an index of an index": ("malformed", listed),
    "a collection with a name twice": ("collision", of(index(row(b"a", MANIFEST_TYPE, "count"), row(b"b", MANIFEST_TYPE, "count")))),
    "a collection with an odd name": ("unsafe-path", of(index(row(b"a", MANIFEST_TYPE, "../x"), row(b"b", MANIFEST_TYPE, "b")))),
    "a manifest of another digest": ("digest", wrong_manifest),
    "no such tag": ("not-found", lambda _site: None),
    "a fault of its own": ("unreachable", lambda site: site.pages.update({MANIFESTS + "v1": Says(b"{}", 500)})),
    "a way into a private network": ("private-address", led("https://10.0.0.7/blob")),
    "a way to plain http": ("redirect", led("http://198.51.100.7/blob")),
    "a circle": ("redirect", led(BLOBS + digest_of(TEXT))),
    "a login that nobody has": ("unauthorized", wants('Basic realm="x"')),
    "tokens from a private network": ("private-address", wants('Bearer realm="https://10.0.0.7/token",service="x"')),
    "tokens over plain http": ("redirect", wants('Bearer realm="http://198.51.100.7/token"')),
    "tokens from nowhere": ("malformed", wants("Bearer")),
}  # fmt: skip


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.mark.parametrize("name", list(HOSTILE))
def test_what_a_registry_makes_up_is_refused_with_its_code_and_leaves_nothing(
    shop: Shop, site: Site, name: str
) -> None:
    code, prepare = HOSTILE[name]
    prepare(site)
    shop.configure(f'[supply]\nprivate_hosts = ["{site.place}"]\nseconds = 60\n')
    before = shop.seen()

    with shop.open() as m, pytest.raises(MetierError) as refused:
        m.add(f"oci://{site.place}/acme/count:v1", consent=yes)

    assert (name, code) == (name, refused.value.code)
    assert before == shop.seen()


def test_the_manifests_of_a_collection_are_bounded_together(
    shop: Shop, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = [json.dumps(manifest(annotations={"x": str(at) * 2000})).encode() for at in range(9)]
    put(site, index(*[row(data, MANIFEST_TYPE, f"s{at}") for at, data in enumerate(inner)]))
    site.pages.update({MANIFESTS + digest_of(data): typed(data) for data in inner})
    shop.configure(f'[supply]\nprivate_hosts = ["{site.place}"]\n')
    monkeypatch.setattr(oci_manifest, "MAX_COLLECTION_BYTES", 3 * len(inner[0]))

    with shop.open() as m, pytest.raises(MetierError) as refused:
        m.add(f"oci://{site.place}/acme/count:v1", consent=yes)

    assert ("too-large", 5) == (refused.value.code, len(site.asked))


def test_the_signatures_of_a_collection_are_bounded_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(oci, "MAX_ENVELOPES_BYTES", 25)
    monkeypatch.setattr(oci.OciTree, "_of", lambda _tree, _digest: iter([b"x" * 10]))
    tree = oci.OciTree(
        Origin("oci", "oci://host/x"), (), cast("Quarantine", None), SupplySettings()
    )
    tree.manifests = ("a", "b", "c", "d")

    assert [10, 10] == [len(one) for one in tree.envelopes()]
    assert ["oci://host/x has too many signatures"] == tree.problems


def test_a_registry_on_this_machine_has_to_be_named_in_the_settings(shop: Shop, site: Site) -> None:
    with shop.open() as m, pytest.raises(MetierError) as refused:
        m.add(f"oci://{site.place}/acme/count:v1", consent=yes)

    assert ("host", []) == (refused.value.code, site.asked)


def test_a_tag_that_moves_while_somebody_looks_at_the_plan_is_noticed(
    shop: Shop, site: Site
) -> None:
    put(site, manifest(row(TEXT, title="SKILL.md")), TEXT)
    shop.configure(f'[supply]\nprivate_hosts = ["{site.place}"]\n')
    said = f"oci://{site.place}/acme/count:v1"
    newer = document("count", "Count the lines.\n").encode()

    def move(_so_far: object) -> bool:
        put(site, manifest(row(newer, title="SKILL.md")), newer)
        return True

    def move_back(_so_far: object) -> bool:
        put(site, manifest(row(TEXT, title="SKILL.md")), TEXT)
        return True

    before = shop.seen()
    with shop.open() as m, pytest.raises(MetierError) as refused:
        m.add(said, consent=move)
    after = shop.seen()
    put(site, manifest(row(TEXT, title="SKILL.md")), TEXT)
    with shop.open() as m:
        m.add(said, consent=yes)
        put(site, manifest(row(newer, title="SKILL.md")), newer)
        held = shop.seen()
        with pytest.raises(MetierError) as again:
            m.update(consent=move_back)

    assert ("changed", "changed") == (refused.value.code, again.value.code)
    assert before == after
    assert held == shop.seen()


# --- tags

TAGS = "/v2/acme/count/tags/list"
MORE = {"Link": '<https://10.0.0.7/next>; rel="next"'}
LISTS: dict[str, tuple[Says, str | list[str]]] = {
    "two": (Says(b'{"tags":["1.0.0","2.0.0"]}'), ["1.0.0", "2.0.0"]),
    "odd ones among them": (Says(b'{"tags":["1.0.0","../x",7,"a b",null]}'), ["1.0.0"]),
    "no list": (Says(b'{"tags":{"a":1}}'), []),
    "a list alone": (Says(b"[1]"), []),
    "nothing": (Says(b"", 404), []),
    "no JSON": (Says(b"<html>"), "malformed"),
    "too much": (Says(b'{"tags":["' + b"x" * (2 << 20)), "too-large"),
    "a fault": (Says(b"", 500), "unreachable"),
    "a way into a private network": (Says(b"", 307, {"Location": "https://10.0.0.7/x"}), "private-address"),
    "the same page again and again": (Says(b'{"tags":["a","b"]}', 200, {**MORE, "Content-Length": "18"}), ["a", "b"]),
}  # fmt: skip


def client_of(site: Site) -> RegistryClient:
    http = HttpClient(site.limits(seconds=30), named=(site.place,))
    return RegistryClient(repository_of(f"oci://{site.place}/acme/count"), http, {}, "")


@pytest.mark.parametrize("name", list(LISTS))
def test_a_list_of_tags_is_read_or_refused_with_its_code(site: Site, name: str) -> None:
    site.pages[TAGS], expected = LISTS[name]
    found: str | list[str]

    try:
        found = list(client_of(site).tags())
    except MetierError as error:
        found = error.code

    assert (name, expected) == (name, found)
    assert len(site.asked) <= 2


def test_tags_without_an_end_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Site):
        def _page(self, _target: str) -> Says:
            tag = f"t{len(self.asked):06}"
            data = json.dumps({"tags": [tag]}).encode()
            return Says(data, 200, {**MORE, "Content-Length": str(len(data))})

    monkeypatch.setattr(registry, "MAX_TAG_PAGES", 7)
    with Endless() as site:
        found = client_of(site).tags()

    assert (7, 7) == (len(found), len(site.asked))
    assert all(f"last=t{at:06}" in target for at, target in enumerate(site.asked[1:], 1))


# --- who gets a login


class Guarded(Site):
    """A registry that wants a token, and gives one to who knows the password."""

    secret = base64.b64encode(b"ada:open-sesame").decode()

    def _page(self, target: str) -> Says:
        heard = self.requests[-1].decode()
        if target.startswith("/token"):
            known = f"Authorization: Basic {self.secret}" in heard or "refresh_token=kept" in heard
            return Says(json.dumps({"token": "a-token"} if known else {"token": "none"}).encode())
        if "Authorization: Bearer a-token" in heard:
            return super()._page(target)
        challenge = (
            f'Bearer realm="{self.url}/token",service="it",scope="repository:else:pull,push"'
        )
        return Says(b"{}", 401, {"WWW-Authenticate": challenge, "Content-Length": "2"})


def login(home: Path, config: dict[str, Any]) -> None:
    (home / ".docker").mkdir(exist_ok=True)
    (home / ".docker/config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("form", ["auths", "helper", "store", "token", "elsewhere"])
def test_a_login_of_docker_s_configuration_opens_a_registry_and_goes_nowhere_else(
    shop: Shop, form: str
) -> None:
    helper = shop.home / "bin/docker-credential-test"
    helper.parent.mkdir()
    helper.write_text(
        '#!/bin/sh\nread server; [ "$1" = get ] && [ "$server" = "$PLACE" ] || exit 1\n'
        'echo \'{"Username":"ada","Secret":"open-sesame"}\'\n'
    )
    helper.chmod(helper.stat().st_mode | stat.S_IXUSR)
    with Guarded() as site, Site({"/blob": TEXT}) as store:
        put(site, manifest(row(TEXT, title="SKILL.md")))
        where = f"{store.url}/blob"
        site.pages[BLOBS + digest_of(TEXT)] = Says(
            status=307, headers={"Location": where, "Content-Length": "0"}
        )
        auths: dict[str, Any] = {site.place: {"auth": Guarded.secret}}
        config = {
            "auths": {"auths": auths},
            "helper": {"credHelpers": {site.place: "test"}},
            "store": {"auths": {site.place: {}}, "credsStore": "test"},
            "token": {"auths": {site.place: {"identitytoken": "kept"}}},
            "elsewhere": {"auths": {"example.com": {"auth": Guarded.secret}}, "credsStore": "test"},
        }[form]
        folder = shop.base / "docker"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config))
        shop.env |= {
            "DOCKER_CONFIG": str(folder),
            "PATH": f"{helper.parent}:{shop.env['PATH']}",
            "PLACE": site.place if form != "elsewhere" else "another",
        }
        shop.configure(f'[supply]\nprivate_hosts = ["{site.place}", "{store.place}"]\n')
        said = f"oci://{site.place}/acme/count:v1"
        if form == "elsewhere":
            with shop.open() as m, pytest.raises(MetierError) as refused:
                m.add(said, consent=yes)
            assert "unauthorized" == refused.value.code
            assert "none" not in refused.value.message
        else:
            with shop.open() as m:
                m.add(said, consent=yes)
            assert [TEXT] == [shop.working("count", "SKILL.md").read_bytes()]
            assert b"authorization" not in store.requests[0].lower()
        asked = [request for request in site.requests if b"/token" in request]
        scope = b"scope=repository%3Aacme%2Fcount%3Apull"
        assert all(scope in request for request in asked if request.startswith(b"GET"))
    kept = b"".join(
        path.read_bytes()
        for root in (shop.project, shop.data)
        for path in root.rglob("*")
        if path.is_file()
    )
    for secret in (b"open-sesame", b"a-token", Guarded.secret.encode(), b"refresh"):
        assert secret not in kept
