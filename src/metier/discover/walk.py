"""Stage 1 · one root → every skill below it, by a bounded walk that reports whatever it leaves out.

Pure over the `Disk` port. What an earlier walk learnt (`Known`) is used again wherever the stats still agree, so one
changed skill costs one read. Links are visited last, so a skill is known by its own path rather than by a link to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from metier.discover.entries import Place, broken_entry, code_entry, entry_of, fault_at
from metier.discover.found import LEAF, Known, Memo, Node, Survey
from metier.model import MANIFEST_BYTES, MANIFESTS, Entry, Head, Key, Limits, Listing, Problem, Root, Sidecar
from metier.ports import Disk
from metier.standard.document import read_document
from metier.standard.frontmatter import FRONTMATTER_BYTES, HEAD_BYTES

EXCLUDED = frozenset({"node_modules", "site-packages", "venv", "__pycache__"})
"""Never searched; like every name that begins with a dot (HE-10, CX-25)."""
EXCLUDED_HIDDEN = frozenset({
    ".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".cache", ".hub", ".archive", ".pytest_cache", ".mypy_cache", ".ruff_cache",
    ".claude-plugin", ".codex-plugin", ".cursor-plugin",
})  # fmt: skip
"""Not searched even where hidden folders are."""
SUPPORT = frozenset({"references", "templates", "assets", "scripts"})
"""A skill's own files: not searched for more skills (decision 28)."""
NOT_SKILLS = frozenset({
    "readme.md", "description.md", "changelog.md", "license.md", "licence.md", "contributing.md", "security.md",
    "agents.md", "claude.md", "gemini.md", "code_of_conduct.md", "index.md", "memory.md",
})  # fmt: skip
NOT_CATEGORIES = frozenset({"agents", "commands", "docs", "hooks", "prompts", "rules", "examples", "tests"})
"""Folders whose Markdown files are something else than flat skills."""
FLAT_DEPTH = 1
"""Flat skills lie in the root itself or in one of its categories."""

_MANIFEST_FOLDERS = frozenset({".claude-plugin", ".codex-plugin", ".cursor-plugin"})
_NOWHERE: Key = (0, 0, 0, 0)

_LEAF_LINKS = 2
"""A folder's own entry and its '.': what a folder without sub-folders counts on file systems that count them."""


Step = tuple[str, str, int, str, str, bool]
"""A `Folder` before it is visited: a plain tuple, because most are dealt with before one is needed."""


class Folder(NamedTuple):
    """One folder to visit, with what its ancestors say about it."""

    path: str
    real: str
    depth: int
    category: str
    plugin: str
    in_skill: bool


def survey(root: Root, limits: Limits, disk: Disk, known: Known | None = None, plugin: str = "") -> Survey:
    """Walk one root."""
    walk = _Walk(root, limits, disk, known)
    walk.run(plugin)
    walk.entries.sort(key=_by_path)
    return Survey(walk.entries, walk.problems, walk.truncated, walk.categories, Known(walk.keys, walk.nodes, walk.memos),
                  walk.reads)  # fmt: skip


def _by_path(entry: Entry) -> str:
    return entry.path


