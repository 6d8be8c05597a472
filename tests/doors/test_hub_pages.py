"""The hub's pages, asked in this process: who sees and may do what, which forms count, and what comes of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from fakes.hub_in_browser import HubTab, fill, let_in
from fakes.hub_skills import CAUTION, member, publish_archive, skill_archive

from metier.hub import decide
from metier.hub.hub import Hub, HubOptions
from metier.hub.io.objects import blob_key
from metier.hub.model import LOCAL, Release
from metier.hub.namespaces import change_namespace, find_namespace, hub_policy
from metier.hub.releases import need_release

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLEANER = "/skills/team/cleaner/0.1.0"
TIDY = "/skills/team/table-tidy"
VISITORS = ("nobody", "elsa", "rhea", "paul", "rita", "nadia", "root")


class Team(dict[str, str]):
    """A hub with skills and people; the tokens by their owners' names."""

    hub: Hub
    made: dict[str, Release]

    def tab(self, name: str, **wishes: Any) -> HubTab:
        """Give a browser of somebody."""
        return HubTab(self.hub, self.get(name, ""), **wishes)

    def release(self, name: str, version: str, space: str = "team") -> Release:
        """Give a release as it is now."""
        with self.hub.database.read() as connection:
            return need_release(connection, LOCAL, space, name, version)[1]

    def events(self, what: str) -> list[tuple[str, str, bool]]:
        """Give who did something, about what, and whether by a page."""
        with self.hub.database.read() as connection:
            rows = connection.rows(
                "SELECT who, about, detail FROM audit_events WHERE what = ? ORDER BY id", what
            )
        return [(row["who"], row["about"], '"door":"page"' in row["detail"]) for row in rows]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Hub]:
    """Give a hub that nobody has an account of."""
    with Hub(HubOptions(home=str(tmp_path / "hub")), env={"METIER_SCAN_MODEL": "off"}) as hub:
        yield hub


@pytest.fixture
def team(empty: Hub) -> Team:
    """Give a hub with skills in every state and somebody of each role."""
    made = fill(empty)
    found = Team(let_in(empty))
    found.hub, found.made = empty, made
    return found


# --- who sees what


def test_each_visitor_sees_the_pages_of_their_role_and_no_others(team: Team) -> None:
    tabs = {name: team.tab(name) for name in VISITORS}
    table = {
        "/": "200 200 200 200 200 200 200",
        "/namespaces": "200 200 200 200 200 200 200",
        "/ns/templates": "200 200 200 200 200 200 200",
        "/ns/team": "404 404 200 200 200 200 200",
        "/ns/secret": "404 404 404 404 404 404 200",
        "/ns/team/settings": "404 404 403 403 403 200 200",
        "/queue": "200 200 200 200 200 200 200",
        TIDY: "404 404 200 200 200 200 200",
        f"{TIDY}/1.0.0": "404 404 200 200 200 200 200",
        f"{TIDY}/1.2.0": "404 404 404 404 200 200 200",
        f"{TIDY}/1.2.0/review": "404 404 404 404 200 200 200",
        f"{TIDY}/1.2.0/files/SKILL.md": "404 404 404 404 200 200 200",
        f"{TIDY}/diff?from=1.0.0&to=1.1.0": "404 404 200 200 200 200 200",
        f"{TIDY}/diff?from=1.0.0&to=1.2.0": "404 404 404 404 200 200 200",
        "/skills/team/thief/0.1.0": "404 404 404 404 200 200 200",
        "/skills/secret/plans": "404 404 404 404 404 404 200",
        "/skills/templates/letter": "200 200 200 200 200 200 200",
        "/usage": "200 200 200 200 200 200 200",
        "/usage?namespace=secret": "404 404 404 404 404 404 200",
        "/policy": "403 200 200 200 200 200 200",
        "/tokens": "403 403 403 403 403 200 200",
        "/grants": "403 403 403 403 403 403 200",
        "/audit": "403 403 403 403 403 403 200",
    }

    found = {
        path: " ".join(str(tabs[name].get(path).status) for name in VISITORS) for path in table
    }

    assert table == found


