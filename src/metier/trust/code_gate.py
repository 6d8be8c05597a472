"""Decides whether a code skill may be loaded, by a manifest or its syntax tree, and compiles only
the bytes that it judged (CO-7, CO-10).

It is a deny list and not a boundary (CO-15): it stops code that reaches for the machine openly or
by the known tricks, and someone who looks long enough will find another. The boundary is the
sandbox that the code then runs in. Whatever goes wrong in here is a refusal.
"""

from __future__ import annotations

import ast
import hashlib
import re
import symtable
import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import IntegrityError, RefusedError, UsageError
from metier.standard.digest import TreeFile, tree_digest
from metier.trust import assess, code_lists
from metier.trust.assess import TrustCase, assess_skill
from metier.trust.code_lists import sha256_of
from metier.trust.io import decisions_file
from metier.trust.model import standing_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

    from metier.context import Context
    from metier.model import Card, Digest
    from metier.trust.code_lists import CodeManifest, ManifestCheck


MAX_CODE_BYTES = 1024 * 1024
"""Longer code is refused unread."""

_COOKIE = re.compile(rb"^[ \t\f]*#.{0,200}?coding[:=][ \t]*([-\w.]{1,40})", re.ASCII)
_LINE_END = re.compile(rb"\r\n|\r|\n")
_UTF8 = frozenset({b"utf-8", b"utf8", b"utf_8", b"utf-8-sig", b"utf_8_sig"})
_FORMAT_REACH = re.compile(r"\{[^{}]{0,200}?[.\[](__\w{1,40}__)")

_REACHING = (
    code_lists.DENIED_ATTRIBUTES
    | code_lists.DENIED_CALLS
    | code_lists.DENIED_METHODS
    | code_lists.DENIED_NAMES
)
_FORBIDDEN = code_lists.DENIED_ATTRIBUTES | code_lists.DENIED_METHODS


class GateRefusal(NamedTuple):
    """Why code may not be loaded, and on which line."""

    reason: str
    line: int = 0


class Admission(NamedTuple):
    """What was decided about one file's bytes. `code` holds the very bytes that were judged, and is
    None when they are refused.
    """

    name: str
    sha256: str
    code: bytes | None
    reason: str
    """`trusted`, `gate_passed`, `hash_mismatch`, or the gate's own words."""
    line: int = 0
    advice: str = ""
    """`quarantine` when a file is not what its name promises."""


def admit(name: str, data: bytes, manifest: CodeManifest, *, strict: bool = True) -> Admission:
    """Decide whether a file's code may be loaded: trusted under this very name, or past the gate
    (CO-7, CO-10).

    What the manifest does not name has nobody to vouch for it, so the gate is strict (CO-14) unless
    the caller knows better.
    """
    digest = sha256_of(data)
    expected = manifest.skills.get(name)
    if expected == digest:
        return Admission(name, digest, data, "trusted")
    if expected is not None:
        return Admission(name, digest, None, "hash_mismatch", advice="quarantine")
    refusal = refusal_of(data, strict=strict)
    if refusal is not None:
        return Admission(name, digest, None, refusal.reason, refusal.line)
    return Admission(name, digest, data, "gate_passed")


