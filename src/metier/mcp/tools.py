"""Implements the MCP tools: search, load and read skills, and run scripts where the user allows it.

They are for clients that know nothing but tools. What goes wrong is an answer with metier's code,
message and hint, marked as an error; only a tool that is not there is a fault of the protocol. The
same search is answered once per snapshot.
"""

from __future__ import annotations

import json
import logging
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.disclose import pages, read, tools
from metier.disclose.offer import unoffered_note
from metier.disclose.schemas import DEFAULT_HITS, fault_in, schemas
from metier.discover.io import disk
from metier.discover.skill_files import folder_name
from metier.errors import IntegrityError, MetierError, RefusedError, UsageError
from metier.find.service import best_cards, prepare
from metier.mcp import refusals
from metier.mcp.copies import copy_skill, drop_oldest
from metier.run import answers, confirm
from metier.run.for_model import ModelRunManner
from metier.standard import skill_paths
from metier.standard.names import encodable, one_line, shortened
from metier.trust.boundary import escape, wrap_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from metier.mcp.catalogue import ServedCatalogue, ServedSnapshot, SkillPermission
    from metier.mcp.sessions import Conversation, LoadedRevision
    from metier.model import Card, JsonObject, Texts


MAX_REMEMBERED_ANSWERS = 512
ANSWER_SECONDS = 300
"""How many answers are remembered, and for how long: as long as a decision holds."""
MAX_DESCRIPTION_CHARACTERS = 300
"""How many characters of a description an answer has: enough to choose by."""
MAX_PASSED_OVER = 30
"""How many of the best may turn out not to be usable before the search ends."""


class SkillSearch:
    """Searches among what is served."""

    def __init__(self, served: ServedCatalogue) -> None:
        """Begin with nothing remembered."""
        self.served = served
        self._known: OrderedDict[tuple[object, ...], tuple[float, JsonObject]] = OrderedDict()

    def known(
        self,
        snapshot: ServedSnapshot,
        query: str,
        limit: int = DEFAULT_HITS,
        category: str | None = None,
    ) -> JsonObject | None:
        """Give an answer that was given before, and still holds."""
        asked = (snapshot.generation, query, limit, category)
        until, found = self._known.get(asked, (0.0, None))
        return found if until > time.monotonic() else None

    def answer(
        self, query: str, limit: int = DEFAULT_HITS, category: str | None = None
    ) -> JsonObject:
        """Give the best that may be used."""
        snapshot = self.served.now()
        hits: list[JsonObject] = []
        passed = 0
        until = time.monotonic() + ANSWER_SECONDS
        for card in self._ranked(snapshot, query, limit, category):
            if len(hits) >= limit or passed > MAX_PASSED_OVER:
                break
            if card.path in snapshot.visible:
                standing = self.served.standing(card)
                until = min(until, standing.until)
                if standing.refusal is None:
                    hits.append(hit_row(card))
                    continue
            passed += 1
        found = {"query": encodable(escape(query)), "hits": hits, "count": len(hits)}
        if snapshot.damage:
            found["warning"] = encodable(snapshot.damage)
        self._known[snapshot.generation, query, limit, category] = until, found
        drop_oldest(self._known, MAX_REMEMBERED_ANSWERS)
        return found

    def warm(self) -> None:
        """Have the index ready before somebody asks."""
        self.served.now()
        if self.served.context.ranker is None:
            self._prepare()

    def _prepare(self) -> None:
        """Have vectors made that the next questions would lack, by a process of its own."""
        prepare(self.served.context)

    def _ranked(
        self, snapshot: ServedSnapshot, query: str, limit: int, category: str | None
    ) -> Iterable[Card]:
        context = self.served.context
        among = snapshot.among
        if category is not None:
            among = frozenset(p for p, one in snapshot.visible.items() if one.category == category)
        if not query.strip() or not among:
            return []
        if context.ranker is None:
            context.in_background(self._prepare)  # what is missing, for later questions
            return best_cards(context, query, among, limit)
        # A ranker may be anybody's: what it gives back is held against what it was given.
        cards = [card for path, card in snapshot.visible.items() if path in among]
        given = context.ranker.rank(query, cards)
        return {card.path: card for card in given if card.path in among}.values()


