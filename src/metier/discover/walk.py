"""Stage 1 · one root → every skill below it, by a bounded walk that reports whatever it leaves out.

Pure over the `Disk` port. What an earlier walk learnt (`Known`) is used again wherever the stats
still agree, so one changed skill costs one read. Links are visited last, so a skill is known by its
own path rather than by a link to it.
"""

from __future__ import annotations

import marshal
from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING

from metier.discover.model import KnownRoot, Node, Survey, keys_in, plain_rest, survey_from
from metier.discover.take import FolderReader, WalkedFolder
from metier.model import NO_KEY, Entry, Key, Limits, Listing, Problem, Root
from metier.standard.plain_text import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.model import Loading, Texts
    from metier.ports import Disk

EXCLUDED = frozenset({"node_modules", "site-packages", "venv", "__pycache__"})
"""Not searched, unless it is itself a skill; nor, unless the root says so, any name that begins
with a dot (HE-10, CX-25)."""
EXCLUDED_HIDDEN = words(
    ".git .hg .svn .venv .tox .nox .cache .hub .archive .pytest_cache .mypy_cache .ruff_cache "
    ".claude-plugin .codex-plugin .cursor-plugin"
)
"""Not searched even where hidden folders are."""
SUPPORT = frozenset({"references", "templates", "assets", "scripts", "SKILL.md"})
"""A skill's own files: not searched for more skills (MT-28)."""
FLAT_DEPTH = 1
"""Flat skills lie in the root itself or in one of its categories."""
PROGRESS_STEP = 1024
SHARE_FROM = 2_000
"""A root with so many folders in it is walked by two processes; below that, starting one costs more
than it saves."""
SHARE_LIMIT = 100_000
"""With a tighter limit than this the order of the walk matters, and one process keeps to it."""

_MANIFEST_FOLDERS = frozenset({".claude-plugin", ".codex-plugin", ".cursor-plugin"})
_FILES = frozenset({"SKILL.md", "DESCRIPTION.md", "plugin.json"})
_LEAF_LINKS = 2
"""A folder's own entry and its '.': what a folder without sub-folders counts on file systems that
count them."""

Step = tuple[str, str, int, str, str, bool]
"""A `Folder` before it is visited: a plain tuple, because most are dealt with before one is
needed."""


def survey(
    root: Root,
    limits: Limits,
    disk: Disk,
    known: KnownRoot | None = None,
    plugin: str = "",
    progress: Callable[[int], None] = lambda _count: None,
) -> Survey:
    """Walk one root."""
    old = known or KnownRoot({}, {}, {})
    walk = _RootWalk(root, limits, disk, old, progress)
    if not walk.run(plugin, share=not old.keys):
        # Each of two processes was within the limits and both together are not: then one says where
        # to stop.
        walk = _RootWalk(root, limits, disk, old, progress)
        walk.run(plugin, share=False)
    return walk.found()


def _strongest_first(entries: list[Entry], root: Root) -> list[Entry]:
    """Order by path; in one root a folder comes before a flat file of the same name, wherever they
    lie (HE-2).

    Caches keep several versions of a plugin side by side, by number: there the highest comes first.
    """
    if root.newest_first:
        return sorted(entries, key=_by_numbers, reverse=True)
    path = attrgetter("path")
    if root.loading is not None and root.loading.last_copy:
        return sorted(entries, key=lambda entry: entry.path + "/", reverse=True)
    return [
        *sorted([entry for entry in entries if entry.file], key=path),
        *sorted([e for e in entries if not e.file], key=path),
    ]


def _by_numbers(entry: Entry) -> list[tuple[int, str]]:
    """Compare paths so that 1.10 comes after 1.9."""
    words = entry.path.replace("/", ".").split(".")
    return [
        (int(word), "") if word.isdecimal() and len(word) < 10 else (-1, word) for word in words
    ]


