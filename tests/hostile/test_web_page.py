"""Two hundred skills that were made to break out, and whatever else a stranger may have written, shown by the page in a real browser: nothing of it does anything."""

from __future__ import annotations

import re
import tarfile
import time
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import pytest
from fakes.break_out import (
    CANARY,
    PAYLOADS,
    bend_log,
    in_frontmatter,
    in_markdown,
    put,
    write_all,
    write_records,
)
from fakes.browser import HARMLESS, LOOK, WatchedTab, chromium
from fakes.inert import InertPage
from fakes.plugs import Plugs
from fakes.web_page import PATIENCE, WebPage, web_env

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from _pytest.tmpdir import TempPathFactory
    from playwright.sync_api import Browser

pytestmark = pytest.mark.loopback

LIST = "/skills"
PAGES = ("/", LIST, "/review", "/review?all=1", "/agents", "/agents/claude-code", "/graph", "/doctor", "/audit", "/audit/verify", "/plugins", "/get")  # fmt: skip
MAX_FILES_OF_ONE = 40
SAMPLE, SAMPLE_OF_ONE = 60, 12
"""Labelled skills that are shown, and how many of them may be from one source."""


@pytest.fixture(scope="module")
def skills(tmp_path_factory: TempPathFactory) -> Path:
    """Give a home with all of them."""
    home = tmp_path_factory.mktemp("hostile")
    root = home / ".claude" / "skills"
    root.mkdir(parents=True)
    assert write_all(root) >= 200
    return home


