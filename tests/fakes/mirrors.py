"""Mirrors for tests: whole ones, of which a test says only what matters to it; and all that hypothesis can think of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from fakes.pins import digest, sha
from hypothesis import strategies as st

from metier.plugins import mirror_json
from metier.plugins.model import (
    Binding,
    BindingStatus,
    CandidateKind,
    CandidateStatus,
    Evidence,
    MergeMode,
    Mirror,
    MirroredVersion,
    PluginRecord,
    PluginStatus,
    ReviewCandidate,
    VersionedSkill,
    VersionProvenance,
)
from metier.supply.model import InstallTarget, Request
from metier.supply.safe_names import PIN_KINDS, PIN_METHODS, name_fault, path_fault, text_fault

if TYPE_CHECKING:
    from collections.abc import Iterable

AT = "2026-01-02T03:04:05Z"


def a_version(
    number: int = 1, skill: str = "pdf", plugin: str = "office", **fields_: Any
) -> MirroredVersion:
    """Give the nth version of a skill as its plugin ships it, with these fields and usual ones for the rest."""
    whole, content, body = (
        digest(f"{kind} {skill} {number}") for kind in ("tree", "content", "body")
    )
    usual = MirroredVersion(
        f"v{number:04}",
        whole,
        content,
        body,
        "",
        f"plugin:{plugin}",
        f"mirrored from {plugin} 1.0.0",
        "published",
        AT,
        VersionProvenance("plugin", plugin, "1.0.0", f"skills/{skill}", content, whole, "mirror"),
    )
    return usual._replace(**fields_)


def a_skill(name: str = "pdf", plugin: str = "office", **fields_: Any) -> VersionedSkill:
    """Give a mirrored skill with one version and one working copy."""
    owner = f"plugin:{plugin}"
    usual = VersionedSkill(
        name,
        owner,
        owner,
        "active",
        "",
        "v0001",
        (InstallTarget("", f".agents/skills/{name}", "folder"),),
        (a_version(1, name, plugin),),
    )
    return usual._replace(**fields_)


def a_binding(skill: VersionedSkill, **fields_: Any) -> Binding:
    """Give the binding of a skill that is as its plugin ships it."""
    last = skill.versions[-1]
    usual = Binding(
        skill.name, f"skills/{skill.name}", last.digest, last.digest, last.version, "synced"
    )
    return usual._replace(**fields_)


def a_plugin(
    plugin_id: str = "office", skills: Iterable[VersionedSkill] = (), **fields_: Any
) -> PluginRecord:
    """Give an enabled plugin with these skills."""
    said = f"https://example.com/{plugin_id}.git"
    usual = PluginRecord(
        plugin_id,
        plugin_id,
        "claude",
        Request("git", said, said=said),
        enabled=True,
        status="synced",
        installed_version="1.0.0",
        commit=sha(plugin_id)[:40],
        skills=tuple(map(a_binding, skills)),
    )
    return usual._replace(**fields_)


def a_candidate(
    number: int = 1, skill: str = "pdf", plugin: str = "office", **fields_: Any
) -> ReviewCandidate:
    """Give the nth update of a skill, waiting for a person."""
    base, new, local, proposed = (
        digest(f"{kind} {skill} {number}") for kind in ("base", "new", "local", "proposed")
    )
    evidence = Evidence(
        plugin,
        "1.1.0",
        skill,
        "three_way",
        base,
        new,
        "v0001",
        local,
        proposed,
        digest("content"),
        f"skills/{skill}",
        sha("commit")[:40],
        "safe",
        0,
        ("network",),
        (),
        ("SKILL.md",),
    )
    ident = f"plugin-update:{plugin}:{skill}:{new[7:19]}"
    return ReviewCandidate(
        ident,
        "plugin_skill_update",
        skill,
        "three_way",
        "open",
        "both sides changed it",
        evidence,
        at=AT,
    )._replace(**fields_)


def a_mirror(
    *names: str, plugin: str = "office", candidates: Iterable[ReviewCandidate] = ()
) -> Mirror:
    """Give the mirror of one plugin with skills of these names."""
    skills = tuple(a_skill(name, plugin) for name in sorted(names or ("pdf",)))
    return Mirror(
        "/home/me/work/metier.lock", (a_plugin(plugin, skills),), skills, tuple(candidates)
    )


# --- all that hypothesis can think of

_HASHES = st.integers(0, 9).map(lambda number: digest(str(number)))
_MAYBE = st.just("") | _HASHES
_TEXTS = st.text(max_size=8)
_PATHS = st.text(st.characters(codec="utf-8") | st.sampled_from("\udc80\udcff"), max_size=8)
_LINES = st.text(min_size=1, max_size=8).filter(lambda text: not text_fault(text))
_NAMES = (st.sampled_from(["pdf", "xlsx", "docx", "a", "b"]) | st.text(max_size=6)).filter(
    lambda name: not name_fault(name)
)
_FOLDERS = (
    st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=2)
    .map("/".join)
    .filter(lambda path: not path_fault(path))
)
_VERSIONS = st.integers(0, 123_456).map("v{:04}".format)
_MAYBE_VERSIONS = st.just("") | _VERSIONS


def _words(words: Iterable[str]) -> st.SearchStrategy[Any]:
    return st.sampled_from(sorted(words))


_MODES, _DONE = _words(get_args(MergeMode)), _words(get_args(CandidateStatus))
_PROVENANCES = st.builds(
    VersionProvenance,
    _words(mirror_json.SOURCE_KINDS),
    _TEXTS,
    _TEXTS,
    _PATHS,
    _MAYBE,
    _MAYBE,
    _MODES,
)
_EACH_VERSION = st.builds(
    MirroredVersion,
    _VERSIONS,
    _HASHES,
    _MAYBE,
    _MAYBE,
    _MAYBE_VERSIONS,
    _LINES,
    _PATHS,
    _DONE,
    _TEXTS,
    _PROVENANCES,
)
_REQUESTS = st.builds(Request, _words(PIN_KINDS), _PATHS, _TEXTS, _PATHS, _PATHS)
_LISTS = st.lists(_TEXTS, max_size=2).map(tuple)
_EVIDENCE = st.builds(
    Evidence,
    _TEXTS,
    _TEXTS,
    _TEXTS,
    _MODES,
    _MAYBE,
    _MAYBE,
    _MAYBE_VERSIONS,
    _MAYBE,
    _MAYBE,
    _MAYBE,
    _PATHS,
    _TEXTS,
    _TEXTS,
    st.integers(0, 100),
    _LISTS,
    _LISTS,
    st.lists(_PATHS, max_size=2).map(tuple),
)
CANDIDATES = st.builds(
    ReviewCandidate,
    _LINES,
    _words(get_args(CandidateKind)),
    _NAMES,
    _MODES,
    _DONE,
    _PATHS,
    _EVIDENCE,
    st.integers(-5, 100),
    st.floats(0, 1),
    _TEXTS,
    _TEXTS,
    _TEXTS,
    _MAYBE_VERSIONS,
    st.just("") | _NAMES,
    _MAYBE,
    st.just(""),
)
"""Candidates of any kind, whether or not there is such a skill."""


@st.composite
def skills(draw: st.DrawFn, name: str) -> VersionedSkill:
    """Draw a skill of a name that keeps to the rules."""
    versions = draw(
        st.lists(_EACH_VERSION, min_size=1, max_size=3, unique_by=lambda one: one.version)
    )
    folders = draw(st.lists(_FOLDERS, min_size=1, max_size=2))
    targets = tuple(
        InstallTarget(draw(_TEXTS), f"{folder}/{name}", draw(st.sampled_from(PIN_METHODS)))
        for folder in folders
    )
    return VersionedSkill(
        name,
        draw(_LINES),
        draw(_LINES),
        draw(_words(mirror_json.SKILL_STATUSES)),
        draw(_TEXTS),
        draw(st.sampled_from(versions)).version,
        targets,
        tuple(versions),
    )


@st.composite
def mirrors(draw: st.DrawFn) -> Mirror:
    """Draw a mirror that keeps to the rules: each skill has one owner at most, and each binding that was accepted its skill."""
    names = sorted(draw(st.sets(_NAMES, max_size=4)))
    idents = sorted(draw(st.sets(_LINES, max_size=3)))
    owners = {name: draw(st.sampled_from(["", *idents])) for name in names}
    plugins = [
        _plugin(draw, ident, [name for name in names if owners[name] == ident]) for ident in idents
    ]
    candidates = draw(st.lists(CANDIDATES, max_size=3, unique_by=lambda one: one.id))
    return Mirror(
        draw(_PATHS), tuple(plugins), tuple(draw(skills(name)) for name in names), tuple(candidates)
    )


def _plugin(draw: st.DrawFn, ident: str, names: list[str]) -> PluginRecord:
    offered = sorted(draw(st.sets(_NAMES, max_size=1)) - set(names))
    bindings = [
        Binding(
            name,
            draw(_PATHS),
            draw(_HASHES),
            draw(_MAYBE),
            draw(_MAYBE_VERSIONS),
            draw(_words(get_args(BindingStatus))),
            draw(_TEXTS),
        )
        for name in names
    ]
    bindings += [
        Binding(name, draw(_PATHS), "", draw(_MAYBE), "", "new", draw(_TEXTS)) for name in offered
    ]
    return PluginRecord(
        ident,
        draw(_TEXTS),
        draw(_TEXTS),
        draw(_REQUESTS),
        draw(st.booleans()),
        draw(_words(get_args(PluginStatus))),
        draw(_TEXTS),
        draw(_TEXTS),
        tuple(sorted(bindings)),
    )


MIRRORS = mirrors()