def test_what_one_may_not_read_is_not_named_anywhere(team: Team) -> None:
    for name in ("nobody", "elsa"):
        tab = team.tab(name)
        pages = ["/", "/?q=plans", "/?q=tables", "/namespaces", "/queue", "/usage"]

        seen = "".join(tab.get(path).text for path in pages)

        assert "letter" in seen
        for word in ("table-tidy", "cleaner", "plans", "team", "secret"):
            assert (name, word, False) == (name, word, f"/{word}" in seen or f">{word}<" in seen)


def test_a_private_skill_and_one_that_nobody_has_give_the_same_page(team: Team) -> None:
    tab = team.tab("elsa")
    hidden, absent = tab.get("/skills/secret/plans"), tab.get("/skills/nowhere/plans")

    def blank(text: str) -> str:
        return re.sub(r'value="[^"]+"|next=[^"]+', "", text).replace("secret", "nowhere")

    assert (404, 404) == (hidden.status, absent.status)
    assert blank(absent.text) == blank(hidden.text)


def test_every_page_is_under_the_same_strict_rules(team: Team) -> None:
    tab = team.tab("root")
    pages = ["/", "/login", "/queue", TIDY, "/audit", "/nowhere", "/ns/none", "/static/metier.css"]

    for path in pages:
        answer = tab.get(path)
        policy = answer.headers["content-security-policy"]
        assert (path, True, False) == (
            path,
            "script-src 'none'" in policy,
            "unsafe" in policy or "<script" in answer.text,
        )
        assert "nosniff" == answer.headers["x-content-type-options"]
        assert "DENY" == answer.headers["x-frame-options"]
    assert "no-store" == tab.get("/").headers["cache-control"]


def test_a_program_gets_json_where_there_is_nothing_and_a_person_a_page(team: Team) -> None:
    tab = team.tab("nobody")

    program = tab.get("/nowhere", accept="*/*")
    api = tab.get("/api/v1/skills/team/table-tidy")
    person = tab.get("/nowhere")

    assert "application/problem+json" == program.headers["content-type"]
    assert "application/problem+json" == api.headers["content-type"]
    assert "There is nothing here" in person.words


# --- coming in


def test_a_token_opens_the_pages_until_somebody_logs_out(team: Team) -> None:
    tab = team.tab("nobody")

    entered = tab.log_in(team["rita"])
    cookie = dict(tab.client.cookies)
    left = tab.submit("/", "/logout")
    tab.client.cookies.update(cookie)  # somebody kept it

    assert (200, "/?done=in") == (entered.status, entered.where)
    assert "You are logged in." in entered.words
    assert "rita Log out" in entered.words
    assert "You are logged out." in left.words
    assert 404 == tab.get("/ns/team").status
    assert [("token:2", "token:2", True)] == team.events("visit.end")


def test_a_wrong_token_opens_nothing_and_is_not_shown(team: Team) -> None:
    tab = team.tab("nobody")

    answer = tab.log_in("mth_wrong")

    assert 401 == answer.status
    assert "this token is not valid" in answer.words
    assert "mth_wrong" not in answer.text
    assert {} == dict(tab.client.cookies)


def test_a_revoked_token_ends_the_visits_that_it_began(team: Team) -> None:
    tab, admin = team.tab("rita"), team.tab("root")
    before = tab.get("/ns/team").status

    answer = admin.submit("/tokens", "/tokens/2/revoke")

    assert (200, 404) == (before, tab.get("/ns/team").status)
    assert "The token was revoked." in answer.words
    assert [("token:1", "token:2", True)] == team.events("token.revoke")


@pytest.mark.parametrize("cookie", ["x", "x" * 4000, "' OR 1=1 --", "../../key.pem", "%00"])
def test_a_forged_cookie_opens_nothing(team: Team, cookie: str) -> None:
    tab = team.tab("nobody", cookie=f"metier-hub-8700={cookie}; __Host-metier-hub={cookie}")

    assert 404 == tab.get("/ns/team").status
    assert 403 == tab.get("/tokens").status


def test_a_cookie_opens_no_interface_and_a_token_no_page(team: Team) -> None:
    tab, other = team.tab("root"), team.tab("nobody")

    read = tab.get("/api/v1/skills/team/table-tidy")
    written = tab.post(f"/api/v1{CLEANER}/approve", {}, content_type="application/json")
    page = other.get("/ns/team", authorization=f"Bearer {team['root']}")

    assert (404, 404, 404) == (read.status, written.status, page.status)
    assert "pending" == team.release("cleaner", "0.1.0").state


