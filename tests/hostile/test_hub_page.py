"""The hub's pages in a real browser, with payloads in everything that somebody can have put into a hub, and in what only whoever broke into its database could."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from fakes.break_out import ADDRESSES, CANARY, PAYLOADS, in_addresses, in_files, in_markdown
from fakes.browser import HARMLESS, LOOK, WatchedTab, chromium
from fakes.hub_in_browser import fill, let_in
from fakes.inert import InertPage
from fakes.served_hub import ServedHub, served_hub

from metier.errors import MetierError
from metier.hub import decide
from metier.hub.accounts import add_token, remember_person, set_grant
from metier.hub.examine import unpack
from metier.hub.io.objects import blob_key
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace
from metier.supply.archives.write_tar import PackFile, pack_tar_gz

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.tmpdir import TempPathFactory
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.loopback, pytest.mark.chromium]
LISTS = ("/", "/namespaces", "/ns/odd", "/ns/odd/settings", "/queue", "/tokens", "/grants", "/policy", "/audit", "/usage", "/login")  # fmt: skip
FILES = ("SKILL.md", "notes.md", "page.html", "code.js", "data.json", "picture.svg", "fake.png")
WRITERS = (in_markdown, in_files)


def plant(served: ServedHub, folder: Path, at: int, payload: str) -> None:
    """Have the hub hold a skill as older rules may have let it in: with a payload in every field."""
    name = f"odd-{at}"
    served.publish(name, "Do it.", "1.0.0")
    served.publish(name, "Do it again.", "1.1.0")
    files = [
        (path.relative_to(folder).as_posix(), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    limits = served.hub.library().context.settings.supply
    kept = [one for one in files if can_be_unpacked(one[0], limits)]
    data = pack_tar_gz([PackFile(*one) for one in kept])
    sha256 = hashlib.sha256(data).hexdigest()
    served.hub.objects.put(blob_key(sha256), data)
    listed = [[path, len(text), hashlib.sha256(text).hexdigest(), False] for path, text in kept]
    listed += [[payload, 1, "0" * 64, True], [f"a/{payload}/b.md", 1, "0" * 64, False]]
    finding = dict.fromkeys(("category", "evidence", "why", "hint", "path"), payload)
    findings = [
        {**finding, "rule": payload, "severity": "high", "line": 3, "column": 1, "path": path}
        for path in ("SKILL.md", "notes.md", payload)
    ]
    served.forge(
        "UPDATE releases SET archive = ?, files = ?, findings = ?, description = ?, reason = ?, "
        "publisher = ?, ruleset = ?, provenance = ?, state = ? WHERE version = '1.1.0' "
        "AND skill_id = (SELECT id FROM skills WHERE name = ?)",
        sha256,
        json.dumps(listed),
        json.dumps(findings),
        *(payload,) * 4,
        json.dumps({"source": payload, payload: payload}),
        "pending" if at % 2 else "yanked",
        name,
    )
    served.forge(
        "UPDATE skills SET description = ?, category = ?, deprecated = ? WHERE name = ?",
        *(payload,) * 3,
        name,
    )


def can_be_unpacked(path: str, limits: object) -> bool:
    try:
        unpack(pack_tar_gz([PackFile(path, b"x")]), limits)  # type: ignore[arg-type]
    except (MetierError, ValueError):
        return False
    return True


def write_rows(served: ServedHub) -> None:
    """Put payloads into everything else: what people may write, and what only the database could hold."""
    hub = served.hub
    for at, payload in enumerate(PAYLOADS):
        words = payload.replace("\0", "") + f" {at}"
        person = remember_person(hub, "https://id.example.org", f"{at}", words, [words])
        set_grant(hub, LOCAL, kind="group", who=words, role="reader", namespace="team")
        set_grant(hub, LOCAL, kind="person", who=f"person:{person['id']}", role="reader")
        space = f"odd-space-{at}"
        add_namespace(hub, LOCAL, space, f"odd-org-{at}", "public")
        served.forge("UPDATE namespaces SET name = ? WHERE name = ?", words, space)
        served.forge("UPDATE organisations SET name = ? WHERE name = ?", words, f"odd-org-{at}")
        made = add_token(hub, LOCAL, name=f"odd-token-{at}", role="reader")
        served.forge("UPDATE tokens SET name = ? WHERE id = ?", words, made.id)
        served.forge(
            "INSERT INTO audit_events (at, who, what, about, detail, previous, hash) "
            "VALUES (1, ?, ?, ?, ?, '', '')",
            words,
            words,
            words,
            json.dumps({words: words, "more": [words]}),
        )


@pytest.fixture(scope="module")
def served(tmp_path_factory: TempPathFactory) -> Iterator[ServedHub]:
    """Give a hub that holds all of them."""
    home = tmp_path_factory.mktemp("hostile-hub")
    with served_hub(home / "hub") as one:
        fill(one.hub)
        add_namespace(one.hub, LOCAL, "odd", "acme")
        for at, payload in enumerate(PAYLOADS):
            folder = home / f"skill-{at}"
            WRITERS[at % 2](folder, at, payload)
            in_files(folder / "more", at, payload)
            plant(one, folder, at, payload)
        for at, address in enumerate(ADDRESSES, len(PAYLOADS)):
            in_addresses(home / f"skill-{at}", at, address)
            plant(one, home / f"skill-{at}", at, address)
        decide.reject(one.hub, LOCAL, "team", "cleaner", "0.1.0", reason=PAYLOADS[1])
        write_rows(one)
        yield one


@pytest.fixture(scope="module")
def token(served: ServedHub) -> str:
    """Give the token of somebody who sees everything."""
    return let_in(served.hub)["root"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give a browser for all tests."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def tab(browser: Browser, served: ServedHub, token: str) -> Iterator[WatchedTab]:
    """Give a tab that was let in, and that says what its pages try."""
    context = browser.new_context()
    found = WatchedTab(context, served.url)
    found.page.goto(f"{served.url}/login")
    found.page.get_by_label("Token").fill(token)
    found.page.locator("main").get_by_role("button", name="Log in").click()
    yield found
    context.close()


def look(tab: WatchedTab, path: str, status: int = 200) -> None:
    """Load a page, open what can be opened, and see that nothing happened."""
    tab.tried.clear()
    answer = tab.page.goto(tab.origin + path, wait_until="load")
    assert answer is not None
    assert (path, status) == (path, answer.status)
    found = tab.page.evaluate(LOOK)
    assert (path, HARMLESS, []) == (path, found, tab.tried)
    if not path.startswith("/leave"):  # what leads out stands there in the open
        assert (path, []) == (path, InertPage(answer.text()).wrong)


def test_no_skill_does_anything_on_its_own_pages(tab: WatchedTab) -> None:
    for at in range(len(PAYLOADS) + len(ADDRESSES)):
        place = f"/skills/team/odd-{at}/1.1.0"
        look(tab, place)
        look(tab, f"{place}/review")
        look(tab, f"/skills/team/odd-{at}/diff?from=1.0.0&to=1.1.0")


def test_no_file_does_anything(tab: WatchedTab) -> None:
    for at in range(len(PAYLOADS)):
        for file in FILES if at % 2 else ("SKILL.md", "more/notes.md", "more/page.html"):
            look(tab, f"/skills/team/odd-{at}/1.1.0/files/{file}")


def test_a_file_as_it_lies_there_is_in_a_sandbox(tab: WatchedTab, served: ServedHub) -> None:
    for file in ("page.html", "picture.svg", "code.js", "notes.md"):
        answer = tab.page.goto(f"{served.url}/skills/team/odd-1/1.1.0/raw/{file}")
        assert answer is not None
        assert "default-src 'none'; sandbox" == answer.headers["content-security-policy"]
        assert "text/plain; charset=utf-8" == answer.headers["content-type"]
        assert [] == tab.tried
        assert tab.page.evaluate("window.pwned === undefined")


def test_no_name_reason_or_event_does_anything_in_a_list(tab: WatchedTab) -> None:
    for path in (*LISTS, "/?at=25", "/?at=50", "/skills/team/cleaner/0.1.0/review"):
        look(tab, path)


def test_no_address_does_anything(tab: WatchedTab) -> None:
    for words in (*PAYLOADS[::3], *ADDRESSES[::3]):
        told = quote(words, safe="")
        look(tab, f"/?q={told}&namespace={told}&level={told}&category={told}")
        look(tab, f"/audit?who={told}&what={told}&about={told}")
        look(tab, f"/leave?to={told}")
        look(tab, f"/login?next={told}&done={told}")


def test_a_link_out_of_a_skill_shows_its_address_first(tab: WatchedTab) -> None:
    look(tab, f"/leave?to={quote(CANARY, safe='')}%2Fx")

    assert tab.page.get_by_role("link", name="Go there").get_attribute("href") == f"{CANARY}/x"
    assert "external" in str(tab.page.get_by_role("link", name="Go there").get_attribute("rel"))
