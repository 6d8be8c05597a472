"""The tools that a host registers for its model: their schemas, and handlers that any framework can
call.

A handler never raises for what a model or a skill did wrong: it gives `{"success": false, "error":
{…}, "text": "…"}`, the same error for programs and in words. Whatever it gives is plain data, fit
for JSON, and what a skill says stands in it only as it may stand in a prompt (`disclosed`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metier.catalogue.wire import plain
from metier.disclose import offer, pages, read
from metier.disclose.schemas import (
    ACTIONS,
    BY_NAME,
    DEFAULT_HITS,
    fault_in,
    fault_in_action,
    known_tool,
    schemas,
)
from metier.discover import skill_files
from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.resolve.needs import helps_with, lacks, never_given, readiness_of
from metier.standard.names import encodable, one_line, shortened
from metier.trust.boundary import escape
from metier.trust.model import AS_WRITTEN_LEVELS
from metier.usage import counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.context import Context
    from metier.library import Library
    from metier.model import Body, Card, File, JsonObject, Needs, Tool
    from metier.run.for_model import ModelRunManner
    from metier.run.model import Ran

__all__ = ["call", "handlers", "run_script", "schemas"]

MAX_DESCRIPTION_CHARS = 1024
PAGE_ROOM_BYTES = pages.PAGE_BYTES - 16 * 1024
"""Bytes of a page that rows may fill; the rest is for what stands around them (CX-59)."""
_NOTE_BYTES = 128
"""Bytes for the line that says how much of an output is left out."""
_MAX_ERROR_ITEMS = 100
_MAX_ERROR_CHARS = 4_000
"""How many items and characters of an error reach a model."""


def handlers(library: Library) -> dict[str, Callable[..., JsonObject]]:
    """Give every tool as a function of its arguments."""

    def handler(name: str) -> Callable[..., JsonObject]:
        return lambda **arguments: call(library, name, arguments)

    return {name: handler(name) for name in BY_NAME}


def call(library: Library, name: str, arguments: Mapping[str, Any]) -> JsonObject:
    """Call a tool by its name; what goes wrong is an answer."""

    def answer() -> JsonObject:
        _check(name, arguments)
        if name == "skill_manage":  # a change goes through the library, as every door makes it
            return _skill_manage(library, **arguments)
        return _HANDLERS[name](library.context, **arguments)

    return _answer(answer)


def run_script(
    library: Library, name: str, script: str, args: list[str], how: ModelRunManner
) -> JsonObject:
    """Do what the tool `run_skill_script` does, in the way of a door that has limits of its own."""
    return _answer(lambda: _run_skill_script(library.context, name, script, args, how))


def _answer(answer: Callable[[], JsonObject]) -> JsonObject:
    try:
        return sayable({"success": True, **answer()})  # type: ignore[no-any-return]
    except MetierError as error:
        return _failed(error.as_dict())
    except Exception:  # noqa: BLE001 - what is wrong inside metier or the host is no business of a model's
        message = "the tool failed"
        hint = "tell the user; trying again will hardly help"
        return _failed({"code": "unexpected", "message": message, "hint": hint})


def _failed(error: JsonObject) -> JsonObject:
    told: JsonObject = bounded(error)
    return {"success": False, "error": told, "text": error_text(told)}


def error_text(error: Mapping[str, Any]) -> str:
    """Give an error that was bounded already as a text for a model: what went wrong and where, and
    what to do next.
    """
    text = f"{error.get('code') or 'error'}: {error.get('message', '')}"
    return f"{text}\nhint: {error['hint']}" if error.get("hint") else text


def _check(name: str, arguments: object) -> None:
    fault = (
        fault_in(known_tool(name), arguments)
        if isinstance(arguments, Mapping)
        else "the arguments are no object"
    )
    if fault:
        raise UsageError(f"{name}: {fault}", hint="see the tool's input_schema")


def bounded(value: Any, depth: int = 0) -> Any:
    """Give an error's details bounded and escaped: they quote names and places that strangers
    chose.
    """
    if isinstance(value, str):
        return _words(shortened(value, _MAX_ERROR_CHARS))
    if depth > 4:
        return None
    if isinstance(value, dict):
        rows = list(value.items())[:_MAX_ERROR_ITEMS]
        return {_words(str(key)): bounded(item, depth + 1) for key, item in rows}
    if isinstance(value, (list, tuple)):
        return [bounded(item, depth + 1) for item in value[:_MAX_ERROR_ITEMS]]
    return value


def _words(text: str) -> str:
    """Give a stranger's words as they may stand in a prompt."""
    return encodable(escape(text))


