"""Sites and registries that lie: one test for each attack, with its code; afterwards quarantine is empty."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

import pytest
from fakes.archives import Tarred, Zipped, honest_tar, honest_zip, raw_tar, raw_zip
from fakes.site import Says, Site

from metier.errors import MetierError
from metier.store.io.disk_calls import OsDiskCalls
from metier.supply.io import web
from metier.supply.model import Request

if TYPE_CHECKING:
    from pathlib import Path

    from metier.ports import Tree
    from metier.supply.model import SourceKind

pytestmark = pytest.mark.loopback

DOCUMENT = b"---\nname: pdf\ndescription: Fills forms.\n---\nDo it.\n"
NEW, OLD = "/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"
ARCHIVE = honest_tar({"SKILL.md": DOCUMENT, "a/b.md": b"x"})


def entry(data: bytes, url: str, kind: str = "archive", name: str = "pdf") -> dict[str, str]:
    return {
        "name": name,
        "type": kind,
        "description": "Fills forms.",
        "url": url,
        "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
    }


def index(*entries: object) -> bytes:
    return json.dumps({"skills": entries}).encode()


def fetched(
    site: Site,
    folder: Path,
    kind: SourceKind,
    path: str = "",
    *,
    inside: str = "",
    ref: str = "",
    **limits: object,
) -> Tree:
    fetcher = web.web_fetcher(
        kind, site.limits(**limits), str(folder / "staging"), OsDiskCalls(), hosts=(site.place,)
    )
    return fetcher.open(Request(kind, site.url + path, ref, inside))


def read(tree: Tree) -> dict[str, bytes]:
    found = {item.path: b"".join(chunks) for item, chunks in tree.contents(tree.items())}
    tree.close()
    return found


def left(folder: Path) -> list[str]:
    return (
        [name for name in os.listdir(folder / "staging") if name != ".lock"]
        if (folder / "staging").exists()
        else []
    )


def code_of(
    site: Site,
    folder: Path,
    kind: SourceKind,
    path: str = "",
    *,
    inside: str = "",
    ref: str = "",
    **limits: object,
) -> str:
    with pytest.raises(MetierError) as caught:
        read(fetched(site, folder, kind, path, inside=inside, ref=ref, **limits))
    assert [] == left(folder)
    return caught.value.code


# --- what works


def test_a_single_document_is_a_skill(tmp_path: Path) -> None:
    with Site({"/x/SKILL.md": DOCUMENT}) as site:
        tree = fetched(site, tmp_path, "file", "/x/SKILL.md")
        origin, found = tree.origin, read(tree)

    assert {"SKILL.md": DOCUMENT} == found
    assert hashlib.sha256(DOCUMENT).hexdigest() == origin.commit
    assert [] == left(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        ARCHIVE,
        honest_zip({"SKILL.md": DOCUMENT, "a/b.md": b"x"}),
        honest_tar({"SKILL.md": DOCUMENT, "a/b.md": b"x"}, "xz"),
    ],
)
def test_an_archive_is_known_by_its_bytes_whatever_it_is_called(
    data: bytes, tmp_path: Path
) -> None:
    with Site({"/pdf.zip": data}) as site:
        tree = fetched(site, tmp_path, "archive", "/pdf.zip")
        origin, found = tree.origin, read(tree)

    assert {"SKILL.md": DOCUMENT, "a/b.md": b"x"} == found
    assert hashlib.sha256(data).hexdigest() == origin.commit
    assert [] == left(tmp_path)


def test_every_skill_of_an_index_lies_below_its_name(tmp_path: Path) -> None:
    pages = {
        NEW: index(entry(ARCHIVE, "pdf.tgz"), entry(DOCUMENT, "/one.md", "skill-md", "one")),
        "/.well-known/agent-skills/pdf.tgz": ARCHIVE,
        "/one.md": DOCUMENT,
    }
    with Site(pages) as site:
        found = read(fetched(site, tmp_path, "well-known"))
        only = read(fetched(site, tmp_path, "well-known", inside="one"))

    assert {"pdf/SKILL.md": DOCUMENT, "pdf/a/b.md": b"x", "one/SKILL.md": DOCUMENT} == found
    assert {"one/SKILL.md": DOCUMENT} == only


def test_the_older_index_is_read_where_there_is_no_newer(tmp_path: Path) -> None:
    base = "/.well-known/skills/pdf/"
    pages = {
        OLD: index({"name": "pdf", "description": "x", "files": ["SKILL.md", "a b/c.md"]}),
        f"{base}SKILL.md": DOCUMENT,
        f"{base}a%20b/c.md": b"x",
    }
    with Site(pages) as site:
        found = read(fetched(site, tmp_path, "well-known"))

    assert {"pdf/SKILL.md": DOCUMENT, "pdf/a b/c.md": b"x"} == found


def test_what_an_index_promises_is_known_without_fetching_it(tmp_path: Path) -> None:
    with Site({NEW: index(entry(ARCHIVE, "/pdf.tgz")), "/pdf.tgz": ARCHIVE}) as site:
        request = Request("well-known", site.url)
        fetcher = web.web_fetcher(
            "well-known",
            site.limits(),
            str(tmp_path / "staging"),
            OsDiskCalls(),
            hosts=(site.place,),
        )
        newest = fetcher.newest(request)
        asked = list(site.asked)
        tree = fetcher.open(request)
        commit = tree.origin.commit
        tree.close()

    assert [NEW] == asked
    assert commit == newest


def test_a_skill_of_a_registry_is_fetched_at_its_latest_version(tmp_path: Path) -> None:
    known = json.dumps(
        {
            "skill": {"slug": "pdf"},
            "latestVersion": {"version": "1.2.0"},
            "owner": {"handle": "ann"},
        }
    ).encode()
    pages = {
        "/.well-known/clawhub.json": b'{"apiBase": "/base"}',
        "/base/api/v1/skills/pdf": known,
        "/base/api/v1/download": honest_zip({"SKILL.md": DOCUMENT}),
    }
    with Site(pages) as site:
        tree = fetched(site, tmp_path, "clawhub", "/ann/pdf")
        origin, found, asked = tree.origin, read(tree), site.asked[-1]

    assert {"SKILL.md": DOCUMENT} == found
    assert (f"clawhub:{site.url}/ann/pdf", "1.2.0") == (origin.source, origin.commit)
    assert "/base/api/v1/download?slug=pdf&version=1.2.0&ownerHandle=ann" == asked


# --- what lies


@pytest.mark.parametrize("kind", ["archive", "skill-md"])
def test_other_bytes_than_the_index_promises_are_refused(kind: str, tmp_path: Path) -> None:
    with Site(
        {NEW: index(entry(b"other", "/x", kind)), "/x": ARCHIVE if kind == "archive" else DOCUMENT}
    ) as site:
        assert "digest" == code_of(site, tmp_path, "well-known")


def test_an_index_without_digests_is_refused(tmp_path: Path) -> None:
    with Site({NEW: index({**entry(ARCHIVE, "/x"), "digest": ""}), "/x": ARCHIVE}) as site:
        assert "malformed" == code_of(site, tmp_path, "well-known")


@pytest.mark.parametrize("name", ["../pdf", "a/b", "/etc", "con", "..", ""])
def test_a_skill_whose_name_is_another_place_is_refused(name: str, tmp_path: Path) -> None:
    with Site({NEW: index(entry(ARCHIVE, "/x", name=name)), "/x": ARCHIVE}) as site:
        assert "unsafe-path" == code_of(site, tmp_path, "well-known")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (honest_zip({"../../x": b"x"}), "unsafe-path"),
        (honest_zip({"/etc/x": b"x"}), "unsafe-path"),
        (raw_zip(Zipped(b"C:/x", b"x")), "unsafe-path"),
        (raw_tar(Tarred(b"a", b"x"), Tarred(b"A", b"x")), "collision"),
        (honest_zip({"a": bytes(300 << 10) * 12}), "bomb"),
        (b"hello", "malformed"),
        (ARCHIVE[:-30], "malformed"),
    ],
)
def test_a_hostile_archive_is_refused_behind_a_right_digest_too(
    data: bytes, code: str, tmp_path: Path
) -> None:
    with Site({NEW: index(entry(data, "/x")), "/x": data, "/x.zip": data}) as site:
        codes = [
            code_of(site, tmp_path, "well-known"),
            code_of(site, tmp_path, "archive", "/x.zip"),
        ]

    assert [code, code] == codes


def test_a_skill_on_another_host_is_refused_unless_the_settings_name_it(tmp_path: Path) -> None:
    with (
        Site({"/x": ARCHIVE}) as other,
        Site({NEW: index(entry(ARCHIVE, f"{other.url}/x"))}) as site,
    ):
        private = (site.place, other.place)
        refused = code_of(site, tmp_path, "well-known", private_hosts=private)
        asked = list(other.asked)
        found = read(fetched(site, tmp_path, "well-known", private_hosts=private, hosts=private))

    assert ("host", []) == (refused, asked)
    assert {"pdf/SKILL.md", "pdf/a/b.md"} == set(found)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "https://169.254.169.254/x", "//user@host/x", "gopher://x/"]
)
def test_a_skill_whose_address_is_no_place_for_one_is_refused(url: str, tmp_path: Path) -> None:
    with Site({NEW: index(entry(ARCHIVE, url))}) as site:
        assert code_of(site, tmp_path, "well-known") in {"malformed", "host"}


def test_an_index_that_redirects_away_is_judged_like_any_hop(tmp_path: Path) -> None:
    with Site(
        {NEW: Says(status=302, headers={"Location": "https://127.0.0.1:9/index.json"})}
    ) as site:
        assert "private-address" == code_of(site, tmp_path, "well-known")


def test_a_site_that_lies_about_sizes_is_refused(tmp_path: Path) -> None:
    with Site(
        {
            NEW: index(entry(ARCHIVE, "/x")),
            "/x": Says(ARCHIVE, headers={"Content-Length": str(len(ARCHIVE) + 9)}),
            "/big": Says(os.urandom(1 << 16), headers={}),
        }
    ) as site:
        short = code_of(site, tmp_path, "well-known")
        large = code_of(site, tmp_path, "archive", "/big", download_bytes=10_000)

    assert ["malformed", "too-large"] == [short, large]


def test_all_skills_of_an_index_share_one_limit(tmp_path: Path) -> None:
    noise = honest_zip({"SKILL.md": os.urandom(6000)})
    with Site(
        {NEW: index(*(entry(noise, "/x", name=f"s{at}") for at in range(3))), "/x": noise}
    ) as site:
        assert "too-large" == code_of(site, tmp_path, "well-known", download_bytes=15_000)


def test_a_site_without_an_index_says_so(tmp_path: Path) -> None:
    with Site() as site:
        assert "not-found" == code_of(site, tmp_path, "well-known")


def test_a_skill_that_the_index_lacks_is_not_invented(tmp_path: Path) -> None:
    with Site({NEW: index(entry(ARCHIVE, "/x")), "/x": ARCHIVE}) as site:
        assert "no-skill" == code_of(site, tmp_path, "well-known", inside="other")


def test_a_page_for_people_is_no_skill(tmp_path: Path) -> None:
    with Site({"/SKILL.md": b"\n<!DOCTYPE html><html>"}) as site:
        assert "malformed" == code_of(site, tmp_path, "file", "/SKILL.md")


@pytest.mark.parametrize("kind", ["file", "archive"])
def test_bytes_that_are_no_longer_those_asked_for_are_refused(
    kind: SourceKind, tmp_path: Path
) -> None:
    with Site({"/x": ARCHIVE if kind == "archive" else DOCUMENT}) as site:
        assert "digest" == code_of(site, tmp_path, kind, "/x", ref="0" * 64)


def test_a_registry_that_moves_its_interface_to_another_host_is_refused(tmp_path: Path) -> None:
    with Site({"/.well-known/clawhub.json": b'{"apiBase": "https://169.254.169.254"}'}) as site:
        assert "host" == code_of(site, tmp_path, "clawhub", "/pdf")


def test_a_skill_that_its_registry_calls_malware_is_refused(tmp_path: Path) -> None:
    known = b'{"latestVersion": {"version": "1"}, "moderation": {"isMalwareBlocked": true}}'
    with Site({"/api/v1/skills/pdf": known}) as site:
        assert "blocked" == code_of(site, tmp_path, "clawhub", "/pdf")


def test_an_archive_of_a_registry_is_judged_like_any(tmp_path: Path) -> None:
    with Site(
        {
            "/api/v1/skills/pdf": b'{"latestVersion": {"version": "1"}}',
            "/api/v1/download": honest_zip({"../x": b"x"}),
        }
    ) as site:
        assert "unsafe-path" == code_of(site, tmp_path, "clawhub", "/pdf")
