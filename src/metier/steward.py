"""The verbs for plugins, versions and what waits for a person: the library's side of `metier plugin` and `metier review`."""

from __future__ import annotations

from metier.keeper import Keeper
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.mirroring.versioning import Viewed
    from metier.mirrors import Candidate, Decided, Mirrored, Plugins, Reviewed, Skill
    from metier.store.disk import Freed
    from metier.supplies import Outcome


class Steward(Keeper):
    """A library that mirrors plugins, and keeps what waits for a person.

    `user` says whose skills are meant: the user's, this project's, or with nothing whichever has them. With `blocking=False`
    a verb that changes something gives up at once where another process is at it.
    """

    def plugins(self, *, user: bool | None = None) -> Plugins:
        """List the plugins that are mirrored here, and those that were found and are not (BE-2). Nothing is fetched."""
        from metier.mirroring import listing

        return listing.listed(self._whole, user=user)

    def plugin_enable(  # noqa: PLR0913 - each is one option of the command, by name
        self, plugin: str, *, name: str = "", ref: str = "", to: Sequence[str] = (), user: bool = False, dry_run: bool = False,
        force: bool = False, consent: Callable[[Outcome], bool] | None = None, blocking: bool = True,
    ) -> Mirrored:  # fmt: skip
        """Mirror all skills of a plugin, known by its id or found at a source, or none of them (BE-4)."""
        from metier.mirroring import enabling

        wish = enabling.Wish(plugin, name, ref, tuple(to), user, dry_run, force)
        return enabling.enable(self._whole, wish, consent, blocking=blocking)

    def plugin_sync(self, plugins: Sequence[str] = (), *, user: bool | None = None, blocking: bool = True) -> Mirrored:
        """Look at what plugins ship now: edits become versions, changes upstream become candidates (BE-12)."""
        from metier.mirroring import syncing

        return syncing.sync(self._whole, tuple(plugins), user=user, blocking=blocking)

    def plugin_pause(self, plugin: str, *, user: bool | None = None, blocking: bool = True) -> Mirrored:
        """Leave a plugin's skills as they are until it is resumed (BE-20)."""
        from metier.mirroring import standing

        return standing.pause(self._whole, plugin, user=user, blocking=blocking)

    def plugin_resume(self, plugin: str, *, user: bool | None = None, blocking: bool = True) -> Mirrored:
        """Go on with a paused plugin, and look at it at once (BE-20)."""
        from metier.mirroring import standing

        return standing.resume(self._whole, plugin, user=user, blocking=blocking)

    def plugin_disable(self, plugin: str, *, disable_linked_skills: bool = False, user: bool | None = None,
                       blocking: bool = True) -> Mirrored:  # fmt: skip
        """Take a plugin's skills out of the agents' sight; edits and versions are kept (BE-21)."""
        from metier.mirroring import standing

        return standing.disable(self._whole, plugin, confirmed=disable_linked_skills, user=user, blocking=blocking)

    def plugin_adopt(self, plugin: str, skill: str, *, user: bool | None = None, blocking: bool = True) -> Mirrored:
        """Make a mirrored skill one's own: its plugin no longer changes it, its versions stay (BE-22)."""
        from metier.mirroring import standing

        return standing.adopt(self._whole, plugin, skill, user=user, blocking=blocking)

    def published(self, candidate: str, version: str, *, user: bool | None = None) -> Mirrored:
        """Acknowledge that a candidate was published as a version, for hosts that publish by themselves (BE-19)."""
        from metier.mirroring import publishing

        return publishing.acknowledge(self._whole, candidate, version, user=user)

    def versions(self, name: str, *, user: bool | None = None) -> Skill:
        """Give a mirrored skill with all its versions."""
        from metier.mirroring import versioning

        return versioning.versions(self._whole, name, user=user)

    def version(self, name: str, version: str = "", *, file: str = "", user: bool | None = None) -> Viewed:
        """Show one version of a mirrored skill, or one file of it; the current one where none is named."""
        from metier.mirroring import versioning

        return versioning.view(self._whole, name, version, file=file, user=user)

    def compare(self, name: str, one: str, other: str = "", *, user: bool | None = None) -> str:
        """Show what differs between two versions, or between one and the working copy, as a unified diff.

        `base` is what was last accepted from the skill's plugin.
        """
        from metier.mirroring import versioning

        return versioning.compare(self._whole, name, one, other, user=user)

    def make_current(self, name: str, version: str, *, user: bool | None = None) -> Skill:
        """Put a version in place again; what is there now is kept as a version first."""
        from metier.mirroring import versioning

        return versioning.make_current(self._whole, name, version, user=user)

    def candidates(self, *, all: bool = False, user: bool | None = None) -> list[Candidate]:  # noqa: A002 - the option's name
        """List what waits for a person; with `all`, also what was decided."""
        from metier.reviewing import queue

        return queue.listed(self._whole, everything=all, user=user)

    def candidate(self, ident: str, *, user: bool | None = None) -> Reviewed:
        """Show what a candidate would change, and what speaks for and against it."""
        from metier.reviewing import queue

        return queue.show(self._whole, ident, user=user)

    def accept(self, ident: str, how: str = "", *, reason: str = "", user: bool | None = None) -> Decided:
        """Publish a candidate, provided that nothing moved since it was made; else it is rebased and asked about again.

        `how` settles conflicts: `ours` or `theirs`; what was edited on its desk counts where there is one. The same change may wait
        in the project and for the user: `user` says which is meant, else the project's comes first.
        """
        from metier.reviewing import queue

        return queue.accept(self._whole, ident, how, reason=reason, user=user)

    def reject(self, ident: str, *, reason: str = "", user: bool | None = None) -> Decided:
        """Turn a candidate down; the skill stays as it is."""
        from metier.reviewing import queue

        return queue.reject(self._whole, ident, reason=reason, user=user)

    def gc(self, *, dry_run: bool = False, revisions: int | None = None) -> Freed:
        """Free what no lock, no version, no candidate and no kept revision needs; `revisions` keeps only so many of each skill."""
        from metier.reviewing import drafts
        from metier.running import sweeping as unused
        from metier.supplying import sweeping

        freed = sweeping.sweep(self._whole, dry_run=dry_run, revisions=revisions, also=lambda: drafts.needed(self._whole))
        gone, size = unused.sweep(self._whole, dry_run=dry_run)
        return freed._replace(environments=gone, bytes=freed.bytes + size)

    def edit(self, ident: str, *, user: bool | None = None) -> Reviewed:
        """Lay a candidate out in a folder where a person changes it before accepting it."""
        from metier.reviewing import queue

        return queue.edit(self._whole, ident, user=user)