@pytest.mark.parametrize(
    ("wish", "where"),
    [
        ("/ns/team", "/ns/team"),
        ("/skills/team/table-tidy?all=1", "/skills/team/table-tidy?all=1"),
        ("//evil.example", "/?done=in"),
        ("/\\evil.example", "/?done=in"),
        ("https://evil.example", "/?done=in"),
        ("javascript:alert(1)", "/?done=in"),
        ("/\tx", "/?done=in"),
    ],
)
def test_logging_in_leads_back_and_never_to_another_site(team: Team, wish: str, where: str) -> None:
    tab = team.tab("nobody")
    form = tab.form("/login", "/login")

    answer = tab.post("/login", {**form, "next": wish, "token": team["rita"]})

    assert where == answer.where


def test_behind_a_proxy_the_cookie_travels_over_tls_alone(team: Team) -> None:
    told = {"origin": "https://hub.example.org", "x_forwarded_for": "192.0.2.7"}
    tab = team.tab("nobody", **told)
    form = tab.form("/login", "/login")

    answer = tab.client.post(
        "/login",
        content=f"form_key={form['form_key']}&token={team['rita']}",
        headers={
            "origin": "https://hub.example.org",
            "content-type": "application/x-www-form-urlencoded",
        },
        follow_redirects=False,
    )

    said = answer.headers["set-cookie"]
    assert said.startswith("__Host-metier-hub=")
    assert "; HttpOnly; Max-Age=43200; Path=/; SameSite=strict; Secure" in said
    assert 200 == tab.get("/ns/team").status


def test_nobody_logs_in_over_plain_http_from_elsewhere(team: Team) -> None:
    tab = team.tab("nobody", origin="http://hub.example.org", address="192.0.2.7", local=False)

    answer = tab.log_in(team["rita"])

    assert 403 == answer.status
    assert "over https only" in answer.words
    assert {} == dict(tab.client.cookies)


# --- forms


def test_a_form_counts_once(team: Team) -> None:
    tab = team.tab("root")
    form = {**tab.form("/namespaces", "/namespaces"), "name": "web"}

    first = tab.post("/namespaces", form)
    again = tab.post("/namespaces", form)

    assert (200, 409) == (first.status, again.status)
    assert "this form was sent already" in again.words
    assert 1 == len([one for one in team.events("namespace.add") if one[1] == "web"])


