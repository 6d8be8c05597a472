"""The longer answers of a library: a body, a file, a check, a digest. Reads at the edge, judges in pure code."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier import skillfile
from metier.disclose import levels
from metier.disclose.tokens import estimate
from metier.discover import disk, trees
from metier.discover.heads import BEHIND_A_LINK, SIDECAR_BYTES, sidecar_of
from metier.discover.walk import survey
from metier.errors import IntegrityError, NotFoundError, RefusedError, UsageError
from metier.model import Body, Card, Checked, Diagnostic, Digest, Document, File, Limits, Needs, Root, Sidecar, Why
from metier.resolve.gates import missing_of
from metier.standard.checks import Skill, check as check_skill
from metier.standard.document import MAX_FILE_BYTES, read_document
from metier.standard.needs import read_needs
from metier.standard.rules import RULES, diagnose
from metier.trust.boundary import disclosed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.app import Library
    from metier.catalogue.db import DigestBook
    from metier.model import Choice, Head, Kind, Problem, State
    from metier.vetting import Trusted

NO_NEEDS: dict[str, list[str]] = {"env": [], "files": [], "commands": [], "tools": []}


def body_of(library: Library, name: str, *, consent: bool = False) -> Body:
    """Give a skill's body, the names of its files, and what it still needs."""
    card = _readable(library, name)
    if card.kind == "code":
        return _code_body(library, card, consent=consent)
    path = skillfile.main_file(card)
    head, standing = _vetted(library, card, path, consent=consent)
    file = path.rpartition("/")[2]
    document = read_document(head.data, folder=skillfile.folder_name(card), file=file, kind=card.kind, size=len(head.data))
    assert document is not None  # the whole file was given
    files = [piece.path for piece in disk.tree(card.path)] if card.kind == "skill-md" else []
    needs = read_needs(document.fields, document.spans, _sidecar(card.path))[1] or Needs()
    missing = missing_of(needs, library.machine, library.settings)
    content = head.data[document.body_at :].decode(errors="replace").lstrip("\r\n")
    return Body(
        card.name, document.description, content, levels.linked_files(files), levels.words(document.fields, "tags"),
        levels.words(document.fields, "related_skills"), card.readiness, missing,
        needs.help if any(missing.values()) else "", estimate(content), card.path, standing.digest, _state(card, standing),
        document.fields, card.diagnostics, disclosed(card.name, content, standing.level), standing.level, standing.verdict,
    )  # fmt: skip


def _vetted(library: Library, card: Card, path: str, *, consent: bool) -> tuple[Head, Trusted]:
    """Read a skill's own file, and have the skill let in."""
    return _judged_and_read(library, card, path, lambda: skillfile.read(path), consent=consent)


def _judged_and_read(
    library: Library, card: Card, path: str, read: Callable[[], Head], *, consent: bool
) -> tuple[Head, Trusted]:  # fmt: skip
    """Have a skill let in, and read one of its files: by their hashes the bytes read are those that were judged.

    Stats do not prove that: a folder can be exchanged for another and back between two looks. Whoever writes to the skill
    just now gets a second look.
    """
    from metier.vetting.loading import load

    for _attempt in range(2):
        head = read()
        standing = load(library, card, consent=consent)
        if _is_as_judged(card, path, head, standing.digest):
            return head, standing
    raise IntegrityError(f"{path} changed while it was read", hint="look again")


def _is_as_judged(card: Card, path: str, head: Head, digest: Digest | None) -> bool:
    """Tell whether these bytes are a file of the tree of this digest."""
    from metier.judging import target_of
    from metier.scanning import hashes

    target = target_of(card.path, card.name)
    files, whole = hashes(target)
    if whole != digest:
        return False
    found = files.get(disk.real(path)[len(disk.real(target.folder).rstrip("/")) + 1 :])
    if head.size > len(head.data):  # too long to be given: only what it is named by
        return found is not None and disk.key_of(disk.real(path)) == head.key
    return found == hashlib.sha256(head.data).digest()


def _state(card: Card, standing: Trusted) -> State:
    return standing.state if card.state == "visible" else card.state


def _code_body(library: Library, card: Card, *, consent: bool) -> Body:
    from metier.standard.code import read_code

    head, standing = _vetted(library, card, card.path, consent=consent)
    facts = read_code(head.data, skillfile.folder_name(card))
    content = head.data.decode(errors="replace")
    fields = {} if facts is None else {
        "triggers": list(facts.triggers), "destructive": facts.destructive, "mcp_expose": facts.expose,
        "permissions": list(facts.permissions), "async": facts.is_async,
    }  # fmt: skip
    return Body(card.name, card.description, content, levels.linked_files(()), [], [], card.readiness, NO_NEEDS, "",
                estimate(content), card.path, standing.digest, _state(card, standing), fields, card.diagnostics,
                disclosed(card.name, content, standing.level), standing.level, standing.verdict)  # fmt: skip


