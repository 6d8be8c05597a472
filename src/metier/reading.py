"""The longer answers of a library: a body, a section, a page, a file, a digest. Reads at the edge, judges in pure code."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier import counting, filling, skillfile
from metier.disclose import levels
from metier.disclose.tokens import estimate
from metier.discover import disk, trees
from metier.errors import IntegrityError, NotFoundError, RefusedError
from metier.light import NamedTuple
from metier.model import Body, Card, Digest, File, Needs, Root, Why
from metier.resolve.needs import help_of, missing_of, usable_names
from metier.standard.document import MAX_FILE_BYTES, read_document
from metier.standard.needs import read_needs
from metier.trust.boundary import disclosed, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.app import Library
    from metier.catalogue.db import DigestBook
    from metier.disclose.pages import Page
    from metier.disclose.sections import Part
    from metier.finding import Finder
    from metier.model import Choice, Head, Problem, Readiness, State, Trust
    from metier.offers import Section
    from metier.vetting import Trusted


class Loaded(NamedTuple):
    """A skill as a model receives it: its body between tags, with its folder and the names of its files."""

    name: str
    text: str
    tokens: int
    already: bool
    """Whether this conversation has these very instructions, so that a note stands for them."""
    readiness: Readiness
    missing: dict[str, list[str]]
    setup_help: str
    path: str
    digest: Digest | None
    level: Trust


def body_of(library: Library, name: str, *, consent: bool = False, noted: counting.What = "view", whole: bool = False) -> Body:
    """Give a skill's body, the names of its files, and what it still needs.

    `noted` is what the use counts as; with `whole` the content is all of the skill's file, its frontmatter too.
    """
    card = _readable(library, name)
    body = _body(library, card, consent=consent, whole=whole)
    counting.note(library, card, noted, body.tokens)
    return body


def load_for_model(library: Library, name: str, *, consent: bool = False) -> Loaded:
    """Give a skill as a model receives it; a second time in one conversation, and unchanged, only a note."""
    from metier.disclose import wrap

    card = _readable(library, name)
    body = _body(library, card, consent=consent)
    given = filling.filled(library, card, body.content, body.level, shell=filling.shell_of(library, card, body))
    known = body.digest is not None and library.session.loaded.get(card.path) == body.digest and not given.varies
    config = filling.config_of(library, card.name, body.fields)
    folder = filling.folder_of(card)
    text = wrap.already(card.name) if known else wrap.wrapped(card.name, folder, given.disclosed, _resources(card), config)
    library.session.loaded[card.path] = body.digest or ""
    tokens = _count(library)(text)
    counting.note(library, card, "load", tokens)
    told = escaped(body.setup_help)
    return Loaded(card.name, text, tokens, known, body.readiness, body.missing, told, card.path, body.digest, body.level)


def _resources(card: Card) -> list[str]:
    """Name the files beside a skill's own; none is read."""
    if card.kind != "skill-md":
        return []
    own = skillfile.main_file(card).rpartition("/")[2]
    paths = sorted(piece.path for piece in disk.tree(card.path))
    return [path for path in paths if path != own and not any(part.startswith(".") for part in path.split("/"))]


def sections_of(library: Library, name: str, *, consent: bool = False) -> list[Section]:
    """List the sections of a body with what each would cost; their contents stay where they are."""
    from metier.offers import Section

    card = _readable(library, name)
    parts = _parts(library, card, _body(library, card, consent=consent))
    return [Section(card.name, part.heading, part.level, part.line, part.tokens) for part in parts]


def section_of(library: Library, name: str, heading: str, *, consent: bool = False) -> Section:
    """Give one section of a body."""
    from metier.disclose.sections import section_named
    from metier.offers import Section

    card = _readable(library, name)
    body = _body(library, card, consent=consent)
    part = section_named(card.name, heading, _parts(library, card, body))
    counting.note(library, card, "read", part.tokens)
    shown = filling.filled(library, card, part.content, body.level)
    return Section(card.name, part.heading, part.level, part.line, part.tokens, part.content, shown.disclosed)


def _parts(library: Library, card: Card, body: Body) -> list[Part]:
    from metier.disclose.sections import Part, sections

    if card.kind == "code":  # a comment is no heading
        return [Part("", 0, 1, body.content, body.tokens, ("",))]
    return sections(body.content, _count(library))