@pytest.mark.parametrize(
    ("fields", "headers", "status"),
    [
        ({"form_key": ""}, {}, 403),
        ({"form_key": "1.a.b"}, {}, 403),
        ({}, {"origin": "https://evil.example"}, 403),
        ({}, {"origin": "null"}, 403),
        ({}, {"origin": ""}, 403),
        ({}, {"sec_fetch_site": "cross-site"}, 403),
        ({}, {"sec_fetch_site": "same-site"}, 403),
        ({}, {"content_type": "text/plain"}, 400),
        ({}, {"content_type": "multipart/form-data; boundary=x"}, 400),
        ({"more": "x" * 70_000}, {}, 413),
        ({"more": ["x"] * 200}, {}, 400),
    ],
)
def test_a_form_that_is_not_this_page_s_changes_nothing(
    team: Team, fields: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    tab = team.tab("root")
    form = {**tab.form("/namespaces", "/namespaces"), "name": "web"}

    answer = tab.post("/namespaces", {**form, **fields}, **headers)

    assert status == answer.status
    assert [] == [one for one in team.events("namespace.add") if one[1] == "web"]


def test_who_is_not_logged_in_writes_nothing_by_sending_forms(team: Team) -> None:
    tab = team.tab("nobody")
    form = tab.form("/login", "/login")

    statuses = [tab.post("/login", {**form, "token": "mth_guess"}).status for _time in range(3)]

    assert [401, 401, 401] == statuses
    with team.hub.database.read() as connection:
        assert [] == list(connection.rows("SELECT * FROM answers"))


def test_a_form_of_one_visitor_does_not_count_for_another(team: Team) -> None:
    form = team.tab("nadia").form("/tokens", "/tokens")

    answer = team.tab("root").post("/tokens", {**form, "name": "x", "role": "admin"})

    assert 403 == answer.status
    assert "not from this page" in answer.words


def test_a_form_of_before_logging_in_again_does_not_count(team: Team) -> None:
    tab = team.tab("root")
    form = {**tab.form("/namespaces", "/namespaces"), "name": "web"}
    tab.log_in(team["root"])

    assert 403 == tab.post("/namespaces", form).status


# --- the local user


def test_on_a_hub_without_accounts_whoever_is_here_needs_no_login(empty: Hub) -> None:
    tab = HubTab(empty)

    made = tab.submit("/namespaces", "/namespaces", name="web", visibility="public")
    strange = tab.post("/namespaces", {"name": "theirs"}, origin="https://evil.example")
    guessed = tab.post("/namespaces", {"name": "theirs", "form_key": "1.x.y"})

    assert ("/ns/web?done=made", 200) == (made.where, made.status)
    assert "local user" in made.words
    assert (403, 403) == (strange.status, guessed.status)
    with empty.database.read() as connection:
        assert find_namespace(connection, "theirs") is None


def test_the_local_user_is_enough_to_approve(empty: Hub) -> None:
    fill(empty)
    tab = HubTab(empty)

    page = tab.get(f"{CLEANER}/review")
    done = tab.submit(page, f"{CLEANER}/review", what="approve")

    assert "One reviewer has to approve it." in page.words
    assert "This version is approved." in done.words


@pytest.mark.parametrize(
    "wishes",
    [
        {"x_forwarded_for": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
        {"address": "192.0.2.7"},
        {"local": False},
        {"origin": "http://evil.example:8700"},
    ],
)
def test_whoever_comes_from_elsewhere_is_not_the_local_user(
    empty: Hub, wishes: dict[str, Any]
) -> None:
    tab = HubTab(empty, **wishes)

    refused = tab.force("/namespaces", name="web")

    assert "local user" not in tab.get("/").text
    assert 403 == tab.get("/tokens").status
    assert 403 == refused.status


def test_the_first_token_is_shown_once_and_ends_the_local_user(empty: Hub) -> None:
    tab = HubTab(empty)

    made = tab.submit("/tokens", "/tokens", name="ann", role="admin", days="90")
    token = re.findall(r'class="token">(mth_[^<]+)<', made.text)[0]
    shut = tab.get("/tokens")
    tab.log_in(token)
    listed = tab.get("/tokens")

    assert "From now on everybody needs a token" in made.words
    assert 403 == shut.status
    assert "ann admin everywhere" in listed.words
    assert token not in listed.text


# --- finding


def test_skills_are_searched_narrowed_and_counted(team: Team) -> None:
    tab = team.tab("rita")

    everything = tab.get("/")
    words = tab.get("/?q=letter")
    narrowed = tab.get("/?namespace=team&state=deprecated")
    none = tab.get("/?q=zebra")

    assert "3 skills, the newest first" in everything.words
    assert ["templates/letter"] == skills_on(words)
    assert ["team/old-style"] == skills_on(narrowed)
    assert "No skill fits." in none.words
    assert 'name="q"' in everything.text
    assert 'aria-label="Search skills"' in everything.text


def skills_on(answer: Any) -> list[str]:
    return re.findall(r'class="skill" href="/skills/([^"]+)"', answer.text)


def test_a_long_list_comes_in_parts(team: Team) -> None:
    for number in range(30):
        name = f"skill-{number:02}"
        publish_archive(team.hub, LOCAL, name, skill_archive(name, "Do it."), namespace="templates")
    tab = team.tab("nobody")

    first = tab.get("/?namespace=templates")
    second = tab.get("/?namespace=templates&at=25")

    assert (25, 6) == (len(skills_on(first)), len(skills_on(second)))
    assert set() == set(skills_on(first)) & set(skills_on(second))
    assert 'rel="next"' in first.text
    assert 'rel="prev"' in second.text


@pytest.mark.parametrize(
    "query", ["at=-1", "at=9999999999", "at=x", "q=" + "x" * 3000, "level=<b>"]
)
def test_odd_questions_are_answered(team: Team, query: str) -> None:
    assert 200 == team.tab("nobody").get(f"/?{query}").status


# --- a skill


def test_a_skill_shows_all_that_is_known_of_it(team: Team) -> None:
    page = team.tab("rhea").get(TIDY)

    headings = re.findall(r"<h2 id=\"[a-z]+\">([^<]+)</h2>", page.text)
    assert [
        "Install",
        "Instructions",
        "Findings",
        "Files",
        "Versions",
        "Trust",
        "Usage",
    ] == headings
    assert "metier add hub:team/table-tidy" in page.words
    assert "3 installs in all." in page.words
    assert "1.1.0 (this one) approved safe" in page.words
    assert "1.2.0" not in page.text
    assert team.release("table-tidy", "1.1.0").digest in page.text


def test_findings_are_marked_where_they_are(team: Team) -> None:
    page = team.tab("rita").get(CLEANER)

    assert "<mark>chmod 777 /</mark>" in page.text
    assert 'href="#note-1"' in page.text
    assert "This version waits for a decision." in page.words


def test_files_are_shown_in_colour_and_as_they_lie_there(team: Team) -> None:
    tab = team.tab("rhea")

    shown = tab.get(f"{TIDY}/1.1.0/files/scripts/tidy.py")
    raw = tab.get(f"{TIDY}/1.1.0/raw/scripts/tidy.py")
    folder = tab.get(f"{TIDY}/1.1.0/folder?in=scripts/")

    assert '<span class="k">def</span>' in shown.text
    assert raw.text.startswith('"""Tidy a table."""')
    assert "default-src 'none'; sandbox" == raw.headers["content-security-policy"]
    assert "tidy.py" in folder.words


@pytest.mark.parametrize(
    "path",
    [
        "files/none.md",
        "files/../../../../key.pem",
        "files/..%2f..%2f..%2f..%2fkey.pem",
        "raw/%2fetc%2fpasswd",
        "raw/scripts",
        "files/%ff%fe",
        "folder?in=none/",
    ],
)
def test_there_is_no_way_out_of_a_skill(team: Team, path: str) -> None:
    assert 404 == team.tab("rhea").get(f"{TIDY}/1.1.0/{path}").status


def test_two_versions_are_compared_with_their_verdicts(team: Team) -> None:
    tab = team.tab("rita")

    page = tab.get(f"{TIDY}/diff?from=1.1.0&to=1.2.0")
    back = tab.get(f"{TIDY}/diff?from=1.2.0&to=1.1.0")

    assert "1.1.0 safe score 0 of 100 1.2.0 caution score" in page.words
    assert "New findings" in page.words
    assert "+Use `chmod 777 /` if it fails." in page.words
    assert "Findings that are gone" in back.words


def test_bytes_that_are_damaged_are_not_shown(team: Team) -> None:
    release = team.made["second"]
    team.hub.objects.put(blob_key(release.archive), b"other bytes")

    page = team.tab("rhea").get(TIDY)

    assert 200 == page.status
    assert "the hub's copy of table-tidy 1.1.0 is damaged" in page.words


# --- deciding


def test_caution_is_approved_by_two_people_who_see_each_other(team: Team) -> None:
    first, second = team.tab("rita"), team.tab("rolf")
    review = f"{CLEANER}/review"
    before = second.get(review)

    voted = first.submit(review, review, what="approve", reason="looked at it")
    seen = second.get(review)
    done = second.submit(review, review, what="approve", reason="me too")

    assert "2 reviewers have to approve it." in before.words
    assert f"{review}?done=approved" == voted.where
    assert "You approved it already." in voted.words
    assert "One more reviewer has to approve it." in voted.words
    assert "approved rita" in seen.words
    assert "looked at it" in seen.words
    assert "This version is approved." in done.words
    assert "approved" == team.release("cleaner", "0.1.0").state
    about = "team/cleaner@0.1.0"
    assert [("token:2", about, True), ("token:3", about, True)] == team.events("approve")


def test_one_person_approving_twice_counts_once(team: Team) -> None:
    tab = team.tab("rita")
    tab.submit(f"{CLEANER}/review", f"{CLEANER}/review", what="approve")

    again = tab.force(f"{CLEANER}/review", what="approve", seen="pending")

    assert 200 == again.status
    assert "pending" == team.release("cleaner", "0.1.0").state


def test_a_release_is_rejected_with_a_reason(team: Team) -> None:
    tab = team.tab("rita")

    review = f"{CLEANER}/review"
    done = tab.submit(review, review, what="reject", reason="deletes too much")

    assert "The version was rejected." in done.words
    release = team.release("cleaner", "0.1.0")
    assert ("rejected", "deletes too much") == (release.state, release.reason)


def test_nobody_is_offered_to_approve_what_they_published(team: Team) -> None:
    mine = member(team.hub, "x", "publisher")._replace(ident="token:1")
    publish_archive(team.hub, mine, "own-work", skill_archive("own-work", CAUTION), version="1.0.0")
    tab = team.tab("root")
    where = "/skills/team/own-work/1.0.0"

    page = tab.get(f"{where}/review")
    forced = tab.force(f"{where}/review", what="approve", seen="pending")

    assert "You published this yourself, so you cannot approve it." in page.words
    assert ">Approve<" not in page.text
    assert 403 == forced.status
    assert "somebody else has to approve it" in forced.words
    assert "pending" == team.release("own-work", "1.0.0").state


@pytest.mark.parametrize("first", ["reject", "approve"])
@pytest.mark.parametrize("second", ["reject", "approve"])
def test_a_decision_that_somebody_else_made_first_is_a_conflict(
    team: Team, first: str, second: str
) -> None:
    tab = team.tab("rita")
    form = tab.form(f"{CLEANER}/review", f"{CLEANER}/review")
    act = decide.approve if first == "approve" else decide.reject
    act(team.hub, LOCAL, "team", "cleaner", "0.1.0")

    answer = tab.post(f"{CLEANER}/review", {**form, "what": second})

    assert 409 == answer.status
    assert f"somebody else decided first: cleaner 0.1.0 is {first}" in answer.words
    assert [] == [one for one in team.events(second) if one[0] == "token:2"]


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (f"{CLEANER}/review", {"what": "approve", "seen": "pending"}),
        (f"{CLEANER}/review", {"what": "reject", "seen": "pending"}),
        (f"{TIDY}/1.1.0/yank", {"seen": "approved", "reason": "x"}),
        (f"{TIDY}/deprecate", {"reason": "x"}),
        ("/ns/team/settings", {"visibility": "public"}),
        ("/namespaces", {"name": "mine"}),
        ("/policy", {"safe": "review"}),
        ("/tokens", {"name": "x", "role": "admin"}),
        ("/tokens/1/revoke", {}),
        ("/grants", {"kind": "group", "who": "crew", "role": "admin"}),
    ],
)
def test_who_may_not_do_it_does_not_by_a_form_of_their_own(
    team: Team, path: str, fields: dict[str, str]
) -> None:
    def state() -> list[Any]:
        with team.hub.database.read() as connection:
            return [
                [tuple(row) for row in connection.rows(sql)]
                for sql in (
                    "SELECT * FROM skills",
                    "SELECT * FROM releases",
                    "SELECT * FROM namespaces",
                    "SELECT * FROM tokens",
                    "SELECT * FROM grants",
                    "SELECT * FROM hub_facts",
                )
            ]

    tabs = [team.tab(name) for name in ("nobody", "elsa", "rhea", "paul")]
    before = state()

    statuses = [tab.force(path, **fields).status for tab in tabs]

    assert set(statuses) <= {400, 403, 404, 409}
    assert before == state()


