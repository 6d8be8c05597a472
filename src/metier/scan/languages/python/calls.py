"""What a call in Python code does: names what is called, and hands it to the reader of its role."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.python import fold, names
from metier.scan.languages.python.names import (
    BUILT,
    CHAT_HOST,
    CLIP,
    CRED_PATH,
    DATE,
    DECODED,
    DROP_HOST,
    ENCODED,
    ENV,
    HOST,
    INPUT,
    NET,
    PATHS,
    SECRET_ENV,
    SELF,
    START_PATH,
    WATCHED,
)
from metier.scan.languages.python.taint import NOTHING, TaintValue, attribute, labels_of
from metier.scan.model import word_set

if TYPE_CHECKING:
    from metier.scan.languages.python.taint import TaintWalk

MUTATORS = word_set("append extend add update insert setdefault appendleft put write writestr")
EVIDENCE_CHARS = 160
LONG_SLEEP = 300
ROOTS = word_set("/ ~ ~/ /home /Users /root /* ~/* C:\\ C:/ /etc /usr /var ~/Documents")


CallReader = Callable[["PythonCall"], TaintValue]


class PythonCall(NamedTuple):
    """One call, with all that is known of its parts."""

    walk: TaintWalk
    node: ast.Call
    name: str
    attr: str
    owner: TaintValue
    args: list[TaintValue]
    kwargs: dict[str, TaintValue]

    @property
    def first(self) -> TaintValue:
        """Give the first positional argument, or nothing."""
        return self.args[0] if self.args else NOTHING

    @property
    def labels(self) -> int:
        """Give what all the arguments carry."""
        return labels_of((*self.args, *self.kwargs.values()))

    @property
    def consts(self) -> list[fold.Const]:
        """Give what is known of the positional arguments' content."""
        return [arg.const for arg in self.args]

    def keyword(self, name: str) -> TaintValue:
        """Give the argument of that name, or nothing."""
        return self.kwargs.get(name, NOTHING)

    def result(self, labels: int) -> TaintValue:
        """Give a value that came out of this call."""
        return TaintValue(labels, None, f"{self.name}()"[-120:])

    def hit(self, rule: str, evidence: str = "") -> None:
        """Note that the call meets a rule."""
        self.walk.hit(rule, self.node, evidence[:EVIDENCE_CHARS])

    def fact(self, name: str) -> None:
        """Remember that the file does this."""
        self.walk.fact(name, self.node)


def read_call(walk: TaintWalk, node: ast.Call) -> TaintValue:
    """Tell what a call gives, and note what it does."""
    func = node.func
    if isinstance(func, ast.Attribute):
        owner = walk.ev(func.value)
        attr = func.attr
        target = attribute(walk, owner, attr)
        if attr in names.INSIDES:
            walk.hit("SC313", node, attr)
    else:
        owner = NOTHING
        attr = ""
        target = walk.ev(func)
    args = [walk.ev(arg) for arg in node.args]
    kwargs = {keyword.arg or "**": walk.ev(keyword.value) for keyword in node.keywords}
    call = PythonCall(
        walk=walk,
        node=node,
        name=target.name,
        attr=attr,
        owner=owner,
        args=args,
        kwargs=kwargs,
    )
    if target.name.startswith(("def:", "class:")) or (
        attr in walk.functions and not owner.name and owner.const is None
    ):
        return _local(call)
    if owner.const is not None and attr in names.FOLDED_METHODS:
        return _folded(call)
    role = names.ROLES.get(target.name) or names.METHODS.get(attr, "")
    if not role and any(
        names.ROLES.get(value.name) == "network" for value in (*args[:1], *kwargs.values())
    ):
        role = "deferred"
    reader: CallReader | None = walk.calls.get(role)
    if reader is None:
        return _unknown(call)
    walk.current.acts = True
    return reader(call)


def _local(call: PythonCall) -> TaintValue:
    kind, _, name = call.name.partition(":")
    if kind == "class":
        if "__init__" in call.walk.functions:
            call.walk.enter(call.walk.functions["__init__"], call.args, call.kwargs, method=True)
        return NOTHING
    function = call.walk.functions.get(name or call.attr)
    if function is None:
        return TaintValue(call.labels)
    got = call.walk.enter(function, call.args, call.kwargs, method=bool(call.attr))
    return got if function.seen else TaintValue(call.labels & ~PATHS)


