"""A skill as it is read and loaded: its body, a section, a page or a file, and the whole as `load_skill`
gives it to a model.

Bytes are read at the edge and judged in pure code; nothing is given that trust has not let in.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.disclose import fill, offer
from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import IntegrityError, NotFoundError, RefusedError
from metier.fast import NamedTuple
from metier.model import Body, Card, Digest, File, Needs
from metier.resolve.needs import help_of, missing_of, usable_names
from metier.standard import skill_paths
from metier.standard.document import MAX_FILE_BYTES, read_document
from metier.standard.needs import read_needs
from metier.standard.plain_text import estimate
from metier.trust.assess import decision_of
from metier.trust.boundary import escape, shown_name, wrap_body
from metier.trust.load_gate import held_inside
from metier.usage import counter

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.context import Context
    from metier.disclose.model import Section
    from metier.disclose.pages import Page
    from metier.disclose.sections import SectionPart
    from metier.model import Head, JsonObject, Readiness, Tool, Trust
    from metier.trust.assess import TrustCase
    from metier.trust.decide import Usable


class Loaded(NamedTuple):
    """A skill as a model receives it: its body between tags, with its folder and the names of its
    files.
    """

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
    interface: dict[str, str]
    dependencies: list[Tool]


def body_of(
    context: Context,
    name: str,
    *,
    consent: bool = False,
    inline: bool = False,
) -> Body:
    """Give a skill's body, the names of its files, and what it still needs.

    With `inline` its commands are run in what is disclosed, as for every model that gets it; but
    not those of a body that is given page by page.
    """
    from metier.disclose.pages import PAGE_BYTES

    card = _readable(context, name)
    skill, body = open_body(context, card, consent=consent)
    shell = fill.shell_of(context, skill, body) if inline else None
    if shell is not None and len(body.content.encode("utf-8", "surrogatepass")) <= PAGE_BYTES:
        shown = fill.fill_in(context, skill, body.content, shell=shell).text
        body = body._replace(disclosed=shown)
    counter.count_use(context, card, "view", body.tokens)
    return body


def load_for_model(
    context: Context, name: str, *, consent: bool = False, again: bool = False
) -> Loaded:
    """Give a skill as a model receives it; a second time in one conversation, and unchanged, only a
    note. With `again` it is whole each time: the conversation may have lost what it was given.
    """
    from metier.disclose import messages

    card = _readable(context, name)
    skill, body = open_body(context, card, consent=consent)
    given = fill.fill_in(context, skill, body.content, shell=fill.shell_of(context, skill, body))
    before = context.session.loaded.get(card.path)
    same = body.digest is not None and before == body.digest and not given.varies
    known = same and not again
    config = messages.configured(shown_name(card.name), fill.settings_of(context, body.fields))
    folder = fill.folder_of(card)
    text = (
        messages.already_loaded(card.name)
        if known
        else messages.wrap_body(card.name, folder, given.text, _resources(card), config)
    )
    context.session.loaded[card.path] = body.digest or ""
    tokens = _token_counter(context)(text)
    counter.count_use(context, card, "load", tokens)
    return Loaded(
        name=card.name,
        text=text,
        tokens=tokens,
        already=known,
        readiness=body.readiness,
        missing=body.missing,
        setup_help=escape(body.setup_help),
        path=card.path,
        digest=body.digest,
        level=body.level,
        interface=body.interface,
        dependencies=body.dependencies,
    )


def _resources(card: Card) -> list[str]:
    """Name the files beside a skill's own; none is read."""
    if card.kind != "skill-md":
        return []
    own = skill_files.main_file(card).rpartition("/")[2]
    paths = sorted(piece.path for piece in disk.tree(card.path))
    return [path for path in paths if path != own and "/." not in f"/{path}"]


def sections_of(context: Context, name: str, *, consent: bool = False) -> list[Section]:
    """List the sections of a body with what each would cost; their contents stay where they are."""
    card = _readable(context, name)
    parts = _parts(context, card, open_body(context, card, consent=consent)[1])
    return [_section(card, part) for part in parts]


def section_of(
    context: Context, name: str, heading: str, *, consent: bool = False, inline: bool = False
) -> Section:
    """Give one section of a body; with `inline` its commands are run, as for a model."""
    from metier.disclose.sections import section_named

    card = _readable(context, name)
    skill, body = open_body(context, card, consent=consent)
    part = section_named(card.name, heading, _parts(context, card, body))
    counter.count_use(context, card, "read", part.tokens)
    shell = fill.shell_of(context, skill, body) if inline else None
    shown = fill.fill_in(context, skill, part.content, shell=shell).text
    return _section(card, part)._replace(content=part.content, disclosed=shown)


