"""Keeps the current catalogue of the skills on this machine, and looks at the disk again when
asked.

What was seen is one pair, a glance and the catalogue made from it, replaced by one assignment:
whoever reads while the disk is being read again finishes on the old pair or begins on the new one,
never on half of each. Texts made from the catalogue, such as the JSON of a listing, are reused
while nothing has changed.
"""

from __future__ import annotations

from functools import partial

from metier import pipeline
from metier.catalogue import snapshot
from metier.catalogue.wire import listing_json
from metier.discover.io import disk
from metier.discover.scopes import (
    UPSTREAMS,
    Surroundings,
    config_places,
    joined_roots,
    roots_for,
)
from metier.errors import NotFoundError
from metier.fast import TYPE_CHECKING, CollectorOff
from metier.model import REGISTERED, SCOPES, Category, Root
from metier.resolve.model import ResolvePolicy, World, budget_of, still_true
from metier.settings.io import canonical_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.catalogue.changes import SkillFiles, Stamps
    from metier.context import Context
    from metier.discover.agent_config import AgentSettings
    from metier.model import Card, Change, Limits, Problem, Scope
    from metier.ports import Machine, Shelf
    from metier.resolve.model import Facts
    from metier.settings.merge import Rule


def remember_text(
    shelf: Shelf,
    name: str,
    token: bytes,
    machine: Machine,
    make: Callable[[], tuple[str, Facts]],
    later: Callable[[Callable[[], None]], None],
) -> str:
    """Give a text under the token of what it was made from: as made before, when the machine still
    answers the same.
    """
    kept = snapshot.opened(shelf.load(name))
    if kept is not None and kept[0] == token and still_true(dict(kept[1][0]), machine):
        return str(kept[1][1])
    text, facts = make()
    later(lambda: shelf.save(name, snapshot.sealed((list(facts.items()), text), token)))
    return text


STOPPED_CODES = frozenset({"WK007", "WK008"})
"""What a walk says that stopped before it had seen everything."""
LISTED = frozenset({"visible", "ask"})
"""States that a plain list shows; everything else needs a reason, and `all`."""