def hit_row(card: Card) -> JsonObject:
    """Give what an answer says of a skill."""
    text = shortened(one_line(escape(card.description)), MAX_DESCRIPTION_CHARACTERS)
    told = {"name": escape(card.name), "description": text}
    if card.readiness != "available":
        told["readiness"] = card.readiness
    return {key: encodable(value) for key, value in told.items()}


# --- all tools

READING_TOOLS = ("skills_categories", "search_skills", "load_skill", "read_skill_file")
RUN_TOOL = "run_skill_script"
CHANGED_NOTE = (
    "This skill has changed since you loaded it. What follows takes the place of what "
    "you were given before."
)
MAX_HELD_CHARACTERS = 32 * 1024 * 1024
"""How many characters of loaded skills are held, so that who loads one of them again need not
wait."""
_OVERHEAD_CHARACTERS = 2_000
_LOG = logging.getLogger("metier.mcp")


class _LoadedAnswer(NamedTuple):
    """A skill as it was loaded last: the answer, and the files that belong to it."""

    standing: SkillPermission | None
    """What was known of the skill then: whatever changes that, changes what is said of it, too."""
    answer: JsonObject
    revision: LoadedRevision
    tokens: int

    @property
    def size(self) -> int:
        """How many characters it takes up, about."""
        return len(self.answer["content"]) + _OVERHEAD_CHARACTERS