def _section(card: Card, part: SectionPart) -> Section:
    from metier.disclose.model import Section

    return Section(card.name, part.heading, part.level, part.line, part.tokens)


def _parts(context: Context, card: Card, body: Body) -> list[SectionPart]:
    from metier.disclose.sections import SectionPart, sections

    if card.kind == "code":  # a comment is no heading
        return [SectionPart("", 0, 1, body.content, body.tokens, ("",))]
    return sections(body.content, _token_counter(context))


def page_of(
    context: Context,
    name: str,
    file: str | None = None,
    cursor: str = "",
    *,
    consent: bool = False,
    inline: bool = False,
) -> Page:
    """Give a page of a body or of a file; with `inline` the commands of a body are run, as for a
    model.
    """
    from metier.disclose.pages import page

    relative = skill_paths.safe_relative(file) if file is not None else ""
    card = _readable(context, name)
    shell = None
    if file is None:
        skill, body = open_body(context, card, consent=consent)
        shell = fill.shell_of(context, skill, body) if inline else None
        text = body.content
        level = body.level
    else:
        skill, found = _open_file(context, card, relative, consent=consent)
        if found.content is None:
            raise RefusedError(
                f"'{relative}' of '{card.name}' has no pages: it is no UTF-8 text, or over "
                f"{MAX_FILE_BYTES:,} bytes",
                code="binary",
                hint=f"see its size and type: metier show {card.name} --file {relative}",
            )
        text = found.content
        level = found.level
    given = page(text, cursor, count=_token_counter(context))
    counter.count_use(context, card, "read", given.tokens)
    shown = wrap_body(card.name, given.content, level)
    if file is None:  # the variables of a skill are those of its instructions, not of every file
        shown = fill.fill_in(context, skill, given.content, shell=shell).text
    return given._replace(name=card.name, file=relative, disclosed=shown, level=level)


def _token_counter(context: Context) -> Callable[[str], int]:
    """Give what counts tokens here: exactly where the host can, else the estimate."""
    return estimate if context.counter is None else context.counter.count


def open_body(
    context: Context, card: Card, *, consent: bool, whole: bool = False
) -> tuple[Usable[TrustCase], Body]:
    """Have a skill let in, and give its body as the bytes were that were let in."""
    path = skill_files.main_file(card)
    head, skill = _admit_and_read(
        context, card, path, lambda: skill_files.read_file(path), consent=consent
    )
    return skill, _body(context, skill, head, path.rpartition("/")[2], whole=whole)


def _body(
    context: Context, skill: Usable[TrustCase], head: Head, file: str, *, whole: bool
) -> Body:
    card = skill.candidate.card
    decision = decision_of(skill.candidate)
    beside = skill_files.sidecar_beside(card)
    if card.kind == "code":
        description = card.description
        fields = _code_fields(card, head.data)
        needs = Needs()
        content = head.data.decode(errors="replace")
    else:
        document = read_document(
            head.data,
            folder=skill_files.folder_name(card),
            file=file,
            kind=card.kind,
            size=len(head.data),
        )
        assert document is not None  # the whole file was given
        description = document.description
        fields = document.fields
        needs = read_needs(fields, {}, beside)[1] or Needs()
        start = 0 if whole else document.body_at
        content = head.data[start:].decode(errors="replace").lstrip("\r\n")
    files = [piece.path for piece in disk.tree(card.path)] if card.kind == "skill-md" else []
    usable = usable_names(context.catalogue.contents().cards) if needs.skills else None
    missing = missing_of(needs, context.machine, context.settings, usable)
    return Body(
        name=card.name,
        description=description,
        content=content,
        linked_files=skill_paths.linked_files(files),
        tags=skill_paths.listed_words(fields, "tags"),
        related_skills=skill_paths.listed_words(fields, "related_skills"),
        readiness=card.readiness,
        missing=missing,
        setup_help=help_of(needs, missing),
        tokens=_token_counter(context)(content),
        path=card.path,
        digest=decision.digest,
        state=decision.state if card.state == "visible" else card.state,
        fields=fields,
        diagnostics=card.diagnostics,
        disclosed=fill.fill_in(context, skill, content).text,
        level=decision.level,
        verdict=decision.verdict,
        interface=beside.interface,
        dependencies=list(beside.tools),
    )


def _code_fields(card: Card, data: bytes) -> JsonObject:
    """Give what a code skill says of itself, in the place of frontmatter."""
    from metier.standard.code import read_code

    facts = read_code(data, skill_files.folder_name(card))
    if facts is None:
        return {}
    return {
        "triggers": list(facts.triggers),
        "destructive": facts.destructive,
        "mcp_expose": facts.expose,
        "permissions": list(facts.permissions),
        "async": facts.is_async,
        "observation_trigger": facts.observation,
        "needs_observation": facts.needs_observation,
    }


