"""Follow values through Python code: what each expression may hold, statement by statement, in a
bounded number of passes.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.scan.languages.python import fold, names
from metier.scan.languages.python.names import BUILT, ENV_ALL, INPUT, SELF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.model import JsonObject

    Statements = dict[type[ast.AST], Callable[["TaintWalk", Any], None]]
    Expressions = dict[type[ast.AST], Callable[["TaintWalk", Any], "TaintValue"]]

MAX_DEPTH = 60
"""How deep an expression is followed; real code stays below 20."""
NAME_CHARS = 120
HITS_PER_RULE = 20
LOOK_CHARS = 16 * 1024 * 1024
"""How much of the code is searched for pieces of its own texts."""
FOLD_CHARS = 256 * 1024
FOLD_STEPS = 4_000
"""How many items of constant comprehensions are worked out in one file."""


class TaintValue(NamedTuple):
    """What is known of a value: where it came from, its content, and the name of what it is."""

    labels: int = 0
    const: fold.Const = None
    name: str = ""


NOTHING = TaintValue()
SOURCES = {"os.environ": ENV_ALL, "sys.argv": INPUT}
"""Names that stand for what comes from outside, whatever they are reached by."""


def labels_of(values: Iterable[TaintValue]) -> int:
    """Give what all the values carry together."""
    found = 0
    for value in values:
        found |= value.labels
    return found


class TaintFunction:
    """A function of the file: what it is called with and what it gives back, as far as seen."""

    __slots__ = ("acts", "calls", "given", "known", "news", "params", "returned", "seen", "tainted")

    def __init__(self, args: ast.arguments | None = None) -> None:
        """Take the parameters' names; nothing is known of their values yet. The module is a
        function without any.
        """
        self.params = [arg.arg for arg in (*args.posonlyargs, *args.args)] if args else []
        self.known = {*self.params, *(arg.arg for arg in args.kwonlyargs)} if args else set()
        self.given: dict[str, TaintValue] = {}
        self.returned = NOTHING
        self.calls: set[TaintFunction] = set()
        self.seen = False
        self.acts = False
        """Whether it does anything that its arguments' content could decide about."""
        self.news = self.tainted = False
        """Whether it was given another content, or one from another source, since it was last
        read."""


def merge(one: TaintValue, other: TaintValue) -> TaintValue:
    """Join what two branches may give."""
    return TaintValue(
        one.labels | other.labels,
        one.const if one.const == other.const else None,
        one.name if one.name == other.name else "",
    )


def _differ(one: TaintValue, other: TaintValue) -> bool:
    """Tell whether another pass would learn from the change; that a text was put together is no
    news.
    """
    return (one.labels ^ other.labels) & ~BUILT != 0