class SkillTools:
    """The tools of one server."""

    def __init__(self, served: ServedCatalogue) -> None:
        """Begin with nothing loaded."""
        self.served = served
        self.library = served.library
        self.context = served.context
        self.search = SkillSearch(served)
        self._given: dict[str, _LoadedAnswer] = {}
        self._size = 0

    def names(self) -> Texts:
        """Name the tools that there are."""
        return (*READING_TOOLS, RUN_TOOL) if self.context.settings.mcp.run else READING_TOOLS

    def listed(self) -> list[JsonObject]:
        """Describe the tools."""
        return [
            {
                "name": tool["name"],
                "description": tool["description"],
                "inputSchema": tool["input_schema"],
                "annotations": {
                    "readOnlyHint": tool["name"] in READING_TOOLS,
                    "openWorldHint": False,
                },
            }
            for tool in schemas(self.names())
        ]

    def quick(
        self, name: str, arguments: Mapping[str, Any], conversation: Conversation | None
    ) -> JsonObject | None:
        """Answer what is known already, without a look at the disk; nothing when there is more to
        it.
        """
        snapshot = self.served.peek()
        arguments = _whole_numbers(arguments)
        if snapshot is None or fault_in(name, arguments):
            return None
        if name == "search_skills":
            found = self.search.known(snapshot, **arguments)
            return None if found is None else tool_answer(found)
        if name != "load_skill":
            return None
        path = snapshot.names.get(arguments["name"], "")
        given = self._given.get(path)
        if given is None or not self.served.stands(path, given.standing):
            return None
        return self._loaded(arguments["name"], path, given, conversation)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        conversation: Conversation | None,
        stopped: Callable[[], bool] | None = None,
    ) -> JsonObject:
        """Answer one call; what goes wrong is an answer, too. `stopped` says whether anybody still
        waits for it.
        """
        arguments = _whole_numbers(arguments)
        fault = fault_in(name, arguments)
        if fault:
            return tool_failure(
                UsageError(f"{name}: {fault}", hint="see the tool's inputSchema").as_dict()
            )
        try:
            if name == "search_skills":
                return tool_answer(self.search.answer(**arguments))
            if name == "skills_categories":
                return self._categories(**arguments)
            if name == "load_skill":
                return self._load(arguments["name"], conversation)
            if name == "read_skill_file":
                return self._read(conversation, **arguments)
            return self._run(conversation, stopped, **arguments)
        except MetierError as error:
            return tool_failure(error.as_dict())
        except Exception as error:  # noqa: BLE001 - what is wrong inside metier is no business of a model's
            _LOG.warning("%s failed: %s", name, type(error).__name__)
            return tool_failure(
                {"code": "unexpected", "message": "the tool failed", "hint": "tell the user"}
            )

    def _categories(self, cursor: str = "") -> JsonObject:
        served = self.served
        cards = [card for card in served.now().visible.values() if served.kept_in(card) is None]
        return tool_answer(tools.sayable(tools.categories_answer(self.context, cards, cursor)))

    # --- loading

    def _load(self, name: str, conversation: Conversation | None) -> JsonObject:
        served = self.served
        card = refusals.usable_card(
            served, name, also=conversation.named if conversation else (), judged=False
        )
        with served.alone:
            given = self._read_whole(card)
            # What a shell says may be otherwise each time, and what is missing may be there the
            # next time.
            if (
                given.standing is not None
                and not self.context.settings.inline_shell
                and "missing" not in given.answer
            ):
                self._remember(card.path, given)
        return self._loaded(name, card.path, given, conversation, counted=False)

    def _remember(self, path: str, given: _LoadedAnswer) -> None:
        before = self._given.pop(path, None)
        self._size += given.size - (before.size if before else 0)
        self._given[path] = given
        while self._size > MAX_HELD_CHARACTERS:
            self._size -= self._given.pop(next(iter(self._given))).size

    def _read_whole(self, card: Card) -> _LoadedAnswer:
        """Have a skill let in, and hold its files as they were judged."""
        snapshot = self.served.now()
        for _attempt in range(2):
            self.context.session.loaded.pop(
                card.path, None
            )  # what a conversation has is known by `Conversation`
            loaded = read.load_for_model(self.context, card.path)
            copy = copy_skill(card)
            if copy.fault or loaded.digest is None or copy.digest == loaded.digest:
                break
        else:
            raise IntegrityError(f"'{card.name}' changed while it was read", hint="load it again")
        standing = self.served.admit(card, loaded.digest, loaded.level, snapshot.terms)
        told = {
            "name": escape(loaded.name),
            "content": loaded.text,
            "tokens": loaded.tokens,
            "trust": loaded.level,
            "digest": loaded.digest or "",
            "path": escape(loaded.path),
        }
        beside = tools.told_beside(loaded.interface, loaded.dependencies)
        told |= {key: said for key, said in beside.items() if said}
        note = unoffered_note(card)
        if note:
            told["note"] = escape(note)
        missing = {kind: names for kind, names in loaded.missing.items() if names}
        if missing:
            told |= {
                "readiness": loaded.readiness,
                "missing": tools.bounded(missing),
                "setup_help": escape(loaded.setup_help),
                "setup_hint": f"on the machine itself the user can run: metier setup "
                f"{escape(loaded.name)}",
            }
        revision = self.served.revision_of(snapshot, copy, card, loaded.digest or "", loaded.level)
        return _LoadedAnswer(standing, tools.sayable(told), revision, loaded.tokens)

    def _loaded(
        self,
        name: str,
        path: str,
        given: _LoadedAnswer,
        conversation: Conversation | None,
        *,
        counted: bool = True,
    ) -> JsonObject:
        before = conversation.take(name, given.revision) if conversation is not None else None
        if counted:
            self.served.count(path, "load", given.tokens)
        changed = before is not None and before.digest != given.revision.digest
        again = before is not None and not changed
        texts = [given.answer["content"], *filter(None, [given.answer.get("note")])]
        texts += _unready(given.answer)
        if changed:
            texts.insert(0, CHANGED_NOTE)
        return _result({**given.answer, "changed": changed, "already_loaded": again}, *texts)

    # --- reading

    def _read(
        self, conversation: Conversation | None, name: str, path: str, cursor: str = ""
    ) -> JsonObject:
        card, revision = self._meant(name, conversation)
        relative = skill_paths.safe_relative(path)
        self._keep_out(card, relative, revision)
        if revision is None or revision.copy is None or card.kind != "skill-md":
            if revision is not None:
                self.served.forget(card.path)  # what was decided may be older than what lies there
                if revision.digest != self.served.standing(card).digest:
                    raise _revision_gone(card)
            asked = {"name": card.path, "path": path, **({"cursor": cursor} if cursor else {})}
            return _from_tools(tools.call(self.library, "read_skill_file", asked))
        listed = next((one for one in revision.copy.files if one.path == relative), None)
        if listed is None:
            raise skill_paths.no_such_file(
                card.name, relative, [one.path for one in revision.copy.files]
            )
        data = self.served.bytes_of(revision.copy, relative)
        if data is None:
            raise _revision_gone(card)
        self.served.count(card.path, "read", len(data) // 4)
        told = {
            "name": escape(card.name),
            "file": escape(relative),
            "size": listed.size,
            "sha256": listed.sha256,
            "path": escape(listed.place),
        }
        return tool_answer(tools.sayable({**told, **_content(card, data, cursor, revision.level)}))

    def _keep_out(self, card: Card, relative: str, revision: LoadedRevision | None) -> None:
        """Refuse a file of a skill that nobody gets, which lies inside another one; also over a
        link.
        """
        now = self.served.now()
        closed = {*now.closed.get(card.path, ()), *(revision.closed if revision else ())}
        if not closed:
            return
        if card.path not in now.visible:  # where its links lead to cannot be seen any more
            raise _revision_gone(card)
        real = disk.real(f"{card.path}/{relative}").removeprefix(f"{disk.real(card.path)}/")
        if any(f"{way}/".startswith(f"{inner}/") for way in (relative, real) for inner in closed):
            raise refusals.explain_refusal(
                self.served, card, refusals.blocked_inside_refusal(card, relative)
            )

    def _meant(
        self, name: str, conversation: Conversation | None
    ) -> tuple[Card, LoadedRevision | None]:
        """Give the skill that a name means in this conversation: what was loaded under it, for as
        long as nobody forbids that.

        A skill that has gone since, or that another one stands before now, is still what the
        conversation goes by; but then only what was let in under the same configuration and
        decisions.
        """
        served = self.served
        also = conversation.named if conversation else set()
        revision = conversation.under(name) if conversation is not None else None
        if revision is None:
            card = refusals.usable_card(served, name, also=also)
            return card, conversation.loaded.get(card.path) if conversation is not None else None
        snapshot = served.now()
        path = revision.card.path
        if path in snapshot.visible or any(
            card.path == path and card.state != "shadowed" for card in snapshot.found.cards
        ):
            return refusals.usable_card(served, path, also=also), revision
        if revision.copy is None or revision.terms != snapshot.terms:
            raise _revision_gone(revision.card)
        return revision.card, revision

    # --- running

    def _run(
        self,
        conversation: Conversation | None,
        stopped: Callable[[], bool] | None,
        name: str,
        script: str,
        args: list[str] | None = None,
    ) -> JsonObject:
        card, revision = self._meant(name, conversation)
        if revision is not None:  # what runs is what lies there: it must be what was loaded
            # What was decided may be minutes old, and nobody may have heard of a change since.
            self.served.forget(revision.card.path)
            card = refusals.usable_card(
                self.served, name, also=conversation.named if conversation else ()
            )
            if (
                card.path != revision.card.path
                or revision.digest != self.served.standing(card).digest
            ):
                raise _revision_gone(revision.card)
        if card.kind == "code":
            self._may_run_code(card, script, args or [])
        else:
            self._keep_out(card, skill_paths.safe_relative(script), revision)
        # The user's configuration is the consent: nobody can be asked here, and a model's own words
        # are nobody's yes (CO-18).
        settings = self.context.settings.mcp
        manner = ModelRunManner(
            f"mcp-{self.served.door}",
            settings.seconds,
            stopped,
            settings.destructive,
            revision.digest if revision is not None else "",
        )
        found = tools.run_script(self.library, card.path, script, args or [], manner)
        if revision is not None and found.get("error", {}).get("code") == "changed":
            raise _revision_gone(revision.card)
        return _from_tools(found)

    def _may_run_code(self, card: Card, task: str, args: list[str]) -> None:
        """Refuse what an agent may not have a code skill do (CO-18, CO-21)."""
        facts = self.served.facts_of(card)
        destructive = facts is None or confirm.is_destructive(
            card.name, facts.name, folder_name(card), declared=facts.destructive
        )
        if destructive and not self.context.settings.mcp.destructive:
            raise RefusedError(
                f"'{card.name}' can destroy something; agents may not run such skills here",
                code="destructive",
                hint="the user can run it, or allow it: mcp.destructive in the configuration",
            )
        if len(task) > answers.MAX_TASK_CHARS or len("\n".join(args)) > answers.MAX_CONTEXT_CHARS:
            raise UsageError(
                f"a task has at most {answers.MAX_TASK_CHARS:,} characters, and what goes with it "
                f"{answers.MAX_CONTEXT_CHARS:,}",
                hint="say it in fewer words",
            )


def _whole_numbers(arguments: Mapping[str, Any]) -> JsonObject:
    """Take 2.0 for the whole number that it is (JSON has only one kind of number)."""
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in arguments.items()
    }


