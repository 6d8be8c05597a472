"""What an agent makes of a SKILL.md: which it loads, under which name, and why it leaves one out.

Agents read the same file in different ways. One takes `name` for a skill's name and another its
folder; one is stopped by a byte-order mark, one by a missing description, one by nothing. A
`Loading` is one agent's way as data, and the functions here follow it. Pure: bytes in, value out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.discover.entries import shortened
from metier.model import Gates
from metier.standard.names import one_line
from metier.standard.needs import POLICY, mapping
from metier.standard.plain_text import estimate
from metier.standard.sidecar import PATH as SIDECAR_PATH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Entry, FieldRule, JsonObject, Loading, Texts


class AgentReading(NamedTuple):
    """A file as an agent reads it."""

    name: str
    description: str = ""
    fields: JsonObject | None = None
    head: str = ""
    """The frontmatter as it is written."""
    left_out: str = ""
    """Why the agent does not load it; nothing when it does."""


_KEY = r"(?m)^[ \t]*[\"']?{}[\"']?[ \t]*:(.*)$"
_ALIAS = re.compile(r"(?:^|[\s:\[,])\*(\w+)")
_ANCHOR = re.compile(r"(?:^|[\s:\[,])&(\w+)")
_HEADING = re.compile(r"#+\s+")
_OWN_TAG = re.compile(
    r"(?::|-)[ \t]+!(?!!(?:str|int|float|bool|null|binary|timestamp|seq|map|set|omap|pairs)\b)"
)
_COLON_LINE = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:[ \t]*(.*)\Z")
_HALF = re.compile(r"\\u([dD][89abAB][\da-fA-F]{2})(?:\\u([dD][c-fC-F][\da-fA-F]{2}))?")
_TAB_BEFORE_VALUE = re.compile(r"(?m)^ *[\w-]+: *\t[ \t]*[^\s#]")
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|0[xo][\da-fA-F]+)\Z")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}\Z|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?"
    r"(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?\Z"
)
_FLAGS = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_OLD_FLAGS = {"yes": "True", "on": "True", "no": "False", "off": "False"}
"""Words that an older YAML takes for flags."""
_UNREAD_SIDECAR = frozenset({"SK022", "SK080", "SK085"})
"""Faults by which a sidecar's policy cannot be read."""
_FALSE = frozenset({"false", "no", "off", "0"})
"""What a program takes for no value at all, where it is not text."""
_NO_WORDS = frozenset({*_OLD_FLAGS, "true", "false", "null", "y", "n"})
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


def as_loaded(loading: Loading, entry: Entry, data: bytes, *, complete: bool) -> Entry:
    """Give an entry as one agent sees it, from the head of its file."""
    folder = entry.path.rpartition("/")[2]
    if entry.kind != "skill-md":
        return entry if loading.flat else _left_out(entry, "it loads no flat files, only SKILL.md")
    if entry.file != "SKILL.md" and not loading.any_case:
        return _left_out(entry, f"its file is called {entry.file}, not SKILL.md")
    if loading.largest and entry.size > loading.largest:
        return _left_out(entry, f"it has more than {loading.largest:,} bytes")
    if _is_ordinary(loading, entry, data):
        name = folder if loading.named_by_folder else entry.name.rpartition(":")[2]
        return _named(loading, entry, name)
    read = read_as(loading, data, folder, complete=complete)
    entry = _named(loading, entry, one_line(read.name) or folder)
    if read.description:
        entry = entry._replace(description=shortened(one_line(read.description)))
    entry = entry._replace(tokens=estimate(entry.name) + estimate(entry.description))
    if read.left_out:
        return _left_out(entry, read.left_out)
    hidden = closed_gate(loading, read.fields or {}, read.head)
    gates = _gates_kept(loading, entry, read.fields or {}, hidden)
    return entry._replace(gates=gates, loaded=True)


def _left_out(entry: Entry, why: str) -> Entry:
    return entry._replace(left_out=why)


def _named(loading: Loading, entry: Entry, name: str) -> Entry:
    for character in loading.replaced:
        name = name.replace(character, "-")
    name = name[: loading.longest_name or None]
    plain = entry.name.rpartition(":")[2]
    if not loading.plugin_names:
        return entry._replace(name=name, plugin="")
    if not entry.plugin:
        return entry._replace(name=name) if name != entry.name else entry
    return entry._replace(name=f"{entry.plugin}:{name}") if name != plain else entry


