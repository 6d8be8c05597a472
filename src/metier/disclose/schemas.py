"""The tools that a host registers for its model, as data: names, when to use each, and the JSON
Schema of its arguments. Pure.

Four are the agent's own (HE-1, HE-6), four go by the names that most frameworks use. The schemas keep to
a few words of JSON Schema, so that `fault_in` can hold arguments against them without a library for
it.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from metier.disclose.pages import HANDLE_BYTES
from metier.errors import UsageError, closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.model import JsonObject, Texts

MAX_QUERY_CHARS = 4096
MAX_HITS = 50
DEFAULT_HITS = 10
MAX_ARGUMENTS = 256
ACTIONS: dict[str, dict[str, str]] = {
    "create": {"content": "content", "category": "category"},
    "edit": {"content": "content"},
    "patch": {
        "old_string": "old",
        "new_string": "new",
        "file_path": "file",
        "replace_all": "replace_all",
    },
    "delete": {},
    "write_file": {"file_path": "file", "file_content": "content"},
    "remove_file": {"file_path": "file"},
}
"""What `skill_manage` takes for each action beside a name, and what the library calls it."""
NEEDED_ARGUMENTS = {
    "create": ("content",),
    "edit": ("content",),
    "patch": ("old_string", "new_string"),
    "write_file": ("file_path", "file_content"),
    "remove_file": ("file_path",),
}
"""What of it may not be left out."""


def _text(description: str, most: int = HANDLE_BYTES, least: int = 1) -> JsonObject:
    return {"type": "string", "description": description, "minLength": least, "maxLength": most}


def _tool(
    name: str, description: str, required: Texts = (), /, **properties: JsonObject
) -> JsonObject:
    schema: JsonObject = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        schema["required"] = list(required)
    return {"name": name, "description": description, "input_schema": schema}


def checked_handle(name: str) -> str:
    """Accept a name or a path that is to be looked up (CX-59)."""
    if (
        not name.strip()
        or not name.isprintable()
        or len(name.encode("utf-8", "surrogatepass")) > HANDLE_BYTES
    ):
        raise UsageError("that is not the name of a skill", hint="give the name as it is listed")
    return name


_NAME = _text(
    "The skill's name as listed; a path, scope:name or plugin:name where several share one."
)
_CURSOR = _text("The next_cursor of the page before; leave it out for the first page.")
_MAX_CONTENT_CHARS = 1024 * 1024

TOOLS: tuple[JsonObject, ...] = (
    _tool(
        "skills_categories",
        "List the categories of skills, each with its description and how many skills it has. Use "
        "it to see what there is before you list or search.",
        cursor=_CURSOR,
    ),
    _tool(
        "skills_list",
        "List the skills there are: name, description, category, readiness. Use it first when a "
        "task may need one.",
        category=_text("Only skills of this category."),
        cursor=_CURSOR,
    ),
    _tool(
        "skill_view",
        "Read a skill's instructions, or one of its files or sections. Use it before you follow a "
        "skill, and for each file "
        "that its instructions name.",
        ("name",),
        name=_NAME,
        file_path=_text("A file of the skill, such as references/api.md; leave it out for the "
                        "instructions."),
        section=_text("Only this section of the instructions, by its heading."),
        cursor=_CURSOR,
    ),
    _tool(
        "skill_manage",
        "Write down what you learnt as a skill, or mend one: create, edit, patch, delete, "
        "write_file, remove_file. Every change "
        "is checked and scanned; it may have to wait for a person.",
        ("action", "name"),
        action={"type": "string", "description": "What to do.", "enum": list(ACTIONS)},
        name=_text("The skill's name: lower-case letters, digits and single hyphens for a new one."),
        content=_text("create, edit: the whole SKILL.md, frontmatter and body.", _MAX_CONTENT_CHARS),
        category=_text("create: the folder to put the skill in, one word.", 64),
        old_string=_text("patch: the text to replace; it must stand in the file exactly once "
                         "unless replace_all is true.", _MAX_CONTENT_CHARS),
        new_string=_text("patch: what takes its place; empty to take it out.", _MAX_CONTENT_CHARS, 0),
        replace_all={"type": "boolean", "description": "patch: replace every match."},
        file_path=_text("write_file, remove_file: a file below references/, templates/, scripts/ "
                        "or assets/. patch: SKILL.md "
                        "when left out."),
        file_content=_text("write_file: the whole file.", _MAX_CONTENT_CHARS, 0),
    ),
    _tool(
        "search_skills",
        "Find skills that fit a task, best first. Use it when there are too many to list.",
        ("query",),
        query=_text("The task, in plain words.", MAX_QUERY_CHARS),
        limit={"type": "integer", "description": f"At most so many (default: {DEFAULT_HITS}).", "minimum": 1, "maximum": MAX_HITS},
        category=_text("Only skills of this category."),
    ),
    _tool(
        "load_skill",
        "Activate a skill: its instructions, its folder and the names of its files. Use it once, "
        "when you start to follow it.",
        ("name",),
        name=_NAME,
        again={"type": "boolean", "description": "Give all of it again, when the conversation no "
                                                 "longer holds it."},
    ),
    _tool(
        "read_skill_file",
        "Read one file of a skill, when its instructions name it.",
        ("name", "path"),
        name=_NAME,
        path=_text("The file's path inside the skill, such as references/api.md."),
        cursor=_CURSOR,
    ),
    _tool(
        "run_skill_script",
        "Run a script of a skill when its instructions say so; give its exit code and output.",
        ("name", "script"),
        name=_NAME,
        script=_text("The script's path inside the skill, such as scripts/fill.py."),
        args={"type": "array", "description": "Its arguments.", "items": {"type": "string", "maxLength": _MAX_CONTENT_CHARS},
              "maxItems": MAX_ARGUMENTS},
    ),
)  # fmt: skip
BY_NAME = {tool["name"]: tool for tool in TOOLS}


def schemas(only: Iterable[str] = ()) -> list[JsonObject]:
    """Give the tools' definitions, all of them or only those named, in their own order."""
    wanted = [known_tool(name) for name in only]
    # whoever gets a schema may change it
    return [deepcopy(tool) for tool in TOOLS if not wanted or tool["name"] in wanted]