def _folded(call: PythonCall) -> TaintValue:
    const = fold.method(call.owner.const, call.attr, call.consts)
    labels = (
        call.owner.labels
        | call.labels
        | (0 if call.attr in {"encode", "strip", "expanduser", "resolve"} else BUILT)
    )
    if (
        call.attr == "decode"
        and call.args
        and str(call.first.const).lower().startswith(("rot", "hex", "base64", "zlib"))
    ):
        return decoded(call, const, labels | DECODED)
    if (
        call.attr == "join"
        and labels & DECODED
        and isinstance(const, str)
        and len(const) > 5
        and fold.HOLE not in const
    ):
        call.hit("SC337", const)
        return decoded(call, const, labels)
    return call.walk.text(const, labels, call.owner.name)


def _unknown(call: PythonCall) -> TaintValue:
    """Let a call that no table knows hand on what it was given; one that fills its object is noted
    there too.
    """
    if call.attr in MUTATORS:
        fill(call, call.labels)
    if call.attr == "encrypt":
        call.fact("encrypt")
    if call.keyword("verify").const is False or call.keyword("verify_ssl").const is False:
        call.hit("SC317")
    name = f"{call.name}()"[-120:] if call.name else ""
    kept = ~0 if call.attr in {"resolve", "absolute"} else ~SELF
    return TaintValue((call.labels | call.owner.labels) & kept, None, name)


def fill(call: PythonCall, labels: int) -> None:
    """Note that the object whose method was called now holds more."""
    walk = call.walk
    func = call.node.func
    if not labels or not isinstance(func, ast.Attribute):
        return
    root = func.value
    if isinstance(root, ast.Name):
        walk.add_labels(root.id, labels)
    elif isinstance(root, ast.Attribute) and root.attr in walk.attributes:
        old = walk.attributes[root.attr]
        walk.attributes[root.attr] = old._replace(labels=old.labels | labels)


# --- names that are worked out


def named(walk: TaintWalk, base: str, index: TaintValue, node: ast.AST) -> TaintValue:
    """Reach something by a name in a text: `getattr`, `__import__`, `sys.modules[…]`,
    `globals()[…]`.
    """
    text = index.const
    hidden = index.labels & (BUILT | DECODED)
    if not isinstance(text, str) or fold.HOLE in text:
        if base in names.DANGEROUS_MODULES or (not base and hidden):
            walk.hit("SC313", node)
        return TaintValue(index.labels & ~PATHS)
    full = f"{base}.{text}" if base and base not in {"builtins", "__builtins__"} else text
    if full in names.DANGEROUS or (hidden and full in names.DANGEROUS_MODULES):
        walk.hit("SC312", node, full[:EVIDENCE_CHARS])
    elif full in names.DANGEROUS_MODULES:
        walk.hit("SC313", node, full)
    if not base:
        return walk.lookup(text)
    return TaintValue(name=full[-120:])


def _getattr(call: PythonCall) -> TaintValue:
    owner = call.first
    if len(call.args) < 2:
        return NOTHING
    if owner.name and not owner.name.startswith(("def:", "class:")):
        return named(call.walk, owner.name, call.args[1], call.node)
    return TaintValue(owner.labels)


def _import(call: PythonCall) -> TaintValue:
    text = call.first.const
    if isinstance(text, str) and fold.HOLE not in text:
        hidden = call.first.labels & (BUILT | DECODED)
        top = text.partition(".")[0]
        if top in names.DANGEROUS_MODULES:
            call.hit("SC312" if hidden else "SC313", text)
        return TaintValue(name=text[:120])
    if call.first.labels & (NET | DECODED) or call.name == "__import__":
        call.hit("SC313")
    return NOTHING


# --- values that are worked out


def decoded(call: PythonCall, const: fold.Const, labels: int) -> TaintValue:
    """Look at what a literal decodes to: an address, a path or a command that was hidden is a
    finding.
    """
    shown = fold.shown(const)
    found = names.HIDDEN.search(shown, 0, names.MAX_TEXT_CHARS)
    if found or names.labels(shown) & (CRED_PATH | DROP_HOST | CHAT_HOST | START_PATH):
        call.hit("SC336", shown)
    return call.walk.text(const, labels | DECODED)


