"""A hub's skills as plugins: the marketplaces that Claude Code and Codex read, the npm registry that
they fetch plugins from, and the git repository that Codex wants a marketplace in.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.hub_offering import Offering, hub_offering
from fakes.hub_skills import publish_archive, skill_archive

from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace

pytestmark = pytest.mark.loopback


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Offering]:
    with hub_offering(tmp_path / "hub") as one:
        yield one


def clone(url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "clone", "--quiet", url, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "GIT_TERMINAL_PROMPT": "0", "HOME": str(folder.parent)},
    )


def test_a_namespaces_marketplace_has_each_skill_as_a_package_of_the_hubs_registry(
    offering: Offering,
) -> None:
    told = offering.get("/ns/open/marketplace.json").json

    assert ("open", {"name": "open"}) == (told["name"], told["owner"])
    assert [
        (
            "table-tidy",
            "1.1.0",
            {
                "source": "npm",
                "package": "@open/table-tidy",
                "version": "1.1.0",
                "registry": f"{offering.served.url}/npm",
            },
        )
    ] == [(one["name"], one["version"], one["source"]) for one in told["plugins"]]


def test_the_marketplace_of_all_is_public_and_no_two_of_its_plugins_have_one_name(
    offering: Offering,
) -> None:
    add_namespace(offering.served.hub, LOCAL, "another", "", "public")
    publish_archive(
        offering.served.hub, LOCAL, "table-tidy", skill_archive("table-tidy"), "another"
    )

    told = offering.get("/marketplace.json", offering.token).json

    assert ["another--table-tidy", "open--table-tidy"] == [one["name"] for one in told["plugins"]]


@pytest.mark.parametrize(
    "escaped", ["@open/table-tidy", "@open%2ftable-tidy", "@open%2Ftable-tidy"]
)
def test_npm_is_told_of_a_packages_versions_and_gets_what_was_promised(
    offering: Offering, escaped: str
) -> None:
    told = offering.get(f"/npm/{escaped}").json
    place = told["versions"]["1.0.0"]["dist"]
    data = offering.get(place["tarball"].removeprefix(offering.served.url)).data
    with tarfile.open(fileobj=io.BytesIO(data)) as packed:
        files = {one: packed.extractfile(one) for one in packed.getnames()}
        package = json.load(files["package/package.json"] or io.BytesIO())
        skill = (files["package/skills/table-tidy/SKILL.md"] or io.BytesIO()).read()

    assert ({"latest": "1.1.0"}, ["1.1.0", "1.0.0"]) == (told["dist-tags"], list(told["versions"]))
    sum_ = base64.b64encode(hashlib.sha512(data).digest()).decode()
    assert f"sha512-{sum_}" == place["integrity"]
    assert ("@open/table-tidy", "1.0.0", False) == (
        package["name"],
        package["version"],
        "scripts" in package,
    )
    assert b"One." in skill
    assert "package/.claude-plugin/plugin.json" in files


@pytest.mark.parametrize(
    ("path", "anonymous", "with_token"),
    [
        ("/ns/secret/marketplace.json", 404, 200),
        ("/ns/nobody-took-it/marketplace.json", 404, 404),
        ("/npm/@secret/hidden-thing", 404, 200),
        ("/npm/@secret/hidden-thing/-/hidden-thing-0.1.0.tgz", 404, 200),
        ("/npm/@open/cleaner", 404, 404),
        ("/npm/@open/cleaner/-/cleaner-0.1.0.tgz", 404, 404),
        ("/npm/@open/table-tidy/-/table-tidy-2.0.0.tgz", 200, 200),
        ("/npm/table-tidy", 404, 404),
        ("/npm/@open/table-tidy/more", 404, 404),
        ("/ns/secret/marketplace.git/info/refs", 401, 200),
        ("/ns/nobody-took-it/marketplace.git/info/refs", 401, 404),
        (f"/marketplace.git/objects/00/{'0' * 38}", 404, 404),
    ],
)
def test_what_one_may_not_read_is_no_plugin(
    offering: Offering, path: str, anonymous: int, with_token: int
) -> None:
    told = (offering.get(path).status, offering.get(path, offering.token, basic=True).status)

    assert (anonymous, with_token) == told


def test_git_clones_a_marketplace_that_changes_with_what_is_offered(
    offering: Offering, tmp_path: Path
) -> None:
    url = f"{offering.served.url}/ns/open/marketplace.git"
    first = clone(url, tmp_path / "first")
    publish_archive(offering.served.hub, LOCAL, "word-count", skill_archive("word-count"), "open")
    second = clone(url, tmp_path / "second")
    names = [
        [
            one["name"]
            for one in json.loads((tmp_path / at / ".agents/plugins/marketplace.json").read_text())[
                "plugins"
            ]
        ]
        for at in ("first", "second")
    ]
    checked = subprocess.run(
        ["git", "-C", str(tmp_path / "second"), "fsck", "--strict"],
        capture_output=True,
        check=False,
    )

    assert (0, 0, 0) == (first.returncode, second.returncode, checked.returncode), first.stderr
    assert [["table-tidy"], ["table-tidy", "word-count"]] == names


def test_git_gets_a_private_marketplace_with_the_token_as_the_password(
    offering: Offering, tmp_path: Path
) -> None:
    place = f"{offering.served.url.removeprefix('http://')}/ns/secret/marketplace.git"

    without = clone(f"http://{place}", tmp_path / "without")
    given = clone(f"http://me:{offering.token}@{place}", tmp_path / "with")

    assert (128, 0) == (without.returncode, given.returncode), given.stderr
    assert "hidden-thing" in (tmp_path / "with/.claude-plugin/marketplace.json").read_text()
