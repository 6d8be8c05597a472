"""Runs `metier config`, which shows and changes settings, and `metier init`, which gets a project
ready.
"""

from __future__ import annotations

import os

from metier.cli.argv import YES, CommandRow, Option, Values, cannot, refuse_misplaced
from metier.cli.commands.open import open_in_editor
from metier.cli.consent import require_yes
from metier.cli.main import opened
from metier.cli.output import answer, clean, columns, counted, style
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VERBS = ("list", "get", "set", "unset", "edit", "path")


# --- settings


def run_config(values: Values) -> int:
    """Show or change what the user's configuration says."""
    verb, *words = values.words or ["list"]
    refuse_misplaced(values, f"config {verb}", verb, {"all": ("list",)})
    with opened(values) as m:
        file = m.context.config or ""
        if verb == "list":
            found = m.settings_given(defaults=values.flag("all"))
            answer(values, {"file": file, "settings": found}, _settings_text(file, found))
        elif verb == "path":
            answer(values, {"file": file}, f"{clean(file)}\n", raw=True)
        elif verb == "edit":
            return open_in_editor(file)
        elif verb == "get" and len(words) == 1:
            value = m.setting_given(words[0])
            mine = m.settings_given()
            is_default = not any(
                name == words[0] or name.startswith(f"{words[0]}.") for name in mine
            )
            document = {"key": words[0], "value": value, "default": is_default}
            answer(values, document, _value_text(words[0], value), raw=True)
        elif verb == "set" and len(words) == 2:
            m.change_setting(words[0], words[1])
            answer(values, {"key": words[0], "file": file}, f"{clean(words[0])} is set in {file}\n")
        elif verb == "unset" and len(words) == 1:
            m.change_setting(words[0], None)
            answer(
                values, {"key": words[0], "file": file}, f"{clean(words[0])} is unset in {file}\n"
            )
        elif verb in VERBS:
            raise UsageError(
                f"metier config {verb} needs a KEY{' and a VALUE' if verb == 'set' else ''}",
                hint=f"for example: metier config {verb} run.network"
                f"{' none' if verb == 'set' else ''} (all settings: metier config list --all)",
            )
        else:
            raise cannot("config", verb, *VERBS)
    return 0


def _shown(value: Any) -> str:
    from metier.cli.output import json_text

    return clean(value) if isinstance(value, str) else json_text(value).rstrip("\n")


def _value_text(key: str, value: Any) -> str:
    """Write a value; of a table a line for each key, as `metier config` lists them."""
    if not isinstance(value, dict) or not value:
        return f"{_shown(value)}\n"
    rows = [(clean(f"{key}.{name}"), _shown(one) or '""') for name, one in value.items()]
    return columns(rows) + "\n"


def _settings_text(file: str, found: Mapping[str, Any]) -> str:
    if not found:
        return (
            f"Nothing is set in {clean(file)}, so the defaults apply.\n\n"
            "next: metier config list --all shows them, metier config set KEY VALUE changes one\n"
        )
    rows = [(key, _shown(value)) for key, value in found.items()]
    return f"{style(clean(file), 'cyan')}\n{columns(rows)}"


# --- a project


def run_init(values: Values) -> int:
    """Get a project ready: a folder for its skills, and your word that you trust it."""
    with opened(values) as m:
        project = m.context.project
        folder = os.path.join(project, ".agents", "skills")
        steps = []
        if not os.path.isdir(folder):
            steps.append(f"create {folder}")
        trusted = m.is_project_trusted()
        if not trusted:
            steps.append(f"trust the project in {project}")
        if steps:
            told = "".join(f"  {step}\n" for step in steps)
            require_yes(values, f"This will:\n{told}\nGo on?")
            os.makedirs(folder, exist_ok=True)
            if not trusted:
                m.trust_project(project)
        cards = m.skills(scope="project")
        seen = m.agents()
    document = {
        "project": project,
        "folder": folder,
        "done": steps,
        "skills": len(cards),
        "agents": [one.id for one in seen],
    }
    answer(values, document, _init_text(document))
    return 0


def _init_text(document: Mapping[str, Any]) -> str:
    agents = ", ".join(document["agents"]) or "none that metier knows"
    return (
        f"{clean(document['project'])} is ready: {counted(document['skills'], 'skill')}\n"
        f"agents here: {agents}\n\n"
        "next: metier add SOURCE installs skills, metier new NAME creates one; commit metier.lock\n"
    )


ROWS = (
    CommandRow(
        "config",
        operands="[list|get|set|unset|edit|path] [KEY] [VALUE]",
        options=(Option("--all", "list every setting, with its value or its default"),),
        examples={
            "metier config": "what you have set, and in which file",
            "metier config list --all": "every setting there is, and the value it has",
            "metier config set scan.model off": "checked before it is written; comments are kept",
            "metier config get scan.model": "one value, or its default",
            "metier config get limits": "all values of a table",
            "metier config edit": "in your editor",
        },
        detail="docs/reference/configuration.md says what each setting does.",
        run=run_config,
    ),
    CommandRow(
        "init",
        options=(YES,),
        examples={"metier init": "in the folder of your project"},
        run=run_init,
    ),
)
