"""Skills in a real registry: what is pushed, who else reads it, and what never leaves this machine."""

from __future__ import annotations

import base64
import json
import os
import shutil
import tarfile
from hashlib import sha256
from typing import TYPE_CHECKING

import oras.client
import pytest
from fakes.registry import Between, running, shared
from fakes.shop import DANGEROUS, Shop, document, yes

from metier.errors import MetierError
from metier.supply.io.http import HttpClient
from metier.supply.io.registry import RegistryClient
from metier.supply.sources.oci_names import repository_of
from metier.trust import sign

if TYPE_CHECKING:
    from pathlib import Path

    from fakes.registry import Registry

pytestmark = [pytest.mark.loopback, pytest.mark.docker_registry]
FIELDS = 'license: MIT\nmetadata:\n  version: "1.2.0"\n'
SCRIPT = "echo counted\n"


class Bench:
    """A machine, a registry, and a repository in it that nobody else uses."""

    def __init__(self, shop: Shop, oci: Registry) -> None:
        """Let the machine reach the registry."""
        self.shop, self.oci = shop, oci
        self.repository = f"push/{sha256(str(shop.base).encode()).hexdigest()[:16]}"
        self.target = f"oci://{oci.place}/{self.repository}"
        shop.configure(f'[supply]\nprivate_hosts = ["{oci.place}"]\n')
        self.skill = str(shop.offer("count", files={"run.sh": SCRIPT}, fields=FIELDS))

    def tags(self) -> list[str]:
        """List what the registry has."""
        answer = self.oci.ask("GET", f"/v2/{self.repository}/tags/list")
        return sorted(json.loads(answer.told).get("tags") or [])  # type: ignore[attr-defined]


@pytest.fixture
def bench(shop: Shop) -> Bench:
    return Bench(shop, shared())


def test_a_skill_is_pushed_once_with_what_describes_it_and_added_again_byte_for_byte(
    bench: Bench,
) -> None:
    os.chmod(f"{bench.skill}/run.sh", 0o700)
    with bench.shop.open() as m:
        first = m.push(
            bench.skill, bench.target, source="https://me:pw@x.example/r", revision="abc"
        )
        again = m.push(
            bench.skill, bench.target, source="https://me:pw@x.example/r", revision="abc"
        )
        moved = m.push(bench.skill, f"{bench.target}:1.2.0")
        added = m.add(f"{bench.target}@{first.digest}", consent=yes)
        (fixed,) = m.outdated()
    pin = bench.shop.pins()["count"]

    found = bench.oci.get(bench.repository, first.digest)
    notes = {
        name.removeprefix("org.opencontainers.image."): text
        for name, text in found["annotations"].items()
    }
    assert ("count", "1.2.0", "pushed", f"{bench.target}:1.2.0") == (
        first.name,
        first.version,
        first.state,
        first.to,
    )
    assert (first.digest, "unchanged", "moved") == (again.digest, again.state, moved.state)
    assert {
        "title": "count",
        "version": "1.2.0",
        "licenses": "MIT",
        "source": "https://x.example/r",
        "revision": "abc",
    }.items() <= notes.items()
    assert "application/vnd.agentskills.skill.v1" == found["artifactType"]
    assert [first.tree] == [one.digest for one in added.installed]
    assert (first.digest, "count", "fixed") == (pin["commit"], pin["path"], fixed.state)
    assert bench.shop.working("count", "run.sh").stat().st_mode & 0o100


def test_a_range_is_held_against_the_tags_of_a_repository(bench: Bench) -> None:
    for version in ("1.2.0", "1.10.0", "2.0.0"):
        fields = f'metadata:\n  version: "{version}"\n'
        with bench.shop.open() as m:
            m.push(str(bench.shop.offer("count", fields=fields)), f"{bench.target}/count")
    found = {}
    for wanted in ("^1", "^3"):
        need = f"metadata:\n  depends-on: {bench.target}/count@{wanted}\n"
        top = str(bench.shop.offer("top", fields=need))
        with bench.shop.open() as m:
            m.push(top, f"{bench.target}/top:{wanted[1:]}")
            told = m.add(f"{bench.target}/top:{wanted[1:]}", dry_run=True)
        found[wanted] = [(one.name, one.ref) for one in told.plan.add], told.dependencies[0]
    with bench.shop.open() as m, pytest.raises(MetierError) as untagged:
        m.add(f"{bench.target}/count", consent=yes)

    assert [("top", "1"), ("count", "1.10.0")] == found["^1"][0]
    assert ("found", "1.10.0") == (found["^1"][1].state, found["^1"][1].version)
    assert ("missing", "no version fits ^3; there is 1.2.0, 1.10.0, 2.0.0") == (
        found["^3"][1].state,
        found["^3"][1].reason,
    )
    assert "not-found" == untagged.value.code
    assert "2.0.0, 1.10.0, 1.2.0" in untagged.value.hint


