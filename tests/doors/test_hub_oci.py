"""A hub as a registry: what oras and metier pull from it, and what they may not."""

from __future__ import annotations

import base64
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import oras.client
import pytest
from doors.command import Answer, run
from fakes.hub_offering import Offering, hub_offering
from fakes.shop import Shop

from metier.supply.sources.oci_manifest import SKILL_TYPE
from metier.trust import sign

pytestmark = pytest.mark.loopback


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Offering]:
    with hub_offering(tmp_path / "hub") as one:
        yield one


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "machine")


def metier(machine: Shop, *words: str) -> Answer:
    return run(machine.env, *words, cwd=machine.project)


def log_in(machine: Shop, place: str, token: str) -> None:
    """Log in to a registry as docker does."""
    pair = base64.b64encode(f"me:{token}".encode()).decode()
    (machine.home / ".docker").mkdir()
    (machine.home / ".docker/config.json").write_text(
        json.dumps({"auths": {place: {"auth": pair}}})
    )


def test_oras_pulls_a_version_and_lists_those_there_are(offering: Offering, tmp_path: Path) -> None:
    place = offering.served.url.removeprefix("http://")
    client = oras.client.OrasClient(insecure=True, hostname=place)

    (packed,) = client.pull(target=f"{place}/open/table-tidy:1.0.0", outdir=str(tmp_path / "out"))
    tags = client.get_tags(f"{place}/open/table-tidy")

    with tarfile.open(packed) as archive:
        text = archive.extractfile("SKILL.md")
        assert text is not None
        assert b"One." in text.read()
    assert ["1.0.0", "1.1.0", "latest"] == tags


def test_oras_pulls_what_is_private_with_a_token_as_the_password(
    offering: Offering, tmp_path: Path
) -> None:
    place = offering.served.url.removeprefix("http://")
    target = f"{place}/secret/hidden-thing:0.1.0"
    client = oras.client.OrasClient(insecure=True, hostname=place, auth_backend="basic")
    client.auth.set_basic_auth("me", offering.token)

    pulled = client.pull(target=target, outdir=str(tmp_path / "out"))

    assert ["hidden-thing.tar.gz"] == [Path(one).name for one in pulled]
    assert {401} == {
        offering.get(f"/v2/{name}/manifests/0.1.0").status
        for name in ("secret/hidden-thing", "secret/never-was", "nobody/never-was")
    }


@pytest.mark.parametrize(
    ("path", "with_token"),
    [
        ("/v2/", 200),
        ("/v2/secret/hidden-thing/tags/list", 200),
        ("/v2/secret/never-was/tags/list", 404),
        ("/v2/open/cleaner/manifests/0.1.0", 404),
        ("/v2/open/cleaner/tags/list", 404),
        ("/v2/open/table-tidy/manifests/9.0.0", 404),
        (f"/v2/open/table-tidy/blobs/sha256:{'0' * 64}", 404),
    ],
)
def test_who_shows_no_token_is_asked_for_one_whatever_is_there(
    offering: Offering, path: str, with_token: int
) -> None:
    anonymous = offering.get(path)

    assert (401, True) == (
        anonymous.status,
        anonymous.headers["www-authenticate"].startswith("Basic "),
    )
    assert "UNAUTHORIZED" == anonymous.json["errors"][0]["code"]
    assert with_token == offering.get(path, offering.token, basic=True).status


def test_a_yanked_version_is_in_no_list_and_is_given_to_who_names_it(offering: Offering) -> None:
    tags = offering.get("/v2/open/table-tidy/tags/list").json["tags"]
    yanked = offering.get("/v2/open/table-tidy/manifests/2.0.0")
    latest = offering.get("/v2/open/table-tidy/manifests/latest").json

    assert "2.0.0" not in tags
    assert (200, SKILL_TYPE) == (yanked.status, yanked.json["artifactType"])
    assert "1.1.0" == latest["annotations"]["org.opencontainers.image.version"]


def test_tags_come_in_pages(offering: Offering) -> None:
    first = offering.get("/v2/open/table-tidy/tags/list?n=2")
    second = offering.get("/v2/open/table-tidy/tags/list?n=2&last=1.1.0")

    assert (["1.0.0", "1.1.0"], ["latest"]) == (first.json["tags"], second.json["tags"])
    assert '</v2/open/table-tidy/tags/list?n=2&last=1.1.0>; rel="next"' == first.headers["link"]
    assert "link" not in second.headers


def test_metier_adds_updates_and_restores_from_a_hub_as_a_registry(
    offering: Offering, shop: Shop
) -> None:
    place = offering.served.url.removeprefix("http://")
    shop.configure(f'[supply]\nprivate_hosts = ["{place}"]\n')
    log_in(shop, place, offering.token)
    (shop.base / "hub.pem").write_bytes(offering.served.hub.public_key)
    with shop.open() as m:
        sign.import_key(m.context, str(shop.base / "hub.pem"))

    tagged = metier(shop, "add", f"oci://{place}/open/table-tidy:1.0.0", "--yes", "--json")
    private = metier(shop, "add", f"oci://{place}/secret/hidden-thing", "--yes", "--json")
    copy = shop.project / ".agents/skills/table-tidy/SKILL.md"
    text = copy.read_text()
    copy.unlink()
    copy.parent.rmdir()
    synced = metier(shop, "sync", "--frozen")

    assert [0, 0, 0] == [one.code for one in (tagged, private, synced)], (tagged, private, synced)
    assert "One." in text
    assert text == copy.read_text()
    assert {offering.served.hub.key_id} == {pin["signature"] for pin in shop.pins().values()}