def _admit_and_read(
    context: Context, card: Card, path: str, read: Callable[[], Head], *, consent: bool
) -> tuple[Head, Usable[TrustCase]]:
    """Have a skill let in, and read one of its files: by their hashes the bytes read are those that
    were judged.

    Stats do not prove that: a folder can be exchanged for another and back between two looks.
    Whoever writes to the skill just now gets a second look.
    """
    for _attempt in range(2):
        head = read()
        skill = offer.admit(context, card, consent=consent)
        if _is_as_judged(card, path, head, skill.candidate.verdict.digest):
            return head, skill
    raise IntegrityError(f"{path} changed while it was read", hint="look again")


def _is_as_judged(card: Card, path: str, head: Head, digest: Digest | None) -> bool:
    """Tell whether these bytes are a file of the tree of this digest."""
    from metier.scan.io.tree_scanner import hash_tree
    from metier.scan.service import target_of

    target = target_of(card.path, card.name)
    files, whole = hash_tree(target)
    if whole != digest:
        return False
    found = files.get(disk.real(path)[len(disk.real(target.folder).rstrip("/")) + 1 :])
    if head.size > len(head.data):  # too long to be given: only what it is named by
        return found is not None and disk.key_of(disk.real(path)) == head.key
    return found == hashlib.sha256(head.data).digest()


def file_of(
    context: Context, name: str, path: str, *, consent: bool = False, noted: counter.What = "read"
) -> File:
    """Give one file of a skill: its text, or for a binary file its size, type and hash."""
    relative = skill_paths.safe_relative(path)
    card = _readable(context, name)
    _skill, found = _open_file(context, card, relative, consent=consent)
    counter.count_use(context, card, noted, found.tokens)
    return found


def _open_file(
    context: Context, card: Card, relative: str, *, consent: bool
) -> tuple[Usable[TrustCase], File]:
    """Have a skill let in, and give one of its files as it was then."""
    if card.kind != "skill-md":
        raise NotFoundError(
            f"'{card.name}' is a single file and has no others",
            hint=f"see it with: metier show {card.name}",
        )
    target = f"{card.path}/{relative}"
    if not disk.real(target).startswith(disk.real(card.path) + "/"):
        raise RefusedError(
            f"'{relative}' leads outside the skill through a link.",
            code="path-traversal",
            hint="only files inside the skill's folder are shown",
        )
    if disk.kind_of(target) != "file":
        raise skill_paths.no_such_file(
            card.name, relative, [piece.path for piece in disk.tree(card.path)]
        )

    inside = held_inside(context, card, target)
    if inside:
        raise RefusedError(
            f"'{relative}' of '{card.name}' is not given: {inside}",
            code="blocked",
            hint=f"see: metier why {card.name}",
        )

    def read() -> Head:
        head = disk.read_head(disk.real(target), MAX_FILE_BYTES)
        if head.fault:
            raise NotFoundError(
                f"'{relative}' of '{card.name}' cannot be read: {head.message}",
                hint="check its permissions",
            )
        return head

    head, skill = _admit_and_read(context, card, target, read, consent=consent)
    return skill, _file(context, skill, relative, head, target)


def _file(
    context: Context, skill: Usable[TrustCase], relative: str, head: Head, target: str
) -> File:
    import mimetypes

    card = skill.candidate.card
    level = skill.decision.level
    if head.size <= MAX_FILE_BYTES:
        text = text_of(head.data)
        digest = hashlib.sha256(head.data).digest()
    else:
        text = None
        digest = disk.hash_of(disk.real(target))
    mime = "application/octet-stream" if text is None else "text/plain"
    return File(
        name=card.name,
        file=relative,
        content=text,
        is_binary=text is None,
        size=head.size,
        mime=mimetypes.guess_type(relative)[0] or mime,
        sha256=digest.hex(),
        tokens=0 if text is None else _token_counter(context)(text),
        path=target,
        disclosed=None if text is None else wrap_body(card.name, text, level),
        level=level,
    )


def _readable(context: Context, name: str) -> Card:
    card = context.catalogue.resolve(name)
    if card.held == "disabled":
        hint = f"show it again with: metier enable {card.name}"
        raise RefusedError(f"'{card.name}' is {card.reasons[0]}", code="disabled", hint=hint)
    return card


def text_of(data: bytes) -> str | None:
    """Give the text of a file; nothing for what is no text."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