def file_of(library: Library, name: str, path: str, *, consent: bool = False) -> File:
    """Give one file of a skill: its text, or for a binary file its size, type and hash."""
    relative = levels.safe_relative(path)
    card = _readable(library, name)
    if card.kind != "skill-md":
        raise NotFoundError(f"'{card.name}' is a single file and has no others", hint=f"see it with: metier show {card.name}")
    target = f"{card.path}/{relative}"
    if not disk.real(target).startswith(disk.real(card.path) + "/"):
        raise RefusedError(f"'{path}' leads outside the skill through a link.", code="path-traversal",
                           hint="only files inside the skill's folder are shown")  # fmt: skip
    if disk.kind_of(target) != "file":
        raise levels.no_such_file(card.name, path, [piece.path for piece in disk.tree(card.path)])

    def read() -> Head:
        head = disk.read_head(disk.real(target), MAX_FILE_BYTES)
        if head.fault:
            raise NotFoundError(f"'{path}' of '{card.name}' cannot be read: {head.message}", hint="check its permissions")
        return head

    head, standing = _judged_and_read(library, card, target, read, consent=consent)
    text = _text(head.data) if head.size <= MAX_FILE_BYTES else None
    digest = (hashlib.sha256(head.data).digest() if head.size <= MAX_FILE_BYTES else disk.hash_of(disk.real(target))).hex()
    return File(card.name, relative, text, text is None, head.size, _mime(relative, text), digest,
                estimate(text) if text is not None else 0, target,
                disclosed(card.name, text, standing.level) if text is not None else None, standing.level)  # fmt: skip


def check(library: Library, paths: Sequence[str], *, strict: bool) -> list[Checked]:
    """Hold every skill below the paths against the standard; a path without one is itself a fault."""
    checked: list[Checked] = []
    for path in paths:
        absolute = disk.absolute(path, library.cwd, library.home)
        if disk.kind_of(absolute) is None:
            raise NotFoundError(f"there is nothing at {path}", hint="give a skill's folder, or a folder that holds skills")
        found = _check_below(library, absolute)
        checked += found or [Checked(absolute, ok=False, diagnostics=(diagnose("SK001"),))]
    if strict:
        return [one._replace(ok=not any(note.severity != "info" for note in one.diagnostics)) for one in checked]
    return checked


def _check_below(library: Library, path: str) -> list[Checked]:
    location, only = path, ""
    if disk.kind_of(path) == "file":
        folder, _, file = path.rpartition("/")
        location, only = folder, folder if file.lower() == "skill.md" else path
    if not only and disk.kind_of(path) != "folder":
        raise UsageError(f"{path} is neither a file nor a folder", hint="give a skill's folder")
    root = Root(location, "external", "", "check", "never", hidden=True)
    limits = Limits(depth=0 if only else 64, folders=library.settings.limits.folders, entries=library.settings.limits.entries)
    found = survey(root, limits, disk, progress=lambda count: library.progress("folders", count))
    checked: list[Checked] = []
    for entry in found.entries:
        if only in {"", entry.path}:
            checked.append(_check_one(entry.path, entry.file, entry.diagnostics))
            library.progress("skills", len(checked))
    # What could not be looked at is not silently good.
    return checked + [_unchecked(problem) for problem in (*found.problems, *found.truncated) if not only and _matters(problem)]


def _matters(problem: Problem) -> bool:
    return RULES[problem.code].severity != "info"


def _unchecked(problem: Problem) -> Checked:
    note = diagnose(problem.code, problem.message, path="")
    return Checked(problem.path, note.severity != "error", (note,))


def _check_one(path: str, file: str, known: tuple[Diagnostic, ...]) -> Checked:
    head = disk.read_head(f"{path}/{file}" if file else path, MAX_FILE_BYTES)
    base = path.rpartition("/")[2]
    if head.fault or (not file and path.endswith(".py")):
        return Checked(path, not any(note.severity == "error" for note in known), known)
    kind: Kind = "skill-md" if file else "flat-md"
    folder = base if file else base.removesuffix(".md")
    document = read_document(head.data, folder=folder, file=file or base, kind=kind, size=head.size)
    if document is None:  # unclosed in all that is ever read
        document = read_document(head.data, folder=folder, file=file or base, kind=kind, size=len(head.data))
    assert document is not None
    files = frozenset(piece.path for piece in disk.tree(path)) if file else frozenset()
    sidecar = _sidecar(path) if file else None
    notes = [*_body_faults(head.data, file or base), *(sidecar.diagnostics if sidecar else ())]
    notes += read_needs(document.fields, document.spans, None, file or base)[2]
    body = head.data[document.body_at :].decode(errors="replace")
    document = _with_line(document, head.data)._replace(diagnostics=(*document.diagnostics, *notes))
    diagnostics = check_skill(Skill(document, file or base, body, files))
    return Checked(path, not any(note.severity == "error" for note in diagnostics), diagnostics)


