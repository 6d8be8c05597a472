"""A messy user's machine: ordinary and odd skills in the folders of many agents, with a home, a repository and a place outside any.

Not a test: a third machine beside the two of `oddities`, written by somebody who knew neither those nor metier's code. What
is made here is the same each time.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from typing import TYPE_CHECKING, NamedTuple

from fakes import oddities, stranger_machine
from fakes.messy_ordinary import ROOTS, link_to, ordinary_skills, place
from fakes.oddities import Link, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fakes.messy_ordinary import Placed

VIEWS = {
    "messy-root": "repo",
    "messy-inside": "repo/services/api",
    "messy-outside": "elsewhere/work",
}
"""From where agents are asked. The home lies where that of the other machines does."""

_BODY = "\n# Body\n\nDo the thing, then check it.\n"
_SENTENCE = "Collects, checks and files the monthly numbers for every team and region. "


def _skill(name: str, description: str, more: str = "", body: str | None = None) -> str:
    """Write a SKILL.md without faults; `more` stands in the frontmatter as it is."""
    body = f"# {name}\n\nFollow the steps below.\n" if body is None else body
    more = f"{more}\n" if more else ""
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n\n{body}"


# --- a folder's name, the places of its copies, and the text of its SKILL.md

_TEXTS = (
    # --- the frontmatter as a whole
    ("no-frontmatter", "rA rC", "# No frontmatter\n\nThis skill tells the agent how to water the plants.\n"),
    ("unclosed-frontmatter", "rA hC", "---\nname: unclosed-frontmatter\ndescription: The closing line was forgotten\n\n# Body\n\nSome text.\n"),
    ("empty-file", "hA", ""),
    ("empty-frontmatter", "oA oC", "---\n---\n# Empty frontmatter\n\nUse it to rename photos.\n"),
    ("frontmatter-flow-json", "rC", '---\n{"name": "frontmatter-flow-json", "description": "Frontmatter written as JSON between the dashes."}\n---\n' + _BODY),
    ("closed-with-dots", "rA", "---\nname: closed-with-dots\ndescription: The frontmatter ends with three dots as YAML allows\n...\n" + _BODY),
    ("closing-dashes-trailing-space", "hA hH/misc", "---\nname: closing-dashes-trailing-space\ndescription: Closing dashes are followed by blanks\n---  \n" + _BODY),
    ("opening-dashes-trailing-space", "hA hC hH/misc", "--- \nname: opening-dashes-trailing-space\ndescription: Opening dashes are followed by one blank\n---\n" + _BODY),
    ("leading-blank-lines", "hA hC hH/misc", "\n\n---\nname: leading-blank-lines\ndescription: Two empty lines come before the frontmatter\n---\n" + _BODY),
    ("no-newline-at-end", "hX", "---\nname: no-newline-at-end\ndescription: The file ends right after the closing dashes\n---"),
    ("dashes-inside-literal", "oA", "---\nname: dashes-inside-literal\ndescription: |\n  Draws separators like\n  ---\n  between the parts of a report.\nlicense: MIT\n---\n" + _BODY),
    ("all-keys-indented", "hC", "---\n  name: all-keys-indented\n  description: Every key is indented by two blanks\n  license: MIT\n---\n" + _BODY),
    ("tab-indentation", "hA rC", "---\nname: tab-indentation\ndescription: Metadata is indented with a tab\nmetadata:\n\tauthor: bob\n---\n" + _BODY),
    ("git-conflict-markers", "rA rC", "---\nname: git-conflict-markers\n<<<<<<< HEAD\ndescription: Deploys to the blue cluster\n=======\ndescription: Deploys to the green cluster\n>>>>>>> feature/green\n---\n" + _BODY),

    # --- descriptions
    ("desc-unquoted-colon", "hA hC hH/misc", "---\nname: desc-unquoted-colon\ndescription: Use when: the user asks about invoices, e.g. totals: net and gross\n---\n" + _BODY),
    ("desc-missing", "hA hC hH/misc", "---\nname: desc-missing\nlicense: MIT\n---\n\n# Desc missing\n\nFirst paragraph that could stand in for a description.\n"),
    ("desc-empty-value", "iA iC", "---\nname: desc-empty-value\ndescription:\n---\n" + _BODY),
    ("desc-number", "hA hC", "---\nname: desc-number\ndescription: 42\n---\n" + _BODY),
    ("desc-list", "rA hC", "---\nname: desc-list\ndescription:\n  - Plans birthdays\n  - Books tables\n---\n" + _BODY),
    ("desc-todo-placeholder", "hG", "---\nname: desc-todo-placeholder\ndescription: [TODO: Complete and informative explanation of what the skill does and when to use it.]\n---\n" + _BODY),
    ("desc-1024-chars", "hX rA", _skill("desc-1024-chars", (_SENTENCE * 20)[:1023] + ".")),
    ("desc-1025-chars", "hX rA", _skill("desc-1025-chars", (_SENTENCE * 20)[:1024] + ".")),
    ("desc-9000-chars", "hA hC", _skill("desc-9000-chars", (_SENTENCE * 140)[:8999] + ".")),
    ("desc-literal-many-lines", "rA", "---\nname: desc-literal-many-lines\ndescription: |\n  Writes posts.\n\n  When to use:\n    - user says \"post\"\n    - user says 'thread'\n\n  <example>\n  user: post this\n  assistant: uses the skill\n  </example>\n---\n" + _BODY),
    ("desc-starts-with-bold", "hO", "---\nname: desc-starts-with-bold\ndescription: **MUST USE** for all tables\n---\n" + _BODY),
    ("desc-starts-with-bracket", "iA", "---\nname: desc-starts-with-bracket\ndescription: [DEPRECATED] Use the other billing skill\n---\n" + _BODY),
    ("desc-hash-inside", "hH/misc", "---\nname: desc-hash-inside\ndescription: Close ticket #12 and all tickets # also the old ones\n---\n" + _BODY),
    ("desc-unbalanced-double-quote", "rD", '---\nname: desc-unbalanced-double-quote\ndescription: "Opens a quote and never closes it\n---\n' + _BODY),
    ("desc-bad-escape", "rA", '---\nname: desc-bad-escape\ndescription: "Cleans C:\\Users\\me\\Downloads"\n---\n' + _BODY),
    ("desc-surrogate-escapes", "rX", '---\nname: desc-surrogate-escapes\ndescription: "Emoji by JSON escapes \\ud83d\\ude00 here"\n---\n' + _BODY),
    ("desc-xml-tags", "oG", _skill("desc-xml-tags", "Use for <system>internal</system> notes & <b>bold</b> claims")),
    ("desc-line-separator", "rO", "---\nname: desc-line-separator\ndescription: First part\u2028second part\u2029third part\n---\n" + _BODY),
    ("python-tag", "hA", "---\nname: python-tag\ndescription: Has a Python tag in its metadata\nmetadata:\n  cwd: !!python/name:os.getcwd\n---\n" + _BODY),

    # --- keys
    ("no-space-after-colon", "rA rC", "---\nname:no-space-after-colon\ndescription:Blanks after the colons were forgotten\n---\n" + _BODY),
    ("capitalised-keys", "rC", "---\nName: capitalised-keys\nDescription: Keys start with a capital letter\n---\n" + _BODY),
    ("nbsp-after-colon", "rA", "---\nname:\u00a0nbsp-after-colon\ndescription:\u00a0Pasted from a web page\n---\n" + _BODY),
    ("duplicate-desc-key", "hA hC hH/misc", "---\nname: duplicate-desc-key\ndescription: The first of two\ndescription: The second of two\n---\n" + _BODY),
    ("duplicate-metadata-key", "hX", "---\nname: duplicate-metadata-key\ndescription: Two authors in the metadata\nmetadata:\n  author: a\n  author: b\n---\n" + _BODY),

    # --- names
    ("name-missing", "hA hC hH/misc", "---\ndescription: Names itself after its folder\n---\n" + _BODY),
    ("name-empty", "oA", "---\nname:\ndescription: The name was left empty\n---\n" + _BODY),
    ("name-number", "hA hC", "---\nname: 404\ndescription: Finds dead links, its name is a number\n---\n" + _BODY),
    ("name-yes", "hC", "---\nname: yes\ndescription: Its name is yes, confirms appointments\n---\n" + _BODY),
    ("name-date", "hG", "---\nname: 2001-12-24\ndescription: Its name is a day\n---\n" + _BODY),
    ("name-mismatch", "hA hC hH/misc", _skill("entirely-different-name", "Folder and name differ since a rename")),
    ("name-title-case", "oA oC", _skill("Name Title Case", "The name is written like a title, with blanks")),
    ("name-slash", "rA", _skill("category/name-slash", "The name contains a slash")),
    ("name-namespaced", "hO", _skill("acme:name-namespaced", "The name has a plugin's prefix")),
    ("name-surrounded-by-blanks", "iA", _skill('"  name-surrounded-by-blanks  "', "The name has blanks around it")),
    ("name-emoji", "hA hC", _skill("🚀-launch", "The name has an emoji")),
    ("name-zero-width", "hH/misc", _skill("name-zero\u200b-width", "The name hides a zero-width blank")),
    ("name-65-chars", "rD", _skill("o" + "-abcdef" * 9 + "x", "The name has 65 characters")),
)  # fmt: skip

# --- the same, with what stands in the frontmatter beside a name and a description

_FIELDS = (
    ("dmi-true", "hA hC hH/misc", "disable-model-invocation: true", "Deploys to production, only by hand"),
    ("dmi-string-true", "hC rA", 'disable-model-invocation: "true"', "Sends the newsletter, the flag is a quoted text"),
    ("dmi-yes", "hC", "disable-model-invocation: yes", "Drops the test database, the flag is yes"),
    ("user-invocable-false", "hC hA", "user-invocable: false", "Background knowledge on the legacy billing system"),
    ("paths-list", "rC iC hA", 'paths:\n  - "src/**/*.ts"\n  - "tests/**"', "Rules for TypeScript files only"),
    ("platforms-macos", "hH/apple hA", "platforms: [macos]", "Controls the Finder and Shortcuts on a Mac"),
    ("platforms-windows-string", "hH/misc hC", "platforms: windows", "Manages the Windows registry"),
    ("hermes-requires-toolsets", "hH/misc", "metadata:\n  hermes:\n    requires_toolsets: [home_assistant]", "Only with a toolset that is absent"),
    ("hermes-fallback-for", "hH/misc", "metadata:\n  hermes:\n    fallback_for_toolsets: [web]", "Searches DuckDuckGo when the web tools are absent"),
    ("hermes-env-vars", "hH/misc", "required_environment_variables:\n  - name: ACME_API_KEY\n    prompt: Acme key\n    help: https://acme.example/keys\nprerequisites:\n  commands: [acme]", "Talks to the Acme API, wants a key"),
    ("environments-field", "hH/misc", "environments: [kanban]", "For one kind of environment only"),
    ("openclaw-json-metadata", "hA hH/misc", 'homepage: https://weather.example\nmetadata: {"openclaw": {"emoji": "🌤️", "os": ["darwin"], "requires": {"bins": ["curl"], "env": ["X_KEY"]}}}', "Gets current weather and forecasts, no API key required"),
    ("metadata-string", "hA hC", "metadata: just a text", "The metadata is a text"),
    ("metadata-deep-values", "hA hX", "metadata:\n  version: 1.0\n  stable: true\n  released: 2001-02-03\n  nothing: null\n  nested:\n    a: [1, {b: c}]", "The metadata has numbers, dates and nested values"),
    ("allowed-tools-list", "hA hC", "allowed-tools:\n  - Read\n  - Bash(npm:*)\n  - mcp__github__create_issue", "The tools are a list"),
    ("allowed-tools-mapping", "rA", "allowed-tools:\n  bash: true\n  edit: false", "The tools are a mapping"),
    ("model-context-agent", "hC rC", "model: opus\ncontext: fork\nagent: Explore\neffort: high", "Runs in a forked context with its own model"),
    ("argument-hint-brackets", "hC", "argument-hint: [issue-number] [priority]", "Fixes an issue, its hint is broken YAML"),
    ("when-to-use-field", "hC hA", 'when_to_use: Use when the user says "ship it"', "Ships a build"),
    ("enabled-false", "hA hC", "enabled: false", "Was switched off by its owner"),
)  # fmt: skip


def _encodings() -> tuple[tuple[str, str, bytes], ...]:
    """Give the same as bytes; some are large, so that nothing of it is kept."""
    long = _skill("huge-body-1mb", "A body of more than one megabyte")
    longer = _skill("huge-body-11mb", "A body of more than ten megabytes")
    umlauts = _skill("latin1-description", "Prüft Rechnungen für Kunden")
    greeting = _skill("latin1-body", "Only the body has a wrong byte", body="# Body\n\nGrüße\n")
    old_mac = _skill("cr-only-lines", "Line ends of a classic Mac").replace("\n", "\r")
    mixed = b"---\r\nname: mixed-line-ends\ndescription: Some lines end in CRLF\r\n---\nBody\r\n"
    return (
        ("utf8-bom", "hA hC hH/misc", _skill("utf8-bom", "Saved by Notepad with a byte order mark").encode("utf-8-sig")),
        ("utf16-le", "hA oC", b"\xff\xfe" + _skill("utf16-le", "Saved as Unicode by an old editor").encode("utf-16-le")),
        ("latin1-description", "hA hC hH/misc", umlauts.encode("latin-1")),
        ("latin1-body", "hA hC", greeting.encode("latin-1")),
        ("nul-in-body", "hA hC", _skill("nul-in-body", "A zero byte in the body", body="a\0b\n").encode()),
        ("cr-only-lines", "rA hC", old_mac.encode()),
        ("mixed-line-ends", "hA rC", mixed),
        ("binary-file", "rA", bytes(range(256)) * 8),
        ("huge-body-1mb", "hA hC", long.encode() + b"All work and no play makes a long file.\n" * 30_000),
        ("huge-body-11mb", "hD rA", longer.encode() + b"All work and no play makes a very long file.\n" * 250_000),
    )  # fmt: skip


# --- a folder with a SKILL.md, its name and its description

_FOLDERS = (
    # --- names of the file and of the folder
    ("hA/hard-linked", "hard-linked", "One file with two hard links"),
    ("hC/deploy-helper", "deploy-helper", "Helps to deploy, copy in deploy-helper"),
    ("hC/deploy-helper.old", "deploy-helper", "Helps to deploy, copy in deploy-helper.old"),
    ("hC/deploy-helper copy", "deploy-helper", "Helps to deploy, copy in deploy-helper copy"),
    # --- nesting
    ("iX", "skill-file-in-root", "Lies directly in the skills folder of the api folder"),
    ("mC", "skill-file-in-root-claude", "Lies directly in the skills folder of the services"),
    ("oG", "skill-file-in-root-gemini", "Lies directly in the skills folder of the work folder"),
    ("hA/writing/nested-essay", "nested-essay", "One category deep in ~/.agents"),
    ("hA/writing/long-form/nested-novel", "nested-novel", "Two categories deep in ~/.agents"),
    ("hC/writing/nested-poem", "nested-poem", "One category deep in ~/.claude"),
    ("hC/writing/verse/nested-sonnet", "nested-sonnet", "Two categories deep in ~/.claude"),
    ("hG/writing/nested-letter", "nested-letter", "One category deep in ~/.gemini"),
    ("hG/writing/formal/nested-contract", "nested-contract", "Two categories deep in ~/.gemini"),
    ("hO/writing/nested-diary", "nested-diary", "One category deep at OpenCode's"),
    ("hO/writing/private/nested-dream", "nested-dream", "Two categories deep at OpenCode's"),
    ("hD/writing/nested-report", "nested-report", "One category deep at Deep Agents'"),
    ("hA/outer-skill", "outer-skill", "Has another skill inside its folder"),
    ("hA/outer-skill/inner-skill", "inner-skill", "Lives inside another skill's folder"),
    ("hC/outer-suite", "outer-suite", "A suite with its parts below"),
    ("hC/outer-suite/skills/inner-part", "inner-part", "A part below the suite's skills folder"),
    ("hH/suites/outer-hermes", "outer-hermes", "A suite at Hermes'"),
    ("hH/suites/outer-hermes/inner-hermes", "inner-hermes", "A part of the suite at Hermes'"),
    ("hA/has-examples", "has-examples", "Brings examples of skills along"),
    ("hA/has-examples/references/example-skill", "example-in-references", "Only an example in references"),
    ("hA/has-examples/assets", "example-in-assets", "Only an example in assets"),
    ("hA/has-examples/scripts/fixtures/good", "example-in-scripts", "Only an example in scripts"),
    ("hH/suites/hermes-examples", "hermes-examples", "Brings examples along at Hermes'"),
    ("hH/suites/hermes-examples/references/old-skill", "hermes-example-in-references", "Only an example at Hermes'"),
    ("hA/acme-skills/.claude/skills/acme-lint", "acme-lint", "From a cloned repository's own .claude folder"),
    ("hA/acme-skills/skills/acme-format", "acme-format", "From a cloned repository's skills folder"),
    ("rA/with-deps", "with-deps", "Has its own node_modules"),
    ("rA/with-deps/node_modules/some-lib", "some-lib-skill", "Came with an npm package"),
    ("hC/_archive/retired-one", "retired-one", "Was moved to the archive by hand"),
    ("hA/.trash/thrown-away", "thrown-away", "Was moved to the trash folder"),
    ("hH/.archive/retired-hermes", "retired-hermes", "Was archived by the curator"),
    # --- no skill at all
    ("rA/ignored-by-gitignore", "ignored-by-gitignore", "Git ignores this folder"),
    ("rC/ignored-by-repo", "ignored-by-repo", "The repository's .gitignore names it"),
    # --- git
    ("hA/nested-git-repository", "nested-git-repository", "Cloned straight into the skills folder"),
    ("rC/nested-git-in-project", "nested-git-in-project", "Cloned into the project's skills folder"),
    ("rA/submodule-with-skill", "submodule-with-skill", "Came in as a git submodule"),
    # --- links
    ("T/stored-under-this-name", "stored-under-this-name", "The link has another name than the folder"),
    ("S/link-chain", "link-chain", "Reached over three links"),
    ("home/src/packs/garden/garden-plan", "garden-plan", "Plans a garden, inside a linked category"),
    ("home/src/packs/garden/garden-soil", "garden-soil", "Tests soil, inside a linked category"),
    ("elsewhere/shared/link-out-of-project", "link-out-of-project", "Lies outside of the repository"),
    ("rA/twice-original", "twice-original", "Linked once more next to itself"),
    ("elsewhere/shared/pool/pool-swim", "pool-swim", "In a pool to which a whole root links"),
    ("elsewhere/shared/pool/pool-dive", "pool-dive", "In the same pool"),
    # --- other places
    ("repo/packages/web/.claude/skills/child-web", "child-web", "In a child folder of the repository"),
    ("repo/packages/web/.agents/skills/child-web-agents", "child-web-agents", "In a child folder, for all agents"),
    ("repo/services/api/handlers/.claude/skills/child-handlers", "child-handlers", "Below the api folder"),
    ("elsewhere/.agents/skills/parent-of-work", "parent-of-work", "One folder above the work folder, no repository"),
    ("elsewhere/.claude/skills/parent-of-work-claude", "parent-of-work-claude", "One folder above the work folder"),
    ("elsewhere/.opencode/skills/parent-of-work-opencode", "parent-of-work-opencode", "One folder above the work folder"),
    ("repo/.opencode/skill/singular-project", "singular-project", "In a folder called skill"),
    ("home/.config/opencode/skill/singular-home", "singular-home", "In a folder called skill at home"),
    ("repo/.claude/skill/singular-claude", "singular-claude", "In a folder called skill, too"),
    ("repo/.github/skills/github-folder", "github-folder", "In the .github folder"),
    ("repo/.cursor/skills/cursor-folder", "cursor-folder", "In the .cursor folder"),
    ("repo/skills/plain-folder", "plain-folder", "In a plain skills folder"),
    ("repo/agent/skills/agent-folder", "agent-folder", "In a folder without its dot"),
    ("home/.deepagents/skills/deep-wrong-root", "deep-wrong-root", "Without the agent's name in its path"),
    ("home/.deepagents/coder/skills/deep-other-agent", "deep-other-agent", "Belongs to another agent's name"),
    # --- same name, other text
    ("hH/misc/same-name-everywhere", "same-name-everywhere", "The text of Hermes"),
    ("rA/two-folders-a", "same-name-two-folders", "In folder a"),
    ("rA/two-folders-b", "same-name-two-folders", "In folder b"),
    ("hA/clash-broken", "clash-broken", "The sound copy at home of a broken one in the project"),
    ("hC/clash-hidden", "clash-hidden", "The home's copy for all"),
)  # fmt: skip
_FOLDER_NAMES = (
    ("folder-with-blanks", "hA/My Notes Skill"),
    ("folder-underscore-start", "hA/_template-folder"),
    ("folder-dot-start", "hA/.hidden-folder"),
    ("folder-dot-start-claude", "hC/.secret-folder"),
    ("folder-umlaut-nfd", "hA/fu\u0308r-andere"),
    ("folder-trailing-space", "rA/trailing-space "),
    ("folder-glob-signs", "rC/glob[ab]*{x}?"),
    ("folder-copy-number", "hA/notes (2)"),
    ("folder-255-bytes", f"hA/{'l' * 255}"),
    ("folder-node-modules", "hA/node_modules"),
    ("folder-dot-git", "rA/.git"),
    ("folder-proto", "hA/__proto__"),
    ("folder-builtin-command", "hC/init"),
    ("folder-dot-archive", "hH/.archive"),
)
_SAME_NAME = ("hA", "hC", "hD", "rA", "rC", "rO", "iA", "oA")
_LADDER = (3, 4, 5, 10)


def _folders() -> Placed:
    """Give skills that are ordinary but for where they lie."""
    rows = [
        *_FOLDERS,
        *((folder, name, f"Its folder has an odd name, see {name}") for name, folder in _FOLDER_NAMES),
        *((f"{root}/same-name-everywhere", "same-name-everywhere", f"The text of {ROOTS[root]}") for root in _SAME_NAME),
    ]  # fmt: skip
    for deep in _LADDER:
        steps = "/".join(f"step{step}" for step in range(1, deep + 1))
        name = f"ladder-depth-{deep}"
        rows.append((f"rA/ladder/{steps}/{name}", name, f"Nested {deep} folders below its ladder"))
    for folder, name, description in rows:
        yield f"{place(folder)}/SKILL.md", _skill(name, description).encode()
    gated = _skill("clash-hidden", "The project's copy for hands only", "disable-model-invocation: true")  # fmt: skip
    yield place("rC/clash-hidden/SKILL.md"), gated.encode()


# --- files that are not called SKILL.md, their names and their descriptions

_OTHER_FILES = (
    ("hA/file-both-cases/SKILL.md", "file-both-cases", "The one in capitals"),
    ("hA/file-both-cases/skill.md", "file-both-cases-lower", "The one in small letters"),
    ("hA/file-lowercase/skill.md", "file-lowercase", "Lives in a file with another name, skill.md"),
    ("hC/file-title-case/Skill.md", "file-title-case", "Lives in a file with another name, Skill.md"),
    ("hA/file-only-bak/SKILL.md.bak", "file-only-bak", "Lives in a file with another name, SKILL.md.bak"),
    ("hC/file-only-copy-number/SKILL (1).md", "file-only-copy-number", "Lives in a file with another name, SKILL (1).md"),
    ("hA/loose-markdown.md", "loose-markdown-in-root", "A loose file in the skills folder"),
    ("hC/loose-command.md", "loose-command", "A loose file, as commands were"),
    ("rO/loose-opencode.md", "loose-opencode", "A loose file at OpenCode's"),
    ("hA/file-instead-of-folder", "file-instead-of-folder", "A file where a folder is expected"),
    ("rC/readme-only-category/README.md", "readme-only-category", "A README with a skill's header"),
    ("home/Documents/skill-texts/single.md", "link-to-single-file", "Its SKILL.md links to a file of another name"),
)  # fmt: skip
_LEFT_BY_EDITORS = (
    "SKILL.md", "SKILL.md~", "SKILL.md.bak", "SKILL.md.orig", "#SKILL.md#", ".SKILL.md.swp", "SKILL (1).md",
    "SKILL copy.md", "SKILL.md.tmp.1234", "._SKILL.md", ".DS_Store", "Thumbs.db", "desktop.ini",
)  # fmt: skip
_SIDECARS = (
    ("hX", "openai-no-implicit", "agents/openai.yaml", "policy:\n  allow_implicit_invocation: false\n"),
    ("rA", "openai-no-implicit-agents", "agents/openai.yaml", 'interface:\n  display_name: "By hand"\npolicy:\n  allow_implicit_invocation: false\n'),
    ("hX", "openai-implicit-string", "agents/openai.yaml", 'policy:\n  allow_implicit_invocation: "false"\n'),
    ("hX", "openai-broken-yaml", "agents/openai.yaml", "policy:\n  allow_implicit_invocation: false\n interface: [\n"),
    ("hX", "openai-products", "agents/openai.yaml", "policy:\n  products:\n    - CHATGPT\n"),
    ("hX", "skill-json-sidecar", "SKILL.json", '{"interface": {"display_name": "Old sidecar"}, "policy": {"allow_implicit_invocation": false}}\n'),
)  # fmt: skip
_NO_SKILLS = (
    ("hA/file-is-a-folder/SKILL.md/content.txt", "This should have been a file.\n"),
    ("hA/acme-skills/README.md", "# Acme skills\n\nInstall with `npx skills add acme/skills`.\n"),
    ("hA/readme-only-folder/README.md", "# Coming soon\n"),
    ("hH/devops/DESCRIPTION.md", "---\ndescription: Skills for running servers and clusters\n---\n"),
    ("hH/mlops/DESCRIPTION.md", "Broken: description: [\n"),
    ("repo/services/api/.hermes/skills", "This is a file and not a folder.\n"),
    ("hA/README.md", "# My skills\n\nSee each folder.\n"),
    ("hA/skills-lock.json", '{"version": 1, "skills": {}}\n'),
    ("hH/.bundled_manifest", "github-issues:0123456789abcdef\nsongwriting:fedcba9876543210\n"),
    ("hC/CLAUDE.md", "Keep the skills sorted.\n"),
    ("rA/.gitignore", "ignored-by-gitignore/\n*.bak\n"),
    ("repo/.gitignore", "node_modules/\n.env\n.claude/skills/ignored-by-repo/\n.codex/\n"),
    ("rA/submodule-with-skill/.git", "gitdir: ../../../.git/modules/submodule-with-skill\n"),
    ("rA/clash-broken/SKILL.md", "---\nname: clash-broken\ndescription: [broken\n---\n"),
    ("repo/.gitmodules", ('[submodule "submodule-with-skill"]\n\tpath = .agents/skills/submodule-with-skill\n\turl = https://git.example/a.git\n'
     '[submodule "submodule-not-initialised"]\n\tpath = .agents/skills/submodule-not-initialised\n\turl = https://git.example/b.git\n')),
    ("repo/README.md", "# acme monorepo\n"),
    ("repo/AGENTS.md", "# Notes for agents\n\nRun `make check` before you finish.\n"),
    ("repo/CLAUDE.md", "@AGENTS.md\n"),
    ("repo/Makefile", "check:\n\t@true\n"),
    ("repo/services/api/main.py", "print('api')\n"),
    ("repo/services/api/README.md", "# api\n"),
    ("elsewhere/work/todo.txt", "- call the tax office\n"),
    ("home/notes.md", "# notes\n"),
)  # fmt: skip


def _files() -> Placed:
    """Give files that are no skills, or not for everybody."""
    for path, name, description in _OTHER_FILES:
        yield place(path), _skill(name, description).encode()
    for file in _LEFT_BY_EDITORS:
        text = _skill("editor-leftovers", f"Backups all around it, from {file}")
        yield place(f"hC/editor-leftovers/{file}"), text.encode()
    for root, name, path, text in _SIDECARS:
        folder = f"{place(root)}/{name}"
        yield f"{folder}/SKILL.md", _skill(name, f"Has a sidecar file, see {name}").encode()
        yield f"{folder}/{path}", text.encode()
    for path, text in _NO_SKILLS:
        yield place(path), text.encode()
    yield place("hA/.DS_Store"), b"\0\0\0\1Bud1" + b"\0" * 64
    zipped = _zipped("zipped-skill/SKILL.md", _skill("zipped-skill", "Still in its archive"))
    yield place("hC/zipped-skill.zip"), zipped
    yield place("hA/packed.skill"), zipped
    tarred = _tarred("tarred-skill/SKILL.md", _skill("tarred-skill", "Still in its tarball"))
    yield place("rA/tarred-skill.tar.gz"), tarred


def _zipped(name: str, text: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), text)
    return made.getvalue()


def _tarred(name: str, text: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(text.encode())
        archive.addfile(member, io.BytesIO(text.encode()))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as file:
        file.write(made.getvalue())
    return packed.getvalue()


# --- links between places, and links to nowhere

_LINKS = (
    ("hA/link-to-single-file/SKILL.md", "home/Documents/skill-texts/single.md"),
    ("hC/link-to-single-file/SKILL.md", "home/Documents/skill-texts/single.md"),
    ("hH/misc/link-to-single-file/SKILL.md", "home/Documents/skill-texts/single.md"),
    ("hA/link-folder-entry-to-file", "home/Documents/skill-texts/single.md"),
    ("hA/linked-under-that-name", "T/stored-under-this-name"),
    ("hC/linked-under-that-name", "T/stored-under-this-name"),
    ("T/link-chain", "S/link-chain"),
    ("hA/link-chain", "T/link-chain"),
    ("hC/link-chain", "hA/link-chain"),
    ("hA/garden", "home/src/packs/garden"),
    ("hC/garden", "home/src/packs/garden"),
    ("hH/garden", "home/src/packs/garden"),
    ("rX/garden", "home/src/packs/garden"),
    ("rA/link-out-of-project", "elsewhere/shared/link-out-of-project"),
    ("rC/link-out-of-project", "elsewhere/shared/link-out-of-project"),
    ("rG/link-out-of-project", "elsewhere/shared/link-out-of-project"),
    ("rD/link-out-of-project", "elsewhere/shared/link-out-of-project"),
    ("rA/twice-alias", "rA/twice-original"),
    ("repo/services/.codex/skills", "elsewhere/shared/pool"),
    ("repo/services/.deepagents/skills", "elsewhere/shared/pool"),
    ("repo/services/.hermes", "repo/services/.agents"),
)
_BROKEN_LINKS = (
    ("hA/link-broken-folder", "../../src/gone/link-broken-folder"),
    ("hA/link-broken-file/SKILL.md", "../../../gone/SKILL.md"),
    ("rC/link-broken-file/SKILL.md", "../../../gone/SKILL.md"),
    ("repo/packages/.codex/skills", "../../nowhere/skills"),
)


def _links() -> Placed:
    for path, target in _LINKS:
        yield place(path), link_to(place(path), place(target))
    for path, target in _BROKEN_LINKS:
        yield place(path), Link(target)


# --- repositories and empty folders

_REPOSITORIES = (
    "repo/.git",
    "home/src/team-skills/.git",
    "hA/nested-git-repository/.git",
    "rC/nested-git-in-project/.git",
)
_BARE_REPOSITORY = "repo/.git/modules/submodule-with-skill"
_EMPTY = ("hA/empty-folder", "rC/empty-with-empty/scripts", "rA/submodule-not-initialised")


def _repositories() -> Placed:
    for folder in (*_REPOSITORIES, _BARE_REPOSITORY):
        bare = "true" if folder == _BARE_REPOSITORY else "false"
        config = f"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = {bare}\n"
        yield f"{place(folder)}/HEAD", b"ref: refs/heads/main\n"
        yield f"{place(folder)}/config", config.encode()


def _empty_folders() -> tuple[str, ...]:
    parts = ("objects/info", "objects/pack", "refs/heads", "refs/tags")
    repositories = (*_REPOSITORIES, _BARE_REPOSITORY)
    return (*_EMPTY, *(f"{folder}/{part}" for folder in repositories for part in parts))


# --- all of it


def _spread() -> Placed:
    """Give the skills of which copies lie in several places."""
    texts = ((name, places, text.encode()) for name, places, text in _TEXTS)
    fields = ((name, places, _skill(name, said, more).encode()) for name, places, more, said in _FIELDS)  # fmt: skip
    for name, places, data in (*texts, *fields, *_encodings()):
        for root in places.split():
            yield f"{place(root)}/{name}/SKILL.md", data


def make(base: Path) -> None:
    """Make the machine below a folder."""
    for some in (ordinary_skills, _spread, _folders, _files, _links, _repositories):
        for path, data in some():
            write(base, path, data)
            if isinstance(data, bytes) and data.startswith(b"#!"):
                (base / path).chmod(0o755)
    for folder in _empty_folders():
        (base / place(folder)).mkdir(parents=True, exist_ok=True)
    (base / place("hC/link-broken-absolute")).symlink_to("/nonexistent/skills/link-broken-absolute")
    copy = base / place("hC/hard-linked/SKILL.md")
    copy.parent.mkdir()
    os.link(base / place("hA/hard-linked/SKILL.md"), copy)


class AskedMachine(NamedTuple):
    """A machine on which agents are asked what they list."""

    make: Callable[[Path], None]
    views: dict[str, str]
    """From where, by the name that the recorded facts give it."""


MACHINES = (
    AskedMachine(oddities.make, oddities.VIEWS),
    AskedMachine(oddities.make_configured, oddities.SECOND_VIEWS),
    AskedMachine(make, VIEWS),
    AskedMachine(stranger_machine.make, stranger_machine.VIEWS),
)
