"""The library's side of scanning: which trees, what is known of them already, what configuration
makes of a verdict.

What was judged once is not judged again: a folder whose every stat is the same gives its verdicts
at once, a tree whose files have the same stats gives its digest, and a digest with a ruleset gives
its verdict. Bytes are read once: the digest is that of the very bytes that were scanned.
"""

from __future__ import annotations

from metier import pipeline
from metier.discover.io import disk
from metier.errors import MetierError, NotFoundError, UsageError
from metier.fast import TYPE_CHECKING, CollectorOff
from metier.model import Finding, Limits, Root, Verdict
from metier.scan import cache
from metier.scan.cache import PlainVerdict, ScanTarget
from metier.scan.known_rules import ruleset_of
from metier.scan.waive import BASELINE, Scanned, ScanTerms, read_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.context import Context
    from metier.discover.model import Survey
    from metier.model import Digest, Level, Problem
    from metier.ports import Analyzer, Judge
    from metier.scan.io.tree_scanner import Scanner
    from metier.standard.digest import TreeFile

MAX_SURVEY_DEPTH = 64
CAUTION_SCORE = 30
MIN_REMEMBERED_SKILLS = 16
"""So many skills in one place are remembered together."""


def scan(
    context: Context,
    paths: Sequence[str],
    *,
    policy: str | None = None,
    baseline: str | None = None,
    judge: bool = True,
) -> list[Scanned]:
    """Judge every skill below the paths, invalid ones too; a path without any is judged as one
    tree. With `judge`, the user's own model is asked as well, where one is configured.
    """
    scanner = LibraryScanner(context)
    terms = read_terms(context, scanner.ruleset, policy, baseline)
    for problem in context.settings.problems:
        if "'scan.judge'" in problem.message:  # a project that would have skills sent somewhere
            context.warn(f"{problem.path}: {problem.code} {problem.message}")
    asked = context.open_judge() if judge else None
    try:
        scanner.foresee(paths)
        found = [
            terms.apply(one, scanner.rescan) for path in paths for one in scanner.scan_below(path)
        ]
        for one in found:
            context.learn(one.path, one.name, one.plain)
        return ask_judge(scanner, asked, terms, found) if asked is not None else found
    finally:
        scanner.close()


def scan_tree(context: Context, path: str, name: str = "", *, tells: bool = True) -> Scanned:
    """Judge exactly one skill, its whole tree, on the terms that configuration sets. It says how far
    it has come, unless whoever asked for it does so itself.
    """
    judge = LibraryScanner(context)
    judge.tells = tells
    try:
        return read_terms(context, judge.ruleset, None, None).apply(
            judge.tree(target_of(path, name)), judge.rescan
        )
    finally:
        judge.close()


def write_baseline(context: Context, file: str, scanned: Iterable[Scanned]) -> int:
    """Write down every finding that counts, and those that a baseline accepted before; give their
    number.
    """
    from metier.scan.report import baseline_text

    found = [(one.name, finding) for one in scanned for finding in one.findings]
    found += [
        (one.name, waived.finding)
        for one in scanned
        for waived in one.waived
        if waived.told_by == BASELINE
    ]
    disk.write_over(disk.absolute(file, context.cwd, context.home), baseline_text(found))
    return len(found)


def target_of(path: str, name: str = "") -> ScanTarget:
    """Give the tree of a path: all below a folder, or the one file."""
    folder, _, file = path.rpartition("/")
    if disk.kind_of(path) == disk.FOLDER:
        return ScanTarget(path, name or file, path)
    folder, _, real = disk.real(path).rpartition(
        "/"
    )  # somebody named it, so a link is meant for its target
    return ScanTarget(
        path, name or file.removesuffix(".md").removesuffix(".py"), folder or "/", real
    )


