"""A library that mirrors nothing: it gives the commands the answers that a test wants them to print, and notes what it was asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from metier.errors import NotFoundError
from metier.plugins.model import (
    Decided,
    Evidence,
    MirroredVersion,
    PluginList,
    PluginResult,
    PluginRow,
    PluginSkillRow,
    ReviewCandidate,
    Reviewed,
    VersionedSkill,
    VersionProvenance,
)
from metier.plugins.versions import ViewedVersion
from metier.supply.model import Outcome, Revision

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.errors import RefusedError
    from metier.supply.model import Plan

DIGEST = "sha256:" + "ab" * 32
EVIL = "\x1b[2J\u202e"
UPDATE = "plugin-update:brand-kit:palette:0123456789ab"
DIFF = "--- v0001/SKILL.md\n+++ theirs/SKILL.md\n@@ -1,2 +1,3 @@\n Pick a colour.\n--- old\n+++ new\n+More.\n"


def listed(status: str = "synced", **fields: Any) -> PluginRow:
    """Give a plugin of a list."""
    waits = UPDATE if status == "update_pending" else None
    skills = {
        "palette": PluginSkillRow("update_pending" if waits else "synced", DIGEST, DIGEST, waits),
        "type": PluginSkillRow("synced", DIGEST, DIGEST, None),
    }
    there = status in {"synced", "update_pending", "missing"}
    made = PluginRow(
        "brand-kit",
        there,
        status,  # type: ignore[arg-type]
        "1.2.0",
        "1.2.0",
        "/plugins/brand-kit",
        "claude",
        "project",
        skills,
    )
    return made._replace(**fields)


def candidate(ident: str = UPDATE, **fields: Any) -> ReviewCandidate:
    """Give a change that waits."""
    seen = Evidence(
        "brand-kit",
        "1.3.0",
        "palette",
        "fast_forward",
        DIGEST,
        DIGEST,
        "v0001",
        verdict="caution",
        score=40,
        gained=("network",),
        lost=("files",),
    )
    made = ReviewCandidate(
        ident,
        "plugin_skill_update",
        "palette",
        "fast_forward",
        "open",
        "its plugin changed it",
        seen,
        at="2026-02-03T04:05:06+00:00",
    )
    return made._replace(**fields)


def versions() -> VersionedSkill:
    """Give a mirrored skill that was edited once."""
    first = MirroredVersion(
        "v0001",
        DIGEST,
        DIGEST,
        DIGEST,
        "",
        "plugin:brand-kit",
        "mirrored from brand-kit 1.2.0",
        "published",
        "2026-02-03T04:05:06+00:00",
        VersionProvenance("plugin", "brand-kit", "1.2.0"),
    )
    second = first._replace(
        version="v0002",
        digest="sha256:" + "cd" * 32,
        parent_version="v0001",
        created_by="user",
        change_reason="edited in place",
    )
    return VersionedSkill(
        "palette",
        "plugin:brand-kit",
        "plugin:brand-kit",
        "active",
        "",
        "v0002",
        (),
        (first, second),
    )


class FakeSteward:
    """Stands in for the library behind `metier plugin`, `review`, `history`, `diff` and `rollback`."""

    def __init__(self) -> None:
        """Have one plugin and one candidate."""
        self.asked: list[tuple[Any, ...]] = []
        self.context = SimpleNamespace(warnings=[])
        self.plugs, self.mirrored = PluginList((listed(),)), PluginResult((listed(),))
        self.waiting = [candidate()]
        self.reviewed, self.decided = (
            Reviewed(candidate(), DIFF, (), ()),
            Decided(candidate(status="published", version="v0002"), True, "done"),
        )
        self.planned: Plan | None = None
        self.refusal: RefusedError | None = None
        self.skill, self.edits = versions(), ""

    def __enter__(self) -> Self:
        """Open nothing."""
        return self

    def __exit__(self, *_ignored: object) -> None:
        """Close nothing."""

    def close(self) -> None:
        """Close nothing."""

    def _note(self, verb: str, *given: object, **named: object) -> None:
        self.asked.append(
            (verb, *given, {key: value for key, value in named.items() if key != "consent"})
        )

    def plugins(self, *, user: bool | None = None) -> PluginList:
        """Give the plugins of the test."""
        assert user in {None, True, False}
        return self.plugs

    def plugin_enable(
        self, plugin: str, *, consent: Callable[[Outcome], bool], **named: object
    ) -> PluginResult:
        """Ask about the plan of the test, if it has one."""
        self._note("enable", plugin, **named)
        if self.planned is not None and not named["dry_run"] and not consent(Outcome(self.planned)):
            return self.mirrored._replace(changed=False)
        return self.mirrored

    def plugin_sync(self, plugins: list[str], **named: object) -> PluginResult:
        """Note it."""
        self._note("sync", plugins, **named)
        return self.mirrored

    def plugin_pause(self, plugin: str, **named: object) -> PluginResult:
        """Note it."""
        self._note("pause", plugin, **named)
        return self.mirrored

    def plugin_resume(self, plugin: str, **named: object) -> PluginResult:
        """Note it."""
        self._note("resume", plugin, **named)
        return self.mirrored

    def plugin_disable(self, plugin: str, **named: object) -> PluginResult:
        """Note it."""
        self._note("disable", plugin, **named)
        return self.mirrored

    def plugin_adopt(self, plugin: str, skill: str, **named: object) -> PluginResult:
        """Note it."""
        self._note("adopt", plugin, skill, **named)
        return self.mirrored

    def candidates(self, *, all: bool = False, user: bool | None = None) -> list[ReviewCandidate]:  # noqa: A002 - the option's name
        """Give the candidates of the test."""
        assert user in {None, True, False}
        return [one for one in self.waiting if all or one.status in {"open", "accepted"}]

    def candidate(self, ident: str, *, user: bool | None = None) -> Reviewed:
        """Give the candidate of the test, where it is known."""
        assert user in {None, True, False}
        if all(one.id != ident for one in self.waiting):
            raise NotFoundError(
                f"there is no candidate '{ident}'", hint="see all: metier review list --all"
            )
        return self.reviewed

    def accept(
        self, ident: str, how: str = "", *, reason: str = "", user: bool | None = None
    ) -> Decided:
        """Note it."""
        assert user in {None, True, False}
        self._note("accept", ident, how, reason=reason)
        if self.refusal is not None:
            raise self.refusal
        return self.decided

    def reject(self, ident: str, *, reason: str = "", user: bool | None = None) -> Decided:
        """Note it."""
        assert user in {None, True, False}
        self._note("reject", ident, reason=reason)
        return self.decided

    def edit(self, ident: str, *, user: bool | None = None) -> Reviewed:
        """Note it."""
        assert user in {None, True, False}
        self._note("edit", ident)
        return self.reviewed._replace(desk="/desk/palette")

    def history(self, name: str, *, user: bool | None = None) -> list[Revision]:
        """Have nothing in the lock but `locked`."""
        assert user in {None, True, False}
        if name != "locked":
            raise NotFoundError(
                f"'{name}' is not in the lock", hint="'metier list' shows all skills"
            )
        return [Revision("locked", 1, DIGEST, DIGEST, "", "2026-02-03T04:05:06+00:00", "add")]

    def versions(self, name: str, *, user: bool | None = None) -> VersionedSkill:
        """Give the skill of the test."""
        assert user in {None, True, False}
        if name != self.skill.name:
            raise NotFoundError(f"'{name}' has no versions here", hint="")
        return self.skill

    def version(
        self, name: str, version: str = "", *, file: str = "", user: bool | None = None
    ) -> ViewedVersion:
        """Show a version of the skill of the test."""
        self._note("version", name, version, file, user=user)
        found = self.skill.version(version or self.skill.current)
        assert found is not None
        return ViewedVersion(
            name,
            found,
            found.version == self.skill.current,
            file or "SKILL.md",
            f"Pick a colour.{EVIL}\n",
            ("SKILL.md", "x.sh"),
        )

    def compare(self, name: str, one: str, other: str = "", *, user: bool | None = None) -> str:
        """Give the edits of the test."""
        self._note("compare", name, one, other, user=user)
        return self.edits

    def diff(self, name: str, *, against: str = "base", user: bool | None = None) -> str:
        """Give the edits of an installed skill."""
        self._note("diff", name, against, user=user)
        return DIFF

    def make_current(self, name: str, version: str, *, user: bool | None = None) -> VersionedSkill:
        """Put a version in place; edits become a version first."""
        self._note("make_current", name, version, user=user)
        edited = (self.skill.versions[-1]._replace(version="v0003"),) if self.edits else ()
        return self.skill._replace(current=version, versions=self.skill.versions + edited)
