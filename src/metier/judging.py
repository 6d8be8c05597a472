"""The library's side of scanning: which trees, what is known of them already, what configuration makes of a verdict.

What was judged once is not judged again: a folder whose every stat is the same gives its verdicts at once, a tree whose
files have the same stats gives its digest, and a digest with a ruleset gives its verdict. Bytes are read once: the digest
is that of the very bytes that were scanned.
"""

from __future__ import annotations

from metier import pipeline
from metier.catalogue import snapshot, verdicts
from metier.catalogue.verdicts import Judged, Target
from metier.collector import CollectorOff
from metier.discover import disk
from metier.errors import NotFoundError, UsageError
from metier.light import TYPE_CHECKING
from metier.model import Finding, Limits, Root, Verdict
from metier.terms import BASELINE, Scanned, terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.app import Library
    from metier.model import Problem
    from metier.ports import Analyzer
    from metier.scanning import Scanner
    from metier.survey import Survey

DEEPEST = 64
ENOUGH = 16
"""So many skills in one place are remembered together."""


def scan(library: Library, paths: Sequence[str], *, policy: str | None = None, baseline: str | None = None) -> list[Scanned]:
    """Judge every skill below the paths, invalid ones too; a path without any is judged as one tree."""
    judge = Judge(library)
    terms = terms_of(library, judge.ruleset, policy, baseline)
    try:
        return [terms.applied(one, judge.again) for path in paths for one in judge.below(path)]
    finally:
        judge.close()


def scan_tree(library: Library, path: str, name: str = "") -> Scanned:
    """Judge exactly one skill, its whole tree, on the terms that configuration sets."""
    judge = Judge(library)
    try:
        return terms_of(library, judge.ruleset, None, None).applied(judge.tree(target_of(path, name)), judge.again)
    finally:
        judge.close()


def write_baseline(library: Library, file: str, scanned: Iterable[Scanned]) -> int:
    """Write down every finding that counts, and those that a baseline accepted before; give their number."""
    from metier.scan.baseline import text_of

    found = [(one.name, finding) for one in scanned for finding in one.findings]
    found += [(one.name, waived.finding) for one in scanned for waived in one.waived if waived.told_by == BASELINE]
    disk.write_over(disk.absolute(file, library.cwd, library.home), text_of(found))
    return len(found)


_RULESETS: dict[str, str] = {}
"""The ruleset of this process, by edition: the rules that it has loaded stay what they are."""


def ruleset_of(library: Library) -> str:
    """Give the digest of the ruleset, without loading the rules when their files are known."""
    if library.edition not in _RULESETS:
        _RULESETS[library.edition] = _ruleset(library)
    return _RULESETS[library.edition]


def _ruleset(library: Library) -> str:
    import metier.scan as package

    base = package.__path__[0]
    files = [f"{base}/{piece.path}" for piece in disk.tree(base) if piece.path.endswith(".py")]
    name = pipeline.name_of(library.edition, "ruleset", base, disk.keys_of_links(files)) + ".rules"
    kept = snapshot.opened(library.shelf.load(name)) if files else None
    if kept is not None:
        return str(kept[1])
    from metier.scan.ruleset import ruleset_digest

    found = ruleset_digest()
    library.later.append(lambda: library.shelf.save(name, snapshot.sealed(found, bytes(16))))
    return found


def target_of(path: str, name: str = "") -> Target:
    """Give the tree of a path: all below a folder, or the one file."""
    folder, _, file = path.rpartition("/")
    if disk.kind_of(path) == disk.FOLDER:
        return Target(path, name or file, path)
    folder, _, real = disk.real(path).rpartition("/")  # somebody named it, so a link is meant for its target
    return Target(path, name or file.removesuffix(".md").removesuffix(".py"), folder or "/", real)