class LibraryScanner:
    """Judges trees for one library, and remembers what it learnt."""

    def __init__(self, context: Context) -> None:
        """Find out which rules hold."""
        self.context = context
        self.extra: tuple[Analyzer, ...] = context.scan_analyzers()
        self.ruleset = ruleset_of(context)
        self.remembers = True
        if self.extra:
            from metier.scan.custom_rules import digest_of, ruleset_with

            self.ruleset = ruleset_with(self.ruleset, self.extra)
            self.remembers = all(digest_of(analyzer) for analyzer in self.extra)
        self.started = context.ports.clock_ns()
        self.count = 0
        self.total = 0
        self.tells = True
        """Whether it says how far it has come."""
        self.whole = 0
        """How many skills all folders hold that were counted beforehand."""
        self.foreseen: dict[str, tuple[list[ScanTarget], list[Problem], list[str]]] = {}
        """How many trees there are, once that is known."""
        self.texts = cache.SharedTexts()
        self.watched: list[str] = []
        self._scanner: Scanner | None = None

    @property
    def scanner(self) -> Scanner:
        """What reads and scans trees; not needed when everything is known."""
        if self._scanner is None:
            from metier.scan.io.tree_scanner import Scanner

            self._scanner = Scanner(
                self.context.data,
                self.ruleset,
                self.extra,
                reader=self.context.passage_reader,
                remembers=self.remembers,
                now=self.started,
            )
        return self._scanner

    def close(self) -> None:
        """Keep what was learnt."""
        if self._scanner is not None:
            self._scanner.close()

    def scan_below(self, path: str) -> list[PlainVerdict]:
        """Judge every skill below a path."""
        context = self.context
        place = disk.absolute(path, context.cwd, context.home)
        kind = disk.kind_of(place)
        if kind is None:
            raise NotFoundError(f"there is nothing at {path}", hint=self._hint_about(path))
        if kind == disk.FILE and place.rpartition("/")[2].lower() != "skill.md":
            return [self.tree(target_of(place))]
        if kind == disk.FILE:
            place = place.rpartition("/")[0]
            found = self.survey(place, 0)
            return [
                self.tree(
                    ScanTarget(
                        place,
                        next((one.name for one in found.entries if one.path == place), ""),
                        place,
                    )
                )
            ]
        if kind != disk.FOLDER:
            raise UsageError(f"{path} is neither a file nor a folder", hint="give a skill's folder")
        return self.known(place) or self.scan_found(place)

    def _hint_about(self, path: str) -> str:
        """Say what to give instead of what isn't there; of a skill's name, where that skill lies."""
        plain = "give a skill's folder, a file, or a folder that holds skills"
        if "/" in path:
            return plain
        try:
            card = self.context.catalogue.resolve(path)
        except MetierError:
            return plain
        return f"for the skill of that name: metier trust show {path}, or metier scan {card.path}"

    def foresee(self, paths: Sequence[str]) -> None:
        """Count what several folders hold before the first is judged, so that one total is told."""
        if len(paths) < 2:
            return
        for path in paths:
            place = disk.absolute(path, self.context.cwd, self.context.home)
            if disk.kind_of(place) != disk.FOLDER or self.known(place):
                continue
            found = self.foreseen[place] = self.find_targets(place, len(place.rstrip("/")) + 1)
            self.whole += len(found[0])
        self.whole += self.count
        self.count = 0

    def known(self, place: str) -> list[PlainVerdict]:
        """Give what an earlier scan of the same place found, when no stat has changed since."""
        if not self.remembers:
            return []
        with CollectorOff():
            kept = cache.decode_folder(self.context.shelf.load(self.name_of(place)))
        if kept is None or disk.keys_below(place, kept.paths, follow=False) != kept.keys:
            return []
        self.count += len(kept.judged)
        return kept.judged

    def scan_found(self, place: str) -> list[PlainVerdict]:
        """Look for skills in a folder, and judge each."""
        start = len(place.rstrip("/")) + 1
        found = self.foreseen.pop(place, None) or self.find_targets(place, start)
        targets, problems, self.watched = found
        self.total = max(self.whole, self.count + len(targets))
        judged = self.scan_targets(targets or [target_of(place)], start)
        lost = [_unreadable(problem) for problem in problems]
        if (
            len(judged) >= MIN_REMEMBERED_SKILLS
            and self.remembers
            and all(one.digest for one in judged)
        ):
            self.remember(place, judged + lost)
        return judged + lost

    def scan_targets(self, targets: Sequence[ScanTarget], start: int) -> list[PlainVerdict]:
        """Judge trees in their order, on every core where there are many. The paths that they
        depend on are watched, less so many letters of each.
        """
        judged = []
        for first in range(0, len(targets), MAX_TREES_AT_ONCE):
            looked = [
                (target, self.look(target, start))
                for target in targets[first : first + MAX_TREES_AT_ONCE]
            ]
            ready = scan_apart(self, looked, self.tell)
            self.count += len(ready)
            for target, grown in looked:
                known = ready.pop(target.path, None)
                judged.append(self.tree(target, grown) if known is None else self.shared(known))
        return judged

    def look(self, target: ScanTarget, start: int) -> disk.TreeLook:
        """List the files of a tree, and watch them."""
        grown = disk.look_at_tree(target.folder, target.only)
        prefix = f"{target.folder}/"[start:]
        self.watched += [f"{prefix}{folder}"[:-1] or "." for folder in grown.folders]
        self.watched += [f"{prefix}{piece.path}" for piece in grown.pieces]
        return grown

    def expect(self, more: int) -> None:
        """Note how many trees are still to come."""
        self.total = self.count + more

    def tell(self, more: int) -> None:
        """Say how far it has come; what comes beyond what was expected has no total."""
        count = self.count + more
        if self.tells:
            self.context.progress("scanned", count, self.total if count <= self.total else 0)

    def shared(self, judged: PlainVerdict) -> PlainVerdict:
        """Give a verdict whose texts are those of all the others, as far as they are equal."""
        return judged._replace(findings=cache.share_texts(judged.findings, self.texts))

    def find_targets(
        self, place: str, start: int
    ) -> tuple[list[ScanTarget], list[Problem], list[str]]:
        """Give the trees below a place, what went wrong, and the paths that all this depends on;
        nothing else is kept.
        """
        from metier.standard import rules

        found = self.survey(place, MAX_SURVEY_DEPTH)
        targets = [
            ScanTarget(entry.path, entry.name, entry.path)
            if entry.file
            else ScanTarget(entry.path, entry.name, *entry.path.rpartition("/")[::2])
            for entry in found.entries
        ]
        problems = [
            problem
            for problem in (*found.problems, *found.truncated)
            if rules.RULES[problem.code].severity != "info"
        ]
        watched = [path[start:] or "." for path in found.known.keys]
        del found
        self.context.settle()  # writes down what the survey learnt, and lets go of it
        return targets, problems, watched

    def survey(self, place: str, depth: int) -> Survey:
        """Find skills as `check` does: in hidden folders too, following no link."""
        limits = self.context.settings.limits
        root = Root(place, "external", "", "scan", "never", hidden=True)
        return pipeline.look(
            root, Limits(depth, limits.folders, limits.entries), self.context.ports
        ).survey()

    def tree(self, target: ScanTarget, grown: disk.TreeLook | None = None) -> PlainVerdict:
        """Judge one tree, by the list of its files where it was made already."""
        judged = self.scanner.scan_tree(
            target, grown or disk.look_at_tree(target.folder, target.only)
        )
        self.count += 1
        self.tell(0)
        return self.shared(judged)

    def known_by(self, digest: str, name: str) -> PlainVerdict | None:
        """Give the verdict that is kept of some bytes, wherever they lie; nothing when these rules
        have not judged them.
        """
        return self.scanner.known(digest, ScanTarget("", name, "")) if self.remembers else None

    def judge_files(
        self,
        name: str,
        digest: Digest,
        files: Iterable[TreeFile],
        read: Callable[[str], bytes],
    ) -> tuple[Finding, ...]:
        """Give what is found in a tree that lies in no folder, by its files: as kept, or judged
        now.
        """
        known = self.known_by(digest, name)
        if known is not None:
            return known.findings
        from metier.scan.io.tree_scanner import tree_of_files

        return self.scanner.verdict(tree_of_files(name, files, read), digest).findings

    def rescan(
        self, judged: PlainVerdict, set_aside: Callable[[Iterable[Finding]], frozenset[str]]
    ) -> Verdict:
        """Judge a tree without some of its findings; should it have changed meanwhile, the new
        bytes say which.
        """
        if judged.lost:  # whoever accepts that it was not looked at has still not looked at it
            return Verdict(None, self.ruleset, judged.level, judged.score, ())
        tree, digest = self.scanner.read_again(target_of(judged.path, judged.name))
        found = (
            judged.findings
            if digest and digest == judged.digest
            else self.scanner.verdict(tree, digest).findings
        )
        return self.scanner.verdict(tree, digest, set_aside(found))

    def remember(self, place: str, judged: list[PlainVerdict]) -> None:
        """Keep all that was judged in a place, unless something in it changed a moment ago: a
        change could hide behind that.
        """
        paths = [path.encode("utf-8", "surrogateescape") for path in dict.fromkeys(self.watched)]
        keys = disk.keys_below(place, paths, follow=False)
        if keys is not None and disk.is_settled(keys, self.started):
            name = self.name_of(place)
            self.context.later.append(
                lambda: self.context.shelf.save(name, cache.encode_folder(paths, keys, judged))
            )

    def name_of(self, place: str) -> str:
        """Name what is remembered of a place."""
        limits = self.context.settings.limits
        return (
            pipeline.name_of(
                self.context.edition, "scan", place, limits, cache.cache_key(self.ruleset)
            )
            + ".scan"
        )