def page_of(library: Library, name: str, file: str | None = None, cursor: str = "", *, consent: bool = False) -> Page:
    """Give a page of a body or of a file."""
    from metier.disclose.pages import page

    relative = levels.safe_relative(file) if file is not None else ""
    card = _readable(library, name)
    if file is None:
        body = _body(library, card, consent=consent)
        text, level = body.content, body.level
    else:
        found = _file(library, card, relative, consent=consent)
        if found.content is None:
            raise RefusedError(f"'{relative}' of '{card.name}' has no pages: it is no UTF-8 text, or over {MAX_FILE_BYTES:,} bytes",
                               code="binary", hint=f"see its size and type: metier show {card.name} --file {relative}")  # fmt: skip
        text, level = found.content, found.level
    given = page(text, cursor, count=_count(library))
    counting.note(library, card, "read", given.tokens)
    text = given.content  # the variables of a skill are those of its instructions, not of every file beside them
    shown = filling.filled(library, card, text, level).disclosed if file is None else disclosed(card.name, text, level)
    return given._replace(name=card.name, file=relative, disclosed=shown, level=level)


def _count(library: Library) -> Callable[[str], int]:
    """Give what counts tokens here: exactly where the host can, else the estimate."""
    return estimate if library.counter is None else library.counter.count


def _body(library: Library, card: Card, *, consent: bool, whole: bool = False) -> Body:
    if card.kind == "code":
        return _code_body(library, card, consent=consent)
    path = skillfile.main_file(card)
    head, standing = _vetted(library, card, path, consent=consent)
    file = path.rpartition("/")[2]
    document = read_document(head.data, folder=skillfile.folder_name(card), file=file, kind=card.kind, size=len(head.data))
    assert document is not None  # the whole file was given
    files = [piece.path for piece in disk.tree(card.path)] if card.kind == "skill-md" else []
    needs = read_needs(document.fields, document.spans, skillfile.sidecar_at(card.path))[1] or Needs()
    usable = usable_names(library.contents().cards) if needs.skills else None
    missing = missing_of(needs, library.machine, library.settings, usable)
    content = head.data[0 if whole else document.body_at :].decode(errors="replace").lstrip("\r\n")
    return Body(
        card.name, document.description, content, levels.linked_files(files), levels.words(document.fields, "tags"),
        levels.words(document.fields, "related_skills"), card.readiness, missing,
        help_of(needs, missing), _count(library)(content), card.path, standing.digest, _state(card, standing),
        document.fields, card.diagnostics, filling.filled(library, card, content, standing.level).disclosed, standing.level,
        standing.verdict,
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
    missing = missing_of(Needs(), library.machine, library.settings)
    return Body(card.name, card.description, content, levels.linked_files(()), [], [], card.readiness, missing, "",
                _count(library)(content), card.path, standing.digest, _state(card, standing), fields, card.diagnostics,
                disclosed(card.name, content, standing.level), standing.level, standing.verdict)  # fmt: skip


def file_of(library: Library, name: str, path: str, *, consent: bool = False, noted: counting.What = "read") -> File:
    """Give one file of a skill: its text, or for a binary file its size, type and hash."""
    relative = levels.safe_relative(path)
    card = _readable(library, name)
    found = _file(library, card, relative, consent=consent)
    counting.note(library, card, noted, found.tokens)
    return found


def _file(library: Library, card: Card, relative: str, *, consent: bool) -> File:
    if card.kind != "skill-md":
        raise NotFoundError(f"'{card.name}' is a single file and has no others", hint=f"see it with: metier show {card.name}")
    target = f"{card.path}/{relative}"
    if not disk.real(target).startswith(disk.real(card.path) + "/"):
        raise RefusedError(f"'{relative}' leads outside the skill through a link.", code="path-traversal",
                           hint="only files inside the skill's folder are shown")  # fmt: skip
    if disk.kind_of(target) != "file":
        raise levels.no_such_file(card.name, relative, [piece.path for piece in disk.tree(card.path)])

    def read() -> Head:
        head = disk.read_head(disk.real(target), MAX_FILE_BYTES)
        if head.fault:
            raise NotFoundError(f"'{relative}' of '{card.name}' cannot be read: {head.message}", hint="check its permissions")
        return head

    head, standing = _judged_and_read(library, card, target, read, consent=consent)
    text = _text(head.data) if head.size <= MAX_FILE_BYTES else None
    digest = (hashlib.sha256(head.data).digest() if head.size <= MAX_FILE_BYTES else disk.hash_of(disk.real(target))).hex()
    return File(card.name, relative, text, text is None, head.size, _mime(relative, text), digest,
                _count(library)(text) if text is not None else 0, target,
                disclosed(card.name, text, standing.level) if text is not None else None, standing.level)  # fmt: skip


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


def digests_of(library: Finder, cards: Iterable[Card]) -> list[Card]:
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