def _revision_gone(card: Card) -> RefusedError:
    return RefusedError(
        f"'{card.name}' has changed since you loaded it, and the files of then are not held any "
        f"more",
        code="revision-gone",
        hint="load it again with load_skill; then read its files",
    )


def _content(card: Card, data: bytes, cursor: str, level: Any) -> JsonObject:
    """Give a file's text page by page, or say that it has none."""
    text = read.text_of(data)
    if text is None:
        return {"is_binary": True}
    page = pages.page(text, cursor)
    return {
        "is_binary": False,
        "content": wrap_body(card.name, page.content, level),
        "next_cursor": page.cursor,
        "tokens": page.tokens,
    }


def _from_tools(found: JsonObject) -> JsonObject:
    """Turn an answer of metier's own tools into one of this door."""
    if not found.pop("success"):
        return tool_failure(found["error"])
    return tool_answer(found)


def tool_answer(found: JsonObject) -> JsonObject:
    """Give an answer as data and as text."""
    text = (
        found["content"]
        if isinstance(found.get("content"), str)
        else json.dumps(found, ensure_ascii=False)
    )
    more = found.get("next_cursor")
    if not more:
        return _result(found, text)
    note = f"This is not the end of it. The next page: the same call with cursor {more}"
    return _result(found, text, note)


def _result(structured: JsonObject, *texts: str, is_error: bool = False) -> JsonObject:
    return {
        "content": [{"type": "text", "text": text} for text in texts],
        "structuredContent": structured,
        "isError": is_error,
    }


def _unready(answer: Mapping[str, Any]) -> list[str]:
    """Say what keeps a skill from working: some clients pass on nothing but text."""
    if not answer.get("missing"):
        return []
    lacking = "; ".join(
        f"{kind}: {', '.join(map(str, names))}" for kind, names in answer["missing"].items()
    )
    return [f"This skill is not ready to be used. Missing: {lacking}. {answer['setup_hint']}"]


def tool_failure(error: Mapping[str, Any]) -> JsonObject:
    """Give what went wrong as data and as text, bounded and escaped: it quotes what strangers
    wrote.
    """
    told = {key: tools.bounded(value) for key, value in error.items() if value}
    return _result({"error": told}, tools.error_text(told), is_error=True)