def _is_ordinary(loading: Loading, entry: Entry, data: bytes) -> bool:
    """Tell whether a file is one that every agent reads alike: nearly all are."""
    return (
        not entry.diagnostics
        and entry.gates is None
        and data.startswith(b"---\n")
        and b"\n---\n" in data
        and data.isascii()
        and b"\0" not in data
        and entry.description[:1].isalpha()
        and " " in entry.description
        and not any(key in data for key in loading.watched)
        and (not loading.body or data.partition(b"\n---\n")[2].strip() != b"")
        and (loading.named_by_folder or f"\nname: {entry.name}\n".encode() in data)
        and (loading.named_by_folder or _is_a_word(entry.name))
    )


def _is_a_word(name: str) -> bool:
    """Tell whether every YAML reader takes a name for a text."""
    return name[:1].isalpha() and name.lower() not in _NO_WORDS


def read_as(loading: Loading, data: bytes, folder: str, *, complete: bool = True) -> AgentReading:
    """Read the head of a SKILL.md as an agent does."""
    text, fault = _text_of(loading, data, complete=complete)
    if fault:
        return AgentReading(folder, left_out=fault)
    found = _compiled(loading.fence).match(text[: loading.reads or None])
    if found is None:
        fault = "" if loading.bare else "it finds no frontmatter in it"
        return AgentReading(folder, _opening(loading, text), left_out=fault)
    head = found[1].strip() if loading.trimmed else found[1]
    fields, fault = _fields_of(loading, head)
    if fault and (loading.readable or not loading.bare):
        return AgentReading(folder, left_out=fault)
    if loading.body and not text[found.end() :].strip():
        return AgentReading(folder, left_out="it has no text after its frontmatter")
    faults = (_fault_of(rule, fields, head) for rule in loading.fields)
    fault = next((fault for fault in faults if fault), "")
    name, description = (_word(loading, fields, key, head) for key in ("name", "description"))
    if loading.named_by_folder or "name" not in fields:
        name = folder
    elif loading.folder_without_name:
        name = name.strip() or folder
    if not description.strip():
        description = _opening(loading, text[found.end() :])
    return AgentReading(name, description, fields, head, fault)


def _opening(loading: Loading, body: str) -> str:
    """Give the line that describes a skill without a description, where the agent takes one."""
    if not loading.first_line:
        return ""
    line = _HEADING.sub("", next(filter(None, map(str.strip, body.splitlines())), ""))
    if len(line) > loading.first_line:
        return line[: loading.first_line - 3] + "..."
    return line or loading.undescribed


def _word(loading: Loading, fields: JsonObject, key: str, head: str) -> str:
    """Give a field as the agent shows it."""
    value = fields.get(key)
    kind = _kind(fields, key, head)
    if not loading.python_words or kind in {"missing", "text", "number", "date"}:
        return _shown(value)
    flag = _OLD_FLAGS.get(str(value).lower(), str(value).capitalize())
    return {"nothing": "None", "flag": flag, "old flag": flag}.get(kind, str(value))


def _shown_kind(kind: str) -> str:
    return {"nothing": "empty"}.get(kind, f"a {kind}, not text")


def _text_of(loading: Loading, data: bytes, *, complete: bool) -> tuple[str, str]:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        cut = not complete and error.start >= len(data) - 3  # in the middle of a character
        if loading.utf8 and not cut:
            return "", "it is not valid UTF-8"
        text = data.decode(errors="replace")
    return (text.replace("\r\n", "\n").replace("\r", "\n") if loading.newlines else text), ""


@lru_cache(maxsize=32)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _fields_of(loading: Loading, head: str) -> tuple[JsonObject, str]:
    """Read the fields, mending them as the agent does; or say what is wrong with them."""
    from metier.standard import frontmatter, full_yaml  # few files are not plain

    if not loading.yaml:
        return _line_by_line(head), ""
    text = head.replace("\t", "  ") if loading.tabs else head
    text = text.replace("\0", " ") if loading.nul else text
    text = _HALF.sub(_joined, text) if loading.halves else text
    if not loading.tab_before_value and _TAB_BEFORE_VALUE.search(text):
        return {}, "its frontmatter has a tab before a value"
    fields, fault = _strict(loading, text)
    if not fault and not (loading.repair == "lines" and not _are_texts(fields, text)):
        return fields, ""
    if loading.repair == "quote":
        mended = frontmatter.quote_loose_values(
            text,
            broken_alone=lambda value: full_yaml.load(value + "\n").error is not None,
            marks=loading.mended,
            last_colon=False,
        )
        return _strict(loading, mended.text) if mended is not None else (fields, fault)
    if loading.repair == "colon":
        return _strict(loading, "\n".join(map(_as_block, text.split("\n"))))
    if loading.repair == "lines":
        return _by_lines(text)
    if loading.repair == "pairs":
        pairs = (line.partition(":") for line in text.splitlines())
        return {key.strip(): value.strip() for key, colon, value in pairs if colon}, ""
    return fields, fault