def compile_admitted(admission: Admission, filename: str) -> CodeType:
    """Compile the bytes that were admitted, and nothing else: no file is read here."""
    code = admission.code
    if code is None or sha256_of(code) != admission.sha256:
        raise RefusedError(
            f"{admission.name} can't be loaded: {admission.reason}",
            hint="Approve its content, or remove it.",
            code="skill-load-blocked",
        )
    try:
        return compile(code, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RefusedError(
            f"{admission.name} cannot be compiled: {error}", code="skill-load-blocked"
        ) from error


def refusal_of(data: bytes, *, strict: bool = False) -> GateRefusal | None:
    """Tell why code may not be loaded, or None. Any failure in here is a refusal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _encoding(data) or _judge(data, strict=strict)
    except SyntaxError as error:
        return GateRefusal(f"Syntax error: {error.msg}", error.lineno or 0)
    except Exception as error:  # noqa: BLE001  # fail closed, whatever it is
        return GateRefusal(f"Syntax error: {type(error).__name__}: {error}"[:300])


def _encoding(data: bytes) -> GateRefusal | None:
    """Refuse what is not UTF-8, or asks to be read as something else: what is judged must be what
    is compiled.
    """
    if len(data) > MAX_CODE_BYTES:
        return GateRefusal(f"Too large: more than {MAX_CODE_BYTES} bytes")
    for number, line in enumerate(_LINE_END.split(data.removeprefix(b"\xef\xbb\xbf"), 2)[:2], 1):
        cookie = _COOKIE.match(line)
        if cookie and cookie[1].lower() not in _UTF8:
            return GateRefusal(
                f"Not UTF-8: declares {cookie[1].decode('ascii', 'replace')}", number
            )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return GateRefusal(f"Not UTF-8: byte {error.start}", data.count(b"\n", 0, error.start) + 1)
    return None


# --- the tree


def _judge(data: bytes, *, strict: bool) -> GateRefusal | None:
    """Look at every node once; the refusal that stands first in the file is given."""
    nodes = list(ast.walk(ast.parse(data)))
    look = _GateVisitor(nodes, strict=strict)
    for node in nodes:
        look.at(node)
    look.own_words(_from_outside(data.decode("utf-8-sig")))
    return min(look.found, key=lambda refusal: refusal.line) if look.found else None


def _from_outside(code: str) -> set[str]:
    """Name the words that some scope reads without a function binding them: those may mean the
    built-in.
    """
    found: set[str] = set()
    tables = [symtable.symtable(code, "", "exec")]
    for table in tables:
        tables += table.get_children()
        local = table.get_type() == "function"
        found |= {
            name
            for name in code_lists.OWN_WORDS.intersection(table.get_identifiers())
            if table.lookup(name).is_referenced()
            and not (local and not table.lookup(name).is_global())
            # `dir` by itself gives nothing away, and is what many call a folder.
            and not (name == "dir" and table.lookup(name).is_assigned())
        }
    return found


class _GateVisitor:
    """What one pass over a tree finds."""

    def __init__(self, nodes: list[ast.AST], *, strict: bool) -> None:
        self.denied = (
            code_lists.DENIED_IMPORTS | code_lists.STRICTLY_DENIED_IMPORTS
            if strict
            else code_lists.DENIED_IMPORTS
        )
        self.own = _defined(nodes)
        self.origins = _origins(nodes)
        self.roots: dict[int, str] = {}
        self.found: list[GateRefusal] = []
        self.nodes = nodes
        self.judged: set[int] = set()
        imports = [
            alias
            for node in nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        ]
        self.system = {"sys"} | {
            alias.asname for alias in imports if alias.name == "sys" and alias.asname
        }
        # `import os.path` binds `os`, and a star may bind anything: then the bare name is the
        # module.
        stars = any(alias.name == "*" for alias in imports)
        named = {alias.name.partition(".")[0] for alias in imports} & code_lists.DENIED_OWNERS
        self.modules = (
            code_lists.DENIED_OWNERS | (self.denied - self.own - set(self.origins))
            if stars
            else named
        )

        self.looks: dict[type[ast.AST], Callable[[Any], None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Constant: self._constant,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.MatchClass: self._match,
        }

    def refuse(self, reason: str, node: ast.AST) -> None:
        self.found.append(GateRefusal(reason, getattr(node, "lineno", 0)))

    def at(self, node: ast.AST) -> None:
        if look := self.looks.get(type(node)):
            look(node)

    def _match(self, node: ast.MatchClass) -> None:
        for attr in node.kwd_attrs:
            if attr in code_lists.DENIED_ATTRIBUTES or self._is_foreign(attr):
                self.refuse(f"Dangerous reflection attribute: .{attr}", node)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            if self._is_denied(alias.name):
                self.refuse(f"Dangerous import: {alias.name}", node)

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        names = [alias.name for alias in node.names]
        # A name that another module has imported for itself is the same door: `from glob import
        # os`.
        hidden = _REACHING.intersection(names) or (
            node.module == "sys" and ({"*"} | code_lists.DENIED_SYS_ATTRIBUTES).intersection(names)
        )
        borrowed = node.level or module.partition(".")[0] in sys.stdlib_module_names
        whole = [
            name
            for name in names
            if _is_private(name)
            or f"{module}.{name}" in code_lists.DENIED_EXACT_IMPORTS
            or (borrowed and name in self.denied)
        ]
        if self._is_denied(node.module or "") or hidden or whole:
            self.refuse(f"Dangerous import: from {module}", node)

    def _is_denied(self, name: str) -> bool:
        if name in code_lists.SAFE_IMPORTS:
            return False
        parts = name.split(".")
        if parts[0] in self.denied or any(part.startswith("_") for part in parts):
            return True
        return any(f"{name}.".startswith(f"{exact}.") for exact in code_lists.DENIED_EXACT_IMPORTS)

    def _is_foreign(self, attr: str) -> bool:
        """Tell whether a private name is one that this file does not define, so that it is another
        module's inside.
        """
        return _is_private(attr) and attr not in self.own and attr not in code_lists.TUPLE_WORDS

    def _call(self, node: ast.Call) -> None:
        func = node.func
        if (
            isinstance(func, ast.Name)
            and func.id in code_lists.DENIED_CALLS | code_lists.DENIED_METHODS
        ):
            self.refuse(f"Dangerous call: {func.id}()", node)
            self.judged.add(id(func))
        elif isinstance(func, ast.Attribute):
            path = _dotted(func)
            first, _, rest = path.partition(".")
            if func.attr in code_lists.DENIED_METHODS or (
                first in code_lists.DENIED_OWNERS
                and not (first == "os" and rest.startswith("path."))
            ):
                self.refuse(f"Dangerous call: {path or func.attr}()", node)
                self.judged.update(id(part) for part in _parts(func))

    def _is_inside(self, node: ast.Attribute) -> bool:
        """Tell whether an attribute is the inside of an imported module: a private name, or a
        module it imported for itself.
        """
        root = self._root(node)
        if root not in self.origins:
            return self._is_foreign(node.attr)
        return _is_private(node.attr) or (
            node.attr in self.denied and self.origins[root] in sys.stdlib_module_names
        )

    def _root(self, node: ast.Attribute) -> str:
        """Give the name that a chain begins with. The walk meets the whole chain first, so each is
        followed once only.
        """
        if id(node) not in self.roots:
            chain = list(_parts(node))
            name = chain[-1].id if isinstance(chain[-1], ast.Name) else ""
            self.roots.update((id(part), name) for part in chain)
        return self.roots[id(node)]

    def _attribute(self, node: ast.Attribute) -> None:
        inside = self._is_inside(node)
        if id(node) in self.judged:
            return
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        if f"{owner}.{node.attr}" in code_lists.SAFE_IMPORTS or owner in self.system:
            self.judged.add(id(node.value))
        if (
            inside
            or node.attr in _FORBIDDEN
            or (owner in self.system and node.attr in code_lists.DENIED_SYS_ATTRIBUTES)
        ):
            self.refuse(f"Dangerous reflection attribute: .{node.attr}", node)

    def _name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load) or id(node) in self.judged:
            return
        reached = (
            node.id in code_lists.DENIED_NAMES | code_lists.DENIED_CALLS
            and node.id not in code_lists.OWN_WORDS
        )
        if reached or node.id in self.modules or node.id in self.system:
            self.refuse(f"Dangerous reflection name: {node.id}", node)

    def _constant(self, node: ast.Constant) -> None:
        """See through a format string that walks from an object to its class: `"{0.__class__}"`."""
        if isinstance(node.value, str) and "__" in node.value:
            for match in _FORMAT_REACH.finditer(node.value):
                if match[1] in code_lists.DENIED_ATTRIBUTES:
                    self.refuse(f"Dangerous reflection attribute: .{match[1]}", node)

    def own_words(self, names: set[str]) -> None:
        """Refuse a built-in that is read by a word which code may also use for itself."""
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id in names and id(node) not in self.judged:
                self.refuse(f"Dangerous reflection name: {node.id}", node)


def _is_private(name: str) -> bool:
    """Tell a private name from a public one, from `__special__` ones (which have lists of their
    own) and from a bare `_`.
    """
    return (
        name.startswith("_")
        and name.strip("_") != ""
        and not (name.startswith("__") and name.endswith("__"))
    )


def _defined(nodes: list[ast.AST]) -> set[str]:
    """Name what the file itself defines or assigns, on whatever object."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def _origins(nodes: list[ast.AST]) -> dict[str, str]:
    """Map each name that an import binds, or that is assigned from such a name, to the top package
    it comes from.
    """
    found: dict[str, str] = {}
    copies: dict[str, list[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(
                (alias.asname or alias.name.partition(".")[0], alias.name.partition(".")[0])
                for alias in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            top = "" if node.level else (node.module or "").partition(".")[0]
            found.update((alias.asname or alias.name, top) for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and isinstance(
            node.value, ast.Name | ast.Attribute
        ):
            *_, root = _parts(node.value)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if isinstance(root, ast.Name):
                copies.setdefault(root.id, []).extend(
                    target.id for target in targets if isinstance(target, ast.Name)
                )
    queue = list(found)
    for name in queue:
        for copy in copies.get(name, ()):
            if copy not in found:
                found[copy] = found[name]
                queue.append(copy)
    return found


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    while isinstance(node, ast.Attribute):
        yield node
        node = node.value
    yield node


def _dotted(node: ast.Attribute) -> str:
    """Give `a.b.c`, or nothing when the chain does not begin with a name."""
    names = [part.attr for part in _parts(node) if isinstance(part, ast.Attribute)]
    root = list(_parts(node))[-1]
    return ".".join([root.id, *reversed(names)]) if isinstance(root, ast.Name) else ""


def load_code(context: Context, name: str) -> Admission:
    """Decide about the bytes of a code skill, read once: what is judged is what may then be
    compiled (CO-7, CO-10).

    Bytes that a person approved need no manifest. Whatever is not visible is refused: to load code
    is to run it.
    """
    card = context.catalogue.resolve(name)
    if card.kind != "code":
        raise UsageError(
            f"'{card.name}' is not a code skill", hint=f"read it with: metier show {card.name}"
        )
    case, admission = look_at_code(context, card)
    if admission.code is None:
        log.record(
            context,
            "refuse",
            "blocked",
            name=card.name,
            digest=case.verdict.digest,
            event="skill_load_blocked",
            skill_name=card.name,
            skill_path=card.path,
            reason=admission.reason,
            file_sha256=admission.sha256,
            advice=admission.advice,
        )
    return admission


def look_at_code(context: Context, card: Card) -> tuple[TrustCase, Admission]:
    """Decide the same and note nothing down: for whoever asks what would come of it."""
    data = skill_files.bytes_of(card)
    case = assess_skill(context, card)
    return case, _admit(context, case, data)


def _admit(context: Context, case: TrustCase, data: bytes) -> Admission:
    card, verdict, decision, _waived = case
    file = card.path.rpartition("/")[2]
    sha256 = code_lists.sha256_of(data)
    known = assess.manifest_beside(context, card)
    if known.skills.get(file, sha256) != sha256:
        return admit(file, data, known)  # which says that it is not what was promised
    if _digest_of_one(card, data) != verdict.digest:
        return Admission(file, sha256, None, "it changed while it was read")
    if decision.state != "visible" or decision.load in {"block", "ask"}:
        return Admission(file, sha256, None, f"{decision.state}: {'; '.join(decision.reasons)}")
    approvals = decisions_file.read_decisions(context.data).about(
        card.name, card.path, disk.real(card.path)
    )
    said = standing_records(approvals, card.name, verdict.digest, decisions_file.now()).same
    if said is not None and said.state == "approved":
        known = code_lists.CodeManifest({file: sha256})
    return admit(file, data, known)


def _digest_of_one(card: Card, data: bytes) -> Digest:
    """Give the digest that a skill of one file has when these are its bytes."""
    base, _, file = card.path.rpartition("/")
    executable = any(piece.executable for piece in disk.pieces_in(base) if piece.path == file)
    return tree_digest([TreeFile(file, len(data), hashlib.sha256(data).digest(), executable)])


# --- the manifest, written

LOADER_FILE = "codec.py"
"""CODEC's own loader, which is no skill and stands in no manifest."""
MAX_MANIFEST_FILES = 5_000


def hold_manifest(
    context: Context, folder: str, *, write: bool = False, expected: str = ""
) -> ManifestCheck:
    """Hold the manifest of a folder against the code skills in it; with `write` put it right, which
    is a person's word for every one of them, as they were when `expected` was told (CO-23).
    """
    place = disk.real(disk.absolute(folder, context.cwd, context.home))
    if disk.kind_of(place) != disk.FOLDER:
        raise UsageError(f"there is no folder {folder}", hint="give the folder of the code skills")
    path = f"{place}/{assess.MANIFEST_FILE}"
    there = _code_hashes(place)
    data = None
    if disk.is_there(path):
        head = disk.read_head(path, code_lists.MAX_LIST_BYTES + 1)
        data = head.data if not head.fault else b""
    found = code_lists.compare_manifest(path, code_lists.parse_manifest(data), there)
    if expected and expected != found.sha256:
        raise IntegrityError(f"{place} changed while you looked at it", hint="look again")
    if not write or found.ok:
        return found
    if disk.real(path) != path:
        raise RefusedError(f"{path} is a link", hint="write the manifest it leads to")
    disk.write_over(path, code_lists.manifest_text(there))
    log.record(
        context,
        "manifest",
        "written",
        path=path,
        added=list(found.added),
        removed=list(found.removed),
        changed=list(found.changed),
    )
    return found._replace(written=True)


def _code_hashes(place: str) -> dict[str, str]:
    """Give the hash of each code skill that lies in a folder itself."""
    names = [
        name
        for name in disk.list_folder(place).files
        if name.endswith(".py") and name[0] not in "._" and name != LOADER_FILE
    ]
    if len(names) > MAX_MANIFEST_FILES:
        raise RefusedError(
            f"{place} holds {len(names):,} Python files; a manifest has at most "
            f"{MAX_MANIFEST_FILES:,}",
            hint="give a folder of code skills",
        )
    found: dict[str, str] = {}
    for name in names:
        head = disk.read_head(f"{place}/{name}", MAX_CODE_BYTES + 1)
        if head.fault:
            raise RefusedError(
                f"{place}/{name} cannot be read: {head.message}", hint="check its permissions"
            )
        if head.size > MAX_CODE_BYTES:
            raise RefusedError(f"{place}/{name} is too long to be a skill", hint="move it away")
        found[name] = sha256_of(head.data)
    return found