class TaintWalk:
    """One file's values, facts and hits. What each kind of statement, expression and call means is
    given as tables.
    """

    def __init__(
        self, statements: Statements, expressions: Expressions, calls: JsonObject, code: str
    ) -> None:
        """Start with an empty module; the code's length bounds what is worked out, its words tell
        what need not be tried.
        """
        self.budget = FOLD_CHARS + 8 * len(code)
        self.code = code
        self.looks = LOOK_CHARS
        low = code.lower()
        self.kinds = names.kinds_in(low)
        self.mining = names.has_word(low, names.MINING_WORDS)
        self.watchers = names.has_word(low, names.WATCHER_WORDS)
        self.statements = statements
        self.expressions = expressions
        self.calls = calls
        self.scopes: list[dict[str, TaintValue]] = [{}]
        self.functions: dict[str, TaintFunction] = {}
        self.attributes: dict[str, TaintValue] = {}
        self.hits: dict[tuple[str, int, int], tuple[ast.AST, str]] = {}
        self.counts: dict[str, int] = {}
        self.facts: dict[str, ast.AST] = {}
        self.secrets: dict[str, ast.AST] = {}
        self.stores: set[str] = set()
        self.texts: dict[str, int] = {}
        self.fetched: set[str] = set()
        self.nested: list[tuple[str, ast.AST]] = []
        self.commands: list[tuple[str, ast.AST]] = []
        self.units: dict[int, tuple[Any, list[dict[str, TaintValue]], TaintFunction]] = {}
        self.queue: list[int] = []
        self.module = self.current = TaintFunction()
        self.returned: set[TaintFunction] = set()
        self.filled = False
        self.globals: set[str] = set()
        self.branch = 0
        self.guard = 0
        self.quiet = 0
        """How many times what fails here is kept quiet about."""
        self.unused: ast.AST | None = None
        """The expression whose value nobody takes."""
        self.depth = 0
        self.too_deep = False
        self.steps = FOLD_STEPS

    # --- what the walk finds

    def hit(self, rule: str, node: ast.AST, evidence: str = "") -> None:
        """Note a place where a rule matched, once."""
        key = (rule, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
        if key not in self.hits and self.counts.get(rule, 0) < HITS_PER_RULE:
            self.counts[rule] = self.counts.get(rule, 0) + 1
            self.hits[key] = (node, evidence)

    def fact(self, name: str, node: ast.AST) -> None:
        """Remember that the file does this, for rules that need several facts."""
        self.facts.setdefault(name, node)

    # --- passes

    def run(self, tree: ast.Module, passes: int) -> None:
        """Read the module, then its functions; in further passes read again only what would learn
        from it.
        """
        self._read_module(tree)
        for _ in range(passes - 1):
            returned = self.returned
            self.returned = set()
            everything = self.filled
            self.filled = False
            stale = [
                key
                for key, (_, _, function) in self.units.items()
                if everything
                or function.tainted
                or (function.news and function.acts)
                or not function.calls.isdisjoint(returned)
            ]
            again = not self.module.calls.isdisjoint(returned)
            if again:
                self._read_module(tree)
            for key in stale:
                self._read(key)
            if not stale and not again:
                break

    def _read_module(self, tree: ast.Module) -> None:
        self.scopes, self.current, self.globals = [self.scopes[0]], self.module, set()
        self.block(tree.body)
        for key in self.queue:  # grows while it is read: functions within functions
            self._read(key)
        self.queue = []

    def _read(self, key: int) -> None:
        node, scopes, function = self.units[key]
        local = {name: function.given.get(name, NOTHING) for name in function.known}
        if function.params[:1] in (["self"], ["cls"]):
            local[function.params[0]] = TaintValue(name="self")
        self.scopes, self.current, self.globals = [*scopes, local], function, set()
        function.news = function.tainted = False
        if isinstance(node, ast.Lambda):
            self.give_back(self.ev(node.body))
        else:
            self.block(node.body)

    def give_back(self, value: TaintValue) -> None:
        """Note what the function that is being read returns or yields."""
        function = self.current
        joined = merge(function.returned, value) if function.seen else value
        if joined != function.returned:
            function.returned = joined
            self.returned.add(function)
        function.seen = True

    # --- names

    def lookup(self, name: str) -> TaintValue:
        """Find a name, innermost scope first.

        A name that nobody bound stands for itself: a built-in, or a module whose import was cut
        off.
        """
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in self.functions:
            return TaintValue(name="def:" + name)
        return TaintValue(SELF) if name == "__file__" else TaintValue(name=name)

    def bind(self, target: ast.AST, value: TaintValue) -> None:
        """Give a target its value; inside a branch the old labels stay possible."""
        if isinstance(target, ast.Name):
            scope = self.scopes[0] if target.id in self.globals else self.scopes[-1]
            if self.branch and target.id in scope:
                value = TaintValue(value.labels | scope[target.id].labels, value.const, value.name)
            scope[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            parts = (
                value.const
                if isinstance(value.const, tuple) and len(value.const) == len(target.elts)
                else (None,) * len(target.elts)
            )
            for part, const in zip(target.elts, parts, strict=True):
                self.bind(
                    part,
                    TaintValue(
                        value.labels, const if isinstance(const, str | bytes | int) else None
                    ),
                )
        elif isinstance(target, ast.Starred):
            self.bind(target.value, TaintValue(value.labels))
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self._bind_item(target, value)

    def _bind_attribute(self, target: ast.Attribute, value: TaintValue) -> None:
        owner = self.ev(target.value)
        if owner.name in {"builtins", "__builtins__"} or (
            owner.name == "sys" and target.attr in {"meta_path", "excepthook", "stdout.write"}
        ):
            self.hit("SC345", target)
        if target.attr in {"verify", "check_hostname"} and value.const is False:
            self.hit("SC317", target)
        if target.attr == "verify_mode" and value.name.endswith("CERT_NONE"):
            self.hit("SC317", target)
        if owner.name != "self":
            return
        old = self.attributes.get(target.attr)
        new = value if old is None else merge(old, value)
        if new != old:
            self.attributes[target.attr] = new
            self.filled = self.filled or _differ(new, old or NOTHING) or new.name in names.ROLES

    def _bind_item(self, target: ast.Subscript, value: TaintValue) -> None:
        self.ev(target.slice)
        root = target.value
        owner = self.ev(root)
        if value.labels and isinstance(root, ast.Name):
            self.add_labels(root.id, value.labels)
        if owner.name == "sys.modules":
            self.hit("SC345", target)

    def add_labels(self, name: str, labels: int) -> None:
        """Let a variable keep what it held and hold more: it was appended to, or filled."""
        for scope in reversed(self.scopes):
            if name in scope:
                scope[name] = scope[name]._replace(labels=scope[name].labels | labels)
                return
        self.scopes[-1][name] = TaintValue(labels)

    # --- statements

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Go over statements in order."""
        for statement in body:
            handler = self.statements.get(type(statement))
            if handler:
                handler(self, statement)

    def inner(self, *bodies: list[ast.stmt]) -> None:
        """Go over bodies of which each may or may not run."""
        self.branch += 1
        for body in bodies:
            self.block(body)
        self.branch -= 1

    def define(self, node: Any, name: str) -> None:
        """Know a function of this file, and read it once the module has been read."""
        function = self.functions.get(name)
        if function is None:
            function = self.functions[name] = TaintFunction(node.args)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.ev(default)
        if id(node) not in self.units:
            self.queue.append(id(node))
        self.units[id(node)] = (node, list(self.scopes), function)

    def enter(
        self,
        function: TaintFunction,
        args: list[TaintValue],
        kwargs: dict[str, TaintValue],
        *,
        method: bool,
    ) -> TaintValue:
        """Call a function of this file: tell it what it is given, and take what it was seen to give
        back.
        """
        self.current.calls.add(function)
        params = (
            function.params[1:]
            if method and function.params[:1] in (["self"], ["cls"])
            else function.params
        )
        for name, value in (*zip(params, args, strict=False), *kwargs.items()):
            if name in function.known and (value.labels or value.const is not None or value.name):
                old = function.given.get(name)
                new = value if old is None else merge(old, value)
                if new != old:
                    function.given[name], function.news = new, True
                    function.tainted = function.tainted or _differ(new, old or NOTHING)
        return function.returned

    # --- expressions

    def ev(self, node: ast.AST | None) -> TaintValue:
        """Tell what is known of an expression's value."""
        handler = None if node is None else self.expressions.get(type(node))
        if handler is None:
            return NOTHING
        if self.depth >= MAX_DEPTH:
            self.too_deep = True
            return NOTHING
        self.depth += 1
        try:
            return handler(self, node)
        finally:
            self.depth -= 1

    def spells(self, piece: str) -> bool:
        """Tell whether a piece of a text stands in the code as it is, without escapes or seams; in
        doubt, it does not.
        """
        self.looks -= len(self.code)
        return self.looks > 0 and piece in self.code

    def literal(self, const: str, *, plain: bool) -> TaintValue:
        """Give a text that stands in the code its labels. Spelled plainly, it names only what the
        code's words allow.
        """
        known = self.texts.get(const)
        if known is None:
            known = self.texts[const] = names.labels(const, self.kinds if plain else None)
        return TaintValue(known, const)

    def text(self, const: fold.Const, labels: int = 0, name: str = "") -> TaintValue:
        """Give a worked-out constant the labels of what it names. Too much is not kept: work stays
        linear in the file's size.
        """
        if isinstance(const, str | bytes | tuple):
            self.budget -= len(const)
            if self.budget < 0:
                self.too_deep = True
                return TaintValue(labels, None, name)
        if isinstance(const, str) and len(const) > 2:
            labels |= self.literal(const, plain=False).labels
        return TaintValue(labels, const, name)


def attribute(walk: TaintWalk, owner: TaintValue, attr: str) -> TaintValue:
    """Tell what an attribute of a value is."""
    if owner.name:
        if owner.name == "self":
            return walk.attributes.get(attr) or TaintValue(
                owner.labels, None, "def:" + attr if attr in walk.functions else ""
            )
        if owner.name in {"builtins", "__builtins__"}:
            return TaintValue(owner.labels, None, owner.name if attr == "__dict__" else attr)
        name = f"{owner.name}.{attr}"
        labels = SOURCES.get(name, owner.labels & ~SELF)
        return TaintValue(labels, None, name[-NAME_CHARS:])
    return TaintValue(owner.labels & ~SELF)