class _RootWalk:
    """The state of one walk: which folders wait, which were seen, what their listings were."""

    def __init__(
        self,
        root: Root,
        limits: Limits,
        disk: Disk,
        old: KnownRoot,
        progress: Callable[[int], None],
    ) -> None:
        self.root, self.limits, self.disk, self.old, self.progress = (
            root,
            limits,
            disk,
            old,
            progress,
        )
        self.real = disk.real(root.location)
        self.loading = root.loading
        self.taker = FolderReader(self.real, disk, old, root.loading, root.project)
        self.nodes: dict[str, Node] = {}
        self.truncated: list[Problem] = []
        self.queue: deque[Step] = deque()
        self.links: deque[Step] = deque()
        self.seen: set[str] = set()
        self.counting: set[int] = set()
        """Devices seen to count a folder's sub-folders in its links: there a count of two means
        there are none."""
        self.counted = 0

    def found(self) -> Survey:
        """Give all that was found out."""
        taker = self.taker
        known = KnownRoot(taker.keys, self.nodes, taker.memos)
        entries = _strongest_first(taker.entries, self.root)
        return Survey(entries, taker.problems, self.truncated, taker.categories, known, taker.reads)

    def run(self, plugin: str, *, share: bool) -> bool:
        """Visit folders breadth first, the linked ones after all others; false when a limit was
        passed unseen.
        """
        location = self.root.location
        if self.root.links == "contained" and self.real != location and not self.allowed(self.real):
            self.taker.problems.append(_not_followed(self.root, location, self.real))
            # What the link leads to may become something else.
            self.taker.keys[location] = self.disk.key_of(location) or NO_KEY
            return True
        self.queue.append((location, self.real, 0, "", plugin, False))
        if share:
            self.drain(1)
            self.share()
            if len(self.seen) > self.limits.folders or self.counted > self.limits.entries:
                return False
        self.drain()
        while self.links:
            self.queue, self.links = self.links, deque()
            self.drain()
        return True

    def drain(self, most: int = -1) -> None:
        """Visit queued folders, all or so many, until a limit is reached."""
        queue = self.queue
        seen = self.seen
        limits = self.limits
        while queue and most:
            step = queue.popleft()
            if step[1] in seen:  # a cycle, or a second way to the same folder
                continue
            if len(seen) >= limits.folders:
                return self.cut("WK007", f"Stopped after {limits.folders:,} folders.")
            if self.counted > limits.entries:
                return self.cut("WK008", f"Stopped after {limits.entries:,} entries.")
            seen.add(step[1])
            self.visit(step)
            most -= 1
            if not len(seen) % PROGRESS_STEP:
                self.progress(len(seen))
        return None

    def cut(self, code: str, message: str) -> None:
        """Stop the walk at a limit, and say so."""
        self.truncated.append(Problem(self.root.location, code, message))
        self.queue.clear()
        self.links.clear()

    def visit(self, step: Step) -> None:
        """Take the skills of one folder, and queue the folders below it."""
        path, real, _depth, category, plugin, _in_skill = step
        status = self.disk.folder_of(path)
        is_leaf = status and status[1] == _LEAF_LINKS and status[2] in self.counting
        # Without folders below it, it need not be listed: most skills, at half the cost.
        if (
            is_leaf
            and status
            and (_depth or self.loading is None)
            and self.taker.leaf(path, "" if real == path else real, category, plugin, status[0])
        ):
            self.counted += 1
            return
        self.visit_listed(WalkedFolder(*step), status)

    def visit_listed(self, folder: WalkedFolder, status: tuple[Key, int, int] | None) -> None:
        """Take the skills of a folder by its listing."""
        taker = self.taker
        folders, files, links, others, fault, odd, count, branching = self.listing(folder, status)
        if fault:
            taker.problems.append(
                Problem(folder.path, "WK001", f"Cannot read the folder: {fault}.")
            )
            return
        stray = not folder.depth and self.loading is not None and not self.loading.in_root
        if not branching and "SKILL.md" in files and "agents" not in links and not stray:
            # What the short way above would say, on a file system that does not count sub-folders.
            taker.skill(folder, folder.plugin, (), files, ())
            self.counted += 1
            return
        if "SKILL.md" not in files and folder.depth and self.excluded(folder.path):
            return
        self.counted += count
        for name in odd:
            taker.problems.append(
                Problem(
                    f"{folder.path}/{name}",
                    "WK005",
                    "The name is not valid UTF-8; it was not read.",
                )
            )
        plugin = folder.plugin
        if not _MANIFEST_FOLDERS.isdisjoint(folders) or "plugin.json" in files:
            plugin = taker.manifest(folder.path) or plugin
        is_skill = not stray and taker.skill(
            folder, plugin, folders, files, (*links, *others, *folders)
        )
        category = folder.category
        if not is_skill and not folder.in_skill and folder.depth <= FLAT_DEPTH:
            category = self.category(folder, plugin, files)
        if folders or links:
            # A SKILL.md that strayed into a root does not make the root's other skills its own.
            in_skill = (is_skill and folder.depth > 0) or folder.in_skill
            below = folder._replace(category=category, plugin=plugin, in_skill=in_skill)
            if self.loading is not None:
                self.descend_as(self.loading, below, folders, links, is_skill=is_skill)
                return
            # Inside a skill links are its own business: only real folders are searched for more
            # skills.
            self.descend(
                below,
                folders,
                () if in_skill else links,
                support=SUPPORT if is_skill else frozenset(),
            )

    def category(self, folder: WalkedFolder, plugin: str, files: Texts) -> str:
        """Take the flat skills of a root or of one of its categories, and give the category."""
        self.taker.loose_files(folder, plugin, files)
        if folder.depth != 1:
            return folder.category
        name = folder.path.rpartition("/")[2]
        if "DESCRIPTION.md" in files:
            self.taker.category(name, folder.path + "/DESCRIPTION.md")
        return name

    def descend_as(
        self,
        loading: Loading,
        folder: WalkedFolder,
        folders: Texts,
        links: Texts,
        *,
        is_skill: bool,
    ) -> None:
        """Queue the folders below as the asking agent would go on."""
        if is_skill and not (loading.inside if folder.depth else loading.below_root_skill):
            return
        self.descend(folder, folders, links, support=loading.support if is_skill else frozenset())

    def excluded(self, path: str) -> bool:
        """Tell whether a folder that is no skill is passed over for its name."""
        names = EXCLUDED if self.loading is None else self.loading.skipped
        return path.rpartition("/")[2] in names

    def listing(self, folder: WalkedFolder, status: tuple[Key, int, int] | None) -> Node:
        """List a folder, or take the listing it had when its stat is the same."""
        path = folder.path
        key = status[0] if status else None
        self.taker.keys[path] = key or NO_KEY
        old = self.old.nodes.get(path)
        if old is None or self.old.keys[path] != key:
            listing = self.disk.list_folder(path)
            if status and listing.folders and status[1] == len(listing.folders) + _LEAF_LINKS:
                self.counting.add(status[2])
            old = self.reduced(listing, shallow=folder.depth <= FLAT_DEPTH)
        self.nodes[path] = old
        return old

    def reduced(self, listing: Listing, *, shallow: bool) -> Node:
        """Keep of a listing what can matter, with the names that cannot be shown."""
        folders, files, links, others, fault = listing
        odd = [
            name for name in (*folders, *files, *links) if not name.isascii() and not _is_utf8(name)
        ]
        wanted = [name for name in folders if self.searched(name) or name in _MANIFEST_FOLDERS]
        followed = [name for name in links if self.searched(name)]
        if odd:
            wanted, followed = (
                [name for name in some if name not in odd] for some in (wanted, followed)
            )
        return (
            tuple(wanted),
            tuple(
                [
                    name
                    for name in files
                    if name in _FILES
                    or name.lower() == "skill.md"
                    or (shallow and name.lower().endswith((".md", ".py")) and name[0] not in "._")
                ]
            ),
            tuple(followed),
            tuple([name for name in others if name.lower() == "skill.md"]),
            fault,
            tuple(
                [
                    name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
                    for name in odd
                ]
            ),
            len(folders) + len(files) + len(links) + len(others),
            bool(folders),
        )

    def searched(self, name: str) -> bool:
        """Tell whether a folder of this name is looked into."""
        if self.loading is not None:
            return name not in self.loading.skipped and (name[0] != "." or self.loading.hidden)
        return name[0] != "." or (self.root.hidden and name not in EXCLUDED_HIDDEN)

    def descend(
        self,
        folder: WalkedFolder,
        folders: Texts,
        links: Texts,
        *,
        support: frozenset[str],
    ) -> None:
        """Queue the folders below, except a skill's own support folders."""
        path, real, depth, category, plugin, in_skill = folder
        depth += 1
        below = [
            name
            for name in folders
            if name not in support and (name not in _MANIFEST_FOLDERS or self.searched(name))
        ]
        if depth > self.limits.depth:
            if below and self.loading is None:  # an agent's own depth cuts nothing off
                message = f"Folders deeper than {self.limits.depth} levels were not searched."
                self.truncated.append(Problem(path, "WK006", message))
            return
        for name in below:
            child = f"{path}/{name}"
            self.queue.append(
                (
                    child,
                    child if real == path else f"{real}/{name}",
                    depth,
                    category,
                    plugin,
                    in_skill,
                )
            )
        for name in links:
            if name not in support:
                self.link(WalkedFolder(f"{path}/{name}", "", depth, category, plugin, in_skill))
        if self.loading is not None and self.loading.in_order:
            self.links.extend(self.queue)
            self.queue.clear()
            self.queue.extend(sorted(self.links))
            self.links.clear()

    def link(self, folder: WalkedFolder) -> None:
        """Follow a linked folder as far as the root's rule allows (MT-6)."""
        kind = self.disk.kind_of(folder.path)
        key = self.disk.key_of(folder.path)
        if key is not None:
            self.taker.keys[folder.path] = key  # what the link leads to may become something else
        if kind == "file":
            return
        if kind is None:
            self.taker.problems.append(Problem(folder.path, "WK004", "The link leads nowhere."))
            return
        target = self.disk.real(folder.path)
        if self.allowed(target):
            plugin = folder.plugin if self.in_plugin(folder, target) else ""
            self.links.append(folder._replace(real=target, plugin=plugin))
        else:
            self.taker.problems.append(_not_followed(self.root, folder.path, target))

    def in_plugin(self, folder: WalkedFolder, target: str) -> bool:
        """Tell whether what a link leads to lies in the plugin that the link lies in: a skill from
        outside does not take its name (CX-30).
        """
        levels = self.taker.levels(folder.path) if folder.plugin else 0
        if not levels:
            return True
        home = self.disk.real(folder.path.rsplit("/", levels)[0])
        return (target + "/").startswith(home.rstrip("/") + "/")

    def allowed(self, target: str) -> bool:
        """Tell whether a link to this place is followed in this root."""
        if self.root.links != "contained":
            return self.root.links == "follow"
        return (target + "/").startswith(self.disk.real(self.root.within).rstrip("/") + "/")

    # --- two processes

    def share(self) -> None:
        """Let another process walk half of a large root that is read for the first time, and take
        in what it found.
        """
        steps = list(self.queue)
        if len(steps) < SHARE_FROM or min(self.limits.folders, self.limits.entries) < SHARE_LIMIT:
            return
        theirs = steps[1::2]
        answer = self.disk.apart(lambda: self.branch(theirs))
        if answer is None:
            return
        with answer:
            self.queue.clear()
            self.queue.extend(steps[::2])
            self.drain()
            data = answer.result()
        if data is None:
            self.queue.extend(theirs)
        else:
            self.take_in(data)

    def branch(self, steps: list[Step]) -> bytes:
        """Walk some folders, links apart, and write down what was found: the other process's
        part.
        """
        walk = _RootWalk(self.root, self.limits, self.disk, self.old, lambda _count: None)
        walk.counting = self.counting
        walk.queue.extend(steps)
        walk.drain()
        found = walk.found()
        keys = found.known.keys
        return marshal.dumps(
            (
                plain_rest(found),
                list(keys),
                b"".join(keys.values()),
                list(map(tuple, walk.links)),
                found.reads,
                walk.counted,
            )
        )

    def take_in(self, data: bytes) -> None:
        """Add what the other process found."""
        rest, paths, keys, links, reads, counted = marshal.loads(data)
        found = survey_from(rest, {})
        taker = self.taker
        taker.keys.update(zip(paths, keys_in(keys), strict=True))
        taker.memos.update(found.known.memos)
        taker.entries += found.entries
        taker.problems += found.problems
        taker.categories.update(found.categories)
        taker.reads += reads
        self.nodes.update(rest[0])
        self.truncated += found.truncated
        self.links.extend(links)
        self.counted += counted
        location = self.root.location
        self.seen.update(self.real + path[len(location) :] for path in found.known.nodes)


def _not_followed(root: Root, path: str, target: str) -> Problem:
    where = (
        "outside its project or plugin"
        if root.links == "contained"
        else "and this scope follows no links"
    )
    return Problem(path, "WK003", f"Not followed: the link leads to {target}, {where}.")


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
