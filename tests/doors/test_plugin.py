"""`metier plugin`: which plugins there are, how they stand, and what every verb says about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.command import document
from fakes.steward import DIGEST, EVIL, UPDATE, FakeSteward, listed

from metier.model import Finding
from metier.plugins.model import PluginFault, PluginList, PluginResult, PluginSkillRow
from metier.supply.model import InstallTarget, Plan, PlanStep, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from doors.command import Answer

    Give = Callable[..., Answer]

STATES = {
    "discovered": "discovered",
    "synced": "enabled",
    "update_pending": "pending",
    "paused": "paused",
    "missing": "missing",
    "disabled": "disabled",
    "adopted": "adopted",
}
PLAN = Plan(
    add=(
        PlanStep(
            "palette",
            "add",
            "/plugins/brand-kit",
            "skills/palette",
            "",
            "",
            DIGEST,
            "",
            1,
            100,
            30,
            "community",
            "safe",
            5,
            (),
            "allow",
            (),
            (InstallTarget("", ".agents/skills/palette", "folder"),),
        ),
    )
)
FINDING = Finding(
    "SC230", "critical", "network", "SKILL.md", 3, 1, "curl", "Sends data. It matters.", "Look."
)
UNREACHABLE = (PluginFault("https://git.example.com/x", "unreachable", "nobody answers"),)


@pytest.fixture
def give(here: Give) -> Give:
    """Give the command in this process."""
    return lambda *words: here("plugin", *words)


# --- the list


@pytest.mark.parametrize("status", STATES)
def test_every_state_is_listed_in_a_word(status: str, steward: FakeSteward, give: Give) -> None:
    steward.plugs = PluginList((listed(status),))

    text, found = give("list"), document(give("list", "--json"))

    head, row = text.out.splitlines()
    assert (0, "", ["ID", "STATE", "VERSION", "SKILLS", "SCOPE", "SOURCE"]) == (
        text.code,
        text.err,
        head.split(),
    )
    assert [
        "brand-kit",
        STATES[status],
        "1.2.0",
        "2",
        "project",
        "/plugins/brand-kit",
    ] == row.split()
    assert status == found["plugins"][0]["status"]


def test_the_document_has_the_fields_of_the_contract(steward: FakeSteward, give: Give) -> None:
    steward.plugs = PluginList((listed("update_pending"),))

    [row] = document(give("list", "--json"))["plugins"]

    assert {"plugin_id", "enabled", "status", "installed_version", "skills"} <= set(row)
    assert {
        "status": "update_pending",
        "accepted": DIGEST,
        "observed": DIGEST,
        "pending": UPDATE,
    } == row["skills"]["palette"]


def test_what_cannot_be_read_is_said_after_the_list(steward: FakeSteward, give: Give) -> None:
    steward.plugs = PluginList(
        (listed(),), (PluginFault("/plugins/broken/plugin.json", "malformed", "is no JSON"),)
    )

    assert give("list").out.endswith(
        "\n\nerror /plugins/broken/plugin.json: malformed is no JSON\n"
    )


def test_without_plugins_the_next_step_is_named(steward: FakeSteward, give: Give) -> None:
    steward.plugs = PluginList(())

    assert (0, True) == (give("list").code, "next: metier plugin enable SOURCE" in give("list").out)


def test_one_plugin_is_shown_with_its_skills(steward: FakeSteward, give: Give) -> None:
    steward.plugs = PluginList(
        (listed("update_pending", version="1.3.0"), listed(plugin_id="other"))
    )

    text, found = give("list", "brand-kit"), document(give("list", "brand-kit", "--json"))

    assert text.out.startswith(
        "brand-kit 1.2.0: pending, 1.3.0 is there, project\n  /plugins/brand-kit\n\nSKILL "
    )
    assert [
        "palette",
        "an",
        "update",
        "waits",
        "sha256:ababababab",
        "sha256:ababababab",
        UPDATE,
    ] == text.out.splitlines()[4].split()
    assert ["brand-kit"] == [row["plugin_id"] for row in found["plugins"]]


def test_the_skills_of_a_disabled_plugin_are_said_to_be_disabled(
    steward: FakeSteward, give: Give
) -> None:
    steward.plugs = PluginList((listed("disabled"),))

    assert [["palette", "disabled"], ["type", "disabled"]] == [
        row.split()[:2] for row in give("list", "brand-kit").out.splitlines()[4:]
    ]


def test_a_plugin_that_nobody_knows_is_an_error(steward: FakeSteward, give: Give) -> None:
    answer = give("list", "nobody")

    assert (1, True, []) == (
        answer.code,
        "error: there is no plugin 'nobody'\n" in answer.err,
        steward.asked,
    )


# --- enabling


def test_a_plan_is_shown_and_a_yes_carries_it_out(steward: FakeSteward, give: Give) -> None:
    steward.planned, steward.mirrored = PLAN, PluginResult((listed(),), True, PLAN)

    answer = give(
        "enable",
        "brand-kit",
        "--yes",
        "--ref",
        "v1",
        "--plugin",
        "kit",
        "--to",
        "codex",
        "--user",
        "--no-wait",
    )

    assert (0, "") == (answer.code, answer.err)
    assert answer.out.startswith("1 to install\nfrom /plugins/brand-kit\n")
    assert "\ninstall  palette  safe     unverified source\n" in answer.out
    assert answer.out.endswith(
        "mirrored palette: .agents/skills/palette\nbrand-kit 1.2.0 is enabled: 2 skills, yours to edit\n\n"
        "next: metier plugin sync brand-kit looks for what is new\n"
    )
    assert [
        (
            "enable",
            "brand-kit",
            {
                "name": "kit",
                "ref": "v1",
                "to": ["codex"],
                "user": True,
                "adopt": [],
                "dry_run": False,
                "blocking": False,
            },
        )
    ] == steward.asked


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_without_a_yes_and_a_terminal_nothing_is_enabled(
    more: tuple[str, ...], steward: FakeSteward, give: Give
) -> None:
    steward.planned, steward.mirrored = PLAN, PluginResult((listed("discovered"),), True, PLAN)

    answer = give("enable", "brand-kit", *more)

    assert (2, True) == (answer.code, "nothing was changed" in answer.out + answer.err)
    assert not more or "usage" == document(answer)["code"]


def test_a_refusal_is_shown_with_its_findings(steward: FakeSteward, give: Give) -> None:
    steward.mirrored = PluginResult(
        (listed("discovered"),),
        plan=PLAN,
        refused=(Refusal("palette", ("dangerous",), (FINDING,)),),
    )

    text, found, whole = (
        give("enable", "brand-kit", "--yes"),
        give("enable", "brand-kit", "--yes", "--json"),
        give("enable", "brand-kit", "--yes", "--verbose"),
    )

    assert (1, 1, "SC230") == (
        text.code,
        found.code,
        document(found)["refused"][0]["findings"][0]["rule"],
    )
    assert "\nrefused  palette  -        dangerous\n" in text.out
    assert "refused palette\n  dangerous\n    SKILL.md:3: SC230 critical Sends data\n" in whole.out
    assert text.out.endswith("together, or none of them is\nnothing was changed\n")


def test_a_dry_run_shows_the_plan_alone(steward: FakeSteward, give: Give) -> None:
    steward.planned, steward.mirrored = PLAN, PluginResult((listed("discovered"),), plan=PLAN)

    answer = give("enable", "brand-kit", "--dry-run")

    assert (0, "") == (answer.code, answer.err)
    assert answer.out.startswith("1 to install\n")
    assert answer.out.endswith("\nnothing was changed\n")


def test_what_is_enabled_already_is_said_to_be(steward: FakeSteward, give: Give) -> None:
    assert (0, "brand-kit is enabled already\n", "") == give("enable", "brand-kit", "--yes")
    assert [] == [one for one in steward.asked if one[0] != "enable"]


# --- standing


def test_disabling_asks_first_and_needs_a_yes_without_a_terminal(
    steward: FakeSteward, give: Give
) -> None:
    refused = give("disable", "brand-kit")
    asked = list(steward.asked)
    steward.mirrored = PluginResult((listed("disabled"),), True)
    done = give("disable", "brand-kit", "--yes")

    assert (2, True, []) == (refused.code, "--yes" in refused.err, asked)
    assert (0, "disabled brand-kit\nundo it with: metier plugin enable brand-kit\n", "") == done
    assert [
        ("disable", "brand-kit", {"disable_linked_skills": True, "user": None, "blocking": True})
    ] == steward.asked


@pytest.mark.parametrize(
    ("verb", "status", "said"),
    [
        ("pause", "paused", "paused brand-kit\nundo it with: metier plugin resume brand-kit\n"),
        ("resume", "synced", "resumed brand-kit\n1 plugin: 1 enabled\n"),
    ],
)
def test_pausing_and_resuming_ask_nothing(
    verb: str, status: str, said: str, steward: FakeSteward, give: Give
) -> None:
    steward.mirrored = PluginResult((listed(status),), True)

    assert (0, said, "") == give(verb, "brand-kit")
    assert status == document(give(verb, "brand-kit", "--json"))["plugins"][0]["status"]
    assert [(verb, "brand-kit", {"user": None, "blocking": True})] * 2 == steward.asked


def test_adopting_makes_a_skill_one_s_own(steward: FakeSteward, give: Give) -> None:
    text, found = (
        give("adopt", "brand-kit", "palette", "--project"),
        document(give("adopt", "brand-kit", "palette", "--json")),
    )

    assert (0, True) == (
        text.code,
        text.out.startswith("palette is yours now: brand-kit no longer changes it\n"),
    )
    assert ["brand-kit"] == [row["plugin_id"] for row in found["plugins"]]
    assert ("adopt", "brand-kit", "palette", {"user": False, "blocking": True}) == steward.asked[0]


# --- looking


def test_a_sync_says_what_waits_and_what_was_superseded(steward: FakeSteward, give: Give) -> None:
    steward.mirrored = PluginResult(
        (listed("update_pending"),),
        True,
        opened=(UPDATE,),
        superseded=("plugin-update:old",),
        notes=("palette: edited",),
    )

    answer = give("sync")

    assert (0, "") == (answer.code, answer.err)
    assert (
        f"1 plugin: 1 pending; 1 change to review\n"
        f"waits {UPDATE}: an update of palette of brand-kit 1.3.0\n"
        "superseded plugin-update:old\nnote: palette: edited\n"
        f"\nnext: metier review show {UPDATE}\n"
    ) == answer.out


def test_a_plugin_that_is_gone_is_named_with_what_to_do(steward: FakeSteward, give: Give) -> None:
    steward.mirrored = PluginResult((listed("missing"), listed(plugin_id="other")), True)

    answer = give("sync", "brand-kit", "other")

    assert (0, True) == (
        answer.code,
        "\nmissing brand-kit: its source has it no longer" in answer.out,
    )
    assert answer.out.startswith("2 plugins: 1 enabled, 1 missing\n")
    assert [("sync", ["brand-kit", "other"], {"user": None, "blocking": True})] == steward.asked


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_source_that_cannot_be_reached_is_an_exit_code(
    more: tuple[str, ...], steward: FakeSteward, give: Give
) -> None:
    steward.mirrored = PluginResult((listed(),), unreachable=UNREACHABLE)

    answer = give("sync", *more)

    assert 1 == answer.code
    assert (
        more or "unreachable https://git.example.com/x: unreachable nobody answers\n" in answer.out
    )
    assert not more or ["nobody answers"] == [
        row["message"] for row in document(answer)["unreachable"]
    ]


def test_where_nothing_is_enabled_a_sync_says_so(steward: FakeSteward, give: Give) -> None:
    steward.mirrored = PluginResult(())

    assert (0, "no plugin is enabled here\n", "") == give("sync")


# --- strangers, and wrong usage


def test_nothing_that_a_stranger_wrote_acts_on_the_terminal(
    steward: FakeSteward, give: Give
) -> None:
    evil = listed(
        "missing",
        plugin_id=EVIL,
        installed_version=EVIL,
        version=EVIL,
        source=EVIL,
        skills={EVIL: PluginSkillRow(EVIL, EVIL, EVIL, EVIL)},
    )
    fault = (PluginFault(EVIL, EVIL, EVIL),)
    steward.plugs = PluginList((evil,), fault)
    steward.mirrored = PluginResult(
        (evil,), True, opened=(EVIL,), superseded=(EVIL,), notes=(EVIL,), unreachable=fault
    )
    words = (
        ("list",),
        ("list", EVIL),
        ("sync",),
        ("enable", EVIL, "--yes"),
        ("disable", EVIL, "--yes"),
        ("resume", EVIL),
        ("adopt", EVIL, EVIL),
    )

    printed = [give(*one).out for one in words]

    assert [] == [
        char for text in printed for char in text if not char.isprintable() and char != "\n"
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lits",), "unknown command 'metier plugin lits'"),
        ((), "metier plugin needs"),
        (("enable",), "metier plugin enable needs ID-or-PATH"),
        (("adopt", "x"), "metier plugin adopt needs ID and SKILL"),
        (("pause", "x", "y"), "metier plugin pause needs ID"),
        (("sync", "--ref", "x"), "metier plugin sync takes no --ref"),
        (("list", "--no-wait"), "metier plugin list takes no --no-wait"),
        (("disable", "x", "--dry-run"), "metier plugin disable takes no --dry-run"),
        (("sync", "--user", "--project"), "contradict"),
    ],
)
def test_what_cannot_be_meant_is_said_and_nothing_is_done(
    words: tuple[str, ...], said: str, steward: FakeSteward, give: Give
) -> None:
    answer = give(*words)

    assert (2, True) == (answer.code, said in answer.err)
    assert "\n\nhint: " in answer.err
    assert [] == steward.asked