def known_tool(name: str) -> str:
    """Give a tool's name back, if there is such a tool."""
    if name in BY_NAME:
        return name
    near = closest(name, list(BY_NAME))
    hint = f"did you mean {near}?" if near else f"there are: {', '.join(BY_NAME)}"
    raise UsageError(f"there is no tool named '{name[:100]}'", hint=hint)


def fault_in(name: str, arguments: Mapping[str, Any]) -> str:
    """Say what is wrong with a tool's arguments, in the words of its schema; nothing when they are
    right.
    """
    schema = BY_NAME[name]["input_schema"]
    for key in schema.get("required", ()):
        if key not in arguments:
            return f"'{key}' is missing"
    for key, value in arguments.items():
        if key not in schema["properties"]:
            return (
                f"there is no argument {str(key)[:100]!r}; there are: "
                f"{', '.join(schema['properties'])}"
            )
        fault = _fault_of(schema["properties"][key], value)
        if fault:
            return f"'{key}' {fault}"
    return ""


def fault_in_action(action: str, arguments: Iterable[str]) -> str:
    """Say which argument an action of `skill_manage` does not take, or lacks; its schema leaves
    that open.
    """
    for key in arguments:
        if key not in ACTIONS[action]:
            return f"'{action}' takes no '{key}'"
    lacking = next((key for key in NEEDED_ARGUMENTS.get(action, ()) if key not in arguments), "")
    return f"'{action}' needs '{lacking}'" if lacking else ""


_TYPES: dict[str, tuple[type[Any], str]] = {
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
}


def _fault_of(schema: Mapping[str, Any], value: Any) -> str:
    kind, words = _TYPES[schema["type"]]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"must be {words}"
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of: {', '.join(schema['enum'])}"
    if kind is int and not schema["minimum"] <= value <= schema["maximum"]:
        return f"must be from {schema['minimum']} to {schema['maximum']}"
    if kind is str and len(value) < schema.get("minLength", 0):
        return "may not be empty"
    if kind is str and len(value) > schema.get("maxLength", len(value)):
        return f"has {len(value):,} characters; the limit is {schema['maxLength']:,}"
    if kind is list and len(value) > schema["maxItems"]:
        return f"has {len(value):,} items; the limit is {schema['maxItems']:,}"
    for item in value if kind is list else ():
        fault = _fault_of(schema["items"], item)
        if fault:
            return f"holds an item that {fault}"
    return ""