def test_a_version_is_yanked_and_offered_again(team: Team) -> None:
    tab = team.tab("rita")

    yanked = tab.submit(f"{TIDY}/1.1.0", f"{TIDY}/1.1.0/yank", reason="breaks tables")
    later = team.release("table-tidy", "1.1.0")
    back = tab.submit(f"{TIDY}/1.1.0", f"{TIDY}/1.1.0/unyank")

    assert "This version was yanked , so it is not offered any more. breaks tables" in yanked.words
    assert ("yanked", "breaks tables") == (later.state, later.reason)
    assert "The version is offered again." in back.words
    assert "approved" == team.release("table-tidy", "1.1.0").state


def test_a_yank_needs_a_reason_and_the_state_that_was_shown(team: Team) -> None:
    tab = team.tab("rita")
    form = tab.form(TIDY, f"{TIDY}/1.1.0/yank")
    bare = tab.post(f"{TIDY}/1.1.0/yank", form)
    form = tab.form(TIDY, f"{TIDY}/1.1.0/yank")
    decide.yank(team.hub, LOCAL, "team", "table-tidy", "1.1.0", reason="first")

    late = tab.post(f"{TIDY}/1.1.0/yank", {**form, "reason": "second"})

    assert (400, 409) == (bare.status, late.status)
    assert "first" == team.release("table-tidy", "1.1.0").reason