# --- the user's own judge

MAX_FAILURES = 3
"""So many skills in a row without an answer, and the judge is not asked about the others."""


def ask_judge(
    scanner: LibraryScanner, judge: Judge, terms: ScanTerms, scanned: list[Scanned]
) -> list[Scanned]:
    """Ask the user's own model about each skill, and say what was sent where. Without an answer the
    verdict stands as it is.
    """
    from metier.scan import judge as opinions

    context = scanner.context
    most = context.settings.judge.max_passages
    name = opinions.cache_name(judge.name, most, scanner.ruleset)
    told = JudgeUse(judge.name)
    failures: list[str] = []
    row = 0
    found: list[Scanned] = []
    for number, one in enumerate(scanned, 1):
        context.progress("judged", number, len(scanned))
        if row >= MAX_FAILURES:
            failures.append(failures[-1])
            found.append(one)
            continue
        tree, digest = scanner.scanner.read_again(target_of(one.path, one.name))
        known = opinions.decode_opinions(
            scanner.scanner.book.verdict(digest, name) if digest else None
        )
        try:
            if known is None:
                findings = (*one.findings, *(waived.finding for waived in one.waived))
                passages = opinions.choose_passages(tree, findings, most)
                told.skills += bool(passages)
                told.passages += len(passages)
                known = opinions.ask(judge, passages, context.ports.token) if passages else []
                if digest:
                    scanner.scanner.book.keep(digest, name, opinions.encode_opinions(known))
            else:
                told.remembered += 1
            found.append(_with_opinions(one, opinions.findings_of(known), terms))
            row = 0
        except opinions.BadAnswerError as error:
            try:
                fit = opinions.is_fit(judge, context.ports.token)
            except MetierError:
                fit = False
            if fit:
                finding = opinions.finding_of_bad_answer(error)
                found.append(_with_opinions(one, [finding], terms))
                continue
            failures.append(error.message)
            found.append(one)
            row = MAX_FAILURES  # it answers nobody as asked
        except MetierError as error:
            failures.append(error.message)
            found.append(one)
            row += 1
    if failures:
        context.warn(
            f"{judge.name} gave no answer for {len(failures):,} of "
            f"{'1 skill' if len(scanned) == 1 else f'{len(scanned):,} skills'}; "
            f"the scanner's own verdict counts there: {failures[0]}"
        )
    context.judge_use = told
    return found


