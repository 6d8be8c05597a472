"""The tools that a host registers for its model: their schemas, and handlers that any framework can call.

A handler never raises for what a model or a skill did wrong: it gives `{"success": false, "error": …}`. Whatever it gives is
plain data, fit for JSON, and what a skill says stands in it only as it may stand in a prompt (`disclosed`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metier import counting, reading, skillfile
from metier.disclose import pages
from metier.disclose.schemas import ACTIONS, USUAL_HITS, fault_in, fault_in_action, handle, known, schemas
from metier.disclose.wire import plain
from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.model import Body, Card, Needs
from metier.resolve.needs import helps_with, lacks, never_given, readiness_of
from metier.standard.names import encodable, nearest, one_line
from metier.standard.needs import read_needs
from metier.trust.boundary import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.app import Library
    from metier.running.asked import Manner
    from metier.runs import Ran

__all__ = ["call", "handlers", "run_script", "schemas"]

SUGGESTED = 20
"""Names that an unknown one brings up (HE-9)."""
DESCRIPTION_LENGTH = 1024
ROOM = pages.PAGE_BYTES - 16 * 1024
"""Bytes of a page that rows may fill; the rest is for what stands around them (CX-59)."""
_TRUSTED = frozenset({"builtin", "trusted"})
_NOTE = 128
"""Bytes for the line that says how much of an output is left out."""
_LISTED, _SHOWN = 100, 4_000
"""How many items and characters of an error reach a model."""


def handlers(library: Library) -> dict[str, Callable[..., dict[str, Any]]]:
    """Give every tool as a function of its arguments."""

    def handler(name: str) -> Callable[..., dict[str, Any]]:
        return lambda **arguments: call(library, name, arguments)

    return {name: handler(name) for name in _HANDLERS}


def call(library: Library, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Call a tool by its name; what goes wrong is an answer."""

    def answer() -> dict[str, Any]:
        _check(name, arguments)
        return _HANDLERS[name](library, **arguments)

    return _answered(answer)


def run_script(library: Library, name: str, script: str, args: list[str], how: Manner) -> dict[str, Any]:
    """Do what the tool `run_skill_script` does, in the way of a door that has limits of its own."""
    return _answered(lambda: _run_skill_script(library, name, script, args, how))