class Judge:
    """Judges trees for one library, and remembers what it learnt."""

    def __init__(self, library: Library) -> None:
        """Find out which rules hold."""
        from metier import configuration

        self.library = library
        self.extra: tuple[Analyzer, ...] = configuration.analyzers(library)
        self.ruleset = ruleset_of(library)
        self.remembers = True
        if self.extra:
            from metier.scan.custom import digest_of, ruleset_with

            self.ruleset = ruleset_with(self.ruleset, self.extra)
            self.remembers = all(digest_of(analyzer) for analyzer in self.extra)
        self.started = library.ports.clock_ns()
        self.count = 0
        self.texts = verdicts.Texts()
        self.watched: list[str] = []
        self._scanner: Scanner | None = None

    @property
    def scanner(self) -> Scanner:
        """What reads and scans trees; not needed when everything is known."""
        if self._scanner is None:
            from metier.scanning import Scanner

            self._scanner = Scanner(self.library.data, self.ruleset, self.extra, remembers=self.remembers, now=self.started)
        return self._scanner

    def close(self) -> None:
        """Keep what was learnt."""
        if self._scanner is not None:
            self._scanner.close()

    def below(self, path: str) -> list[Judged]:
        """Judge every skill below a path."""
        library = self.library
        place = disk.absolute(path, library.cwd, library.home)
        kind = disk.kind_of(place)
        if kind is None:
            raise NotFoundError(f"there is nothing at {path}", hint="give a skill's folder, a file, or a folder that holds skills")
        if kind == disk.FILE and place.rpartition("/")[2].lower() != "skill.md":
            return [self.tree(target_of(place))]
        if kind == disk.FILE:
            place = place.rpartition("/")[0]
            found = self.survey(place, 0)
            return [self.tree(Target(place, next((one.name for one in found.entries if one.path == place), ""), place))]
        if kind != disk.FOLDER:
            raise UsageError(f"{path} is neither a file nor a folder", hint="give a skill's folder")
        return self.known(place) or self.searched(place)

    def known(self, place: str) -> list[Judged]:
        """Give what an earlier scan of the same place found, when no stat has changed since."""
        if not self.remembers:
            return []
        with CollectorOff():
            kept = verdicts.folder_of(self.library.shelf.load(self.name_of(place)))
        if kept is None or disk.keys_below(place, kept.paths, follow=False) != kept.keys:
            return []
        self.count += len(kept.judged)
        return kept.judged

    def searched(self, place: str) -> list[Judged]:
        """Look for skills in a folder, and judge each."""
        start = len(place.rstrip("/")) + 1
        targets, problems, self.watched = self.surveyed(place, start)
        judged = [self.tree(target, start) for target in targets or [target_of(place)]]
        lost = [_lost(problem) for problem in problems]
        if len(judged) >= ENOUGH and self.remembers and all(one.digest for one in judged):
            self.remember(place, judged + lost)
        return judged + lost

    def surveyed(self, place: str, start: int) -> tuple[list[Target], list[Problem], list[str]]:
        """Give the trees below a place, what went wrong, and the paths that all this depends on; nothing else is kept."""
        found = self.survey(place, DEEPEST)
        targets = [_target(entry.path, entry.name, entry.file) for entry in found.entries]
        problems = [problem for problem in (*found.problems, *found.truncated) if _matters(problem)]
        watched = [path[start:] or "." for path in found.known.keys]
        del found
        self.library.settle()  # writes down what the survey learnt, and lets go of it
        return targets, problems, watched

    def survey(self, place: str, depth: int) -> Survey:
        """Find skills as `check` does: in hidden folders too, following no link."""
        limits = self.library.settings.limits
        root = Root(place, "external", "", "scan", "never", hidden=True)
        return pipeline.look(root, Limits(depth, limits.folders, limits.entries), self.library.ports).survey()

    def tree(self, target: Target, start: int = 0) -> Judged:
        """Judge one tree. With `start`, the paths it depends on are watched, less so many letters of each."""
        grown = disk.grown(target.folder, target.only)
        if start:
            prefix = f"{target.folder}/"[start:]
            self.watched += [f"{prefix}{folder}"[:-1] or "." for folder in grown.folders]
            self.watched += [f"{prefix}{piece.path}" for piece in grown.pieces]
        judged = self.scanner.judged(target, grown)
        self.count += 1
        self.library.progress("skills", self.count)
        return judged._replace(findings=verdicts.shared(judged.findings, self.texts))

    def known_by(self, digest: str, name: str) -> Judged | None:
        """Give the verdict that is kept of some bytes, wherever they lie; nothing when these rules have not judged them."""
        return self.scanner.known(digest, Target("", name, "")) if self.remembers else None

    def again(self, judged: Judged, set_aside: Callable[[Iterable[Finding]], frozenset[str]]) -> Verdict:
        """Judge a tree without some of its findings; should it have changed meanwhile, the new bytes say which."""
        if judged.lost:  # whoever accepts that it was not looked at has still not looked at it
            return Verdict(None, self.ruleset, judged.level, judged.score, ())
        tree, digest = self.scanner.again(target_of(judged.path, judged.name))
        found = judged.findings if digest and digest == judged.digest else self.scanner.verdict(tree, digest).findings
        return self.scanner.verdict(tree, digest, set_aside(found))

    def remember(self, place: str, judged: list[Judged]) -> None:
        """Keep all that was judged in a place, unless something in it changed a moment ago: a change could hide behind that."""
        from metier.scanning import settled

        paths = [path.encode("utf-8", "surrogateescape") for path in dict.fromkeys(self.watched)]
        keys = disk.keys_below(place, paths, follow=False)
        if keys is not None and settled(keys, self.started):
            name = self.name_of(place)
            self.library.later.append(lambda: self.library.shelf.save(name, verdicts.encode_folder(paths, keys, judged)))

    def name_of(self, place: str) -> str:
        """Name what is remembered of a place."""
        limits = self.library.settings.limits
        return pipeline.name_of(self.library.edition, "scan", place, limits, verdicts.under(self.ruleset)) + ".scan"


def _target(path: str, name: str, file: str) -> Target:
    """Give the tree of a skill that a survey found."""
    folder, _, only = path.rpartition("/")
    return Target(path, name, path) if file else Target(path, name, folder, only)


def _matters(problem: Problem) -> bool:
    from metier.standard.rules import RULES

    return RULES[problem.code].severity != "info"


def _lost(problem: Problem) -> Judged:
    """Say of what could not be looked at that it was not judged: it is never silently safe."""
    from metier.scan.engine import fingerprint
    from metier.scan.rules.structure import RULES

    rule = next(rule for rule in RULES if rule.id == "SC617")
    seen, why = problem.message, f"{rule.title}. {rule.why}"
    mark = fingerprint(rule.id, ".", seen, 1)
    finding = Finding(rule.id, rule.severity, rule.category, ".", 0, 0, seen, why, rule.hint, mark)
    return Judged(problem.path, problem.path.rpartition("/")[2], None, "caution", 30, (finding,), lost=True)
