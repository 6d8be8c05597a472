"""Every seam of metier, as a Protocol: what the core asks of the world, and nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from metier.author.model import Draft
    from metier.disclose.model import Package
    from metier.find.model import Floats, IndexCandidate, IndexQuery, SkillText
    from metier.model import Card, Digest, Head, Key, Listing, Said, Texts
    from metier.plugins.model import Decided, ReviewCandidate, Reviewed
    from metier.review.trees import ReviewTrees
    from metier.run.model import Cage, CodeCall, Layer, RunEnded, Veto
    from metier.run.observe.model import Stage, Try, WatchLimits, WatchRecord
    from metier.scan.model import RuleHit, ScanRule
    from metier.supply.model import Item, Origin, Request, SearchResult
    from metier.trust.sign import Signed


class Disk(Protocol):
    """The disk as far as finding skills needs it. A path that cannot be read is an answer, not an
    exception.
    """

    def key_of(self, path: str) -> Key | None:
        """Stat a path, following links; `None` when it cannot be reached."""

    def keys_below(self, folder: str, paths: list[bytes]) -> bytes | None:
        """Stat many paths below a folder in one sweep: their keys, packed; `None` as soon as one is
        missing.
        """

    def folder_of(self, path: str) -> tuple[Key, int, int] | None:
        """Stat a folder: its key, its link count and its device; `None` when it cannot be
        reached.
        """

    def kind_of(self, path: str) -> str | None:
        """Tell `folder`, `file` or `other`, following links; `None` when it cannot be reached."""

    def readable(self, path: str) -> bool:
        """Tell whether a folder can be listed and entered."""

    def is_there(self, path: str) -> bool:
        """Tell whether anything of this name exists, a broken link too."""

    def is_link(self, path: str) -> bool:
        """Tell whether the path itself is a link."""

    def real(self, path: str) -> str:
        """Give the canonical path."""

    def list_folder(self, path: str) -> Listing:
        """List a folder."""

    def apart(self, task: Callable[[], bytes]) -> Answer | None:
        """Start a task in another process; `None` where that cannot be done."""

    def read_head(self, path: str, at_least: int = ...) -> Head:
        """Read the beginning of a regular file, never following a link or waiting for a pipe."""


class Answer(Protocol):
    """What another process is working on; leaving the `with` block ends that process."""

    def __enter__(self) -> Answer:
        """Use the answer in a `with` block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave no process behind."""

    def result(self) -> bytes | None:
        """Wait for the bytes; `None` when the other process failed."""


class Machine(Protocol):
    """What is installed and set on this machine: answers to what skills need."""

    def has_env(self, name: str) -> bool:
        """Tell whether an environment variable is set and not empty."""

    def has_command(self, name: str) -> bool:
        """Tell whether a command is on the path; `a|b` asks for either."""

    def has_file(self, path: str) -> bool:
        """Tell whether a file exists below the home folder."""

    def refusal(self, name: str) -> str:
        """Say why a variable is given to no skill, whatever it declares (HE-20); nothing when one
        may have it.
        """

    def has_package(self, name: str) -> bool:
        """Tell whether a Python distribution is installed where skills' scripts would find it."""

    def decisions(self) -> bytes:
        """Give what was written down about whom and what the user trusts, unread; nothing when
        there is none.
        """

    def said(self, decisions: bytes) -> Said:
        """Read what was written down."""

    def stamp(self, path: str) -> str:
        """Condense the stats of a skill's tree, or its content when a stat is too fresh to be
        trusted.
        """

    def digest(self, path: str) -> Digest | None:
        """Give the digest of a skill's tree, computed from its bytes now; `None` when it cannot be
        read whole.
        """


class PassageReader(Protocol):
    """A model that says how much a passage reads like one from a malicious skill."""

    @property
    def name(self) -> str:
        """The model, by name and content: another name, other verdicts."""

    def read(self, texts: Sequence[str]) -> list[tuple[int, float]]:
        """Choose the passages of one skill that are worth a look; give the place of each in
        `texts`, and how much the model minds it: 0 where it begins to, and from 1 on it is sure.
        """


class Analyzer(Protocol):
    """Your own rules, added to the scan by a user or an organisation."""

    @property
    def rules(self) -> Sequence[ScanRule]:
        """The rules that `find` may name."""

    def find(self, path: str, text: str) -> Sequence[RuleHit]:
        """Find places in the normalised text of a file where one of the rules is met. It must not
        fail.
        """


class Judge(Protocol):
    """The user's own model, which gives its opinion on passages of a skill."""

    @property
    def name(self) -> str:
        """Where passages go, as people are told."""

    def ask(self, system: str, question: str, schema: Mapping[str, object]) -> str:
        """Give the answer to a question as it came; no answer, in time, is a `MetierError`."""