class _Walk:
    """The state of one walk."""

    def __init__(self, root: Root, limits: Limits, disk: Disk, known: Known | None) -> None:
        self.root, self.limits, self.disk = root, limits, disk
        self.old = known or Known({}, {}, {})
        self.keys: dict[str, Key] = {}
        self.nodes: dict[str, Node] = {}
        self.memos: dict[str, Memo] = {}
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self.truncated: list[Problem] = []
        self.categories: dict[str, str] = {}
        self.queue: deque[Step] = deque()
        self.links: deque[Step] = deque()
        self.seen: set[str] = set()
        self.usual: tuple[None, str, str, str] = (None, "", "", "")
        self.counting: set[int] = set()
        """Devices seen to count a folder's sub-folders in its links: there a count of two means there are none."""
        self.reads = self.counted = 0

    def run(self, plugin: str) -> None:
        """Visit folders breadth first, the linked ones after all others."""
        location = self.root.location
        self.queue.append((location, self.disk.real(location), 0, "", plugin, False))
        queue, links, seen, limit = self.queue, self.links, self.seen, self.limits.folders
        while queue or links:
            step = queue.popleft() if queue else links.popleft()
            if step[1] in seen:  # a cycle, or a second way to the same folder
                continue
            if len(seen) >= limit:
                self.truncated.append(Problem(location, "WK007", f"Stopped after {limit:,} folders."))
                return
            if self.counted > self.limits.entries:
                self.truncated.append(Problem(location, "WK008", f"Stopped after {self.limits.entries:,} entries."))
                return
            seen.add(step[1])
            self.visit(step)

    def visit(self, step: Step) -> None:
        """Take the skills of one folder, and queue the folders below it."""
        status = self.disk.folder_of(step[0])
        if status and status[1] == _LEAF_LINKS and status[2] in self.counting and self.leaf(step, status[0]):
            return
        folder = Folder(*step)
        folders, files, links, others, fault = self.listing(folder, status)
        if fault:
            self.problems.append(Problem(folder.path, "WK001", f"Cannot read the folder: {fault}."))
            return
        plugin = folder.plugin
        if not _MANIFEST_FOLDERS.isdisjoint(folders) or "plugin.json" in files:
            plugin = self.manifest(folder.path) or plugin
        is_skill = self.skill(folder, plugin, folders, files, links, others)
        category = folder.category
        if not is_skill and not folder.in_skill and folder.depth <= FLAT_DEPTH:
            self.loose_files(folder, plugin, files)
            if folder.depth == 1:
                category = folder.path.rpartition("/")[2]
                if "DESCRIPTION.md" in files:
                    self.categories[category] = self.category_text(folder.path + "/DESCRIPTION.md")
        if folders or links:
            self.descend(folder, plugin, category, folders, links, in_skill=is_skill or folder.in_skill, skip=is_skill)

    def leaf(self, step: Step, key: Key) -> bool:
        """Take a skill whose folder has no folders below it, without listing it: most skills, at half the cost."""
        path, real, _depth, category, plugin, _in_skill = step
        target = path + "/SKILL.md"
        if real == path:
            real = ""
        circumstance = (None, real, category, plugin)
        if circumstance == self.usual:  # one value serves the thousands of skills that share it
            circumstance = self.usual
        else:
            self.usual = circumstance
        memo = self.old.memos.get(target)
        if memo is not None and memo[0] == circumstance and self.old.keys[target] == self.disk.key_of(target):
            file_key = self.old.keys[target]
        else:
            head = self.disk.read_head(target)
            if head.fault:
                return False
            self.reads += 1
            file_key = head.key
            place = Place(path, "SKILL.md", real, category, plugin)
            memo = (circumstance, self.skill_entry(head, place, path.rpartition("/")[2], None))
        self.keys[path] = key
        self.keys[target] = file_key
        self.nodes[path] = LEAF
        self.memos[target] = memo
        self.entries.append(memo[1])
        self.counted += 1
        return True

    def listing(self, folder: Folder, status: tuple[Key, int, int] | None) -> Node:
        """List a folder, or take the listing it had when its stat is the same."""
        path = folder.path
        key = status[0] if status else None
        self.keys[path] = key or _NOWHERE
        old = self.old.nodes.get(path)
        if old is not None and self.old.keys[path] == key:
            self.nodes[path] = old
            return old
        listing = self.disk.list_folder(path)
        if status and listing.folders and status[1] == len(listing.folders) + _LEAF_LINKS:
            self.counting.add(status[2])
        node = self.reduced(path, listing, shallow=folder.depth <= FLAT_DEPTH)
        self.nodes[path] = node
        return node

    def reduced(self, path: str, listing: Listing, *, shallow: bool) -> Node:
        """Keep of a listing what can matter; report names that cannot be shown."""
        folders, files, links, others, fault = listing
        self.counted += len(folders) + len(files) + len(links) + len(others)
        for name in (*folders, *files, *links):
            if not name.isascii() and not _is_utf8(name):
                shown = path + "/" + name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
                self.problems.append(Problem(shown, "WK005", "The name is not valid UTF-8; it was not read."))
        return (
            tuple(n for n in folders if (self.searched(n) and _is_utf8(n)) or n in _MANIFEST_FOLDERS),
            tuple(n for n in files if n in _FILES or _may_be_skill(n, shallow=shallow)),
            tuple(n for n in links if self.searched(n) and _is_utf8(n)),
            tuple(n for n in others if n.lower() == "skill.md"),
            fault,
        )

    def searched(self, name: str) -> bool:
        """Tell whether a folder of this name is looked into."""
        return name not in EXCLUDED and (name[0] != "." or (self.root.hidden and name not in EXCLUDED_HIDDEN))

    def descend(
        self, folder: Folder, plugin: str, category: str, folders: tuple[str, ...], links: tuple[str, ...],
        *, in_skill: bool, skip: bool,
    ) -> None:  # fmt: skip
        """Queue the folders below, except a skill's own support folders."""
        path, real, depth = folder.path, folder.real, folder.depth + 1
        below = [name for name in folders if self.searched(name) and not (skip and name in SUPPORT)]
        if depth > self.limits.depth:
            if below:
                message = f"Folders deeper than {self.limits.depth} levels were not searched."
                self.truncated.append(Problem(path, "WK006", message))
            return
        for name in below:
            child = f"{path}/{name}"
            self.queue.append((child, child if real == path else f"{real}/{name}", depth, category, plugin, in_skill))
        for name in links:
            if not (skip and name in SUPPORT):
                self.link(Folder(f"{path}/{name}", "", depth, category, plugin, in_skill))

    def link(self, folder: Folder) -> None:
        """Follow a linked folder as far as the root's rule allows (decision 6)."""
        kind = self.disk.kind_of(folder.path)
        if kind == "file":
            return
        if kind is None:
            self.problems.append(Problem(folder.path, "WK004", "The link leads nowhere."))
            return
        target = self.disk.real(folder.path)
        rule = self.root.links
        inside = self.root.within and (target + "/").startswith(self.disk.real(self.root.within).rstrip("/") + "/")
        if rule == "never" or (rule == "contained" and not inside):
            where = "outside its project or plugin" if rule == "contained" else "and this scope follows no links"
            self.problems.append(Problem(folder.path, "WK003", f"Not followed: the link leads to {target}, {where}."))
            return
        self.links.append(folder._replace(real=target))

    def skill(
        self, folder: Folder, plugin: str, folders: tuple[str, ...], files: tuple[str, ...], links: tuple[str, ...],
        others: tuple[str, ...],
    ) -> bool:  # fmt: skip
        """Read the SKILL.md of a folder, if it has one in any form."""
        file = "SKILL.md" if "SKILL.md" in files else ""
        if not file:
            strange = [name for name in (*links, *others) if name == "SKILL.md"]
            variants = [name for name in files if name.lower() == "skill.md"]
            if not strange and not variants:
                return False
            file = strange[0] if strange else variants[0]
        path = folder.path
        place = Place(path, file, folder.real if folder.real != path else "", folder.category, plugin)
        name = path.rpartition("/")[2]
        if file not in files:
            kind = "a symbolic link" if file in links else "a pipe, socket or device"
            fault = fault_at("SK003", f"{file} is {kind}; metier does not read it.", place)
            self.entries.append(broken_entry("skill-md", place, name, fault))
            return True
        sidecar, sidecar_key = self.sidecar(path) if "agents" in folders else (None, None)
        target = path + "/" + file
        circumstance = (sidecar_key, place.real, place.category, plugin)
        self.entries.append(self.read(target, circumstance, lambda head: self.skill_entry(head, place, name, sidecar)))
        return True

    def skill_entry(self, head: Head, place: Place, folder: str, sidecar: Sidecar | None) -> Entry:
        """Parse a SKILL.md from its head, reading on only when its frontmatter is longer than that."""
        if head.fault:
            message = f"{place.file} cannot be read: {head.message}."
            return broken_entry("skill-md", place, folder, fault_at(head.fault, message, place))
        document = read_document(head.data, folder=folder, file=place.file, size=head.size, positions=False)
        if document is not None:
            entry = entry_of(document, place, head.size, sidecar)
            if not entry.diagnostics:
                return entry
            document = read_document(head.data, folder=folder, file=place.file, size=head.size)
        if document is None:
            head = self.disk.read_head(place.path + "/" + place.file, FRONTMATTER_BYTES)
            document = read_document(head.data, folder=folder, file=place.file, size=len(head.data))
            assert document is not None
        return entry_of(document, place, head.size, sidecar)

    def read(self, path: str, circumstance: Any, build: Callable[[Head], Any], at_least: int = HEAD_BYTES) -> Any:
        """Give what a file says: as remembered when file and circumstances are the same, else by reading it."""
        old = self.old.memos.get(path)
        if old is not None and old[0] == circumstance and self.old.keys[path] == self.disk.key_of(path):
            self.memos[path] = old
            self.keys[path] = self.old.keys[path]
            return old[1]
        head = self.disk.read_head(path, at_least)
        self.reads += 1
        value = build(head)
        self.keys[path] = head.key if head.key != _NOWHERE else self.disk.key_of(path) or _NOWHERE
        self.memos[path] = (circumstance, value)
        return value

    def sidecar(self, path: str) -> tuple[Sidecar | None, Key | None]:
        """Read `agents/openai.yaml`, which belongs to the skill's circumstances."""
        from metier.standard.sidecar import MAX_BYTES, read_sidecar  # few skills have one

        target = path + "/agents/openai.yaml"
        key = self.disk.key_of(target)
        if key is None or self.disk.is_link(target):
            return None, None
        return self.read(target, None, lambda head: read_sidecar(None if head.fault else head.data), MAX_BYTES + 1), key

    def manifest(self, path: str) -> str:
        """Give the name of the plugin whose manifest lies in this folder; the first that can be read counts (CX-30)."""
        for where in MANIFESTS:
            target = f"{path}/{where}"
            holder = target.rpartition("/")[0]
            if holder != path and (key := self.disk.key_of(holder)) is not None:
                self.keys[holder] = key  # a manifest that appears here later must be noticed
            if self.disk.kind_of(target) != "file":
                continue
            name, problem = self.read(target, None, lambda head, where=where: plugin_name(head, where, path), MANIFEST_BYTES)
            if problem:
                self.problems.append(Problem(target, *problem))
            if name:
                return str(name)
        return ""

    def loose_files(self, folder: Folder, plugin: str, files: tuple[str, ...]) -> None:
        """Take flat `{name}.md` skills, and in the root itself code skills."""
        if folder.depth and folder.path.rpartition("/")[2] in NOT_CATEGORIES:
            return
        category = folder.path.rpartition("/")[2] if folder.depth else ""
        for name in files:
            path = f"{folder.path}/{name}"
            place = Place(path, "", f"{folder.real}/{name}" if folder.real != folder.path else "", category, plugin)
            build = self.flat_entry if name.endswith(".md") else self.code_entry if not folder.depth else None
            if build is None or not name.endswith((".md", ".py")) or name.lower() in NOT_SKILLS:
                continue
            entry = self.read(path, (place.real, category, plugin), lambda head, b=build, p=place: b(head, p))
            if entry is not None:
                self.entries.append(entry)

    def flat_entry(self, head: Head, place: Place) -> Entry | None:
        """Read a flat skill; a Markdown file without frontmatter fields is an ordinary document, not a skill."""
        if head.fault:
            return None
        stem = place.path.rpartition("/")[2].removesuffix(".md")
        document = read_document(head.data, folder=stem, file=stem + ".md", kind="flat-md", size=head.size)
        if document is None or not (document.fields.keys() & {"name", "description"}):
            return None
        return entry_of(document, place, head.size, None)

    def code_entry(self, head: Head, place: Place) -> Entry | None:
        """Read a code skill by its syntax tree; a file without `run` and metadata is not one."""
        from metier.standard.code import MAX_BYTES, read_code

        if head.fault:
            return None
        if head.size > len(head.data):
            head = self.disk.read_head(place.path, MAX_BYTES + 1)
        facts = read_code(head.data, place.path.rpartition("/")[2].removesuffix(".py"))
        return None if facts is None else code_entry(facts, place, head.size)

    def category_text(self, path: str) -> str:
        """Read a category's description (HE-25)."""

        def build(head: Head) -> str:
            document = None if head.fault else read_document(head.data, folder="", file="DESCRIPTION.md", size=head.size)
            return document.description if document else ""

        return str(self.read(path, None, build))


def plugin_name(head: Head, where: str, folder: str) -> tuple[str, tuple[str, str] | None]:
    """Take a manifest's name, or the code and message of its fault: its skills then have no namespace."""
    from metier.standard.plugin import Manifest, read_manifest

    if head.fault:
        return "", ("SK095", f"The plugin manifest cannot be read: {head.message}.")
    found = read_manifest(head.data, where, folder.rpartition("/")[2])
    if isinstance(found, Manifest):
        return found.name, None
    return "", None if found is None else (found.code, found.message)


_FILES = frozenset({"SKILL.md", "DESCRIPTION.md", "plugin.json"})


def _may_be_skill(name: str, *, shallow: bool) -> bool:
    return name.lower() == "skill.md" or (shallow and name.endswith((".md", ".py")) and name[0] not in "._")


def _is_utf8(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
