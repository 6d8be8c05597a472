"""What is mirrored, written down and read again; which trees it needs, and what it may forget."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.mirrors import a_binding, a_candidate, a_mirror, a_plugin, a_skill, a_version
from fakes.pins import digest

from metier.errors import StoreError
from metier.plugins import mirror_json
from metier.plugins.mirror_json import mirror_bytes, needed_trees, read_mirror, trim_decided
from metier.plugins.model import Binding, Evidence, Mirror, ReviewCandidate, VersionProvenance
from metier.supply.model import InstallTarget


def test_no_file_means_that_nothing_is_mirrored() -> None:
    assert Mirror() == read_mirror(None)


def test_an_empty_mirror_is_written_on_four_lines() -> None:
    data = mirror_bytes(Mirror("/work/metier.lock"))

    assert (
        b'{"version":1,"place":"/work/metier.lock",\n"plugins":[],\n"skills":[],\n"candidates":[]}\n'
        == data
    )


def test_the_scope_of_a_candidate_is_never_written() -> None:
    one = a_candidate(scope="project")

    found = read_mirror(mirror_bytes(a_mirror(candidates=[one])))

    assert (one._replace(scope=""),) == found.candidates


def test_a_confidence_that_is_a_whole_number_is_the_same_text_as_one_that_is_not() -> None:
    whole, broken = (
        mirror_bytes(a_mirror(candidates=[a_candidate(confidence=one)])) for one in (1, 1.0)
    )

    assert whole == broken


def test_a_skill_that_is_only_offered_needs_no_skill_and_has_no_owner_yet() -> None:
    waits = Binding("xlsx", "skills/xlsx", "", digest("x"), "", "new", "plugin-add:office:xlsx:0")
    mirror = a_mirror("pdf")
    both = (
        mirror.plugins[0]._replace(skills=(*mirror.plugins[0].skills, waits)),
        a_plugin("sheets", skills=()),
    )
    both = (both[0], both[1]._replace(skills=(waits,)))

    found = read_mirror(mirror_bytes(mirror._replace(plugins=both)))

    assert both == found.plugins


def test_the_trees_of_versions_bindings_and_waiting_candidates_are_needed() -> None:
    skill = a_skill(versions=(a_version(1), a_version(2, digest=digest("edit"))))
    binding = a_binding(skill, accepted=digest("accepted"), observed=digest("observed"))
    waits, accepted = a_candidate(1), a_candidate(2, status="accepted")
    done = [
        a_candidate(number, status=status)
        for number, status in ((3, "published"), (4, "rejected"), (5, "superseded"))
    ]
    mirror = Mirror(
        "", (a_plugin(skills=())._replace(skills=(binding,)),), (skill,), (waits, accepted, *done)
    )

    found = needed_trees(mirror)

    kept = {
        digest(f"{kind} pdf {number}")
        for number in (1, 2)
        for kind in ("base", "new", "local", "proposed")
    }
    assert (
        kept | {a_version(1).digest, digest("edit"), digest("accepted"), digest("observed")}
        == found
    )


def test_hashes_that_are_not_there_are_not_needed() -> None:
    assert set() == needed_trees(
        Mirror(candidates=(ReviewCandidate("a", "skill_draft", "pdf", "", "open", "", Evidence()),))
    )


def test_only_the_newest_decided_candidates_are_remembered_and_all_that_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mirror_json, "MAX_DECIDED_CANDIDATES", 2)
    all_of = tuple(
        a_candidate(number, id=str(number), status="rejected" if number % 2 else "open")
        for number in range(8)
    )

    found = trim_decided(Mirror(candidates=all_of))

    assert ["0", "2", "4", "5", "6", "7"] == [one.id for one in found.candidates]


def test_a_decided_candidate_that_a_skill_still_names_is_never_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mirror_json, "MAX_DECIDED_CANDIDATES", 1)
    skill = a_skill()
    lost = a_candidate(1, status="published")
    declined = a_candidate(2, status="rejected")
    bindings = (
        a_binding(skill, pending=lost.id, observed=declined.evidence.new_upstream_tree_hash),
    )
    mirror = Mirror(
        "",
        (a_plugin()._replace(skills=bindings),),
        (skill,),
        (lost, declined, a_candidate(3, status="superseded"), a_candidate(4, status="superseded")),
    )

    found = trim_decided(mirror)

    assert [lost.id, declined.id, a_candidate(4).id] == [one.id for one in found.candidates]


def test_few_candidates_are_left_as_they_are() -> None:
    mirror = a_mirror(candidates=[a_candidate(status="rejected")])

    assert mirror is trim_decided(mirror)


WRONG: dict[str, tuple[Mirror, str]] = {
    "two skills of one name": (Mirror(skills=(a_skill(), a_skill())), "\"pdf\" is there twice in 'skills'"),
    "two plugins of one id": (Mirror(plugins=(a_plugin(), a_plugin())), "\"office\" is there twice in 'plugins'"),
    "two candidates of one id": (Mirror(candidates=(a_candidate(), a_candidate())), "is there twice in 'candidates'"),
    "two owners": (Mirror(plugins=(a_plugin("a", [a_skill()]), a_plugin("b", [a_skill()])), skills=(a_skill(),)),
                   "'plugins', \"b\", entry 9, \"pdf\": another plugin has that skill"),
    "a skill bound twice": (Mirror(plugins=(a_plugin("a", [a_skill(), a_skill()]),), skills=(a_skill(),)),
                            "'plugins', \"a\": it binds a skill twice"),
    "no such skill": (Mirror(plugins=(a_plugin("a", [a_skill()]),)), "there is no such skill"),
    "no current version": (Mirror(skills=(a_skill(current="v0002"),)), "'skills', \"pdf\": its current version is not there"),
    "no place": (Mirror(skills=(a_skill(targets=()),)), "'skills', \"pdf\": it has no place"),
    "a version twice": (Mirror(skills=(a_skill(versions=(a_version(1), a_version(1))),)), "a version is there twice"),
    "a version without a number": (Mirror(skills=(a_skill(versions=(a_version(version="v1"),)),)),
                                   "'version' of a version is not 'v' and at least four digits"),
    "a digest that is none": (Mirror(skills=(a_skill(versions=(a_version(digest="sha256:1"),)),)), "'digest' of a version is not"),
    "a digest with its mark inside": (Mirror(skills=(a_skill(versions=(a_version(digest="0" + digest("")[:-1]),)),)),
                                      "'digest' of a version is not"),
    "a target of another name": (Mirror(skills=(a_skill(targets=(InstallTarget("", ".agents/skills/xlsx", "folder"),)),)),
                                 "a skill is only ever put in a folder of its own name"),
    "a target that climbs": (Mirror(skills=(a_skill(targets=(InstallTarget("", "../pdf", "folder"),)),)), "it climbs"),
    "a target at the top": (Mirror(skills=(a_skill(targets=(InstallTarget("", "/pdf", "folder"),)),)), "it is not relative"),
    "a method that is none": (Mirror(skills=(a_skill(targets=(InstallTarget("", "x/pdf", "hardlink"),)),)),  # type: ignore[arg-type]
                              "'method' of a target is none of copy, folder, link"),
    "a status that is none": (Mirror(plugins=(a_plugin(status="gone"),)), "'status' of a plugin is none of adopted, disabled"),
    "a flag that is a number": (Mirror(plugins=(a_plugin(enabled=1),)), "'enabled' of a plugin is neither true nor false"),
    "a name that climbs": (Mirror(skills=(a_skill("..", targets=()),)), "'name' of a skill is no name that a folder may have"),
    "a name of a device": (Mirror(skills=(a_skill("con", targets=()),)), "'name' of a skill is no name that a folder may have"),
    "a desk that climbs": (Mirror(candidates=(a_candidate(desk="../x"),)), "'desk' of a candidate is no name"),
    "half a character": (Mirror(plugins=(a_plugin(name="\ud800"),)), "'name' of a plugin is no text that can be encoded"),
    "half a character as a place": (Mirror("\ud800"), "'place' is no path"),
    "a list of numbers": (Mirror(candidates=(a_candidate(evidence=Evidence(gained=(1,))),)), "'gained' is no list of texts"),  # type: ignore[arg-type]
    "a confidence above one": (Mirror(candidates=(a_candidate(confidence=1.5),)), "'confidence' of a candidate is no number from 0 to 1"),
    "a score beyond all": (Mirror(candidates=(a_candidate(evidence=Evidence(score=10**12)),)), "'score' of an evidence is no whole number"),
    "a source kind that is none": (Mirror(skills=(a_skill(versions=(a_version(provenance=VersionProvenance("thief")),)),)),
                                   "'source_kind' of a provenance is none of agent, plugin, user"),
}  # fmt: skip


def plain(mirror: Mirror) -> bytes:
    """Write a mirror without a look at what it says."""
    tables: dict[str, Any] = mirror._asdict()
    tables["candidates"] = [one[:-1] for one in mirror.candidates]
    return json.dumps({"version": 1, **tables}).encode()


@pytest.mark.parametrize("what", WRONG)
def test_a_mirror_that_breaks_a_rule_is_refused_when_it_is_read(what: str) -> None:
    mirror, why = WRONG[what]

    with pytest.raises(StoreError) as caught:
        read_mirror(plain(mirror), "/plugins/mine.json")

    assert "state" == caught.value.code
    assert why in caught.value.message
    assert "cannot be read: /plugins/mine.json: " in caught.value.message
    assert "move the file away" in caught.value.hint


@pytest.mark.parametrize("what", WRONG)
def test_what_could_not_be_read_again_is_not_written(what: str) -> None:
    mirror, why = WRONG[what]

    with pytest.raises(StoreError) as caught:
        mirror_bytes(mirror)

    assert "state" == caught.value.code
    assert why in caught.value.message


def test_what_is_plainly_written_is_read() -> None:
    mirror = a_mirror("docx", "pdf", candidates=[a_candidate()])

    assert mirror == read_mirror(plain(mirror))


def test_more_bytes_than_would_be_read_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_json, "MAX_MIRROR_BYTES", 100)

    with pytest.raises(StoreError, match="more than 100 bytes"):
        mirror_bytes(a_mirror())


@pytest.mark.parametrize(
    "shape",
    [
        mirror_json.PLUGIN_ROW,
        mirror_json.BINDING_ROW,
        mirror_json.SKILL_ROW,
        mirror_json.TARGET_ROW,
        mirror_json.VERSION_ROW,
        mirror_json.PROVENANCE_ROW,
        mirror_json.EVIDENCE_ROW,
        mirror_json.REQUEST_ROW,
    ],
)
def test_every_field_of_a_noun_is_written(shape: mirror_json.RowShape) -> None:
    assert shape.noun._fields == shape.fields


def test_every_field_of_a_candidate_but_its_scope_is_written() -> None:
    assert (*mirror_json.CANDIDATE_ROW.fields, "scope") == ReviewCandidate._fields