def test_a_skill_is_deprecated_and_used_again(team: Team) -> None:
    tab = team.tab("rita")

    done = tab.submit(TIDY, f"{TIDY}/deprecate", reason="use table-neat instead")
    listed = tab.get("/?state=deprecated")
    back = tab.submit(TIDY, f"{TIDY}/deprecate")

    assert "Deprecated. use table-neat instead" in done.words
    assert "team/table-tidy" in skills_on(listed)
    assert "The skill is not deprecated any more." in back.words


def test_a_deprecation_that_somebody_else_made_first_is_a_conflict(team: Team) -> None:
    tab = team.tab("rita")
    form = tab.form(TIDY, f"{TIDY}/deprecate")
    team.tab("rolf").submit(TIDY, f"{TIDY}/deprecate", reason="use one")

    late = tab.post(f"{TIDY}/deprecate", {**form, "reason": "use another"})

    assert 409 == late.status
    assert "use one" in tab.get(TIDY).words


def test_publishers_see_what_they_wait_for_and_may_withdraw_their_own(team: Team) -> None:
    paul = member(team.hub, "paul", "publisher", "team")._replace(ident="token:4")
    for name, text in (("mine", CAUTION), ("other", "Do it.")):
        publish_archive(team.hub, paul, name, skill_archive(name, text), version="1.0.0")
    tab = team.tab("paul")

    queue = tab.get("/queue")
    own = tab.get("/skills/team/other")

    assert "team/mine 1.0.0" in queue.words
    assert "cleaner" not in queue.text
    assert "yours: somebody else has to approve it" in queue.words
    assert ">Yank<" in own.text
    assert ">Deprecate<" in own.text
    assert ">Yank<" not in tab.get(TIDY).text


