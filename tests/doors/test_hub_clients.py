"""A hub as other clients see it: the well-known index and ClawHub's interface, by what the real
clients send and expect.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from doors.command import run
from fakes.hub_offering import Offering, hub_offering
from fakes.hub_skills import publish_archive, skill_archive
from fakes.shop import Shop

from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace

pytestmark = pytest.mark.loopback


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Offering]:
    with hub_offering(tmp_path / "hub") as one:
        yield one


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "machine")


@pytest.mark.parametrize(
    ("path", "anonymous", "with_token"),
    [
        ("/ns/open/.well-known/agent-skills/index.json", 200, 200),
        ("/ns/secret/.well-known/agent-skills/index.json", 404, 200),
        ("/ns/nobody-took-it/.well-known/agent-skills/index.json", 404, 404),
        ("/archives/secret/hidden-thing-0.1.0.tar.gz", 404, 200),
        ("/archives/open/table-tidy-2.0.0.tar.gz", 200, 200),
        ("/archives/open/cleaner-0.1.0.tar.gz", 404, 404),
        ("/clawhub/api/v1/skills/hidden-thing", 404, 200),
        ("/clawhub/secret/api/v1/skills/hidden-thing", 404, 200),
        ("/clawhub/open/api/v1/skills/hidden-thing", 404, 404),
        ("/clawhub/api/v1/download?slug=hidden-thing", 404, 200),
        ("/clawhub/api/v1/download?slug=cleaner&version=0.1.0", 404, 404),
        ("/clawhub/api/v1/skills/cleaner/versions", 404, 404),
        ("/clawhub/api/v1/skills/table-tidy/versions/2.0.0", 200, 200),
        ("/clawhub/api/v1/skills/table-tidy/versions/9.0.0", 404, 404),
        ("/clawhub/api/v1/whoami", 401, 200),
    ],
)
def test_what_one_may_not_read_does_not_exist_for_any_client(
    offering: Offering, path: str, anonymous: int, with_token: int
) -> None:
    told = [
        offering.get(path).status,
        offering.get(path, offering.token).status,
        offering.get(path, offering.token, basic=True).status,
    ]

    assert [anonymous, with_token, with_token] == told


def test_a_wrong_token_opens_nothing_in_either_form(offering: Offering) -> None:
    path = "/clawhub/api/v1/search?q=table"

    told = [offering.get(path, "mth_wrong", basic=basic).status for basic in (False, True)]

    assert [401, 401] == told


def test_a_token_as_a_password_changes_nothing(offering: Offering) -> None:
    token = offering.served.token("admin")
    asked = "/api/v1/skills/open/table-tidy/1.0.0/yank"

    told = [
        offering.post(asked, {"reason": "old"}, token, basic=basic).status
        for basic in (True, False)
    ]

    assert [401, 200] == told


def test_the_whole_hubs_index_has_public_skills_alone(offering: Offering) -> None:
    listed = offering.get("/.well-known/agent-skills/index.json", offering.token).json["skills"]

    assert [("table-tidy", "/archives/open/table-tidy-1.1.0.tar.gz")] == [
        (one["name"], one["url"]) for one in listed
    ]


def test_a_clawhub_client_finds_looks_and_downloads(offering: Offering) -> None:
    api = "/clawhub/api/v1"

    found = offering.get(f"{api}/search?q=ragged&limit=25").json["results"]
    listed = offering.get(f"{api}/skills?limit=25").json
    about = offering.get(f"{api}/skills/table-tidy").json
    versions = offering.get(f"{api}/skills/table-tidy/versions?limit=1").json
    rest = offering.get(f"{api}/skills/table-tidy/versions?cursor=1").json
    one = offering.get(f"{api}/skills/table-tidy/versions/1.0.0?ownerHandle=open").json
    file = offering.get(f"{api}/skills/table-tidy/file?path=SKILL.md&version=1.0.0").data
    resolved = offering.get(f"{api}/resolve?slug=table-tidy&hash={'0' * 64}").json
    packed = offering.get(f"{api}/download?slug=table-tidy&version=1.0.0").data

    assert [("table-tidy", "1.1.0", "open", 1.0)] == [
        (row["slug"], row["version"], row["ownerHandle"], row["score"]) for row in found
    ]
    assert (["table-tidy"], None) == (
        [row["slug"] for row in listed["items"]],
        listed["nextCursor"],
    )
    assert ("1.1.0", "open", "clean", False) == (
        about["latestVersion"]["version"],
        about["owner"]["handle"],
        about["moderation"]["verdict"],
        about["moderation"]["isMalwareBlocked"],
    )
    assert (["1.1.0"], "1") == (
        [row["version"] for row in versions["items"]],
        versions["nextCursor"],
    )
    assert ["1.0.0"] == [row["version"] for row in rest["items"]]
    assert ["SKILL.md"] == [row["path"] for row in one["version"]["files"]]
    assert {"match": None, "latestVersion": {"version": "1.1.0"}} == resolved
    with zipfile.ZipFile(io.BytesIO(packed)) as inside:
        assert [("SKILL.md", file)] == [(name, inside.read(name)) for name in inside.namelist()]
    assert b"One." in file


def test_a_name_that_two_namespaces_have_is_a_question(offering: Offering) -> None:
    add_namespace(offering.served.hub, LOCAL, "aaa", "", "public")
    publish_archive(
        offering.served.hub, LOCAL, "table-tidy", skill_archive("table-tidy", "Evil."), "aaa"
    )

    both = offering.get("/clawhub/api/v1/skills/table-tidy")
    named = offering.get("/clawhub/api/v1/skills/table-tidy?ownerHandle=@open").json

    assert (409, "hub-several") == (both.status, both.json["code"])
    assert "open" == named["owner"]["handle"]


def test_metier_itself_installs_by_clawhubs_interface(offering: Offering, shop: Shop) -> None:
    shop.configure(f'[supply]\nprivate_hosts = ["{offering.served.url[7:]}"]\n')
    source = f"clawhub:{offering.served.url}/open/table-tidy"

    added = run(shop.env, "add", source, "--yes", cwd=shop.project)

    assert 0 == added.code, added
    assert "Two." in (shop.project / ".agents/skills/table-tidy/SKILL.md").read_text()