def _answered(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return sayable({"success": True, **answer()})  # type: ignore[no-any-return]
    except MetierError as error:
        return {"success": False, "error": _short(error.as_dict())}
    except Exception:  # noqa: BLE001 - what is wrong inside metier or the host is no business of a model's
        message, hint = "the tool failed", "tell the user; trying again will hardly help"
        return {"success": False, "error": {"code": "unexpected", "message": message, "hint": hint}}


def _check(name: str, arguments: object) -> None:
    fault = fault_in(known(name), arguments) if isinstance(arguments, Mapping) else "the arguments are no object"
    if fault:
        raise UsageError(f"{name}: {fault}", hint="see the tool's input_schema")


def _short(value: Any, depth: int = 0) -> Any:
    """Give an error's details bounded and escaped: they quote names and places that strangers chose."""
    if isinstance(value, str):
        return _words(value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…")
    if depth > 4:
        return None
    if isinstance(value, dict):
        return {_words(str(key)): _short(item, depth + 1) for key, item in list(value.items())[:_LISTED]}
    if isinstance(value, (list, tuple)):
        return [_short(item, depth + 1) for item in value[:_LISTED]]
    return value


def _words(text: str) -> str:
    """Give a stranger's words as they may stand in a prompt."""
    return encodable(escaped(text))


def _safe(value: Any) -> Any:
    """Escape every text in plain data."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped(str(key)): _safe(item) for key, item in value.items()}
    return [_safe(item) for item in value] if isinstance(value, list) else value


def sayable(value: Any) -> Any:
    """Replace what UTF-8 cannot say, at every depth: a file's name may hold half a character."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {encodable(key): sayable(item) for key, item in value.items()}
    return [sayable(item) for item in value] if isinstance(value, list) else value


# --- which skills there are


def _skills_list(library: Library, category: str | None = None, cursor: str = "") -> dict[str, Any]:
    cards = _visible(library)
    chosen = cards if category is None else [card for card in cards if card.category == category]
    rows = [_row(card) for card in chosen]
    shown, following = _page(rows, cursor)
    categories = sorted({one_line(escaped(card.category)) for card in cards if card.category})[:_LISTED]
    hint = "read one with skill_view(name)" if rows else "there is none; without a category all are listed"
    return {"skills": shown, "categories": categories, "count": len(rows), "next_cursor": following, "hint": hint}


def _visible(library: Library) -> list[Card]:
    """Give what a model is told of: nothing hidden, nothing that nobody said yes to."""
    return [card for card in library.skills() if card.state == "visible"]


def _row(card: Card) -> dict[str, Any]:
    text = one_line(escaped(card.description))
    text = text if len(text) <= DESCRIPTION_LENGTH else text[: DESCRIPTION_LENGTH - 1] + "…"
    return {"name": escaped(card.name), "description": text, "category": one_line(escaped(card.category)),
            "readiness": card.readiness}  # fmt: skip


def _page(rows: list[dict[str, Any]], cursor: str) -> tuple[list[dict[str, Any]], str]:
    """Give as many rows as a page has room for, from the cursor on, and the cursor of the next page."""
    texts = [json.dumps(sayable(row)) for row in rows]
    mark = pages.fingerprint("\n".join(texts).encode())
    start = end = pages.place_in(cursor, mark, len(rows))
    room = ROOM
    while end < len(rows) and (end == start or len(texts[end]) + 2 <= room):
        room -= len(texts[end]) + 2
        end += 1
    return rows[start:end], pages.cursor_at(mark, end) if end < len(rows) else ""


def _search_skills(library: Library, query: str, limit: int = USUAL_HITS) -> dict[str, Any]:
    cards = _visible(library)
    allowed = {card.path for card in cards}
    # A ranker may be anybody's: what it gives back is held against what it was given.
    found = [card for card in _ranked(library, query, cards) if card.path in allowed]
    unique = list({card.path: card for card in found}.values())
    return {"query": _words(query), "hits": [_row(card) for card in unique[:limit]], "count": min(len(unique), limit)}


def _ranked(library: Library, query: str, cards: list[Card]) -> Iterable[Card]:
    if library.ranker is not None:
        return library.ranker.rank(query, cards)
    from metier.routing import Router  # few sessions search

    return Router(library).rank(query, cards)


# --- one skill


def _offered(library: Library, name: str, *, to_read: bool = False) -> Card:
    """Give the skill that a model may use under this name; refuse every other, with the reason (HE-9).

    One that is kept from models may be read nevertheless once a person has named it in this conversation (CX-49).
    """
    card = _named(library, name)
    by_hand = to_read and card.held == "model" and card.path in library.session.loaded
    reason = _words(card.reasons[0]) if card.reasons else ""
    shown = one_line(card.name)[:DESCRIPTION_LENGTH]
    if card.held == "disabled":
        raise RefusedError(f"'{shown}' is {reason}", code="disabled", hint=f"the user can show it again: metier enable {shown}")
    if card.held == "gate" and card.readiness == "unsupported":  # what its prose says about systems refuses nothing
        refused = RefusedError(f"'{shown}' does not work on this platform: {reason}", code="unsupported", hint="use another skill")
        refused.details["readiness_status"] = card.readiness
        raise refused
    if card.state == "ask":
        raise RefusedError(f"'{shown}' waits for the user's yes: {reason}", code="ask",
                           hint=f"ask the user to look at it: metier show {shown}; then: metier trust approve {shown}")  # fmt: skip
    if card.state == "invalid" or (card.state == "hidden" and card.held != "unready" and not by_hand):
        raise RefusedError(f"'{shown}' is not offered to you: {reason}", code=card.state, hint="the user can still name it")
    return card


def _named(library: Library, name: str) -> Card:
    """Give the skill of a name; where there is none, bring up names that are offered and no others."""
    try:
        return library.resolve(handle(name))
    except NotFoundError as error:
        raise _unknown(library, name) from error


def _unknown(library: Library, name: str) -> NotFoundError:
    """Say that there is no such skill, with names that are offered."""
    names = nearest(name, {card.name for card in _visible(library)}, SUGGESTED)
    error = NotFoundError(f"there is no skill named '{name[:DESCRIPTION_LENGTH]}'", hint="choose one of: " + ", ".join(names)
                          if names else "there are no skills")  # fmt: skip
    error.details["available_skills"] = names
    return error


def _skill_view(
    library: Library, name: str, file_path: str | None = None, section: str | None = None, cursor: str = ""
) -> dict[str, Any]:  # fmt: skip
    card = _offered(library, name, to_read=True)
    if section is not None and (file_path is not None or cursor):
        raise UsageError("a section is a part of the instructions", hint="give a section without file_path and cursor")
    if section is not None:
        return _section(library, card, section)
    if file_path is not None:
        return _file(library, card, file_path, cursor)
    body = library.view(card.path)
    assert isinstance(body, Body)
    return _viewed(library, card, body, cursor)


def _viewed(library: Library, card: Card, body: Body, cursor: str) -> dict[str, Any]:
    """Lay a body out as its own agent does (HE-18)."""
    safe = plain if body.level in _TRUSTED else lambda value: _safe(plain(value))
    linked = {kind: names for kind, names in body.linked_files.items() if names}
    metadata = body.fields.get("metadata")
    name = escaped(body.name)
    return {
        "name": name, "description": safe(body.description), "tags": safe(body.tags), "related_skills": safe(body.related_skills),
        **_content(library, card, body, cursor),
        "path": escaped(body.path), "skill_dir": escaped(body.path if card.kind == "skill-md" else body.path.rpartition("/")[0]),
        "linked_files": safe(linked),
        "usage_hint": f"read a linked file with skill_view(name={name!r}, file_path=…)" if linked else "",
        **_readiness(library, card, body),
        "compatibility": safe(body.fields.get("compatibility", "")),
        "metadata": safe(metadata) if isinstance(metadata, dict) else {},
        "trust": body.level, "verdict": body.verdict, "tokens": body.tokens,
    }  # fmt: skip


def _content(library: Library, card: Card, body: Body, cursor: str) -> dict[str, Any]:
    """Give the instructions: whole where they fit into a page, otherwise page by page."""
    if not cursor and len(body.disclosed.encode("utf-8", "surrogatepass")) <= pages.PAGE_BYTES:
        return {"content": body.disclosed, "next_cursor": ""}
    page = library.page(card.path, None, cursor)
    return {"content": page.disclosed, "next_cursor": page.cursor}


def _needs(card: Card, fields: dict[str, Any]) -> Needs:
    sidecar = skillfile.sidecar_at(card.path) if card.kind == "skill-md" else None
    return read_needs(fields, {}, sidecar)[1] or Needs()


def _readiness(library: Library, card: Card, body: Body) -> dict[str, Any]:
    """Say what a skill needs and what of it is missing; names only, never a value."""
    needs, missing = _needs(card, body.fields), body.missing
    waiting = body.readiness == "setup_needed"
    never = never_given(missing["env"], library.machine)
    far = waiting and library.settings.host_platform not in {"", "cli"} and any(name not in never for name in missing["env"])
    command = f"metier setup {one_line(body.name)}"
    told: dict[str, Any] = _safe({
        "required_environment_variables": list(needs.env), "required_commands": list(needs.commands),
        "missing_required_environment_variables": list(missing["env"]), "missing_credential_files": list(missing["files"]),
        "missing_required_commands": list(missing["commands"]),
        "setup_needed": waiting, "setup_skipped": waiting and any(name in library.session.asked for name in missing["env"]),
        "readiness_status": body.readiness, "setup_help": body.setup_help,
        "gateway_setup_hint": f"secrets are not asked for in a chat; on the machine itself: {command}" if far else "",
        "setup_note": _setup_note(library, body.name, needs, missing),
    })  # fmt: skip
    return told


def _setup_note(library: Library, name: str, needs: Needs, missing: Mapping[str, list[str]]) -> str:
    """Say why a skill is not ready, and what the user can do about it, if anything; on another system, that it may not work."""
    never = never_given(missing["env"], library.machine)
    readiness, reason = readiness_of(missing, needs.systems, library.platform, never)
    if readiness != "setup_needed":
        return reason and f"it may not work here: {reason}"
    lacking = "; ".join(lacks(missing, never))
    able = f"; the user can run: metier setup {one_line(name)}" if helps_with(missing, never) else ""
    return f"missing before it can be used: {lacking}{able}"


def _section(library: Library, card: Card, heading: str) -> dict[str, Any]:
    found = library.section(card.path, heading)
    if len(found.disclosed.encode("utf-8", "surrogatepass")) > pages.PAGE_BYTES:
        raise RefusedError("that section is longer than a page", code="too-large", hint="read the instructions page by page")
    return {"name": escaped(found.name), "section": escaped(found.section), "content": found.disclosed, "tokens": found.tokens}


def _file(library: Library, card: Card, path: str, cursor: str = "") -> dict[str, Any]:
    """Give one file: its text, page by page where it is long, or what a binary one is."""
    found = reading.file_of(library, card.path, path, noted="")  # a page of it is counted as one
    told = {"name": escaped(found.name), "file": escaped(found.file), "is_binary": found.is_binary, "size": found.size,
            "mime": found.mime, "sha256": found.sha256, "path": escaped(found.path)}  # fmt: skip
    if found.disclosed is None:
        return told
    if not cursor and len(found.disclosed.encode("utf-8", "surrogatepass")) <= pages.PAGE_BYTES:
        counting.note(library, card, "read", found.tokens)
        return {**told, "content": found.disclosed, "next_cursor": "", "tokens": found.tokens}
    page = library.page(card.path, found.file, cursor)
    return {**told, "content": page.disclosed, "next_cursor": page.cursor, "tokens": page.tokens}


def _load_skill(library: Library, name: str) -> dict[str, Any]:
    card = _offered(library, name, to_read=True)
    loaded = reading.load_for_model(library, card.path)
    note = _setup_note(library, card.name, _needs(card, skillfile.fields_of(card)), loaded.missing)
    return {"name": escaped(loaded.name), "content": loaded.text, "already_loaded": loaded.already, "tokens": loaded.tokens,
            "readiness_status": loaded.readiness, "missing": _safe(plain(loaded.missing)),
            "setup_help": escaped(loaded.setup_help), "setup_note": escaped(note), "path": escaped(loaded.path),
            "trust": loaded.level}  # fmt: skip


def _read_skill_file(library: Library, name: str, path: str, cursor: str = "") -> dict[str, Any]:
    return _file(library, _offered(library, name, to_read=True), path, cursor)


# --- doing


def _output(text: str) -> tuple[str, bool]:
    """Give what a script printed as it may stand in a prompt, and whether it is too long for a page.

    Of a long one both ends are kept: how it began, and the result, which mostly stands last.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= pages.PAGE_BYTES:
        return escaped(data.decode()), False
    half = (pages.PAGE_BYTES - _NOTE) // 2
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    left = len(data) - 2 * half
    return f"{escaped(head)}\n[{left:,} bytes of {len(data):,} are left out here]\n{escaped(tail)}", True


def _run_skill_script(
    library: Library, name: str, script: str, args: list[str] | None = None, how: Manner | None = None
) -> dict[str, Any]:  # fmt: skip
    card = _offered(library, name)
    if library.runner is None and not library.settings.mcp.run:
        raise RefusedError("scripts are not run here", code="no-runner", hint="ask the user to run it, or do its steps yourself")
    if library.runner is not None:
        from metier.running import hosted

        exit_code, text, cut = hosted.run(library, library.runner, card, script, args or [], _output)
        return {"name": escaped(card.name), "script": escaped(script), "exit_code": exit_code, "output": text, "truncated": cut}
    from metier.running import asked

    return _ran(asked.run(library, card, script, args or [], how or asked.PLAIN))


def _ran(ran: Ran) -> dict[str, Any]:
    """Say what a run came to; what it printed was cleaned already."""
    output, cut = _output(ran.output)
    result, cut_too = _output(ran.result or "")
    told: dict[str, Any] = {
        "name": escaped(ran.name), "script": escaped(ran.script), "exit_code": ran.code, "output": output,
        "stopped": ran.stopped, "truncated": ran.truncated or cut or cut_too,
    }  # fmt: skip
    if ran.result is not None or ran.error or ran.declined:
        told |= {"result": result, "error": _words(ran.error), "declined": ran.declined}
    return told


def _skill_manage(library: Library, action: str, name: str, **arguments: Any) -> dict[str, Any]:
    fault = fault_in_action(action, arguments)
    if fault:
        raise UsageError(fault, hint=f"it takes: {', '.join(ACTIONS[action]) or 'only a name'}")
    parts = {ACTIONS[action][key]: value for key, value in arguments.items()}
    try:
        done = library.manage(action, name, **parts)
    except NotFoundError as error:
        if action == "create" or "available_files" in error.details:
            raise
        raise _unknown(library, name) from error  # the names that the error brings up are not all offered
    keys = ("rule", "severity", "path", "line", "why")
    found = [{key: getattr(one, key) for key in keys} for one in done.findings[:_LISTED]]
    return {"action": done.action, "name": escaped(done.name), "path": escaped(done.path), "digest": done.digest,
            "level": done.level, "findings": _safe(found), "staged": done.staged, "message": escaped(done.message),
            "warnings": [escaped(warning) for warning in done.warnings[:_LISTED]]}  # fmt: skip


_HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    "skills_list": _skills_list, "skill_view": _skill_view, "skill_manage": _skill_manage, "search_skills": _search_skills,
    "load_skill": _load_skill, "read_skill_file": _read_skill_file, "run_skill_script": _run_skill_script,
}  # fmt: skip