def _safe(value: Any, change: Callable[[str], str] = escape) -> Any:
    """Escape every text in plain data, at every depth."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(str(key)): _safe(item, change) for key, item in value.items()}
    return [_safe(item, change) for item in value] if isinstance(value, list) else value


def _fields(found: object, *names: str) -> JsonObject:
    """Give fields of a value by their names, escaped."""
    return {name: _safe(plain(getattr(found, name))) for name in names}


def sayable(value: Any) -> Any:
    """Replace what UTF-8 cannot say, at every depth: a file's name may hold half a character."""
    return _safe(value, encodable)


# --- which skills there are


def _skills_list(context: Context, category: str | None = None, cursor: str = "") -> JsonObject:
    cards = offer.offered_cards(context)
    rows = [_row(card) for card in _of_category(cards, category)]
    shown, following = _page(rows, cursor)
    categories = sorted({one_line(escape(card.category)) for card in cards if card.category})
    none = "there is none; without a category all are listed"
    return {
        "skills": shown,
        "categories": categories[:_MAX_ERROR_ITEMS],
        "count": len(rows),
        "next_cursor": following,
        "hint": offer.missing_note(context) or ("read one with skill_view(name)" if rows else none),
    }


def _of_category(cards: list[Card], category: str | None) -> list[Card]:
    return cards if category is None else [card for card in cards if card.category == category]


def categories_answer(context: Context, cards: Sequence[Card], cursor: str = "") -> JsonObject:
    """Count skills by category, each with its description (HE-1). What a description says was
    judged like a skill, and is left out where that found anything.
    """
    counts = Counter(card.category for card in cards)
    uncategorised = counts.pop("", 0)
    texts = context.catalogue.contents().categories
    rows: list[JsonObject] = [
        {
            "name": one_line(escape(name)),
            "description": _category_text(texts.get(name, "")),
            "count": counts[name],
        }
        for name in sorted(counts)
    ]
    shown, following = _page(rows, cursor)
    none = "no skill has a category"
    return {
        "categories": shown,
        "count": len(rows),
        "uncategorised": uncategorised,
        "next_cursor": following,
        "hint": offer.missing_note(context)
        or ("a category narrows a list or a search" if rows else none),
    }


def _category_text(text: str) -> str:
    if not text:
        return ""
    from metier.scan.engine import scan
    from metier.scan.model import ScanEntry, ScanTree

    data = text.encode("utf-8", "replace")
    found = scan(ScanTree("category", (ScanEntry("SKILL.md", data, len(data)),)))
    if found.level != "safe":
        return ""
    return shortened(one_line(escape(text)), MAX_DESCRIPTION_CHARS)


def _row(card: Card) -> JsonObject:
    return {
        "name": escape(card.name),
        "description": shortened(one_line(escape(card.description)), MAX_DESCRIPTION_CHARS),
        "category": one_line(escape(card.category)),
        "readiness": card.readiness,
    }


def _page(rows: list[JsonObject], cursor: str) -> tuple[list[JsonObject], str]:
    """Give as many rows as a page has room for, from the cursor on, and the cursor of the next
    page.
    """
    texts = [json.dumps(sayable(row)) for row in rows]
    mark = pages.fingerprint("\n".join(texts).encode())
    start = end = pages.place_in(cursor, mark, len(rows))
    room = PAGE_ROOM_BYTES
    while end < len(rows) and (end == start or len(texts[end]) + 2 <= room):
        room -= len(texts[end]) + 2
        end += 1
    return rows[start:end], pages.cursor_at(mark, end) if end < len(rows) else ""


def _search_skills(
    context: Context, query: str, limit: int = DEFAULT_HITS, category: str | None = None
) -> JsonObject:
    cards = _of_category(offer.offered_cards(context), category)
    allowed = {card.path for card in cards}
    ranker = context.ranker
    if ranker is None:
        from metier.find.service import IndexRanker  # few sessions search

        ranker = IndexRanker(context)
    # A ranker may be anybody's: what it gives back is held against what it was given.
    found = [card for card in ranker.rank(query, cards) if card.path in allowed]
    unique = list({card.path: card for card in found}.values())
    note = offer.missing_note(context)
    return {
        "query": _words(query),
        "hits": [_row(card) for card in unique[:limit]],
        "count": min(len(unique), limit),
        **({"warning": note} if note else {}),
    }


# --- one skill


def _card(context: Context, name: str) -> Card:
    """Give the skill that a model may have under this name."""
    return offer.named_card(context, name, offer.audience_of(context))


def _skill_view(
    context: Context,
    name: str,
    file_path: str | None = None,
    section: str | None = None,
    cursor: str = "",
) -> JsonObject:
    card = _card(context, name)
    if section is not None and (file_path is not None or cursor):
        raise UsageError(
            "a section is a part of the instructions",
            hint="give a section without file_path and cursor",
        )
    if section is not None:
        return _section(context, card, section)
    if file_path is not None:
        return _file(context, card, file_path, cursor)
    return _viewed(context, card, read.body_of(context, card.path, inline=not cursor), cursor)


