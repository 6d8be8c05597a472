"""The tools, for clients that know nothing but tools: search, load, read, and where the user allows it, run.

What goes wrong is an answer with metier's code, message and hint, marked as an error; only a tool that is not there is a fault of
the protocol.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from metier import reading, tools
from metier.disclose import levels, pages
from metier.disclose.schemas import fault_in, schemas
from metier.disclose.tokens import estimate
from metier.discover import disk
from metier.errors import IntegrityError, MetierError, RefusedError, UsageError
from metier.execute import acts, answers
from metier.mcp import asking, rules
from metier.mcp.conversations import Revision
from metier.mcp.copies import copy_of
from metier.mcp.searching import Search
from metier.running.asked import Manner
from metier.skillfile import folder_name
from metier.standard.names import encodable
from metier.trust.boundary import disclosed, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metier.mcp.conversations import Conversation
    from metier.mcp.stock import Standing, Stock
    from metier.model import Card

READING = ("search_skills", "load_skill", "read_skill_file")
RUNNING = "run_skill_script"
CHANGED = "This skill has changed since you loaded it. What follows takes the place of what you were given before."
ROOM = 32 * 1024 * 1024
"""How many characters of loaded skills are held, so that who loads one of them again need not wait."""
_SHOWN, _OVERHEAD = 4_000, 2_000
_LOG = logging.getLogger("metier.mcp")


class _Given(NamedTuple):
    """A skill as it was loaded last: the answer, and the files that belong to it."""

    standing: Standing | None
    """What was known of the skill then: whatever changes that, changes what is said of it, too."""
    answer: dict[str, Any]
    revision: Revision
    tokens: int

    @property
    def size(self) -> int:
        """How many characters it takes up, about."""
        return len(self.answer["content"]) + _OVERHEAD


class Toolbox:
    """The tools of one stock."""

    def __init__(self, stock: Stock) -> None:
        """Begin with nothing loaded."""
        self.stock, self.library = stock, stock.library
        self.search = Search(stock)
        self._given: dict[str, _Given] = {}
        self._size = 0

    def names(self) -> tuple[str, ...]:
        """Name the tools that there are."""
        return (*READING, RUNNING) if self.library.settings.mcp.run else READING

    def listed(self) -> list[dict[str, Any]]:
        """Describe the tools."""
        return [
            {"name": tool["name"], "description": tool["description"], "inputSchema": tool["input_schema"],
             "annotations": {"readOnlyHint": tool["name"] in READING, "openWorldHint": False}}
            for tool in schemas(self.names())
        ]  # fmt: skip

    def quick(self, name: str, arguments: Mapping[str, Any], talk: Conversation | None) -> dict[str, Any] | None:
        """Answer what is known already, without a look at the disk; nothing when there is more to it."""
        snapshot, arguments = self.stock.peek(), _whole(arguments)
        if snapshot is None or fault_in(name, arguments):
            return None
        if name == "search_skills":
            found = self.search.known(snapshot, **arguments)
            return None if found is None else answered(found)
        if name != "load_skill":
            return None
        path = snapshot.names.get(arguments["name"])
        given = self._given.get(path) if path is not None else None
        if path is None or given is None or not self.stock.stands(path, given.standing):
            return None
        return self._loaded(arguments["name"], path, given, talk)

    def call(
        self, name: str, arguments: Mapping[str, Any], talk: Conversation | None, stopped: Callable[[], bool] | None = None
    ) -> dict[str, Any]:  # fmt: skip
        """Answer one call; what goes wrong is an answer, too. `stopped` says whether anybody still waits for it."""
        arguments = _whole(arguments)
        fault = fault_in(name, arguments)
        if fault:
            return failed(UsageError(f"{name}: {fault}", hint="see the tool's inputSchema").as_dict())
        try:
            if name == "search_skills":
                return answered(self.search.answer(**arguments))
            if name == "load_skill":
                return self._load(arguments["name"], talk)
            if name == "read_skill_file":
                return self._read(talk, **arguments)
            return self._run(talk, stopped, **arguments)
        except MetierError as error:
            return failed(error.as_dict())
        except Exception as error:  # noqa: BLE001 - what is wrong inside metier is no business of a model's
            _LOG.warning("%s failed: %s", name, type(error).__name__)
            return failed({"code": "unexpected", "message": "the tool failed", "hint": "tell the user"})

    # --- loading

    def _load(self, name: str, talk: Conversation | None) -> dict[str, Any]:
        stock = self.stock
        card = asking.named(stock, name, also=talk.named if talk else (), judged=False)
        with stock.alone:
            given = self._read_whole(card)
            # What a shell says may be otherwise each time, and what is missing may be there the next time.
            if given.standing is not None and not self.library.settings.inline_shell and "missing" not in given.answer:
                self._remember(card.path, given)
        return self._loaded(name, card.path, given, talk, counted=False)

    def _remember(self, path: str, given: _Given) -> None:
        before = self._given.pop(path, None)
        self._size += given.size - (before.size if before else 0)
        self._given[path] = given
        while self._size > ROOM:
            self._size -= self._given.pop(next(iter(self._given))).size

    def _read_whole(self, card: Card) -> _Given:
        """Have a skill let in, and hold its files as they were judged."""
        snapshot = self.stock.now()
        for _attempt in range(2):
            self.library.session.loaded.pop(card.path, None)  # what a conversation has is known by `Conversation`
            loaded = reading.load_for_model(self.library, card.path)
            copy = copy_of(card)
            if copy.fault or loaded.digest is None or copy.digest == loaded.digest:
                break
        else:
            raise IntegrityError(f"'{card.name}' changed while it was read", hint="load it again")
        self.stock.copies.keep(copy)
        standing = self.stock.admit(card, loaded.digest, loaded.level, snapshot.terms)
        told = {"name": escaped(loaded.name), "content": loaded.text, "tokens": loaded.tokens, "trust": loaded.level,
                "digest": loaded.digest or "", "path": escaped(loaded.path)}  # fmt: skip
        missing = {kind: names for kind, names in loaded.missing.items() if names}
        if missing:
            told |= {"readiness": loaded.readiness, "missing": _safe(missing), "setup_help": escaped(loaded.setup_help),
                     "setup_hint": f"on the machine itself the user can run: metier setup {escaped(loaded.name)}"}  # fmt: skip
        held = None if copy.fault else copy._replace(data={})
        closed = snapshot.closed.get(card.path, ())
        revision = Revision(card, loaded.digest or "", held, loaded.level, snapshot.terms, closed)
        return _Given(standing, tools.sayable(told), revision, loaded.tokens)

    def _loaded(
        self, name: str, path: str, given: _Given, talk: Conversation | None, *, counted: bool = True
    ) -> dict[str, Any]:  # fmt: skip
        before = talk.take(name, given.revision) if talk is not None else None
        if counted:
            self.stock.count(path, "load", given.tokens)
        changed = before is not None and before.digest != given.revision.digest
        again = before is not None and not changed
        structured = {**given.answer, "changed": changed, "already_loaded": again}
        texts = [*([CHANGED] if changed else ()), given.answer["content"], *_unready(given.answer)]
        return {"content": [{"type": "text", "text": text} for text in texts], "structuredContent": structured, "isError": False}

    # --- reading

    def _read(self, talk: Conversation | None, name: str, path: str, cursor: str = "") -> dict[str, Any]:
        card, revision = self._meant(name, talk)
        relative = levels.safe_relative(path)
        self._keep_out(card, relative, revision)
        if revision is None or revision.copy is None or card.kind != "skill-md":
            standing = self.stock.standing(card)
            if revision is not None and revision.digest != standing.digest:
                raise _gone(card)
            asked = {"name": card.path, "path": path, **({"cursor": cursor} if cursor else {})}
            return _from_tools(tools.call(self.library, "read_skill_file", asked))
        listed = next((one for one in revision.copy.files if one.path == relative), None)
        if listed is None:
            raise levels.no_such_file(card.name, relative, [one.path for one in revision.copy.files])
        data = self.stock.bytes_of(revision.copy, relative)
        if data is None:
            raise _gone(card)
        self.stock.count(card.path, "read", len(data) // 4)
        told = {"name": escaped(card.name), "file": escaped(relative), "size": listed.size, "sha256": listed.sha256,
                "path": escaped(listed.place)}  # fmt: skip
        return answered(tools.sayable({**told, **_content(card, data, cursor, revision.level)}))

    def _keep_out(self, card: Card, relative: str, revision: Revision | None) -> None:
        """Refuse a file of a skill that nobody gets, which lies inside another one; also over a link."""
        now = self.stock.now()
        closed = {*now.closed.get(card.path, ()), *(revision.closed if revision is not None else ())}
        if not closed:
            return
        if card.path not in now.visible:  # where its links lead to cannot be seen any more
            raise _gone(card)
        ways = relative, disk.real(f"{card.path}/{relative}").removeprefix(f"{disk.real(card.path)}/")
        if any(way == inner or way.startswith(f"{inner}/") for way in ways for inner in closed):
            raise asking.explained(self.stock, card, rules.blocked_inside(card, relative))

    def _meant(self, name: str, talk: Conversation | None) -> tuple[Card, Revision | None]:
        """Give the skill that a name means in this conversation: what was loaded under it, for as long as nobody forbids that.

        A skill that has gone since, or that another one stands before now, is still what the conversation goes by; but then only
        what was let in under the same configuration and decisions.
        """
        stock, also = self.stock, talk.named if talk else set()
        revision = talk.under(name) if talk is not None else None
        if revision is None:
            card = asking.named(stock, name, also=also)
            return card, talk.loaded.get(card.path) if talk is not None else None
        snapshot, path = stock.now(), revision.card.path
        now = next((card for card in snapshot.found.cards if card.path == path), None) if path not in snapshot.visible else None
        if path in snapshot.visible or (now is not None and now.state != "shadowed"):
            return asking.named(stock, path, also=also), revision
        if revision.copy is None or revision.terms != snapshot.terms:
            raise _gone(revision.card)
        return revision.card, revision

    # --- running

    def _run(
        self, talk: Conversation | None, stopped: Callable[[], bool] | None, name: str, script: str, args: list[str] | None = None
    ) -> dict[str, Any]:  # fmt: skip
        card, revision = self._meant(name, talk)
        if revision is not None:  # what runs is what lies there: it must be what was loaded
            card = asking.named(self.stock, name, also=talk.named if talk else ())
            if card.path != revision.card.path or revision.digest != self.stock.standing(card).digest:
                raise _gone(revision.card)
        if card.kind == "code":
            self._may_run_code(card, script, args or [])
        else:
            self._keep_out(card, levels.safe_relative(script), revision)
        # The user's configuration is the consent: nobody can be asked here, and a model's own words are nobody's yes (CO-18).
        settings = self.library.settings.mcp
        manner = Manner(f"mcp-{self.stock.door}", settings.seconds, stopped, settings.destructive)
        return _from_tools(tools.run_script(self.library, card.path, script, args or [], manner))

    def _may_run_code(self, card: Card, task: str, args: list[str]) -> None:
        """Refuse what an agent may not have a code skill do (CO-18, CO-21)."""
        facts = self.stock.facts_of(card)
        destructive = facts is None or acts.is_destructive(card.name, facts.name, folder_name(card), declared=facts.destructive)
        if destructive and not self.library.settings.mcp.destructive:
            raise RefusedError(f"'{card.name}' can destroy something; agents may not run such skills here", code="destructive",
                               hint="the user can run it, or allow it: mcp.destructive in the configuration")  # fmt: skip
        if len(task) > answers.MOST_TASK or len("\n".join(args)) > answers.MOST_CONTEXT:
            raise UsageError(f"a task has at most {answers.MOST_TASK:,} characters, and what goes with it {answers.MOST_CONTEXT:,}",
                             hint="say it in fewer words")  # fmt: skip


def _whole(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Take 2.0 for the whole number that it is (JSON has only one kind of number)."""
    return {key: int(value) if isinstance(value, float) and value.is_integer() else value for key, value in arguments.items()}