def _joined(found: re.Match[str]) -> str:
    """Give the character that two escaped halves make; one half alone is none."""
    high, low = int(found[1], 16), int(found[2] or "0", 16)
    return chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF)) if low else "\ufffd"


def _line_by_line(head: str) -> JsonObject:
    """Read names and values without YAML: a value is the rest of its line, or the indented lines
    below it as a list or as names and values of their own.
    """
    fields: JsonObject = {}
    inner: Any = None
    above = ""
    for line in head.split("\n"):
        text = line.strip()
        if not text or text[0] == "#":
            continue
        key, colon, value = (word.strip() for word in line.partition(":"))
        if line.startswith("  - ") and above:
            inner = inner if isinstance(inner, list) else []
            inner.append(_bare_value(text[1:].strip()))
            fields[above] = inner
        elif line.startswith("  ") and above and not isinstance(inner, list):
            inner = inner if isinstance(inner, dict) else {}
            inner[key] = _bare_value(value)
            fields[above] = inner
        elif colon:
            above, inner = ("" if value else key), None
            if value:
                fields[key] = _bare_value(value)
    return fields


def _bare_value(text: str) -> str:
    if text == "null":
        return ""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _strict(loading: Loading, text: str) -> tuple[JsonObject, str]:
    from metier.standard import full_yaml

    loaded = full_yaml.load(text)
    if loaded.error is not None:
        return {}, f"its frontmatter is not valid YAML ({loaded.error[0]})"
    codes = {fault[0] for fault in loaded.faults}
    if "SK022" in codes and _is_twice(loading.once, text):
        return {}, "its frontmatter gives a field twice"
    if "SK023" in codes and set(_ALIAS.findall(text)) - set(_ANCHOR.findall(text)):
        return {}, "its frontmatter uses a YAML alias that it does not define"
    if "SK024" in codes and not loading.tags and _OWN_TAG.search(text):
        return {}, "its frontmatter uses a YAML tag"
    if not isinstance(loaded.value, dict):
        odd = (loaded.value or (loading.readable and text.strip())) and not loading.fieldless
        return {}, "its frontmatter holds no fields" if odd else ""
    if "SK022" in codes and loading.last_value:
        return {**loaded.value, **_last_values(text)}, ""
    return loaded.value, ""


def _is_twice(once: Texts, head: str) -> bool:
    return "*" in once or any(
        len(re.findall(rf"(?m)^[\"']?{re.escape(key)}[\"']?[ \t]*:", head)) > 1 for key in once
    )


def _last_values(head: str) -> JsonObject:
    """Give the last of several values of the fields that name a skill."""
    found = ((key, re.findall(_KEY.format(key), head)) for key in ("name", "description"))
    return {key: values[-1].strip() for key, values in found if len(values) > 1}


def _are_texts(fields: JsonObject, head: str) -> bool:
    texts_ = ("text", "old flag")
    return all(_kind(fields, key, head) in texts_ for key in ("name", "description"))


def _as_block(line: str) -> str:
    """Write a value that holds a colon as a block, which needs no quotes."""
    found = _COLON_LINE.match(line)
    if found is None or ":" not in found[2] or found[2][0] in "\"'|>":
        return line
    return f"{found[1]}: |-\n  {found[2]}"


def _by_lines(head: str) -> tuple[JsonObject, str]:
    """Take the two fields from lines that begin with their names, whatever else is there."""
    fields: JsonObject = {}
    for key in ("name", "description"):
        found = re.findall(rf"(?m)^[ \t]*{key}:(.*)$", head)
        if not found:
            return {}, f"it has no {key}"
        fields[key] = found[-1 if key == "name" else 0].strip().strip("\"'")
    return fields, ""


