"""Plugins and what can be done with them, the audit log, and the doctor's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from unit.web.pages import PageReader, fields_of

import metier
from metier.web.records import EVENTS_LOOKED_AT, details_of, look_at_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home, Writer
    from fakes.plugs import Plugs


@pytest.fixture
def pages(plugs: Plugs) -> Iterator[PageReader]:
    """Give the page of a project beside which a plugin lies."""
    with PageReader(metier.open(env=plugs.env, cwd=plugs.project)) as found:
        yield found


def enable(pages: PageReader, plugs: Plugs) -> str:
    """Enable the plugin through the page: look at the plan, and agree to it."""
    plan = pages.finish("/plugins/plan", plugin=str(plugs.kit), scope="project")
    return pages.finish("/plugins/enable", **fields_of(plan, "/plugins/enable"))


def state_of(pages: PageReader) -> str:
    return pages.library.plugins().plugins[0].status


# --- plugins


def test_without_plugins_the_page_says_so(pages: PageReader) -> None:
    assert "No plugin is enabled here" in pages.read("/plugins")


def test_a_plan_is_shown_before_anything_is_changed(pages: PageReader, plugs: Plugs) -> None:
    plan = pages.finish("/plugins/plan", plugin=str(plugs.kit), scope="project")

    assert "Nothing is changed yet" in plan
    assert ">alpha" in plan
    assert ">beta" in plan
    assert () == pages.library.plugins().plugins
    assert not (plugs.project / ".agents").exists()


def test_enabling_puts_in_place_what_was_shown(pages: PageReader, plugs: Plugs) -> None:
    done = enable(pages, plugs)

    assert "Changed." in done
    assert "synced" == state_of(pages)
    shown = pages.read("/plugins")
    assert '<span class="badge enabled">enabled</span>' in shown
    assert 'aria-label="Adopt alpha"' in shown
    assert ("plugin", "enabled", "web") in [
        (one["event"], one["outcome"], one["source"]) for one in pages.library.audit_tail()
    ]


def test_another_plan_than_the_one_shown_is_not_carried_out(
    pages: PageReader, plugs: Plugs
) -> None:
    plan = pages.finish("/plugins/plan", plugin=str(plugs.kit), scope="project")
    plugs.release(alpha="---\nname: alpha\ndescription: Another. Use it.\n---\n\nOther.\n")

    answer = pages.finish("/plugins/enable", **fields_of(plan, "/plugins/enable"))

    assert "has changed since this page was made" in answer
    assert () == pages.library.plugins().plugins


def test_a_plugin_is_paused_resumed_looked_at_and_disabled(pages: PageReader, plugs: Plugs) -> None:
    enable(pages, plugs)

    assert (
        200
        == pages.post(
            "/plugins/pause", **fields_of(pages.read("/plugins"), "/plugins/pause")
        ).status_code
    )
    assert "paused" == state_of(pages)
    pages.finish("/plugins/resume", **fields_of(pages.read("/plugins"), "/plugins/resume"))
    assert "synced" == state_of(pages)
    looked = pages.finish("/plugins/sync", **fields_of(pages.read("/plugins"), "/plugins/sync"))
    assert "Nothing was different." in looked
    asked = pages.read("/plugins/disable?plugin=kit&scope=project")
    assert "<li>alpha</li>" in asked
    pages.post("/plugins/disable", **fields_of(asked, "/plugins/disable"))
    assert "disabled" == state_of(pages)


def test_a_skill_of_a_plugin_is_adopted(pages: PageReader, plugs: Plugs) -> None:
    enable(pages, plugs)

    pages.post("/plugins/adopt", **fields_of(pages.read("/plugins"), "/plugins/adopt"))

    assert ["beta"] == list(pages.library.plugins().plugins[0].skills)


def test_a_form_about_what_has_changed_since_is_a_conflict(pages: PageReader, plugs: Plugs) -> None:
    enable(pages, plugs)
    seen = fields_of(pages.read("/plugins"), "/plugins/pause")
    pages.library.plugin_pause("kit")

    answers = [pages.post(f"/plugins/{verb}", **seen) for verb in ("pause", "sync", "disable")]

    assert [409, 409, 409] == [one.status_code for one in answers]
    assert "paused" == state_of(pages)


def test_a_plugin_that_nobody_knows_is_not_found(pages: PageReader) -> None:
    assert 404 == pages.get("/plugins/disable?plugin=nobody").status_code
    answer = pages.post("/plugins/pause", plugin="nobody", scope="project", seen="x")
    assert 404 == answer.status_code
    assert 400 == pages.post("/plugins/plan", plugin="").status_code


def test_a_source_that_is_none_is_an_error_on_the_page_of_the_work(pages: PageReader) -> None:
    assert 'role="alert"' in pages.finish("/plugins/plan", plugin="/nowhere/at/all")


# --- the audit log


def test_the_log_is_shown_newest_first_and_narrowed(pages: PageReader, plugs: Plugs) -> None:
    assert "Nothing has been noted down yet" in pages.read("/audit")
    enable(pages, plugs)
    pages.library.plugin_pause("kit")

    text = pages.read("/audit")

    assert text.index("<td>paused</td>") < text.index("<td>enabled</td>")
    assert "No event fits" in pages.read("/audit?event=nothing")
    assert 1 == pages.read("/audit?outcome=paused&source=web").count('<th scope="row">')
    assert 1 == pages.read("/audit?name=ALPH&outcome=enabled").count('<th scope="row">')


def test_the_log_is_verified(pages: PageReader, plugs: Plugs) -> None:
    enable(pages, plugs)

    assert "as written</strong>" in pages.read("/audit/verify")
    log = next((plugs.data / "audit").glob("*.jsonl"))
    log.write_bytes(log.read_bytes().replace(b'"enabled"', b'"changed"', 1))
    text = pages.read("/audit/verify")
    assert "not as written" in text
    assert "the line was changed after it was written" in text


def test_a_long_log_comes_in_parts_and_filters_say_how_far_they_look() -> None:
    class LongLog:
        def audit_tail(self, limit: int) -> list[dict[str, str]]:
            return [
                {"event": "load", "outcome": "ok", "source": "cli", "name": f"n{number % 3}"}
                for number in range(min(limit, 5_000))
            ]

    nothing = dict.fromkeys(("event", "outcome", "source"), "")
    found = look_at_log(LongLog(), nothing, "n1", 60, EVENTS_LOOKED_AT)  # type: ignore[arg-type]

    assert (60, 0, 120) == (len(found.events), found.before, found.after)
    assert (EVENTS_LOOKED_AT, 4 * EVENTS_LOOKED_AT) == (found.looked, found.further)
    all_of_it = look_at_log(LongLog(), nothing, "", 0, 8_000)  # type: ignore[arg-type]
    assert (5_000, 0) == (all_of_it.looked, all_of_it.further)
    assert -1 == all_of_it.before


def test_details_are_said_in_words() -> None:
    record = {"details": {"rules": ["A", "B"], "none": "", "score": 3}}

    assert [("rules", "A, B"), ("score", "3")] == details_of(record)


def test_details_within_details_are_said_in_words_too() -> None:
    record = {
        "details": {
            "commit": "73ebe6b390a0eeeb56a6c9373b48941f483fb321",
            "forced": False,
            "policy": {"files": [], "memory_bytes": 64, "sandboxed": True, "reads": ["/a", "/b"]},
        }
    }

    assert [
        ("commit", "73ebe6b390a0"),
        ("forced", "no"),
        ("policy", "memory bytes 64, sandboxed yes, reads /a, /b"),
    ] == details_of(record)


# --- the doctor


def test_the_doctor_s_page_begins_with_what_needs_a_person(home: Home, skill: Writer) -> None:
    skill("home/.claude/skills/fine")
    needs = "required_environment_variables: [NO_SUCH_VARIABLE]"
    text = f"---\nname: mail\ndescription: Sends mail. Use it.\n{needs}\n---\n\nSend it.\n"
    skill("home/.claude/skills/mail", text=text)
    with PageReader(metier.open(env=home.env, cwd=home.path)) as pages:
        text = pages.read("/doctor")

    assert text.index("Worth a look") < text.index("Configuration")
    assert "1 skill not ready" in text
    assert "<code>metier show NAME says what is missing</code>" in text
    assert 'href="/skills?readiness=setup+needed"' in text
    assert 'href="/agents/claude-code"' in text
