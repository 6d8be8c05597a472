"""What a call in Python code does: names what is called, and hands it to the reader of its role."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from metier.scan import pyfold, pynames as n, pytext
from metier.scan.pytaint import NOTHING, Value, attribute

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.scan.pytaint import Walk

MUTATORS = frozenset({"append", "extend", "add", "update", "insert", "setdefault", "appendleft", "put", "write", "writestr"})
EVIDENCE_CHARS = 160
LONG_SLEEP = 300
ROOTS = frozenset({"/", "~", "~/", "/home", "/Users", "/root", "/*", "~/*", "C:\\", "C:/", "/etc", "/usr", "/var", "~/Documents"})


class Call(NamedTuple):
    """One call, with all that is known of its parts."""

    node: ast.Call
    name: str
    attr: str
    owner: Value
    args: list[Value]
    kwargs: dict[str, Value]

    @property
    def first(self) -> Value:
        """Give the first positional argument, or nothing."""
        return self.args[0] if self.args else NOTHING

    @property
    def labels(self) -> int:
        """Give what all the arguments carry."""
        found = 0
        for value in (*self.args, *self.kwargs.values()):
            found |= value.labels
        return found


def call(walk: Walk, node: ast.Call) -> Value:
    """Tell what a call gives, and note what it does."""
    func = node.func
    if isinstance(func, ast.Attribute):
        owner, attr = walk.ev(func.value), func.attr
        target = attribute(walk, owner, attr)
        if attr in n.INSIDES:
            walk.hit("SC313", node, attr)
    else:
        owner, attr, target = NOTHING, "", walk.ev(func)
    args = [walk.ev(arg) for arg in node.args]
    kwargs = {keyword.arg or "**": walk.ev(keyword.value) for keyword in node.keywords}
    it = Call(node, target.name, attr, owner, args, kwargs)
    if target.name.startswith(("def:", "class:")) or (attr in walk.functions and not owner.name and owner.const is None):
        return _local(walk, it)
    if owner.const is not None and attr in n.FOLDED_METHODS:
        return _folded(walk, it)
    role = n.ROLES.get(target.name) or n.METHODS.get(attr, "")
    reader: Callable[[Walk, Call], Value] | None = walk.calls.get(role)
    if reader is not None:
        walk.current.acts = True
        return reader(walk, it)
    return _unknown(walk, it)


def _local(walk: Walk, it: Call) -> Value:
    kind, _, name = it.name.partition(":")
    if kind == "class":
        if "__init__" in walk.functions:
            walk.enter(walk.functions["__init__"], it.args, it.kwargs, method=True)
        return NOTHING
    function = walk.functions.get(name or it.attr)
    if function is None:
        return Value(it.labels)
    got = walk.enter(function, it.args, it.kwargs, method=bool(it.attr))
    return got if function.seen else Value(it.labels & ~n.PATHS)


def _folded(walk: Walk, it: Call) -> Value:
    const = pyfold.method(it.owner.const, it.attr, [arg.const for arg in it.args])
    labels = it.owner.labels | it.labels | (0 if it.attr in {"encode", "strip", "expanduser", "resolve"} else n.BUILT)
    if it.attr == "decode" and it.args and str(it.first.const).lower().startswith(("rot", "hex", "base64", "zlib")):
        return decoded(walk, it, const, labels | n.DECODED)
    if it.attr == "join" and labels & n.DECODED and isinstance(const, str) and len(const) > 5 and pyfold.HOLE not in const:
        walk.hit("SC337", it.node, const[:EVIDENCE_CHARS])
        return decoded(walk, it, const, labels)
    return walk.text(const, labels, it.owner.name)


def _unknown(walk: Walk, it: Call) -> Value:
    """Let a call that no table knows hand on what it was given; one that fills its object is noted there too."""
    if it.attr in MUTATORS:
        fill(walk, it.node.func, it.labels)
    if it.attr == "encrypt":
        walk.fact("encrypt", it.node)
    if it.kwargs.get("verify", NOTHING).const is False or it.kwargs.get("verify_ssl", NOTHING).const is False:
        walk.hit("SC317", it.node)
    name = f"{it.name}()"[-120:] if it.name else ""
    kept = ~0 if it.attr in {"resolve", "absolute"} else ~n.SELF
    return Value((it.labels | it.owner.labels) & kept, None, name)


def fill(walk: Walk, func: ast.expr, labels: int) -> None:
    """Note that the object whose method was called now holds more."""
    if not labels or not isinstance(func, ast.Attribute):
        return
    root = func.value
    if isinstance(root, ast.Name):
        walk.add_labels(root.id, labels)
    elif isinstance(root, ast.Attribute) and root.attr in walk.attributes:
        old = walk.attributes[root.attr]
        walk.attributes[root.attr] = old._replace(labels=old.labels | labels)


# --- names that are worked out


def named(walk: Walk, base: str, index: Value, node: ast.AST) -> Value:
    """Reach something by a name in a text: `getattr`, `__import__`, `sys.modules[…]`, `globals()[…]`."""
    text = index.const
    hidden = index.labels & (n.BUILT | n.DECODED)
    if not isinstance(text, str) or pyfold.HOLE in text:
        if base in n.DANGEROUS_MODULES or (not base and hidden):
            walk.hit("SC313", node)
        return Value(index.labels & ~n.PATHS, None, "")
    full = f"{base}.{text}" if base and base not in {"builtins", "__builtins__"} else text
    if full in n.DANGEROUS or (hidden and full in n.DANGEROUS_MODULES):
        walk.hit("SC312", node, full[:EVIDENCE_CHARS])
    elif full in n.DANGEROUS_MODULES:
        walk.hit("SC313", node, full)
    if not base:
        return walk.lookup(text)
    return Value(0, None, full[-120:])


def _getattr(walk: Walk, it: Call) -> Value:
    owner = it.first
    if len(it.args) < 2:
        return NOTHING
    if owner.name and not owner.name.startswith(("def:", "class:")):
        return named(walk, owner.name, it.args[1], it.node)
    return Value(owner.labels)


def _import(walk: Walk, it: Call) -> Value:
    text = it.first.const
    if isinstance(text, str) and pyfold.HOLE not in text:
        hidden = it.first.labels & (n.BUILT | n.DECODED)
        top = text.partition(".")[0]
        if top in n.DANGEROUS_MODULES:
            walk.hit("SC312" if hidden else "SC313", it.node, text[:EVIDENCE_CHARS])
        return Value(0, None, text[:120])
    if it.first.labels & (n.NET | n.DECODED) or it.name == "__import__":
        walk.hit("SC313", it.node)
    return NOTHING


# --- values that are worked out


def decoded(walk: Walk, it: Call, const: pyfold.Const, labels: int) -> Value:
    """Look at what a literal decodes to: an address, a path or a command that was hidden is a finding."""
    shown = const if isinstance(const, str) else const.decode("utf-8", "replace") if isinstance(const, bytes) else ""
    found = pytext.HIDDEN.search(shown, 0, pytext.TEXT_CHARS)
    if found or pytext.labels(shown) & (n.CRED_PATH | n.DROP_HOST | n.CHAT_HOST | n.START_PATH):
        walk.hit("SC336", it.node, shown[:EVIDENCE_CHARS])
    return walk.text(const, labels | n.DECODED)


def _decode(walk: Walk, it: Call) -> Value:
    codec = it.args[1].const if len(it.args) > 1 else ""
    hides = it.name != "codecs.decode" or str(codec).lower().startswith(("rot", "hex", "base64", "zlib", "bz2", "unicode"))
    const = pyfold.decode(it.name, [arg.const for arg in it.args])
    return decoded(walk, it, const, it.labels) if hides else walk.text(const, it.labels)


def _encode(_walk: Walk, it: Call) -> Value:
    labels = it.labels | it.owner.labels
    return Value(labels | (n.ENCODED if labels & (n.ENV | n.SECRET_ENV) else 0))


def _convert(walk: Walk, it: Call) -> Value:
    extra = n.BUILT | n.DECODED if it.name == "chr" else 0
    return walk.text(pyfold.convert(it.name, [arg.const for arg in it.args]), it.labels | extra)


def _map(walk: Walk, it: Call) -> Value:
    parts = it.args[1].const if len(it.args) > 1 else None
    if it.first.name != "chr" or not isinstance(parts, tuple | bytes):
        return _unknown(walk, it)
    return walk.text(tuple(pyfold.convert("chr", [part]) for part in parts), it.labels | n.DECODED)


def _same(walk: Walk, it: Call) -> Value:
    """Hand on a value that is only wrapped: a path, a text, compiled code."""
    const: pyfold.Const = it.first.const
    if it.name.startswith(("pathlib.", "Path")):
        for part in it.args[1:]:
            const = pyfold.path(const, part.const)
        return walk.text(const, it.labels, "pathlib.Path()")
    if it.name in {"bytes", "bytearray"}:
        const = pyfold.convert(it.name, [const])
    elif it.name == "str":
        const = pyfold.convert("str", [const])
    return Value(it.labels, const, it.first.name if it.name == "os.fspath" else "")


def _join(walk: Walk, it: Call) -> Value:
    const: pyfold.Const = it.first.const
    for part in it.args[1:]:
        const = pyfold.path(const, part.const)
    return walk.text(const, it.labels & ~n.SELF)


def _home(_walk: Walk, _it: Call) -> Value:
    return Value(0, "~", "pathlib.Path()")


# --- where values come from


def variable(walk: Walk, key: Value, node: ast.AST) -> Value:
    """Read one variable of the environment."""
    name = key.const if isinstance(key.const, str) else ""
    walk.hit("SC392", node, name[:EVIDENCE_CHARS])
    if name in {"HOME", "USERPROFILE"}:
        return Value(0, "~")
    if name in {"USER", "USERNAME", "LOGNAME", "HOSTNAME", "COMPUTERNAME"}:
        return Value(n.HOST)
    if name in {"APPDATA", "LOCALAPPDATA"}:
        return Value(0, "~/AppData")
    if not pytext.SECRET_NAME.search(name.upper(), 0, 200):
        return Value(n.ENV)
    if len(walk.secrets) < 50:
        walk.secrets.setdefault(name[:EVIDENCE_CHARS], node)
    return Value(n.ENV | n.SECRET_ENV)


def _env(walk: Walk, it: Call) -> Value:
    return variable(walk, it.first, it.node)


def _source(label: int) -> Callable[[Walk, Call], Value]:
    def give(_walk: Walk, it: Call) -> Value:
        return Value(label, None, f"{it.name}()"[-120:])

    return give


def _spy(walk: Walk, it: Call) -> Value:
    walk.hit("SC316", it.node)
    walk.fact("spy", it.node)
    return Value(n.CLIP, None, f"{it.name}()")


def _clean(walk: Walk, it: Call) -> Value:
    if it.name == "type" and len(it.args) == 3:
        walk.fact("type()", it.node)
    return NOTHING


READERS: dict[str, Callable[[Walk, Call], Value]] = {
    "getattr": _getattr,
    "import": _import,
    "decode": _decode,
    "encode": _encode,
    "convert": _convert,
    "map": _map,
    "same": _same,
    "join": _join,
    "home": _home,
    "env": _env,
    "clock": _source(n.DATE),
    "host": _source(n.HOST),
    "input": _source(n.INPUT),
    "receive": _source(n.NET),
    "own_secret": _source(n.SECRET_ENV),
    "watch": _source(n.WATCHED),
    "debugger": _source(n.WATCHED),
    "spy": _spy,
    "clean": _clean,
}
"""Role -> reader, of all that gives or changes values. `pysinks` has those that act."""