def _kind(fields: JsonObject, key: str, head: str) -> str:
    """Say what a field's value is to a YAML reader that knows types."""
    value = fields.get(key)
    if key not in fields:
        return "missing"
    if isinstance(value, (dict, list)):
        return "map" if isinstance(value, dict) else "list"
    found = re.search(_KEY.format(re.escape(key)), head)
    raw = found[1].partition(" #")[0].strip() if found else str(value)
    if value == "" and raw in _NULLS:
        return "nothing"
    if raw != value:
        return "text"
    if raw in _FLAGS:
        return "flag"
    if raw.lower() in _OLD_FLAGS:
        return "old flag"
    if _DATE.match(raw):
        return "date"
    return "number" if _NUMBER.match(raw) else "text"


def _fault_of(rule: FieldRule, fields: JsonObject, head: str) -> str:
    """Say what an agent does not take of one field, or nothing."""
    outer, _dot, key = rule.name.rpartition(".")
    fields = mapping(fields.get(outer)) if outer else fields
    kind = _kind(fields, key, head)
    if kind == "old flag":  # where flags are let pass it is the same as a text
        kind = "flag" if rule.old_flags else "text"
    unset = rule.false_is_missing and kind != "text" and str(fields.get(key)).lower() in _FALSE
    if kind == "missing" or (kind == "nothing" and rule.null_is_missing) or unset:
        return f"it has no {rule.name}" if rule.required else ""
    if kind not in rule.kinds:
        return f"its {rule.name} is {_shown_kind(kind)}"
    value = _shown(fields[key]) if kind != "nothing" else kind
    if kind in {"list", "map", "nothing"}:
        return ""
    if not rule.empty and not (value if rule.spaces else value.strip()):
        return f"its {rule.name} is empty"
    if rule.most and len(value) > rule.most:
        return f"its {rule.name} has {len(value):,} characters, of {rule.most:,} that may be"
    if rule.pattern and not _compiled(rule.pattern).match(value):
        return f"its {rule.name} has characters that may not be in one"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {item}" for key, item in value.items()) + "}"
    return value if isinstance(value, str) else ""


def closed_gate(loading: Loading, fields: JsonObject, head: str = "") -> str:
    """Give the field by which the agent does not offer a skill, or nothing."""
    for key, wanted in loading.closing:
        if loading.flags and _kind(fields, key, head) == "text":
            continue
        value: Any = fields
        for part in key.split("."):
            value = mapping(value).get(part)
        if not wanted:  # any pattern but one that matches everything
            if set(_patterns(value, _kind(fields, key, head))) - {"", "**"}:
                return key
        elif isinstance(value, str) and value.strip().lower() in wanted:
            return key
    return ""


def _patterns(value: Any, kind: str) -> Iterable[str]:
    """Give patterns of paths, without the end that says a folder's whole content."""
    listed = value if isinstance(value, list) else value.split(",") if kind == "text" else ()
    words = (item.strip() for item in listed if isinstance(item, str))
    return (word.removesuffix("/**") for word in words if not _NUMBER.match(word))


def _is_sidecar_passed_over(loading: Loading, entry: Entry) -> bool:
    """Tell whether the agent takes a sidecar for one that is not there, since it cannot read it."""
    named = set(entry.gates.products if entry.gates else ())
    unread = {note.code for note in entry.diagnostics if note.path == SIDECAR_PATH}
    return not named <= set(loading.products) or not unread.isdisjoint(_UNREAD_SIDECAR)


def _gates_kept(loading: Loading, entry: Entry, fields: JsonObject, hidden: str) -> Gates | None:
    """Keep of a skill's gates those that the agent knows, and close the one it closes itself."""
    gates = entry.gates or Gates()
    kept = Gates(**{key: getattr(gates, key) for key in loading.gates})
    if kept.platforms:  # no agent reads what another's table says about systems
        named: Any = fields.get("platforms")
        named = named if isinstance(named, list) else [named]
        platforms = tuple(str(name).strip().lower() for name in named if name)
        kept = kept._replace(platforms=platforms)
    if loading.products and _is_sidecar_passed_over(loading, entry):
        kept = kept._replace(products=(), model_hidden="")
    if kept.model_hidden != POLICY:  # the frontmatter's own field counts by the agent's own rule
        kept = kept._replace(model_hidden=hidden)
    return None if kept == Gates() else kept