def _decode(call: PythonCall) -> TaintValue:
    codec = call.args[1].const if len(call.args) > 1 else ""
    hides = call.name != "codecs.decode" or str(codec).lower().startswith(
        ("rot", "hex", "base64", "zlib", "bz2", "unicode")
    )
    const = fold.decode(call.name, call.consts)
    return decoded(call, const, call.labels) if hides else call.walk.text(const, call.labels)


def _encode(call: PythonCall) -> TaintValue:
    labels = call.labels | call.owner.labels
    return TaintValue(labels | (ENCODED if labels & (ENV | SECRET_ENV) else 0))


def _convert(call: PythonCall) -> TaintValue:
    extra = BUILT | DECODED if call.name == "chr" else 0
    return call.walk.text(fold.convert(call.name, call.consts), call.labels | extra)


def _map(call: PythonCall) -> TaintValue:
    parts = call.args[1].const if len(call.args) > 1 else None
    if call.first.name != "chr" or not isinstance(parts, tuple | bytes):
        return _unknown(call)
    return call.walk.text(
        tuple(fold.convert("chr", [part]) for part in parts), call.labels | DECODED
    )


def _same(call: PythonCall) -> TaintValue:
    """Hand on a value that is only wrapped: a path, a text, compiled code."""
    if call.name.startswith(("pathlib.", "Path")):
        return call.walk.text(fold.join_path(call.consts), call.labels, "pathlib.Path()")
    const = call.first.const
    if call.name in {"bytes", "bytearray", "str"}:
        const = fold.convert(call.name, [const])
    return TaintValue(call.labels, const, call.first.name if call.name == "os.fspath" else "")


# --- where values come from


_KNOWN_VARIABLES = {
    **dict.fromkeys(("HOME", "USERPROFILE"), TaintValue(0, "~")),
    **dict.fromkeys(("APPDATA", "LOCALAPPDATA"), TaintValue(0, "~/AppData")),
    **dict.fromkeys(("USER", "USERNAME", "LOGNAME", "HOSTNAME", "COMPUTERNAME"), TaintValue(HOST)),
}


def variable(walk: TaintWalk, key: TaintValue, node: ast.AST) -> TaintValue:
    """Read one variable of the environment."""
    name = key.const if isinstance(key.const, str) else ""
    walk.hit("SC392", node, name[:EVIDENCE_CHARS])
    if name in _KNOWN_VARIABLES:
        return _KNOWN_VARIABLES[name]
    if not names.SECRET_NAME.search(name.upper(), 0, 200):
        return TaintValue(ENV)
    if len(walk.secrets) < 50:
        walk.secrets.setdefault(name[:EVIDENCE_CHARS], node)
    return TaintValue(ENV | SECRET_ENV)


def _source(label: int) -> CallReader:
    return lambda call: call.result(label)


def _spy(call: PythonCall) -> TaintValue:
    call.hit("SC316")
    call.fact("spy")
    return TaintValue(CLIP, None, f"{call.name}()")


def _clean(call: PythonCall) -> TaintValue:
    if call.name == "type" and len(call.args) == 3:
        call.fact("type()")
    return NOTHING


READERS: dict[str, CallReader] = {
    "getattr": _getattr,
    "import": _import,
    "decode": _decode,
    "encode": _encode,
    "convert": _convert,
    "map": _map,
    "same": _same,
    "join": lambda call: call.walk.text(fold.join_path(call.consts), call.labels & ~SELF),
    "home": lambda _call: TaintValue(0, "~", "pathlib.Path()"),
    "env": lambda call: variable(call.walk, call.first, call.node),
    "clock": _source(DATE),
    "host": _source(HOST),
    "input": _source(INPUT),
    "receive": _source(NET),
    "own_secret": _source(SECRET_ENV),
    "watch": _source(WATCHED),
    "debugger": _source(WATCHED),
    "spy": _spy,
    "clean": _clean,
}
"""Role -> reader, of all that gives or changes values. `pysinks` has those that act."""