def _viewed(context: Context, card: Card, body: Body, cursor: str) -> JsonObject:
    """Lay a body out as its own agent does (HE-18)."""
    safe = plain if body.level in AS_WRITTEN_LEVELS else lambda value: _safe(plain(value))
    linked = {kind: names for kind, names in body.linked_files.items() if names}
    metadata = body.fields.get("metadata")
    name = escape(body.name)
    return {
        "name": name,
        "description": safe(body.description),
        "tags": safe(body.tags),
        "related_skills": safe(body.related_skills),
        **_paged(context, card, body, cursor),
        "path": escape(body.path),
        "skill_dir": escape(body.path if card.kind == "skill-md" else body.path.rpartition("/")[0]),
        "linked_files": safe(linked),
        "usage_hint": f"read a linked file with skill_view(name={name!r}, file_path=…)"
        if linked
        else "",
        **_readiness(context, card, body),
        "compatibility": safe(body.fields.get("compatibility", "")),
        "metadata": safe(metadata) if isinstance(metadata, dict) else {},
        **told_beside(body.interface, body.dependencies, safe),
        "trust": body.level,
        "verdict": body.verdict,
        "tokens": body.tokens,
        "note": escape(offer.unoffered_note(card)),
    }


def told_beside(
    interface: Mapping[str, str],
    dependencies: Iterable[Tool],
    safe: Callable[[Any], Any] = _safe,
) -> JsonObject:
    """Say how a skill wants to be shown, and which tools it depends on, as far as it says
    (CX-6).
    """
    said = [{key: text for key, text in one._asdict().items() if text} for one in dependencies]
    return {"interface": safe(dict(interface)), "dependencies": safe(said)}


def _fits_page(disclosed: str) -> bool:
    return len(disclosed.encode("utf-8", "surrogatepass")) <= pages.PAGE_BYTES


def _paged(
    context: Context, card: Card, found: Body | File, cursor: str, file: str | None = None
) -> JsonObject:
    """Give a text: whole where it fits into a page, otherwise page by page."""
    if not cursor and _fits_page(found.disclosed or ""):
        if file is not None:
            counter.count_use(context, card, "read", found.tokens)
        return {"content": found.disclosed, "next_cursor": "", "tokens": found.tokens}
    page = read.page_of(context, card.path, file, cursor, inline=True)
    return {"content": page.disclosed, "next_cursor": page.cursor, "tokens": page.tokens}


def _readiness(context: Context, card: Card, body: Body) -> JsonObject:
    """Say what a skill needs and what of it is missing; names only, never a value."""
    needs = skill_files.needs_of(card, body.fields)
    missing = body.missing
    waiting = body.readiness == "setup_needed"
    never = never_given(missing["env"], context.machine)
    gateway_hint = ""
    if (
        waiting
        and context.settings.host_platform not in {"", "cli"}
        and any(name not in never for name in missing["env"])
    ):
        gateway_hint = (
            "secrets are not asked for in a chat; on the machine itself: metier setup "
            f"{one_line(body.name)}"
        )
    told: JsonObject = _safe(
        {
            "required_environment_variables": list(needs.env),
            "required_commands": list(needs.commands),
            "missing_required_environment_variables": missing["env"],
            "missing_credential_files": missing["files"],
            "missing_required_commands": missing["commands"],
            "setup_needed": waiting,
            "setup_skipped": waiting
            and any(name in context.session.asked for name in missing["env"]),
            "readiness_status": body.readiness,
            "setup_help": body.setup_help,
            "gateway_setup_hint": gateway_hint,
            "setup_note": _setup_note(context, body.name, needs, missing),
        }
    )
    return told


def _setup_note(context: Context, name: str, needs: Needs, missing: Mapping[str, list[str]]) -> str:
    """Say why a skill is not ready, and what the user can do about it, if anything; on another
    system, that it may not work.
    """
    never = never_given(missing["env"], context.machine)
    readiness, reason = readiness_of(missing, needs.systems, context.platform, never)
    if readiness != "setup_needed":
        return reason and f"it may not work here: {reason}"
    lacking = "; ".join(lacks(missing, never))
    able = (
        f"; the user can run: metier setup {one_line(name)}" if helps_with(missing, never) else ""
    )
    return f"missing before it can be used: {lacking}{able}"


def _section(context: Context, card: Card, heading: str) -> JsonObject:
    found = read.section_of(context, card.path, heading, inline=True)
    if not _fits_page(found.disclosed):
        raise RefusedError(
            "that section is longer than a page",
            code="too-large",
            hint="read the instructions page by page",
        )
    return {**_fields(found, "name", "section", "tokens"), "content": found.disclosed}