def _with_line(document: Document, data: bytes) -> Document:
    return document._replace(body_line=data.count(b"\n", 0, document.body_at) + 1)


def _body_faults(data: bytes, file: str) -> list[Diagnostic]:
    """Find bytes that are not text anywhere in the file."""
    if b"\0" in data:
        at = data.index(b"\0")
        return [diagnose("SK006", path=file, line=data.count(b"\n", 0, at) + 1, column=at - data.rfind(b"\n", 0, at))]
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line, column = data.count(b"\n", 0, error.start) + 1, error.start - data.rfind(b"\n", 0, error.start)
        return [diagnose("SK005", path=file, line=line, column=column)]
    return []


def why(library: Library, name: str) -> Why:
    """Explain a name; for an agent, also what lies where that agent does not look."""
    from metier.resolve.explain import Asking, explain

    asker = library.agent.id if library.agent else "metier"
    elsewhere: list[Card] = []
    if library.agent is not None and library.given is None:
        with library.as_agent(None) as machine:
            elsewhere = machine.contents().cards
    found = library.contents()
    asking = Asking(asker, library.cwd, disk.real, library.settings.on_collision == "refuse")
    answer = explain(name, found.cards, elsewhere, _lost(library), asking)
    return answer._replace(candidates=tuple(_with_decision(library, choice, answer.chosen) for choice in answer.candidates))


_DECIDED = frozenset({"ask", "quarantined", "blocked"})


def _with_decision(library: Library, choice: Choice, chosen: str | None) -> Choice:
    """Add what was decided about a copy, and why, to the one that is chosen and to those that a decision holds back."""
    if choice.path != chosen and choice.state not in _DECIDED:
        return choice
    standing = library.trust(choice.path)
    told = tuple(reason for reason in standing.reasons if reason not in choice.reasons)
    return choice._replace(state=standing.state if choice.state == "visible" else choice.state, reasons=(*choice.reasons, *told))


def _lost(library: Library) -> list[tuple[Root, Problem]]:
    """Pair each problem of the walk with the root it lies below."""
    roots = [one.root for one in library.glance().seen]
    below = [(root, root.location + "/") for root in roots]
    return [(root, p) for p in library.problems() for root, start in below if (p.path + "/").startswith(start)]


def digest_of(library: Library, card: Card) -> Digest | None:
    """Give the digest of one skill's tree."""
    return digests_of(library, [card])[0].digest


def digests_of(library: Library, cards: Iterable[Card]) -> list[Card]:
    """Fill in every digest, each computed at most once for the same files."""
    from metier.catalogue.db import DigestBook

    book = DigestBook(library.data)
    try:
        found: list[Card] = []
        for card in cards:
            found.append(card._replace(digest=_digest(card, book)))
            library.progress("digests", len(found))
        return found
    finally:
        book.close()


def _digest(card: Card, book: DigestBook) -> Digest | None:
    base, pieces = trees.pieces_of(card.path)
    stamp = trees.stamp(base, pieces) if pieces else b""
    known = book.get(_name_in_book(card), stamp) if stamp else None
    if known is not None:
        return Digest(known)
    digest = trees.digest(base, pieces)
    if stamp and digest is not None:
        book.put(_name_in_book(card), stamp, digest)
    return digest


def _name_in_book(card: Card) -> bytes:
    return card.path.encode("utf-8", "surrogateescape")


def fingerprint(library: Library) -> str:
    """Condense path, size and time of every file of every skill, in an order that no disk decides (ZE-7)."""
    whole = hashlib.sha256()
    for card in sorted(library.contents().cards, key=lambda card: card.path):
        base, pieces = trees.pieces_of(card.path)
        keys = disk.keys_of_links([f"{base}/{piece.path}" for piece in pieces])
        whole.update(repr((card.path, pieces, keys)).encode("utf-8", "backslashreplace"))
    return "sha256:" + whole.hexdigest()


def _readable(library: Library, name: str) -> Card:
    card = library.resolve(name)
    if card.held == "disabled":
        hint = f"show it again with: metier enable {card.name}"
        raise RefusedError(f"'{card.name}' is {card.reasons[0]}", code="disabled", hint=hint)
    return card


def _sidecar(path: str) -> Sidecar | None:
    if disk.is_link(f"{path}/agents"):
        return sidecar_of(BEHIND_A_LINK)
    target = f"{path}/agents/openai.yaml"
    there = disk.kind_of(target) is not None or disk.is_link(target)
    return sidecar_of(disk.read_head(target, SIDECAR_BYTES)) if there else None


def _text(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _mime(path: str, text: str | None) -> str:
    import mimetypes

    return mimetypes.guess_type(path)[0] or ("text/plain" if text is not None else "application/octet-stream")