# --- administration


def test_a_namespace_is_made_frozen_published_and_given_room(team: Team) -> None:
    tab = team.tab("root")
    tab.submit("/namespaces", "/namespaces", name="web", organisation="acme")

    tab.submit(
        "/ns/web/settings", "/ns/web/settings", visibility="public", state="frozen", quota="5"
    )

    with team.hub.database.read() as connection:
        space = find_namespace(connection, "web")
    assert space is not None
    assert ("public", "frozen", 5_000_000) == (space.visibility, space.state, space.quota_bytes)
    assert "This namespace is frozen" in team.tab("nobody").get("/ns/web").words
    assert ("token:1", "web", True) in team.events("namespace.change")


@pytest.mark.parametrize("name", ["UP", "a b", "", "x" * 64, "-a", "api", "<b>", "../x", "team"])
def test_a_bad_name_makes_no_namespace(team: Team, name: str) -> None:
    answer = team.tab("root").submit("/namespaces", "/namespaces", name=name)

    assert answer.status in {400, 403, 409}
    assert 3 == len(team.events("namespace.add"))


def test_an_admin_of_one_namespace_changes_it_but_not_its_room(team: Team) -> None:
    tab = team.tab("nadia")

    page = tab.get("/ns/team/settings")
    saved = tab.submit(page, "/ns/team/settings", visibility="public")
    form = tab.form("/ns/team/settings", "/ns/team/settings")
    refused = tab.post("/ns/team/settings", {**form, "quota": "5"})

    assert 'name="quota"' not in page.text
    assert "The change was saved." in saved.words
    assert 403 == refused.status


def test_a_namespace_can_only_be_made_stricter(team: Team) -> None:
    tab = team.tab("nadia")
    page = tab.get("/ns/team/settings")
    form = next(
        one
        for one in re.findall(r"<form.*?</form>", page.text, re.DOTALL)
        if 'value="policy"' in one
    )
    key, seen = (
        re.findall(rf'name="{name}" value="([^"]+)"', form)[0] for name in ("form_key", "seen")
    )

    saved = tab.post(
        "/ns/team/settings",
        {"form_key": key, "seen": seen, "part": "policy", "caution": "reject", "safe": ""},
    )
    later = tab.get("/ns/team/settings")

    assert "The change was saved." in saved.words
    assert "<option>approve</option>" not in page.text
    assert "<option selected>reject</option>" in later.text
    assert "team caution: reject" in tab.get("/policy").words