def _gone(card: Card) -> RefusedError:
    return RefusedError(f"'{card.name}' has changed since you loaded it, and the files of then are not held any more",
                        code="revision-gone", hint="load it again with load_skill; then read its files")  # fmt: skip


def _content(card: Card, data: bytes, cursor: str, level: Any) -> dict[str, Any]:
    """Give a file's text page by page, or say that it has none."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"is_binary": True}
    if "\0" in text:
        return {"is_binary": True}
    page = pages.page(text, cursor)
    return {"is_binary": False, "content": disclosed(card.name, page.content, level), "next_cursor": page.cursor,
            "tokens": estimate(page.content)}  # fmt: skip


def _from_tools(found: dict[str, Any]) -> dict[str, Any]:
    """Turn an answer of metier's own tools into one of this door."""
    if not found.pop("success"):
        return failed(found["error"])
    return answered(found)


def answered(found: dict[str, Any]) -> dict[str, Any]:
    """Give an answer as data and as text."""
    text = found["content"] if isinstance(found.get("content"), str) else json.dumps(found, ensure_ascii=False)
    more = found.get("next_cursor")
    texts = [text, f"This is not the end of it. The next page: the same call with cursor {more}"] if more else [text]
    return {"content": [{"type": "text", "text": one} for one in texts], "structuredContent": found, "isError": False}


def _unready(answer: Mapping[str, Any]) -> list[str]:
    """Say what keeps a skill from working: some clients pass on nothing but text."""
    if not answer.get("missing"):
        return []
    lacking = "; ".join(f"{kind}: {', '.join(map(str, names))}" for kind, names in answer["missing"].items())
    return [f"This skill is not ready to be used. Missing: {lacking}. {answer['setup_hint']}"]


def failed(error: Mapping[str, Any]) -> dict[str, Any]:
    """Give what went wrong as data and as text, bounded and escaped: it quotes what strangers wrote."""
    told = {key: _safe(value) for key, value in error.items() if value}
    text = f"{told.get('code', 'error')}: {told.get('message', '')}" + (f"\nhint: {told['hint']}" if told.get("hint") else "")
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"error": told}, "isError": True}


def _safe(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return encodable(escaped(value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"))
    if isinstance(value, dict) and depth < 4:
        return {_safe(str(key)): _safe(item, depth + 1) for key, item in list(value.items())[:100]}
    if isinstance(value, (list, tuple)) and depth < 4:
        return [_safe(item, depth + 1) for item in value[:100]]
    return value if isinstance(value, (bool, int, float)) else None