@pytest.fixture(scope="module")
def served(skills: Path) -> Iterator[WebPage]:
    """Give the page of that home."""
    page = WebPage(web_env(skills), skills)
    page.enter()
    yield page
    code, said = page.close()
    assert (0, "") == (code, said)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give a browser for all tests."""
    with chromium() as found:
        yield found


@pytest.fixture
def tab(browser: Browser, served: WebPage) -> Iterator[WatchedTab]:
    """Give a tab that was let in, and that says what its pages try."""
    yield from watched(browser, served)


def watched(browser: Browser, served: WebPage) -> Iterator[WatchedTab]:
    context = browser.new_context()
    name, _is, value = served.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": served.origin}])
    yield WatchedTab(context, served.origin)
    context.close()


def look(tab: WatchedTab, path: str, status: int = 200) -> None:
    """Load a page, open what can be opened, and see that nothing happened."""
    url = tab.origin + path
    answer = tab.page.goto(url, wait_until="load", timeout=PATIENCE * 1_000)
    assert answer is not None
    assert (status, path) == (answer.status, path)
    found = tab.page.evaluate(LOOK)
    assert (path, HARMLESS, [], url) == (path, found, tab.tried, tab.page.url)


def skill_pages(served: WebPage) -> list[str]:
    """Give the addresses of all skills."""
    found: dict[str, None] = {}
    where = LIST
    while where:
        text = served.ask(where).text
        found.update(dict.fromkeys(re.findall(r'class="skill" href="([^"]+)"', text)))
        more = re.search(r'id="more" class="more" hx-get="([^"]+)"', text)
        where = unescape(more[1]) if more else ""
    return list(found)


def read(served: WebPage, path: str, statuses: Iterable[int] = (200,)) -> InertPage:
    """Load a page without a browser, and see that it has nothing but what pages are made of."""
    answer = served.ask(path)
    page = InertPage(answer.text)
    assert (path, []) == (path, page.wrong)
    assert answer.status in statuses, (path, answer.text)
    assert "<script>window" not in answer.text
    return page


# --- what skills say


def test_no_skill_does_anything_on_its_own_page(served: WebPage, tab: WatchedTab) -> None:
    found = skill_pages(served)
    assert len(found) >= 200

    for path in found:
        look(tab, path)


def test_no_skill_does_anything_on_any_other_page(tab: WatchedTab) -> None:
    for path in PAGES:
        look(tab, path)
    for at in (60, 120, 180):
        look(tab, f"{LIST}?at={at}")
    look(tab, f"{LIST}?sort=tokens")


def test_no_skill_does_anything_while_somebody_searches(tab: WatchedTab) -> None:
    for words in PAYLOADS[::2]:
        path = f"{LIST}?q={quote(words)}"
        answer = tab.page.goto(tab.origin + path)
        assert answer is not None
        assert 200 == answer.status
        assert (HARMLESS, []) == (tab.page.evaluate(LOOK), tab.tried)
    for page in ("/agents", "/plugins", "/audit", "/get"):
        for words in PAYLOADS[:3]:
            look(tab, f"{page}?{'name' if page == '/audit' else 'q'}={quote(words, safe='')}")
    tab.page.goto(tab.origin + LIST)
    for words in ("<script", "onerror", "javascript:", "{{7*7}}"):
        tab.page.get_by_role("searchbox", name="Search skills").fill(words)
        tab.page.wait_for_function("() => !document.querySelector('.htmx-request')")
        assert (HARMLESS, []) == (tab.page.evaluate(LOOK), tab.tried)


def test_every_file_of_every_skill_is_shown_and_does_nothing(served: WebPage) -> None:
    shown = 0
    for skill in skill_pages(served):
        if not re.search(r"/(files-\d+|odd|odd-names|many-files|constructor)~", skill):
            continue
        links = [one for one in read(served, skill).links if "/files/" in one]
        for link in dict.fromkeys(one.partition("#")[0] for one in links[:MAX_FILES_OF_ONE]):
            read(served, link)
            shown += 1

    assert shown > 400


def test_no_file_does_anything_in_a_browser(served: WebPage, tab: WatchedTab) -> None:
    pages = skill_pages(served)
    odd = [one for one in pages if "/odd-names~" in one or re.search(r"/files-(0|31)~", one)]
    links = [link for skill in odd for link in read(served, skill).links if "/files/" in link]
    files = [link.partition("#")[0] for link in links if not link.endswith("/files/SKILL.md")]

    assert len(files) > 20
    for path in files:
        look(tab, path)


def test_a_file_as_it_lies_there_is_text_in_a_sandbox(served: WebPage, tab: WatchedTab) -> None:
    files = next(one for one in skill_pages(served) if "/files-0~" in one)
    for name in ("picture.svg", "page.html", "code.js", "sheet.css", "notes.md"):
        path = f"{files}/raw/{name}"
        answer = served.ask(path)

        assert "text/plain; charset=utf-8" == answer.headers["content-type"]
        assert "default-src 'none'; sandbox" == answer.headers["content-security-policy"]
        tab.page.goto(tab.origin + path)
        assert "undefined" == tab.page.evaluate("typeof window.pwned")
    assert [] == tab.tried
    for path in (f"{files}/raw/code.js", f"{files}/raw/fake.png"):  # nor is it a script for a page
        look(tab, files)
        tab.page.evaluate(
            "(src) => new Promise((done) => { const one = document.createElement('script');"
            " one.src = src; one.onload = one.onerror = done; document.head.append(one); })",
            path,
        )
        assert "undefined" == tab.page.evaluate("typeof window.pwned")
        tab.tried.clear()  # the browser says that it did not run it


def test_a_link_out_of_a_skill_goes_nowhere_by_itself(served: WebPage, tab: WatchedTab) -> None:
    for address in ("javascript:window.pwned=1", "data:text/html,x", " https://x", "\u202ehttps://x", "//x"):  # fmt: skip
        look(tab, f"/leave?to={quote(address)}")
        assert 0 == tab.page.locator("main a").count()

    text = served.ask(f"/leave?to={quote('https://a.example/%E2%80%AE' + chr(0x202E) + 'x')}").text
    assert "U+202E" in text
    assert (
        chr(0x202E) not in text.partition("<main")[2].partition("Go there")[0].partition("<a ")[0]
    )


def test_marks_of_unseen_characters_are_seen(served: WebPage, tab: WatchedTab) -> None:
    path = next(one for one in skill_pages(served) if "/markdown-31~" in one)
    tab.page.goto(tab.origin + path)

    box = tab.page.locator("main .prose .unseen").first.bounding_box()

    assert box is not None
    assert box["width"] > 10
    assert box["height"] > 5


def test_names_and_descriptions_show_what_turns_words_around(served: WebPage) -> None:
    for path in (LIST, "/agents", "/review", "/graph", "/doctor", "/agents/claude-code"):
        for at in ("", "&at=60", "&at=120", "&at=180"):
            words = re.sub(r"<[^>]*>", "", served.ask(f"{path}?x=1{at}").text)

            assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\0]", words), path


def test_a_pipe_and_a_link_out_are_not_read(served: WebPage) -> None:
    skill = next(one for one in skill_pages(served) if "/special-files~" in one)

    assert 404 == served.ask(f"{skill}/files/pipe.md").status
    for name in ("out.md", "loop.md", "home/x", "home"):
        answer = served.ask(f"{skill}/raw/{name}")
        assert answer.status in {403, 404}
        assert "root:" not in answer.text


def test_a_file_deep_down_hides_no_other(served: WebPage) -> None:
    skill = next(one for one in skill_pages(served) if "/deep-files~" in one)
    links = [one for one in read(served, skill).links if one.endswith("/same.sh")]

    assert 2 == len(set(links))
    texts = [served.ask(one).text for one in links]
    assert ["echo" in one and word in one for one, word in zip(texts, ("one", "two"), strict=True)]


def test_a_canary_is_named_only_where_it_is_shown(served: WebPage) -> None:
    """The canary is there at all, so that the tests above look for something."""
    skill = next(one for one in skill_pages(served) if "/markdown-9~" in one)

    assert CANARY in unescape(re.sub(r"<[^>]*>", "", served.ask(skill).text))


# --- what else was written by strangers


@pytest.fixture(scope="module")
def bent(tmp_path_factory: TempPathFactory) -> Iterator[WebPage]:
    """Give the page of a project with such a plugin, such drafts, decisions and records."""
    plugs = Plugs(tmp_path_factory.mktemp("records"))
    write_records(plugs)
    page = WebPage(plugs.env, plugs.project)
    page.enter()
    yield page
    bend_log(plugs.data)
    for path in ("/", "/audit", "/audit/verify"):
        read(page, path)
    assert 0 == page.close()[0]


@pytest.fixture
def other(browser: Browser, bent: WebPage) -> Iterator[WatchedTab]:
    """Give a tab on that page."""
    yield from watched(browser, bent)


def test_no_candidate_does_anything(bent: WebPage, other: WatchedTab) -> None:
    queue = [one for one in read(bent, "/review").links if one.startswith("/review/")]
    kinds = {unquote(one).partition(":")[0] for one in queue}
    assert len(queue) > 5
    assert {"/review/draft", "/review/plugin-update"} <= kinds

    for path in queue:
        look(other, path)
        read(bent, path)


def test_no_record_does_anything(bent: WebPage, other: WatchedTab) -> None:
    for path in PAGES:
        look(other, path)
        read(bent, path)
    for payload in PAYLOADS:
        for key in ("event", "source", "name"):
            read(bent, f"/audit?{key}={quote(payload, safe='')}")
    links = [one for one in read(bent, "/audit").links if one.startswith("/audit?name=")]
    assert links
    for path in links[:5]:
        look(other, path)


def settled(served: WebPage, job: str) -> None:
    """Wait until some work ended, well or not."""
    end = time.monotonic() + PATIENCE
    while ">Under way" in served.ask(job).text:
        assert time.monotonic() < end, job
        time.sleep(0.1)


def test_no_plan_does_anything(bent: WebPage, other: WatchedTab, tmp_path: Path) -> None:
    for at, payload in enumerate(PAYLOADS[::3]):
        in_markdown(tmp_path / f"markdown-{at}", at, payload)
        in_frontmatter(tmp_path / f"front-{at}", at, payload)
    for path, fields in (
        ("/get/plan", {"source": str(tmp_path), "whose": "project"}),
        ("/get/plan", {"source": f"/nowhere/{PAYLOADS[1]}", "whose": "user"}),
        ("/get/search", {"words": PAYLOADS[1]}),
        ("/plugins/plan", {"plugin": PAYLOADS[1], "scope": "user"}),
        ("/plugins/plan", {"plugin": str(tmp_path), "scope": "user"}),
    ):
        job = bent.post(path, None, form_key=bent.form_key("/get"), **fields).headers["location"]
        settled(bent, job)
        look(other, job)
        read(bent, job)


# --- what people really made


def test_no_malicious_skill_does_anything(
    data: Path, browser: Browser, tmp_path_factory: TempPathFactory
) -> None:
    """The labelled skills are text to be shown: none of it is run, and none is kept."""
    archive = data / "scan-dev.tar.xz"
    if not archive.is_file():
        pytest.skip("needs the labelled skills beside the project")
    home = tmp_path_factory.mktemp("labelled")
    unpack(archive, home / ".claude" / "skills")
    page = WebPage(web_env(home), home)
    try:
        page.enter()
        found = skill_pages(page)
        assert len(found) >= SAMPLE // 2
        for tab in watched(browser, page):
            for path in (*found, LIST, "/review", "/doctor"):
                look(tab, path)
                read(page, path)
    finally:
        page.close()


def unpack(archive: Path, root: Path) -> None:
    """Write the first few malicious skills of many sources as plain files."""
    taken: dict[str, int] = {}
    folders: dict[str, str] = {}
    with tarfile.open(archive) as packed:
        for one in packed:
            kind, source, ident, *rest = (*one.name.removeprefix("./").split("/"), "", "", "")
            if kind != "malicious" or not one.isfile() or one.size > 1 << 20:
                continue
            if (key := f"{source}-{ident}") not in folders:
                if taken.get(source, 0) >= SAMPLE_OF_ONE or len(folders) >= SAMPLE:
                    continue
                taken[source] = taken.get(source, 0) + 1
                folders[key] = f"skill-{len(folders)}"
            file = packed.extractfile(one)
            name = "/".join(part for part in rest if part)
            if file is not None and name and ".." not in rest:
                put(root / folders[key] / name, file.read())