def test_what_a_skill_of_a_collection_needs_is_in_that_collection(bench: Bench) -> None:
    pushed = {}
    for name, fields in {"top": "metadata:\n  depends-on: count\n", "count": ""}.items():
        with bench.shop.open() as m:
            where = f"{bench.target}:{name}"
            pushed[name] = m.push(str(bench.shop.offer(name, fields=fields)), where).digest
    bench.oci.collection(bench.repository, "all", pushed)

    with bench.shop.open() as m:
        whole = m.add(f"{bench.target}:all", skills=["top"], dry_run=True)
        one = m.add(f"{bench.target}:all#:top", consent=yes)

    assert ["top", "count"] == [step.name for step in whole.plan.add]
    assert ["top", "count"] == [step.name for step in one.installed]


def test_oras_reads_what_is_pushed_and_what_oras_pushes_is_added(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = oras.client.OrasClient(insecure=True, hostname=bench.oci.place)
    with bench.shop.open() as m:
        pushed = m.push(bench.skill, bench.target)
    there = f"{bench.oci.place}/{bench.repository}"
    (packed,) = client.pull(target=f"{there}:1.2.0", outdir=str(tmp_path / "out"))
    with tarfile.open(packed) as archive:
        names = sorted(archive.getnames())
        text = archive.extractfile("count/SKILL.md")
        assert text is not None
        assert document("count", fields=FIELDS).encode() == text.read()
    monkeypatch.chdir(bench.shop.shelf)
    files = ["count/SKILL.md", "count/run.sh"]
    client.push(target=f"{there}:files", files=files, quiet=True)
    client.push(target=f"{there}:folder", files=["count"], quiet=True)
    digests = []
    for tag in ("files", "folder"):
        with bench.shop.open() as m:
            added = m.add(f"{bench.target}:{tag}", consent=yes)
            digests += [one.digest for one in added.installed]
            m.remove(["count"], consent=yes)

    assert ["count/SKILL.md", "count/run.sh"] == names
    assert [pushed.tree, pushed.tree] == digests


def test_a_signature_travels_with_the_skill_and_names_its_key_where_that_is_trusted(
    bench: Bench, tmp_path: Path
) -> None:
    with bench.shop.open() as m:
        key, public = sign.new_key(m.context)
        pushed = m.push(bench.skill, bench.target, sign=True)
        again = m.push(bench.skill, bench.target)
    referring = bench.oci.get(bench.repository, pushed.digest.replace(":", "-"))["manifests"]
    other = Shop(tmp_path / "elsewhere")
    other.configure(f'[supply]\nprivate_hosts = ["{bench.oci.place}"]\n')
    stranger = Shop(tmp_path / "stranger")
    stranger.env["METIER_CONFIG"] = other.env["METIER_CONFIG"]
    levels = {}
    for name, machine in (("trusts", other), ("does not", stranger)):
        with machine.open() as m:
            if name == "trusts":
                sign.import_key(m.context, public)
            plan = m.add(f"{bench.target}:1.2.0", consent=yes).plan
            levels[name] = plan.add[0].level
    for kept in ("signatures", "store"):
        shutil.rmtree(other.data / kept)
    shutil.rmtree(other.working("count"))
    with other.open() as m:
        restored = m.sync(frozen=True)

    assert (key, key, 1) == (pushed.signature, again.signature, len(referring))
    assert {"trusts": "verified", "does not": "community"} == levels
    assert (key, None) == (
        other.pins()["count"]["signature"],
        stranger.pins()["count"].get("signature"),
    )
    assert restored.ok
    assert (other.data / "signatures").exists()


def test_what_pack_refuses_is_not_pushed_and_nothing_is_sent(bench: Bench) -> None:
    shop = bench.shop
    key = "sk-ant-" + "api03-" + "Q7vK2mX9pL4wR8tZ1nB6cF3hJ5dG0sYe" * 3
    bad = {
        "dangerous": shop.offer("danger", DANGEROUS),
        "key": shop.offer("keyed", f"Set ANTHROPIC_API_KEY={key}\n"),
        "check": shop.offer("other", at="misnamed"),
    }
    told = {}
    for code, folder in bad.items():
        with shop.open() as m, pytest.raises(MetierError) as refused:
            m.push(str(folder), f"{bench.target}:v1")
        told[code] = refused.value.code
    for to in ("https://example.com/x", f"{bench.target}@sha256:{'0' * 64}", "oci://x"):
        with shop.open() as m, pytest.raises(MetierError) as refused:
            m.push(bench.skill, to)
        assert 2 == refused.value.exit_code

    assert {code: code for code in bad} == told
    assert [] == bench.tags()


@pytest.mark.parametrize(
    ("when", "cuts", "sent"),
    [
        ("whole", (), (1, 0, 0)),
        ("in parts", (), (1, 3, 0)),
        ("a part that never came", (None, 0), (1, 4, 1)),
        ("parts of parts", (90_000, 90_000), ()),
    ],
)
def test_a_large_blob_goes_whole_or_in_parts_and_is_taken_up_again_where_the_registry_has_got_to(
    bench: Bench, when: str, cuts: tuple[int | None, ...], sent: tuple[int, ...]
) -> None:
    """What came by half the registry throws away, sooner or later, and then the upload begins anew."""
    data = os.urandom(300_000)
    digest = f"sha256:{sha256(data).hexdigest()}"
    left = list(cuts)

    def cut(head: bytes) -> int | None:
        return left.pop(0) if head.startswith(b"PATCH") and left else None

    with Between(bench.oci.place, cut) as between:
        limits = _limits(bench.shop, between.place)
        http = HttpClient(limits, named=(between.place,))
        client = RegistryClient(
            repository_of(f"oci://{between.place}/{bench.repository}"),
            http,
            {},
            "",
            push=True,
            chunk_bytes=1 << 20 if when == "whole" else 100_000,
        )
        client.put_blob(data, digest)
        client.put_blob(data, digest)
    begun, parts, asked = (
        sum(line.startswith(word) and b"/uploads/" in line for line in between.asked)
        for word in (b"POST", b"PATCH", b"GET")
    )

    there = bench.oci.ask("GET", f"/v2/{bench.repository}/blobs/{digest}")
    assert data == there.told  # type: ignore[attr-defined]
    assert sent in {(begun, parts, asked), ()}
    assert parts >= len(cuts)
    assert sum(line.startswith(b"PUT") for line in between.asked) <= (1 if sent else 2)


def _limits(shop: Shop, place: str):  # type: ignore[no-untyped-def] # noqa: ANN202 - the settings' own type
    with shop.open() as m:
        return m.context.settings.supply._replace(private_hosts=(place,))


def test_a_registry_with_passwords_lets_in_who_has_one(shop: Shop, tmp_path: Path) -> None:
    # ada:open-sesame, as htpasswd -B writes it
    (tmp_path / "users").write_text(
        "ada:$2y$05$QOhEzfTFzSImWf.MoO6FgOevEC7XmNFT/K.qMp.Gjqew.kYcSq3.m\n"
    )
    auth = f"auth:\n  htpasswd:\n    realm: it\n    path: {tmp_path}/users\n"
    with running(tmp_path / "registry", auth) as oci:
        bench = Bench(shop, oci)
        with shop.open() as m, pytest.raises(MetierError) as closed:
            m.push(bench.skill, bench.target)
        (shop.home / ".docker").mkdir()
        pair = base64.b64encode(b"ada:open-sesame").decode()
        (shop.home / ".docker/config.json").write_text(
            json.dumps({"auths": {oci.place: {"auth": pair}}})
        )
        with shop.open() as m:
            pushed = m.push(bench.skill, bench.target)
            added = m.add(f"{bench.target}:1.2.0", consent=yes)

    assert "unauthorized" == closed.value.code
    assert ("pushed", [pushed.tree]) == (pushed.state, [one.digest for one in added.installed])