def _file(context: Context, card: Card, path: str, cursor: str = "") -> JsonObject:
    """Give one file: its text, page by page where it is long, or what a binary one is."""
    found = read.file_of(context, card.path, path, noted="")  # a page of it is counted as one
    told = _fields(found, "name", "file", "is_binary", "size", "mime", "sha256", "path")
    if found.disclosed is None:
        return told
    return {**told, **_paged(context, card, found, cursor, found.file)}


def _load_skill(context: Context, name: str, again: bool = False) -> JsonObject:  # noqa: FBT001, FBT002 - an argument of the tool, by its name
    card = _card(context, name)
    loaded = read.load_for_model(context, card.path, again=again)
    note = _setup_note(
        context, card.name, skill_files.needs_of(card, skill_files.fields_of(card)), loaded.missing
    )
    return {
        **_fields(loaded, "name", "tokens", "missing", "setup_help", "path"),
        "content": loaded.text,
        "already_loaded": loaded.already,
        "readiness_status": loaded.readiness,
        "setup_note": escape(note),
        **told_beside(loaded.interface, loaded.dependencies),
        "trust": loaded.level,
        "note": escape(offer.unoffered_note(card)),
    }


# --- doing


def _output(text: str) -> tuple[str, bool]:
    """Give what a script printed as it may stand in a prompt, and whether it is too long for a
    page.

    Of a long one both ends are kept: how it began, and the result, which mostly stands last.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= pages.PAGE_BYTES:
        return escape(data.decode()), False
    half = (pages.PAGE_BYTES - _NOTE_BYTES) // 2
    head, tail = (escape(part.decode("utf-8", "ignore")) for part in (data[:half], data[-half:]))
    left = len(data) - 2 * half
    return f"{head}\n[{left:,} bytes of {len(data):,} are left out here]\n{tail}", True


def _run_skill_script(
    context: Context,
    name: str,
    script: str,
    args: list[str] | None = None,
    how: ModelRunManner | None = None,
) -> JsonObject:
    card = _card(context, name)
    if context.runner is None and not context.settings.mcp.run:
        raise RefusedError(
            "scripts are not run here",
            code="no-runner",
            hint="ask the user to run it, or do its steps yourself",
        )
    from metier.run import for_model

    if context.runner is not None:
        exit_code, text, cut = for_model.run_by_host(
            context, context.runner, card, script, args or [], _output
        )
        return {
            "name": escape(card.name),
            "script": escape(script),
            "exit_code": exit_code,
            "output": text,
            "truncated": cut,
        }
    return _ran(for_model.run(context, card, script, args or [], how or for_model.PLAIN_MODEL_RUN))


def _ran(ran: Ran) -> JsonObject:
    """Say what a run came to; what it printed was cleaned already."""
    output, cut = _output(ran.output)
    result, cut_too = _output(ran.result or "")
    told: JsonObject = {
        "name": escape(ran.name),
        "script": escape(ran.script),
        "exit_code": ran.code,
        "output": output,
        "stopped": ran.stopped,
        "truncated": ran.truncated or cut or cut_too,
    }
    if ran.result is not None or ran.error or ran.declined:
        told |= {"result": result, "error": _words(ran.error), "declined": ran.declined}
    return told


def _skill_manage(library: Library, action: str, name: str, **arguments: Any) -> JsonObject:
    fault = fault_in_action(action, arguments)
    if fault:
        raise UsageError(fault, hint=f"it takes: {', '.join(ACTIONS[action]) or 'only a name'}")
    parts = {ACTIONS[action][key]: value for key, value in arguments.items()}
    try:
        done = library.manage(action, name, **parts)
    except NotFoundError as error:
        if action == "create" or "available_files" in error.details:
            raise
        raise offer.unknown_name(
            library.context, name, offer.audience_of(library.context)
        ) from error  # the names that the error brings up are not all offered
    return {
        **_fields(done, "action", "name", "path", "digest", "level", "staged", "message"),
        "findings": [
            _fields(one, "rule", "severity", "path", "line", "why")
            for one in done.findings[:_MAX_ERROR_ITEMS]
        ],
        "warnings": [escape(warning) for warning in done.warnings[:_MAX_ERROR_ITEMS]],
    }


_HANDLERS: dict[str, Callable[..., JsonObject]] = {
    "skills_categories": lambda context, cursor="": categories_answer(
        context, offer.offered_cards(context), cursor
    ),
    "skills_list": _skills_list,
    "skill_view": _skill_view,
    "search_skills": _search_skills,
    "load_skill": _load_skill,
    "read_skill_file": lambda context, name, path, cursor="": _file(
        context, _card(context, name), path, cursor
    ),
    "run_skill_script": _run_skill_script,
}