def test_settings_that_somebody_else_changed_are_a_conflict(team: Team) -> None:
    tab = team.tab("root")
    space = tab.form("/ns/team/settings", "/ns/team/settings")
    policy = tab.form("/policy", "/policy")
    change_namespace(team.hub, LOCAL, "team", {"state": "frozen"})
    team.tab("root").submit("/policy", "/policy", safe="review")

    late = tab.post("/ns/team/settings", {**space, "visibility": "public"})
    later = tab.post("/policy", {**policy, "safe": "reject"})

    assert (409, 409) == (late.status, later.status)
    assert "somebody else changed this while you were looking" in late.words
    with team.hub.database.read() as connection:
        assert "review" == hub_policy(connection)["safe"]


def test_the_policy_is_seen_by_members_and_changed_by_admins(team: Team) -> None:
    reader, admin = team.tab("rhea"), team.tab("root")

    before = reader.get("/policy")
    saved = admin.submit("/policy", "/policy", caution="reject", two_person=["safe", "caution"])

    assert "caution review, by two reviewers" in before.words
    assert ">Save the policy<" not in before.text
    assert "The change was saved." in saved.words
    with team.hub.database.read() as connection:
        policy = hub_policy(connection)
    assert ("reject", ["safe", "caution"]) == (policy["caution"], policy["two_person"])


def test_a_token_has_a_role_a_place_and_an_end(team: Team) -> None:
    tab = team.tab("nadia")

    page = tab.get("/tokens")
    made = tab.submit(page, "/tokens", name="ci", role="publisher", namespace="team", days="30")
    token = re.findall(r'class="token">(mth_[^<]+)<', made.text)[0]
    wide = tab.force("/tokens", name="big", role="admin")
    again = tab.get("/tokens")

    assert "everywhere" not in page.words
    assert 403 == wide.status
    assert "The token of ci : publisher in team." in made.words
    assert token not in again.text
    assert "ci publisher team" in again.words
    assert 200 == HubTab(team.hub, token).get("/ns/team").status


@pytest.mark.parametrize("days", ["-1", "x", "99999", "1.5", "\u0663"])
def test_a_token_is_not_made_for_an_odd_number_of_days(team: Team, days: str) -> None:
    answer = team.tab("root").submit("/tokens", "/tokens", name="x", role="reader", days=days)

    assert 400 == answer.status


def test_a_role_is_given_and_taken_away(team: Team) -> None:
    tab = team.tab("root")
    form = re.findall(r"<form.*?</form>", tab.get("/grants").text, re.DOTALL)[-1]
    key = re.findall(r'name="form_key" value="([^"]+)"', form)[0]

    given = tab.post(
        "/grants",
        {
            "form_key": key,
            "kind": "group",
            "who": "staff",
            "role": "reviewer",
            "where": "namespace:team",
        },
    )
    taken = tab.force(
        "/grants",
        act="remove",
        kind="group",
        who="staff",
        role="reviewer",
        where="namespace:team",
    )

    assert "group staff reviewer namespace team" in given.words
    assert "Ines person:1 in crew" in given.words
    assert "group staff" not in taken.words
    assert ("token:1", "group:staff", True) in team.events("grant.remove")


def test_the_audit_log_is_narrowed(team: Team) -> None:
    tab = team.tab("root")

    everything = tab.get("/audit")
    what = tab.get("/audit?what=yank")
    who = tab.get("/audit?who=token:bob")
    about = tab.get("/audit?about=team/old")
    none = tab.get("/audit?who=token:99")

    assert "visit.begin root token:1" in everything.words
    assert "door: page" in everything.words
    assert ["yank"] == acts_on(what)
    assert ["deprecate", "yank"] == acts_on(who)
    assert ["deprecate", "yank", "publish", "publish"] == acts_on(about)
    assert "No event fits." in none.words


def acts_on(answer: Any) -> list[str]:
    return re.findall(r'<th scope="row">([^<]+)</th>', answer.text)


def test_installs_are_counted_by_day_and_by_skill(team: Team) -> None:
    page = team.tab("rhea").get("/usage")

    assert "team/table-tidy 3" in page.words
    assert 30 == page.text.count("<rect ")
    assert "Nobody has told the hub" in team.tab("nobody").get("/usage").words