class LiveCatalogue:
    """The skills of this machine, found, resolved and remembered. Nothing is read before the first
    question.
    """

    def __init__(self, context: Context) -> None:
        """Look at nothing yet."""
        self._context = context
        self.scope_problems: tuple[Problem, ...] = ()
        self._agent_said: AgentSettings | None = None
        self.in_project = context.in_project
        """Whether the asking agent stands in a project, as its roots were last listed."""
        self.last_reads = 0
        self._now: tuple[pipeline.Look | None, pipeline.Catalogue | None] = (None, None)
        self._paths: tuple[list[Card] | None, dict[str, Card | None]] = (None, {})
        self._stamps: Stamps | None = None
        """Each skill as the last `reload` found it."""
        self._trees: dict[str, SkillFiles] | None = None
        """What was remembered of each skill's files, once somebody wanted to know of those."""

    # --- finding

    def contents(self) -> pipeline.Catalogue:
        """Give everything that was found, resolved into cards."""
        found = self._now[1]
        if found is not None:
            return found
        with self._context.lock:
            glanced, found = self._now
            if found is None:
                glanced, found = self._made(glanced or self._look())
                self._now = glanced, found
            return found

    def glance(self) -> pipeline.Look:
        """Look at the disk once, reading only what changed since the last time."""
        glanced = self._now[0]
        if glanced is not None:
            return glanced
        with self._context.lock:
            glanced, found = self._now
            if glanced is None:
                glanced = self._look()
                self._now = glanced, found
            return glanced

    def listing(self) -> str:
        """Give the JSON document of a plain list, as made before when nothing has changed since."""
        self._context.take_note()
        glanced = self.glance()
        before = self._now

        def make() -> tuple[str, Facts]:
            # The text made here is kept for the next time, so the cards need not be kept as well.
            found = pipeline.catalogue(
                glanced, self.policy, self._context.ports._replace(later=lambda _task: None)
            )
            with self._context.lock:
                if (
                    self._now is before and before[0] is glanced
                ):  # else somebody has looked again meanwhile, or begun anew
                    self._now = glanced, found
            listed = [card for card in found.cards if card.state in LISTED]
            return listing_json(
                listed, found.cards, self._problems(found), found.truncated
            ), found.facts

        parts = (
            self.policy,
            [one.root for one in glanced.seen],
            glanced.problems,
            self.scope_problems,
        )
        name = pipeline.name_of(self._context.ports.edition, *parts) + ".json"
        return remember_text(
            self._context.shelf,
            name,
            glanced.token,
            self._context.machine,
            make,
            self._context.later.append,
        )

    def skills(
        self,
        *,
        all: bool = False,  # noqa: A002
        scope: str | None = None,
        category: str | None = None,
        digests: bool = False,
    ) -> list[Card]:
        """List cards: those that are visible, or with `all` everything that was found, each with
        its reasons.
        """
        self._context.take_note()
        cards = self.contents().cards
        if not all:
            cards = [card for card in cards if card.state in LISTED]
        if scope is not None:
            cards = [card for card in cards if card.scope == scope]
        if category is not None:
            cards = [card for card in cards if card.category == category]
        if digests:
            from metier.catalogue.digests import digests_of

            cards = digests_of(self._context, cards)
        return list(cards)

    def categories(self) -> list[Category]:
        """List the categories of what is visible (tier 0)."""
        found = self.contents()
        counts = dict[str, int]()
        for card in found.cards:
            if card.state in LISTED:
                counts[card.category] = counts.get(card.category, 0) + 1
        return [
            Category(name, found.categories.get(name, ""), counts[name]) for name in sorted(counts)
        ]

    def problems(self) -> list[Problem]:
        """List what went wrong with folders, not with skills."""
        return self._problems(self.contents())

    def cut_note(self) -> str:
        """Say that a search for skills was stopped at a limit, so that some may be missing;
        nothing when none was.
        """
        cut = [one for one in self.contents().truncated if one.code in STOPPED_CODES]
        if not cut:
            return ""
        more = f" ({len(cut) - 1} more such folders)" if len(cut) > 1 else ""
        return f"skills may be missing: {cut[0].path}: {cut[0].code} {cut[0].message}{more}"

    def with_cut_note(self, error: NotFoundError) -> NotFoundError:
        """Add to an error about a name that the skill may be one of those that were not found."""
        error.hint = "; ".join(filter(None, (error.hint, self.cut_note())))
        return error

    def absent(self, name: str, error: NotFoundError) -> NotFoundError:
        """Give the error about a name that means nothing here: it says so where a folder of that
        name is a skill that nobody reads, or where not all were found.
        """
        from metier.resolve import lookup

        path = name.removesuffix("/SKILL.md").rstrip("/")
        beside = disk.absolute(path, self._context.cwd, self._context.home) if path else ""
        if beside and disk.kind_of(f"{beside}/SKILL.md") == disk.FILE:
            # with a sign of a path: OWNER/REPO is a repository
            return lookup.unread(name, path if path.startswith(("/", ".", "~")) else f"./{path}")
        return self.with_cut_note(error)

    def _problems(self, found: pipeline.Catalogue) -> list[Problem]:
        return [*self._context.settings.problems, *self.scope_problems, *found.problems]

    def reload(self, touched: Iterable[str] = (), *, deep: bool = False) -> Change:
        """Look at the disk again, reading only what changed, and say what is different from the
        last time.

        Of a skill's other files only those count of whose change somebody heard (`touched`), or
        with `deep` all of them.
        """
        from metier.catalogue import changes

        touched = tuple(touched)
        with self._context.lock:
            old = self.last_stamps()
            self._context.settle()
            glanced, found = self._made(self._look())
            new = changes.stamps(glanced, found)
            now = self._context.ports.clock_ns()
            if touched or deep:
                self._trees = {} if self._trees is None else self._trees
                change = changes.between_trees(old, new, self._trees, touched, now, deep=deep)
            else:
                change = changes.between(old, new)
                if self._trees is not None:
                    changes.refreshed(self._trees, change, now)
            self._now = (glanced, found)
            self._stamps = new
            self._let_go(change)
        return change

    def last_stamps(self) -> Stamps:
        """Give what the next `reload` is compared with: each skill as the last one found it, or
        else as it is known now.
        """
        from metier.catalogue import changes

        with self._context.lock:
            if self._stamps is None:
                self._stamps = changes.stamps(self.glance(), self.contents())
            return self._stamps

    def _let_go(self, change: Change) -> None:
        """Drop what hangs on skills that are not as they were: their place in the session, and
        whatever others made of them.
        """
        for path in (*change.changed, *change.removed):
            self._context.session.loaded.pop(path, None)
        if not (change.added or change.changed or change.removed):
            return
        for told in tuple(self._context.on_change):
            try:
                told(change)
            except Exception as error:  # noqa: BLE001 - one that fails must not keep the others from letting go
                self._context.warnings.append(
                    f"something that depends on the skills failed when they changed: {error}"
                )

    def resolve(self, name: str) -> Card:
        """Give the one skill that a name, a path, `scope:name` or `plugin:name` means."""
        from metier.resolve import lookup

        cards = self.contents().cards
        at = self._at(cards).get(name) if name.startswith("/") else None
        if at is not None:
            return at
        context = self._context

        def choose(among: list[Card]) -> Card:
            return lookup.choose(
                name,
                among,
                context.cwd,
                disk.real,
                refuse=context.settings.on_collision == "refuse",
                strongest=context.names_strongest,
            )

        try:
            return choose(cards)
        except NotFoundError as error:
            if context.agent is not None and context.given is None:
                with context.as_agent(None) as machine:
                    meant = machine.catalogue.contents().cards
                    meant = lookup.matches(name, meant, context.cwd, disk.real)
                renamed = lookup.same_places(cards, meant, disk.real)
                if renamed:  # the agent calls it by another name
                    return min(renamed, key=lambda card: card.state != "visible")
            raise self.absent(name, error) from None

    def switch(self, name: str, *, enabled: bool) -> Card:
        """Show or hide a skill, by a rule in the user's configuration; give it as it is from now on.
        A rule that says the opposite is taken out; a new one is written only where that isn't enough.
        """
        from metier.audit import log
        from metier.errors import RefusedError
        from metier.settings.io import remove_rules, write_rule

        context = self._context
        card = self.resolve(name)
        config = context.own_config()
        # A plain name means the skill, whichever copy of it; anything more exact means that copy.
        plain = name == card.name and not card.plugin
        selector = ("name", card.name) if plain else ("path", card.path)
        copies = [one for one in self.contents().cards if one.name == card.name]
        meant = copies if plain else [card]
        if enabled and all(one.held != "disabled" for one in meant):
            return card
        places = {disk.real(one.path) for one in meant}

        def is_meant(rule: Rule) -> bool:
            if rule.name:
                mine = rule.name == card.name and (plain or len(copies) == 1)
            else:
                path = canonical_rule(rule, context.home).path
                if rule.enabled and disk.kind_of(path) is None:
                    return True  # it shows a folder that is gone
                mine = path in places
            return mine and rule.enabled is not enabled

        remove_rules(config, is_meant)
        paths = {one.path for one in meant}
        after = self._judged_again(paths)
        if any((one.held == "disabled") is enabled for one in after):
            write_rule(config, selector, enabled=enabled)
            after = self._judged_again(paths)
        word = "enable" if enabled else "disable"
        log.record(context, word, "done", name=card.name, path=card.path)
        now = next(one for one in after if one.path == card.path)
        if enabled and now.held == "disabled":
            raise RefusedError(
                f"'{card.name}' is still {now.reasons[0]}",
                hint=f"take it out there: {config}",
            )
        return now

    def _judged_again(self, paths: set[str]) -> list[Card]:
        """Read the settings again; give the skills at some paths as they are now."""
        with self._context.lock:
            self._context.read_settings()
            self.rejudge()
            return [one for one in self.contents().cards if one.path in paths]

    def _at(self, cards: list[Card]) -> dict[str, Card | None]:
        """Give the cards by path, as they were listed last; nothing where two have one path, for
        then it takes a choice.
        """
        known, found = self._paths
        if known is not cards:
            found = {}
            for card in cards:
                found[card.path] = None if card.path in found else card
            self._paths = cards, found
        return found

    # --- wiring

    def roots(self) -> tuple[Root, ...]:
        """List the folders to look in, strongest first, whether they exist or not."""
        if self._context.given is not None:
            given = (*self._context.given, *self._joined_roots())
            return self._with_registered(given, ())
        place = Surroundings(
            self._context.home,
            self._context.cwd,
            self._context.project,
            self._context.env,
            self._context.platform,
            packages=self._context.package_folders(),
            in_project=self._context.in_project,
            npm_packages=self._context.npm_folders(),
        )
        self._agent_said = said = self._agent_config(place)
        if said is not None and said.markers is not None:
            root, inside = self._context.project_by(said.markers)
            place = place._replace(project_root=root, in_project=inside)
        self.in_project = place.in_project
        scopes = roots_for(self._context.agent, place, self._context.settings, said)
        self.scope_problems = (*scopes.problems, *(said.problems if said else ()))
        order = tuple(dict.fromkeys((*self._context.settings.precedence, *SCOPES)))
        found = tuple(self._kept_in(root) for root in map(self._tuned, scopes.roots))
        found = (*found, *self._joined_roots())
        return self._with_registered(found, order[: order.index("external")])

    def _joined_roots(self) -> tuple[Root, ...]:
        """Give the folders of other servers' skills, weaker than all others: those that are joined,
        or all that there are, where nobody says which and nobody asks as an agent.
        """
        context = self._context
        names = context.joined
        if not context.data or (names is None and (context.agent or context.given is not None)):
            return ()
        top = f"{context.data}/{UPSTREAMS}"
        if names is None:
            names = tuple(disk.list_folder(top).folders) if disk.kind_of(top) else ()
        roots = joined_roots(context.data, names)
        return tuple(one for one in roots if disk.kind_of(one.location) == disk.FOLDER)

    def _with_registered(
        self, roots: tuple[Root, ...], stronger: tuple[Scope, ...]
    ) -> tuple[Root, ...]:
        """Put what a program registered before everything that is not of a stronger scope."""
        folder = self._context.registered
        if not folder:
            return roots
        own = Root(folder, "external", "", REGISTERED, "never")
        at = next((at for at, root in enumerate(roots) if root.scope not in stronger), len(roots))
        return (*roots[:at], own, *roots[at:])

    def _agent_config(self, place: Surroundings) -> AgentSettings | None:
        """Read what the asking agent's own configuration says; none where it has none."""
        agent = self._context.agent
        if agent is None or not agent.config:
            return None
        from metier.discover.agent_config import read_agent_config

        places = partial(config_places, agent, place)
        said = read_agent_config(agent.config, places, place.env, disk)
        home = self._context.home
        return said._replace(rules=tuple(canonical_rule(rule, home) for rule in said.rules))

    def _kept_in(self, root: Root) -> Root:
        """Follow no link out of a project that nobody trusts, though the asking agent would."""
        if not root.project or root.links != "follow" or not root.agent:
            return root
        machine = self._context.machine
        decisions = machine.decisions()
        trusted = machine.said(decisions).projects if decisions else frozenset()
        if disk.real(root.project) in trusted:
            return root
        return root._replace(links="contained", within=root.project)

    def _tuned(self, root: Root) -> Root:
        """Give a root what depends on its scope alone."""
        if root.scope == "plugin":
            return root._replace(newest_first=True)
        narrowed = self._context.settings.project_limits
        return root._replace(limits=narrowed) if root.scope == "project" and narrowed else root

    @property
    def limits(self) -> Limits:
        """How far a walk goes: the agent's own bounds, or what the settings say."""
        return (
            self._context.agent.limits
            if self._context.agent and self._context.agent.limits
            else self._context.settings.limits
        )

    @property
    def policy(self) -> ResolvePolicy:
        """How the asking agent treats skills."""
        agent = self._context.agent
        world = World(self._context.platform, agent.product if agent else "")
        settings = self._context.settings
        said = self._agent_said
        if said is not None and said.rules:  # what the user tells metier comes last, and wins
            settings = settings._replace(rules=said.rules + settings.rules)
        return ResolvePolicy(
            settings,
            world,
            keep_duplicates=agent is not None and agent.duplicates in {"keep", "all"},
            asker=agent.title if agent else "metier",
            undefined=agent is not None and agent.duplicates == "undefined",
            offered=agent is not None and agent.duplicates == "offered",
            unordered=agent is not None and agent.duplicates == "unordered",
            everything_off=said.everything_off if said else "",
            refused=said.refused if said else (),
            budget=budget_of(agent, self._context.env, said) if agent else None,
            ask_edits=self._context.asks_about_edits,
        )

    def _look(self) -> pipeline.Look:
        self._context.judged.judged_now.clear()
        self._context.forget_home()
        with CollectorOff():
            glanced = pipeline.glance(self.roots(), self.limits, self._context.ports)
        self.last_reads = glanced.reads
        return glanced

    def _made(self, glanced: pipeline.Look) -> tuple[pipeline.Look, pipeline.Catalogue]:
        with CollectorOff():
            return glanced, pipeline.catalogue(glanced, self.policy, self._context.ports)

    def forget(self) -> None:
        """Let go of what was seen: the next question looks again. What was told stays, or nobody
        would hear what changed since.
        """
        with self._context.lock:
            self._now = (None, None)

    def count_known(self) -> int | None:
        """Count the skills that a plain list shows, where they are known already: nothing is looked
        at for it.
        """
        found = self._now[1]
        return None if found is None else sum(card.state in LISTED for card in found.cards)

    def is_looked_at(self) -> bool:
        """Tell whether the disk was looked at already: what is known of it may be out of date."""
        return self._now[0] is not None

    def refresh(self) -> None:
        """Take note that skills on disk were changed: at once where something hangs on them, else
        when the next question looks.
        """
        if self._context.session.loaded or self._context.on_change:
            self.reload()
        else:
            self.forget()

    def rejudge(self) -> None:
        """Let the cards be made anew of what was seen, as when another conversation begins: the
        disk is not looked at again.
        """
        with self._context.lock:
            self.retell()
            self._now = (self._now[0], None)

    def retell(self) -> None:
        """Take note of what was decided or judged elsewhere since the disk was looked at."""
        with self._context.lock:
            glanced = self._now[0]
            told = pipeline.tell(glanced, self._context.ports) if glanced is not None else None
            if glanced is not None and told is not None and told.token != glanced.token:
                self._now = (told, None)