class JudgeUse:
    """What was sent to a judge in one scan."""

    def __init__(self, name: str) -> None:
        """Begin with nothing."""
        self.name = name
        self.skills = 0
        self.passages = 0
        self.remembered = 0
        """Skills whose answer was known from before."""


def _with_opinions(one: Scanned, findings: list[Finding], terms: ScanTerms) -> Scanned:
    """Add what a judge found: an opinion makes *caution* at most, and lowers nothing."""
    waived = terms.waived(one.name, one.path, findings)
    accepted = {each.finding.fingerprint for each in waived}
    counting = tuple(each for each in findings if each.fingerprint not in accepted)
    one = one._replace(waived=one.waived + waived)
    if not counting:
        return one
    plain: Level = "caution" if one.plain == "safe" else one.plain
    return one._replace(
        level=terms.policy.counted(plain) if terms.policy is not None else plain,
        score=max(one.score, CAUTION_SCORE),
        findings=one.findings + counting,
        plain=plain,
    )


# --- on every core

MIN_TREES_TO_SHARE = 16
"""Fewer trees than this are judged before a copy has begun."""
MAX_TREES_AT_ONCE = 4_096
"""What was listed and not judged yet takes memory."""
MAX_PROCESSES = 16
"""More copies than this only wait for the disk."""


