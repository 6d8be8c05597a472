"""`metier hub mirror`: to a folder and from it to another hub, again and again, and from hubs and
folders that lie.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from doors.command import PATIENCE, Answer, environment, run
from fakes.hub_offering import Offering, hub_offering
from fakes.hub_skills import publish_archive, skill_archive
from fakes.served_hub import ServedHub, served_hub
from fakes.shop import Shop

from metier.errors import IntegrityError, RefusedError
from metier.hub import decide
from metier.hub.api import read_release
from metier.hub.io.mirror_folder import MirrorFolder
from metier.hub.mirror import mirror_between, read_choice
from metier.hub.model import LOCAL
from metier.trust import sign

pytestmark = pytest.mark.loopback


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Offering]:
    with hub_offering(tmp_path / "hub") as one:
        yield one


@pytest.fixture
def second(tmp_path: Path) -> Iterator[ServedHub]:
    with served_hub(tmp_path / "second") as one:
        yield one


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "machine")


def mirror(shop: Shop, origin: str, aim: str, *more: str) -> Answer:
    words = ("hub", "mirror", "--from", origin, "--to", aim, "--json", *more)
    return run(shop.env, *words, cwd=shop.project)


def files_in(folder: Path) -> list[str]:
    return sorted(
        str(one.relative_to(folder))
        for one in folder.rglob("*")
        if one.is_file() and one.name != ".lock"
    )


def test_a_mirror_brings_what_is_approved_through_a_folder_to_another_hub(
    offering: Offering, second: ServedHub, shop: Shop, tmp_path: Path
) -> None:
    folder = tmp_path / "mirror"

    out = mirror(shop, offering.served.url, str(folder), "--select", "open")
    again = mirror(shop, offering.served.url, str(folder), "--select", "open")
    brought = mirror(
        shop, str(folder), second.url, "--select", "open", "--key-id", offering.served.hub.key_id
    )
    repeated = mirror(shop, str(folder), second.url, "--select", "open")
    added = run(shop.env, "add", f"hub+{second.url}/open/table-tidy", "--yes", cwd=shop.project)

    counts = ("selected", "added", "there", "yanked")
    told = [tuple(one.json[name] for name in counts) for one in (out, again, brought, repeated)]
    assert [(2, 2, 0, 0), (2, 0, 2, 0), (2, 2, 0, 0), (2, 0, 2, 0)] == told
    assert [0] * 5 == [one.code for one in (out, again, brought, repeated, added)], added
    assert [
        "skills/open/table-tidy/1.0.0.json",
        "skills/open/table-tidy/1.1.0.json",
    ] == [one for one in files_in(folder) if one.startswith("skills/")]
    assert "Two." in (shop.project / ".agents/skills/table-tidy/SKILL.md").read_text()


def test_the_second_hub_keeps_who_vouched_first(
    offering: Offering, second: ServedHub, shop: Shop
) -> None:
    mirror(shop, offering.served.url, second.url, "--select", "open/table-tidy@^1.0")

    first = read_release(offering.served.hub, LOCAL, "open", "table-tidy", "1.1.0")
    found = read_release(second.hub, LOCAL, "open", "table-tidy", "1.1.0")

    (proof,) = found.provenance["mirrored"]
    assert (first.vouch, offering.served.hub.id, first.publisher) == (
        proof["vouch"],
        proof["id"],
        proof["publisher"],
    )
    assert first.digest == found.digest
    assert first.vouch != found.vouch


def test_a_page_of_the_second_hub_says_where_a_skill_came_from(
    offering: Offering, second: ServedHub, shop: Shop
) -> None:
    mirror(shop, offering.served.url, second.url, "--select", "open/table-tidy@^1.0")

    with urllib.request.urlopen(f"{second.url}/skills/open/table-tidy") as answer:  # noqa: S310
        page = answer.read().decode()

    assert "Mirrored from" in page
    assert "published there by" in page
    assert "vouch&#39;" not in page


def test_who_trusts_the_first_hubs_key_trusts_what_comes_by_the_second(
    offering: Offering, second: ServedHub, shop: Shop
) -> None:
    mirror(shop, offering.served.url, second.url, "--select", "open")
    key = shop.base / "first.pem"
    key.write_bytes(offering.served.hub.public_key)
    with shop.open() as m:
        sign.import_key(m.context, str(key))

    added = run(shop.env, "add", f"hub+{second.url}/open/table-tidy", "--yes", cwd=shop.project)

    assert 0 == added.code, added
    assert offering.served.hub.key_id == shop.pins()["table-tidy"]["signature"]


def test_a_selection_takes_one_skill_a_range_or_the_newest(
    offering: Offering, shop: Shop, tmp_path: Path
) -> None:
    wanted = {
        "open/table-tidy@latest": ["1.1.0.json"],
        "open/table-tidy@~1.0": ["1.0.0.json"],
        "open/table-tidy@1.0.0": ["1.0.0.json"],
    }
    found = {}
    for number, one in enumerate(wanted):
        folder = tmp_path / f"mirror-{number}"
        mirror(shop, offering.served.url, str(folder), "--select", one)
        found[one] = [path.name for path in (folder / "skills/open/table-tidy").iterdir()]

    nothing = mirror(
        shop, offering.served.url, str(tmp_path / "x"), "--select", "open/table-tidy@^7"
    )
    private = mirror(shop, offering.served.url, str(tmp_path / "x"), "--select", "secret")

    assert wanted == found
    assert [1, 1] == [nothing.code, private.code]


def test_what_is_selected_twice_is_brought_once(
    offering: Offering, shop: Shop, tmp_path: Path
) -> None:
    more = ("--select", "open/table-tidy@^1.0")

    done = mirror(shop, offering.served.url, str(tmp_path / "mirror"), "--select", "open", *more)

    assert (0, 2) == (done.code, done.json["added"])


def test_what_is_yanked_later_is_yanked_in_every_mirror(
    offering: Offering, second: ServedHub, shop: Shop, tmp_path: Path
) -> None:
    folder = tmp_path / "mirror"
    for aim in (str(folder), second.url):
        mirror(shop, offering.served.url, aim, "--select", "open")
    decide.yank(offering.served.hub, LOCAL, "open", "table-tidy", "1.1.0", reason="leaks")

    told = [
        mirror(shop, offering.served.url, aim, "--select", "open").json["yanked"]
        for aim in (str(folder), second.url)
    ]

    assert [1, 1] == told
    assert "yanked" == read_release(second.hub, LOCAL, "open", "table-tidy", "1.1.0").state
    kept = json.loads((folder / "skills/open/table-tidy/1.1.0.json").read_text())
    assert ("yanked", "leaks") == (kept["state"], kept["reason"])


def test_what_is_brought_back_is_approved_in_the_folder_again(
    offering: Offering, shop: Shop, tmp_path: Path
) -> None:
    folder = tmp_path / "mirror"
    place = (offering.served.hub, LOCAL, "open", "table-tidy", "1.1.0")
    states = []
    for back in (False, True):
        decide.yank(*place, reason="leaks", back=back)
        mirror(shop, offering.served.url, str(folder), "--select", "open")
        kept = folder / "skills/open/table-tidy/1.1.0.json"
        states.append(json.loads(kept.read_text())["state"] if kept.exists() else "")

    assert ["", "approved"] == states


def test_a_mirror_with_a_token_brings_what_is_private(
    offering: Offering, shop: Shop, tmp_path: Path
) -> None:
    shop.env["METIER_HUB_TOKEN"] = offering.token

    done = mirror(shop, offering.served.url, str(tmp_path / "mirror"), "--select", "secret")

    assert (0, 1) == (done.code, done.json["added"])


def test_what_the_other_hub_does_not_take_is_said_and_the_rest_is_brought(
    offering: Offering, second: ServedHub, shop: Shop
) -> None:
    publish_archive(
        second.hub, LOCAL, "table-tidy", skill_archive("table-tidy", "Other."), "open", "1.0.0"
    )

    done = mirror(shop, offering.served.url, second.url, "--select", "open")

    assert (1, 1, ["open/table-tidy@1.0.0"]) == (
        done.code,
        done.json["added"],
        [one["release"] for one in done.json["refused"]],
    )


LIES = {
    "another digest": "UPDATE releases SET digest = 'sha256:" + "0" * 64 + "'",
    "no signature": "UPDATE releases SET vouch = ''",
    "another version's signature": "UPDATE releases SET vouch = "
    "(SELECT vouch FROM releases WHERE version = '1.0.0')",
    "a rewritten log": "UPDATE approvals SET entry = replace(entry, '1.1.0', '1.1.1')",
    "a log cut short": "DELETE FROM approvals WHERE number > 1",
    "another archive": "UPDATE releases SET archive = "
    "(SELECT archive FROM releases WHERE version = '1.0.0') WHERE version = '1.1.0'",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_hub_that_lies_is_not_mirrored(
    offering: Offering, shop: Shop, tmp_path: Path, lie: str
) -> None:
    folder = tmp_path / "mirror"
    offering.served.forge(LIES[lie])

    with shop.open() as m, pytest.raises((IntegrityError, RefusedError)):
        mirror_between(
            m.context, offering.served.url, str(folder), [read_choice("open/table-tidy@1.1.0")]
        )

    assert [] == [one for one in files_in(folder) if one.startswith(("skills/", "blobs/"))]


def test_a_hub_that_changed_its_past_is_not_mirrored_again(
    offering: Offering, shop: Shop, tmp_path: Path
) -> None:
    folder = tmp_path / "mirror"
    mirror(shop, offering.served.url, str(folder), "--select", "open/table-tidy@1.0.0")
    path = folder / "logs/open.json"
    told = json.loads(path.read_text())
    told["entries"][0]["entry"] = told["entries"][0]["entry"].replace("1.0.0", "1.0.1")
    path.write_text(json.dumps(told))

    again = mirror(shop, offering.served.url, str(folder), "--select", "open")

    assert (1, "hub-mirror") == (again.code, again.json["code"])


@pytest.mark.parametrize(
    "damage", ["archive", "release", "log", "key", "no log", "expected key", "link"]
)
def test_a_folder_that_was_changed_on_its_way_is_brought_nowhere(
    offering: Offering, second: ServedHub, shop: Shop, tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "mirror"
    mirror(shop, offering.served.url, str(folder), "--select", "open")
    more: tuple[str, ...] = ()
    release = folder / "skills/open/table-tidy/1.1.0.json"
    if damage == "archive":
        for one in (folder / "blobs").iterdir():
            one.write_bytes(skill_archive("table-tidy", "Evil."))
    elif damage == "release":
        release.write_text(release.read_text().replace('"sha256:', '"sha256:0', 1))
    elif damage == "log":
        log = folder / "logs/open.json"
        log.write_text(log.read_text().replace("table-tidy", "table-tiny"))
    elif damage == "no log":
        (folder / "logs/open.json").unlink()
    elif damage == "key":
        about = json.loads((folder / "hub.json").read_text())
        about["key"] = second.hub.public_key.decode()
        (folder / "hub.json").write_text(json.dumps(about))
    elif damage == "expected key":
        more = ("--key-id", "ed25519:" + "0" * 32)
    else:
        release.rename(tmp_path / "aside.json")
        release.symlink_to(tmp_path / "aside.json")

    done = mirror(shop, str(folder), second.url, "--select", "open/table-tidy@1.1.0", *more)

    assert done.code in {1, 2}
    assert 404 == Offering(second, "").get("/api/v1/skills/open/table-tidy").status


def test_a_forged_proof_of_another_hub_is_refused(
    offering: Offering, second: ServedHub, shop: Shop, tmp_path: Path
) -> None:
    folder = tmp_path / "mirror"
    mirror(shop, offering.served.url, str(folder), "--select", "open/table-tidy@1.0.0")
    told = MirrorFolder(str(folder), None).release("open", "table-tidy", "1.0.0")
    data = MirrorFolder(str(folder), None).archive(told)
    about = MirrorFolder(str(folder), None).about()
    with shop.open() as m:
        from metier.hub.io.mirror_hub import MirrorHub

        aim = MirrorHub(m.context, second.url)
        aim.begin({**about, "key": second.hub.public_key.decode()})
        with pytest.raises(RefusedError) as refused:
            aim.put(told, data)

    assert "hub-mirrored" == refused.value.code


def test_a_mirror_that_is_stopped_leaves_nothing_half_written_and_goes_on(
    offering: Offering, shop: Shop, tmp_path: Path
) -> None:
    for number in range(40):
        name = f"skill-{number}"
        publish_archive(offering.served.hub, LOCAL, name, skill_archive(name), "open", "1.0.0")
    folder = tmp_path / "mirror"
    words = ["hub", "mirror", "--from", offering.served.url, "--to", str(folder)]
    begun = subprocess.Popen(
        [sys.executable, "-m", "metier", *words, "--select", "open"],
        env=environment(shop.env),
        cwd=shop.project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while begun.poll() is None and not list(folder.glob("skills/open/*/*.json")):
        time.sleep(0.01)
    begun.send_signal(signal.SIGINT)
    begun.communicate(timeout=PATIENCE)
    half = [one for one in files_in(folder) if one.endswith(".tmp")]
    before = len(list(folder.glob("skills/open/*/*.json")))
    (folder / "blobs" / "left.1.2.tmp").write_bytes(b"half")

    done = mirror(shop, offering.served.url, str(folder), "--select", "open")

    assert [] == half
    assert (42, before) == (done.json["added"] + done.json["there"], done.json["there"])
    assert [] == [one for one in files_in(folder) if one.endswith(".tmp")]
    assert 42 == len(os.listdir(folder / "blobs"))


def test_a_folder_is_of_one_hub(
    offering: Offering, second: ServedHub, shop: Shop, tmp_path: Path
) -> None:
    folder = tmp_path / "mirror"
    second.publish("other-skill")
    mirror(shop, offering.served.url, str(folder), "--select", "open")

    other = mirror(shop, second.url, str(folder), "--select", "team")

    assert (1, "hub-mirror") == (other.code, other.json["code"])


@pytest.mark.parametrize("text", ["", "Open", "open/", "open/../x", "open/x@not a range", "a/b/c"])
def test_what_selects_nothing_is_an_error(shop: Shop, tmp_path: Path, text: str) -> None:
    answer = mirror(shop, "http://127.0.0.1:1", str(tmp_path / "mirror"), "--select", text)

    assert 2 == answer.code