class SignatureVerifier(Protocol):
    """Verifies signatures that metier's own keys do not: keyless ones, for example. metier comes
    with none.
    """

    def verify(self, envelope: bytes) -> Signed | None:
        """Give what was signed and by whom; nothing when that is not proven."""


class Shelf(Protocol):
    """Where snapshots are kept between runs. It may lose any of them: they can all be made
    again.
    """

    def load(self, name: str) -> bytes | None:
        """Give what was saved under a name, or nothing."""

    def head(self, name: str, size: int) -> bytes | None:
        """Give the first bytes of what was saved under a name, or nothing."""

    def save(self, name: str, data: bytes) -> None:
        """Keep bytes under a name, whole or not at all; a shelf that cannot write says so once and
        goes on.
        """


class Counter(Protocol):
    """Counts the tokens of a text for a particular model. The default is an estimate
    (`disclose.tokens`).
    """

    def count(self, text: str) -> int:
        """Count the tokens of a text."""


class Ranker(Protocol):
    """Decides which skills fit a task. The default compares words."""

    def rank(self, task: str, cards: Sequence[Card]) -> Sequence[Card]:
        """Give the cards that fit, best first; those that do not fit may be left out."""


class Embedder(Protocol):
    """Turns texts into vectors that are close together if the texts mean the same."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of two models are never compared."""

    def queries(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each thing that somebody asks for."""

    def passages(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each piece of a skill."""


class Engine(Protocol):
    """Finds candidates among many skills. The embedded one keeps its index in files; a server may
    keep it in a database.
    """

    def known(self) -> Mapping[str, bytes]:
        """Give the path of every skill in the index, with the stamp it had when it was read."""

    def sealed(self) -> str:
        """Give what `seal` was told last; nothing once the skills of the index have changed
        since.
        """

    def seal(self, state: str) -> None:
        """Note of which state of the library the skills in the index are: who finds it in that
        state need not compare them.
        """

    def triggers(self) -> Mapping[str, Texts]:
        """Give the phrases of every skill that declares some, by path."""

    def build(self, texts: Iterable[SkillText]) -> None:
        """Begin anew with these skills and no others."""

    def update(self, texts: Iterable[SkillText], gone: Iterable[str]) -> None:
        """Put skills in, in the place of what had their paths, and take others out; the rest is not
        touched.
        """

    def without_vectors(self, model: str) -> Sequence[str]:
        """Give the paths of skills that have no vectors of this model yet."""

    def add_vectors(self, model: str, vectors: Iterable[tuple[str, Floats]]) -> None:
        """Keep the vector of each skill, a row or a matrix of one row; those of any other model are
        forgotten.
        """

    def query(self, asked: IndexQuery) -> Sequence[IndexCandidate]:
        """Give the skills that may fit, each once, with what speaks for each."""

    def likeness(self, paths: Sequence[str]) -> Floats:
        """Give the cosine of each two of these skills, one row to each; NaN where one of the two
        has no vector.
        """

    def vectors_of(self, paths: Sequence[str]) -> Floats:
        """Give the vector of each of these skills, one row to each; NaN where it has none."""

    def neighbours(
        self, path: str, limit: int, among: frozenset[str]
    ) -> Sequence[tuple[str, float]]:
        """Give those of some skills that mean most nearly the same as another, with their
        cosines.
        """


class SecretStore(Protocol):
    """Where values are kept that only a skill's own process may see."""

    @property
    def kind(self) -> str:
        """`session`, `file` or `keyring`."""

    def get(self, name: str) -> str | None:
        """Give a value, or nothing."""

    def put(self, name: str, value: str) -> None:
        """Keep a value under a name."""

    def drop(self, name: str) -> bool:
        """Forget a value; tell whether there was one."""

    def names(self) -> Sequence[str]:
        """List the names that have a value here."""


class Sandbox(Protocol):
    """Where an untrusted program can run. If it doesn't work, it raises `SandboxError` and nothing
    runs.
    """

    def layers(self) -> Sequence[Layer]:
        """Say what it is made of on this machine, and what is missing."""

    def run(
        self,
        cage: Cage,
        hear: Callable[[str, bytes], None],
        feed: Callable[[int], bytes] | None = None,
        stopped: Callable[[], bool] = ...,
    ) -> RunEnded:
        """Run a program to its end, with nothing of it left behind, whatever happens.

        `hear` gets what it prints as it comes: `out` or `err`, and the bytes. `feed` gives up to so
        many bytes for its standard input, and none at the end. `stopped` is asked often whether to
        end it now.
        """


class SkillObserver(Protocol):
    """Runs what a skill would have an agent run, among decoys, and records what it does. It changes
    nothing of the user's, and nothing that it runs reaches a network.
    """

    def missing(self) -> str:
        """Say what this machine lacks for it; nothing when it can be used."""

    def observe(
        self,
        stage: Stage,
        skill: str,
        tries: Sequence[Try],
        limits: WatchLimits,
        tell: Callable[[int, int], None],
        stopped: Callable[[], bool],
    ) -> WatchRecord:
        """Try each of these in the order given, on one stage, with a copy of the skill's folder."""


class Runner(Protocol):
    """Runs a skill's script instead of metier, for a host with its own sandbox."""

    def run(
        self, card: Card, script: str, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[int, str]:
        """Run a script of a skill; give its exit code and what it printed."""


class Hook(Protocol):
    """Called before and after each code skill; it can say no (CO-19)."""

    @property
    def name(self) -> str:
        """What people know it by."""

    def before(self, call: CodeCall) -> CodeCall | Veto | None:
        """Give nothing to let the call pass as it is, the call with another task or context, or a
        reason why it must not be made.
        """

    def after(self, call: CodeCall, result: str) -> str:
        """Give the result, or another text in its place."""


class Drafts(Protocol):
    """Where changes wait that a person has to review."""

    def submit(self, draft: Draft) -> str:
        """Keep a draft; give its id."""


class ReviewSource(Protocol):
    """One kind of changes that wait for a person: updates of plugins, held updates, drafts."""

    def waiting(self, *, everything: bool) -> list[ReviewCandidate]:
        """List what waits; with `everything`, also what was decided."""

    def show(self, ident: str) -> Reviewed:
        """Show what a candidate would change, and what speaks for and against it."""

    def accept(self, ident: str, how: str, reason: str) -> Decided:
        """Put a candidate in place, or ask again where something moved; `how` settles conflicts."""

    def reject(self, ident: str, reason: str) -> Decided:
        """Turn a candidate down."""

    def edit(self, ident: str) -> Reviewed:
        """Lay a candidate out where a person changes it."""

    def trees(self, ident: str) -> AbstractContextManager[ReviewTrees]:
        """Give an open candidate in all its versions."""


class Provider(Protocol):
    """Skills in another process or on a server. Each is read through the provider that lists it
    (CX-58).
    """

    @property
    def authority(self) -> str:
        """`host`, `executor`, `orchestrator` or `custom`, and a name after a colon where there are
        several.
        """

    def list(self, cursor: str) -> tuple[Sequence[Package], str]:
        """Give a page of packages, and the cursor of the next; an empty one after the last."""

    def read(self, package: str, resource: str) -> bytes:
        """Give the bytes of one resource of a package."""


class Tree(Protocol):
    """An opened source: a list of entries and their content. Nothing in it has been checked yet."""

    @property
    def origin(self) -> Origin:
        """Where it is from, and what its ref was resolved to."""

    def items(self) -> Sequence[Item]:
        """List every entry, as the source wrote it, in its order."""

    def contents(self, items: Sequence[Item]) -> Iterator[tuple[Item, Iterator[bytes]]]:
        """Give the bytes of entries, in the order asked for; each must be used up before the next.
        Never more than it said.
        """

    def close(self) -> None:
        """Let go of what it holds: files, processes, a folder of its own."""


class Fetcher(Protocol):
    """Opens sources of one kind. Raises `SourceError` if one can't be reached, and `RefusedError`
    if it isn't allowed.
    """

    def open(self, request: Request) -> Tree:
        """Open a source at the ref that was asked for; a commit that is known already needs no
        network.
        """

    def newest(self, request: Request) -> str:
        """Give what `open` would resolve to now, fetching as little as can be; nothing when only
        `open` can tell.
        """


class Seeker(Protocol):
    """Searches one remote source."""

    @property
    def source(self) -> str:
        """Its name, for people."""

    def search(self, words: str, limit: int) -> Sequence[SearchResult]:
        """Give what fits, best first."""


class DiskCalls(Protocol):
    """Everything that changes the disk where skills lie, one step at a time, so that a test can
    stop between any two.
    """

    def make(self, folder: str, mode: int = ...) -> None:
        """Make one folder; its parent exists."""

    def write(self, path: str, chunks: Iterable[bytes], mode: int = ...) -> None:
        """Write a new file; there is none, and no link is followed."""

    def move(self, source: str, target: str) -> None:
        """Rename, replacing a file but never a folder that holds something."""

    def swap(self, one: str, other: str) -> bool:
        """Exchange two paths in one step; false, with nothing done, where the system cannot."""

    def link(self, aim: str, path: str) -> None:
        """Make a symbolic link."""

    def remove(self, path: str) -> None:
        """Remove a file or a link."""

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""

    def sync(self, path: str) -> None:
        """See to it that a file or a folder's entries outlive a power cut."""