def scan_apart(
    judge: LibraryScanner,
    trees: Sequence[tuple[ScanTarget, disk.TreeLook]],
    tell: Callable[[int], None] = lambda _count: None,
    found: dict[str, PlainVerdict] | None = None,
) -> dict[str, PlainVerdict]:
    """Judge many trees at once, and give the verdicts by path; what is not among them is judged
    when somebody asks for it, as if nobody had before. `tell` hears how many are known by now, and
    whoever is interrupted has in `found` what was judged until then.

    Each core judges what is next in a copy of this process and sends its verdict back: scanning is
    the interpreter's work, so threads would only take turns.
    """
    from contextlib import closing, suppress
    from functools import partial

    from metier.discover.io.second_process import cores, share_tasks

    found = {} if found is None else found
    if len(trees) < MIN_TREES_TO_SHARE or not judge.remembers:
        return found
    recalled = [(one, judge.scanner.recall(*one)) for one in trees]
    found.update((one[0].path, known) for one, known in recalled if known is not None)
    unknown = [one for one, known in recalled if known is None]
    count = min(cores(), MAX_PROCESSES, len(unknown) // (MIN_TREES_TO_SHARE // 2))
    if len(unknown) < MIN_TREES_TO_SHARE or count < 2:
        return found
    import metier.scan.engine  # noqa: F401 - once here, instead of once in every copy

    judge.context.passage_reader()  # likewise

    told: dict[int, bytes] = {}
    with closing(share_tasks(len(unknown), partial(_judge_one, judge, unknown), count - 1)) as work:
        try:
            for number, answer in work:
                told[number] = answer
                tell(len(found) + len(told))
        except (KeyboardInterrupt, SystemExit) as stop:
            with suppress(KeyboardInterrupt, SystemExit):
                told.update([work.throw(stop)])
                told.update(work)
            raise
        finally:
            for number in sorted(told):
                _take_verdict(judge, *unknown[number], told[number], found)
    return found


def _judge_one(
    judge: LibraryScanner, trees: Sequence[tuple[ScanTarget, disk.TreeLook]], number: int
) -> bytes:
    """Judge a tree; give its digest, and the verdict as the book of verdicts has it. Nothing when it
    could not be read whole.
    """
    from metier.scan.io.tree_scanner import read_tree

    target, grown = trees[number]
    tree, digest = read_tree(target, grown)
    if digest is None:
        return b""
    verdict = judge.scanner.verdict(tree, digest)
    one = PlainVerdict(
        target.path, target.name, digest, verdict.level, verdict.score, verdict.findings
    )
    return digest.encode() + b"\n" + cache.encode_verdict(one)


def _take_verdict(
    judge: LibraryScanner,
    target: ScanTarget,
    grown: disk.TreeLook,
    answer: bytes,
    found: dict[str, PlainVerdict],
) -> None:
    """Keep what was judged. Of two trees with the same bytes the first one's verdict is that of
    both, as where one core judges them one after the other.
    """
    told, _, data = answer.partition(b"\n")
    if not told:
        return
    digest = told.decode()
    judge.scanner.note_digest(target, grown, digest)
    known = judge.scanner.known(digest, target)
    if known is None:
        judge.scanner.add_verdict(digest, data)
        known = judge.scanner.known(digest, target)
    if known is not None:
        found[target.path] = known


def _unreadable(problem: Problem) -> PlainVerdict:
    """Say of what could not be looked at that it was not judged: it is never silently safe."""
    from metier.scan.engine import fingerprint
    from metier.scan.rules.structure import RULES

    rule = next(rule for rule in RULES if rule.id == "SC617")
    seen = problem.message
    why = f"{rule.title}. {rule.why}"
    mark = fingerprint(rule.id, ".", seen, 1)
    finding = Finding(
        rule=rule.id,
        severity=rule.severity,
        category=rule.category,
        path=".",
        line=0,
        column=0,
        evidence=seen,
        why=why,
        hint=rule.hint,
        fingerprint=mark,
    )
    return PlainVerdict(
        problem.path, problem.path.rpartition("/")[2], None, "caution", 30, (finding,), lost=True
    )
