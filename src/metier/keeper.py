"""The verbs that get skills in and keep them current: the library's side of `metier add`, `update`, `sync` and their like."""

from __future__ import annotations

from metier.light import TYPE_CHECKING
from metier.wiring import Wired

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from metier.app import Library
    from metier.supplies import Outcome, Revision, Searched, Synced
    from metier.supplying.bundling import Bundled
    from metier.supplying.merging import Merging
    from metier.supplying.outdating import Age
    from metier.supplying.publishing import Packed, Published
    from metier.supplying.records import Carried
    from metier.supplying.tapping import Tap


class Keeper(Wired):
    """A library that can be added to.

    Whatever may ask takes `consent`, which is shown the plan and what was refused. Without one, a call of `add` or `remove` is a
    yes to what the policy does not ask about; `update` then applies only what `supply.fast_forward` allows.
    """

    @property
    def _whole(self) -> Library:
        """The library that this is a part of: nobody makes a keeper alone."""
        return self  # type: ignore[return-value]

    def add(  # noqa: PLR0913 - each is one option of the command, by name
        self, source: str, *, skills: Sequence[str] = (), all: bool = False, ref: str = "", to: Sequence[str] = (),  # noqa: A002
        user: bool = False, name: str = "", force: bool = False, accept_dangerous: bool = False, reason: str = "",
        dry_run: bool = False, consent: Callable[[Outcome], bool] | None = None,
    ) -> Outcome:  # fmt: skip
        """Get skills from a source: quarantine, read, scan, decide, store, lock, deploy. What is asked about needs `consent`."""
        from metier.supplying import adding

        wish = adding.Wish(tuple(skills), all, ref, tuple(to), user, name, force, accept_dangerous, reason, dry_run)
        return adding.add(self._whole, source, wish, consent)

    def remove(self, names: str | Sequence[str], *, user: bool = False, dry_run: bool = False, force: bool = False,
               consent: Callable[[Outcome], bool] | None = None) -> Outcome:  # fmt: skip
        """Take back exactly what was put in place for these skills; an edited one only with `force`, and the store keeps it."""
        from metier.supplying import removing

        return removing.remove(self._whole, _names(names), user=user, dry_run=dry_run, force=force, consent=consent)

    def update(self, names: str | Sequence[str] = (), *, user: bool | None = None, check: bool = False,
               consent: Callable[[Outcome], bool] | None = None) -> Outcome:  # fmt: skip
        """Bring skills up to date; edits are merged, and what conflicts, is worse or wants more is held (BE-13)."""
        from metier.supplying import updating

        return updating.update(self._whole, _names(names), user=user, check=check, consent=consent)

    def outdated(self, *, user: bool | None = None) -> list[Age]:
        """Say which skills have a newer version where they came from. Nothing is changed."""
        from metier.supplying import outdating

        return outdating.outdated(self._whole, user=user)

    def sync(self, *, frozen: bool = False, user: bool = False) -> Synced:
        """Make the disk match the lock; `frozen` changes neither the lock nor bytes that differ."""
        from metier.supplying import syncing

        return syncing.sync(self._whole, frozen=frozen, user=user)

    def adopt(self, path: str | os.PathLike[str], *, source: str = "", user: bool | None = None) -> Outcome:
        """Put a skill that lies on disk already under the lock, as it is."""
        from metier.supplying import adopting

        return adopting.adopt(self._whole, str(path), source=source, user=user)

    def diff(self, name: str, *, against: str = "base", user: bool | None = None) -> str:
        """Show what was edited in a working copy since it was installed, what a held update changes (`theirs`), or a revision."""
        from metier.supplying import revisions

        return revisions.diff(self._whole, name, against=against, user=user)

    def merge(self, name: str, how: str = "", *, user: bool | None = None) -> Merging:
        """Settle a held update: show it, take `ours` or `theirs` where they conflict, `continue` after editing, or `abort`."""
        from metier.supplying import merging

        return merging.merge(self._whole, name, how, user=user)

    def history(self, name: str, *, user: bool | None = None) -> list[Revision]:
        """List the states that a working copy was in, the newest first."""
        from metier.supplying import revisions

        return revisions.history(self._whole, name, user=user)

    def rollback(self, name: str, revision: int | None = None, *, user: bool | None = None) -> Outcome:
        """Put a working copy back as it was in a revision, or in the one before this; what is there now is kept as one more."""
        from metier.supplying import revisions

        return revisions.rollback(self._whole, name, revision, user=user)

    def search(self, words: str, limit: int = 20) -> Searched:
        """Look for skills in the taps and registries of the configuration; who does not answer in time is named."""
        from metier.supplying import searching

        return searching.search(self._whole, words, limit)

    def taps(self) -> list[Tap]:
        """List the repositories that `search` looks through, each with the trust that it earns."""
        from metier.supplying import tapping

        return tapping.taps(self._whole)

    def tap(self, source: str, *, listed: bool = True) -> list[Tap]:
        """Add a repository to the taps in the user's configuration, or take it out; give those there are then."""
        from metier.supplying import tapping

        return tapping.tap(self._whole, source, listed=listed)

    def lock_export(self, format: str, file: str = "", *, user: bool = False) -> Carried:  # noqa: A002 - the option's name
        """Write the lock as another tool's record; no skill's bytes are touched."""
        from metier.supplying import records

        return records.export(self._whole, format, file, user=user)

    def lock_import(self, format: str, file: str = "", *, user: bool = False) -> Carried:  # noqa: A002 - the same
        """Take skills that another tool installed under the lock, from that tool's record; no skill's bytes are touched."""
        from metier.supplying import records

        return records.take(self._whole, format, file, user=user)

    def bundled(self, folder: str, *, optional: bool = False, user: bool = True, names: Sequence[str] = ()) -> list[Bundled]:
        """Install or refresh the skills that a host ships in a folder; edits and deletions of the user's stay (HE-46).

        `optional` ones are only listed; `names` installs those, and brings back what was deleted.
        """
        from metier.supplying import bundling

        return bundling.bundled(self._whole, folder, optional=optional, user=user, names=names)

    def pack(self, path: str, file: str = "") -> Packed:
        """Write a skill as an archive, the same bytes every time."""
        from metier.supplying import publishing

        return publishing.pack(self._whole, path, file)

    def publish(self, paths: Sequence[str], folder: str) -> Published:
        """Write a well-known index of skills, with their archives and digests, that any web server can host."""
        from metier.supplying import publishing

        return publishing.publish(self._whole, paths, folder)


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
