"""Writes docs/reference and the table of trust from the code; `--check` fails when they differ.

A page that is generated cannot drift: whoever changes a rule, an option or a setting runs `make
docs`.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import error_codes

import metier
from metier import errors, model
from metier.cli.help import command_help, overview
from metier.cli.table import COMMON, all_commands
from metier.discover.agents import AGENTS, Agent
from metier.doctor.examine import DoctorReport
from metier.model import Limits
from metier.plugins import model as mirrors
from metier.scan import learned
from metier.scan.rules import declared, keys, observed, structure
from metier.scan.ruleset import OBSERVED_RULES, RULES as SCAN_RULES, TABLES
from metier.scan.weigh import NEVER_SAFE_RULES, weight_of
from metier.settings import merge
from metier.settings.model import JudgeSettings
from metier.standard.rules import BARE, FATAL, RULES
from metier.trust import policy
from metier.trust.model import LEVELS
from metier.trust.policy import DEFAULT_TABLE, PHASES, VERDICTS

if TYPE_CHECKING:
    from types import ModuleType

    from metier.scan.model import ScanRule

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = "docs/reference"
SOURCE = ROOT / "src/metier"
TABLE = "table"
"""What stands between two marks of a page that people wrote."""
NOTE = "*Made by `scripts/reference.py`; change the code, not this page.*\n"

SETTINGS = {
    "external_dirs": "Further folders of skills. `~` and `${VAR}` are replaced. Their scope is "
    "`external`.",
    "root_markers": "What marks the root of a project: the nearest folder, from the working "
    "folder up, that holds one.",
    "precedence": "Which scope wins a name, strongest first. Scopes left out follow in the usual "
    "order.",
    "on_collision": "`first`: a plain name means the strongest copy. `refuse`: a name with "
    "several copies is an error.",
    "hide_unready": "Hide skills that still need something: a variable, a file or a command.",
    "allow_without_frontmatter": "Show skills that have no frontmatter, by the name of their "
    "folder.",
    "host_platform": "The surface that the agent runs on, such as `telegram` or `cli`, for "
    "`skills.platform_disabled`.",
    "environments": "What is true of where the agent runs, such as `docker`, for skills that are "
    "offered only there.",
    "tools": "The tools the agent has. Skills that require another are hidden; when it is not "
    "set, nothing is hidden for it.",
    "toolsets": "The same for sets of tools.",
    "limits.depth": "How deep a walk goes below a root.",
    "limits.folders": "How many folders a walk lists in one root.",
    "limits.entries": "How many entries a walk looks at in one root.",
    "skills.disabled": "Names of skills to hide everywhere.",
    "skills.platform_disabled": "Names of skills to hide on one platform, by platform.",
    "skills.config": "Rules, in order; the last one that fits decides. Each has a `path` or a "
    "`name`, and `enabled`.",
    "trust.policy": "What a verdict counts as: `strict` takes caution for dangerous, `permissive` "
    "takes caution for safe.",
    "trust.local_default": "The level of what lies in your own folders and has no known source: "
    "`trusted` to `blocked`.",
    "trust.hash_mismatch_level": "The level of what is not the content that a manifest promises: "
    "`community` to `blocked`.",
    "trust.trusted_sources": "Repositories whose skills are trusted, whole ones only. It replaces "
    "the list.",
    "trust.allow_sources": "The only sources that skills may come from, as patterns: `*` is any text without a "
    "slash, `**` any text. Nothing overrides this and the next three; without it, any source.",
    "trust.deny_sources": "Sources that skills may not come from, as patterns.",
    "trust.signed_sources": "Sources whose skills must be signed by a key that you trust, as patterns.",
    "trust.publishers": "A table from patterns of sources to the ids of the keys that may publish there. A key "
    "that is named counts for nothing else.",
    "trust.edits": "An installed skill that you edited, and that is safe and can do no more than before, "
    "stays usable (`allow`), or it asks (`ask`).",
    "trust.rules": "Cells of [the table](../explanation/trust.md): each gives `level`, `verdict`, "
    "`phase` and its `action`. `ask` and `warn` hold until you approve the exact bytes.",
    "trust.waivers": "Findings that do not count: each has `fingerprint` or `rule`, `reason`, "
    "`expires`, and maybe `name`, `path`.",
    "trust.baseline": "A file of accepted findings (`metier scan --write-baseline`), from the "
    "folder of the file that names it.",
    "prompt.budget": "Tokens for the catalogue that `metier prompt` prints, at most 10,000. "
    "Unset: 2% of the window, or 2,000.",
    "prompt.window": "The model's context window in tokens. Unset: not known.",
    "prompt.format": "`xml`, `markdown` or `json`.",
    "prompt.order": "In which order a catalogue lists scopes. Scopes left out follow in the usual "
    "order.",
    "prompt.include": "`false`: models are told of no skill; a person can still name one.",
    "prompt.names_only": "Categories whose skills are listed by name alone.",
    "prompt.reliability": "Say in a skill's line how often its scripts ran and how well, in "
    "coarse steps (XML).",
    "secrets.refuse": "Variables that no skill is given, beyond those that none ever is.",
    "secrets.store": "Where a secret is kept: `session`, `file` or `keyring`. Unset: `file` for "
    "commands, `session` for programs.",
    "inline_shell": "Run a body's inline shell: in the sandbox, and for approved bytes alone.",
    "skill_values": "A table of values for skills that ask for configuration, by their own keys.",
    "mcp_servers": "The MCP servers the agent has. A skill that needs another is not ready. "
    "Unset: none counts as missing.",
    "manage.review": "Which changes of an agent's wait for a person: `never`, `caution` (not "
    "safe, or asks for more) or `always`.",
    "manage.pinned": "Names of skills that no agent deletes.",
    "route.vectors": "`auto`: [meaning](../explanation/finding.md) counts beside words, where a "
    "model can run. `off`: words alone.",
    "route.background": "`false`: `find` leaves no process behind that makes missing vectors "
    "after the answer; `metier find --index` makes them.",
    "route.trust": "What a skill of the highest trust gains when it is found, 0 to 10; words and "
    "meaning give the best skill 1.",
    "route.readiness": "What an unsupported skill loses; one that lacks something loses half of "
    "it.",
    "route.usage": "What a skill gains whose runs all went well.",
    "route.scope": "What a skill of the strongest scope gains.",
    "route.observe": "Hold what a host sees against [observation "
    "triggers](../how-to/use-triggers.md#what-is-seen).",
    "route.muted": "Names of skills whose observation triggers do not fire.",
    "route.muted_until": "A table: the same until a time, by name. A time without a zone is in "
    "UTC.",
    "supply.fast_forward": "`update` asks nobody where all there is to do meets no edits and is "
    "not held.",
    "supply.hosts": "The only hosts that may be reached. Empty: those that you name, and those "
    "they redirect to.",
    "supply.private_hosts": "Hosts that may be reached although their addresses are private, as "
    "`host` or `host:port`.",
    "supply.taps": "Repositories that `metier search` looks through, written as for `metier add`.",
    "supply.default_taps": "Well-known repositories that `metier search` looks through as well, "
    "and nothing else does. `[]`: none.",
    "supply.registries": "What else `metier search` asks: `clawhub:https://…`, or a site with a "
    "well-known index.",
    "supply.bundled": "Install the skills that come with a host, and keep them current.",
    "supply.download_bytes": "The most that one fetch downloads.",
    "supply.unpacked_bytes": "The most that one source unfolds to.",
    "supply.file_bytes": "The largest file of a source.",
    "supply.files": "How many entries a source may have.",
    "supply.ratio": "How many times its packed size an archive may unfold to.",
    "supply.redirects": "How many redirects one fetch follows.",
    "supply.seconds": "How long one fetch may take.",
    "supply.search_seconds": "How long `metier search` waits for all sources together.",
    "plugins.sources": "Folders and repositories in which plugins and marketplaces are looked "
    "for, written as for `metier add`.",
    "plugins.wait_seconds": "How long a change of mirrored skills waits while another process "
    "changes skills.",
    "run.allow_unsandboxed": "Let `metier run --unsandboxed` exist. Each such run is noted down "
    "as one.",
    "run.network": "Who of those that declare it reaches the network: `none` (not even by a yes "
    "to one run), `never` (only by one), `trusted`, `declared`.",
    "run.reads": "Folders that skills may read where they declare it (`read:FOLDER`).",
    "run.writes": "Folders that skills may change where they declare it (`write:FOLDER`).",
    "run.secrets": "How a script gets its secrets: as variables (`environment`), or as files "
    "named by `NAME_FILE` (`file`).",
    "run.interpreters": "Programs that a script's first line may name, beyond those that metier "
    "knows.",
    "run.dependencies": "What a Python script declares is installed after a yes (`ask`), unasked "
    "(`allow`), or `never`.",
    "run.packages_from": "Where that comes from: an index over https, or a folder of wheels. "
    "Unset: PyPI.",
    "run.in_process": "Trust levels whose code skills run inside the calling process: `builtin`, "
    "`own`, `trusted`.",
    "run.auto": "Code skills that a message alone may set off.",
    "run.hook_ms": "How long a hook may take, in milliseconds.",
    "run.seconds": "How long a run may take.",
    "run.memory_bytes": "How much memory all processes of a run may take.",
    "run.processes": "How many processes and threads a run may have at once.",
    "run.output_bytes": "How much a run may print.",
    "run.scratch_bytes": "What fits into a run's scratch folder, and the same for its home and "
    "its temporary folder.",
    "run.file_bytes": "The largest file that a run may write.",
    "run.lent_bytes": "What a run may add to all the folders together that it is lent to change "
    "(`--write`). It is stopped once it has written more.",
    "mcp.run": "Let agents run scripts: the tool `run_skill_script` is there.",
    "mcp.destructive": "Let it run destructive code skills too.",
    "mcp.code": "Show agents code skills that say nothing about it. One that says no is never "
    "shown.",
    "mcp.allowed": "Code skills that are shown although they say nothing about it.",
    "mcp.blocked": (
        "Skills that no agent gets. Over standard input and output they stand in the place of "
        "`terminal`, "
        "`process_manager` and `pm2_control`."
    ),
    "mcp.http_blocked": "Skills that no agent gets over HTTP, beyond those that none ever does.",
    "mcp.scripts": "Show skills with scripts where scripts cannot be run.",
    "mcp.ttl_ms": "How long a client may take a listing for current.",
    "mcp.seconds": "How long one call of a skill may take.",
    "mcp.upstreams": "Other MCP servers whose skills are served as well, as `NAME:SKILL`. A name and "
    "an address, or a table with `url` or `command`, `token` (the variable or kept secret that holds "
    "it) and `header`.",
    "mcp.upstream_seconds": "How long one look at an upstream may take.",
    "mcp.refresh_seconds": "How long until an upstream is looked at again.",
    "usage": "Count, on this machine alone, how often each skill is used.",
    "scan.judge.url": "A [model of your own](../how-to/ask-a-model.md) that `metier scan` asks: an "
    "OpenAI-compatible endpoint, up to `/v1`. Nothing: none is asked. No project can set this table.",
    "scan.judge.model": "The model's name there.",
    "scan.judge.key_env": "The variable, or the secret kept by `metier secrets`, that holds the "
    "endpoint's key.",
    "scan.judge.command": "A program with its arguments that is asked in the place of an endpoint.",
    "scan.judge.answer_as": "How the endpoint is told to answer: `json_schema`, `json_object` or "
    "`text`, where it knows neither.",
    "scan.judge.timeout": "How many seconds the answer for one skill may take.",
    "scan.judge.max_passages": "How many passages of one skill are sent at most.",
    "scan.judge.allow_http": "Let passages go to another machine without encryption.",
    "scan.rules": "Files with [rules of your own](../how-to/write-a-rule.md), from the folder of "
    "the file that names them.",
    "scan.observe": "Which skills `metier add` [observes](../how-to/watch-a-skill-act.md) before it installs them: "
    "`never`, `caution` (those that the scan calls so) or `always`. The strictest file wins.",
    "scan.model": "`auto`: a [model](../explanation/scanning.md#the-model-that-reads-passages) reads the "
    "prose of skills, where it can run. `off`: rules alone.",
}
CONFIGURED = """Weakest first: the defaults, `/etc/metier/metier.toml`, your own file, the project's `.metier/metier.toml`, the
environment, the options of a command. Your own file is `~/.config/metier/metier.toml` (macOS:
`~/Library/Application Support/metier/metier.toml`), or what `METIER_CONFIG` names. `METIER_HOME` is where metier keeps its
index; `METIER_AGENT` stands for `--agent`, and `METIER_SCAN_MODEL` (`auto` or `off`) for `scan.model`.
`METIER_POLICY` names one more [policy](../how-to/set-a-policy.md), which can only narrow.
`METIER_BACKGROUND=off` stands for `route.background = false`; in CI (where `CI` is set) that holds unless it is `auto`.

A project's file may only narrow what you allow: `on_collision = "refuse"`, `hide_unready = true`, `inline_shell = false`,
`usage = false`, lower limits, and in `[trust]` what is stricter than yours; it waives nothing and brings no baseline. Anything else
in it is ignored and reported ([WK012](rules/WK012.md)): `[scan]`, `[route]`, `[supply]`, `[plugins]`, `[run]` and `[mcp]` too, for no
project decides how it is judged, what is found first, whom metier calls, or what scripts may do. An organisation's `[trust]` may not
be softer than the defaults, and is then your limit: what is softer is ignored and reported ([TR001](rules/TR001.md)). An unknown key
in your own file is an error with its line.
"""
EXAMPLE = """```toml
external_dirs = ["~/team-skills", "${SHARED}/skills"]
on_collision = "refuse"

[limits]
depth = 8

[skills]
disabled = ["old-report"]

[[skills.config]]
name = "pdf"
enabled = false

[trust]
policy = "strict"
trusted_sources = ["anthropics/skills", "our-company/skills"]

[[trust.rules]]
level = "community"
verdict = "caution"
phase = "load"
action = "ask"

[[trust.waivers]]
fingerprint = "df3ddd64d9ea6f715155a302"
name = "deploy-helper"
reason = "our own installer, pinned by checksum on the server"
expires = 2027-03-31

[scan]
rules = ["house-rules.toml"]

[prompt]
budget = 3000
names_only = ["games"]

[secrets]
store = "keyring"

[manage]
review = "always"
pinned = ["pdf"]

[route]
trust = 0.2
muted = ["clipboard-tidy"]
muted_until = { standup = 2027-01-10T09:00:00Z }

[supply]
fast_forward = true
taps = ["anthropics/skills", "https://git.example.com/team/skills.git"]
private_hosts = ["git.example.com"]

[plugins]
sources = ["~/plugins", "our-company/plugins"]

[skill_values]
wiki.path = "~/notes"
```
"""
DOCUMENTS = (
    ("metier list --json", '{"skills": [Card], "errors": [Problem], "truncated": [Problem]}',
     ("Without `--all` the visible skills only. A skill that cannot be read is named in `errors` "
     "either way.")),
    ("metier categories --json", '{"categories": [Category]}', ""),
    ("metier show NAME --json", "Body", ("With `--file`: File. Of a binary file only name, path, "
                                        "size, type and hash are given.")),
    ("metier show NAME --sections --json", '{"name": text, "sections": [Section without content]}',
     "With `--section`: Section. With `--cursor`: Page."),
    ("metier find TASK --json", ('{"query": text, "took_ms": number, "hits": [Hit], "vectors": yes '
                                'or no, "skills": number}'),
     ("`vectors`: did meaning count? Exit code 1 when nothing fits. `--index` with no task: "
     "Indexed. `--confusable`: Confusion.")),
    ("metier prompt --json", "Disclosure", ("Give it back with `--previous FILE` to keep its "
                                           "beginning, and for `delta`.")),
    ("metier expand TEXT --json", "Expanded", 'With `--commands`: `{"commands": [SlashCommand]}`.'),
    ("metier setup NAME --json", "Prepared", ("With `setup_help` for `help`. Names only. Exit code "
                                             "1 while something is missing.")),
    ("metier secrets list --json", '{"secrets": [{"name": text, "store": text, "skills": [text]}]}',
     'With `set` and `unset`: `{"name": text, "store": text, "done": text}`. Never a value.'),
    ("metier tools --json", '[{"name": text, "description": text, "input_schema": JSON Schema}]', "The same without `--json`."),
    ("metier usage --json", "Usage", ""),
    ("metier check PATH --json", '{"checked": number, "skills": [Checked]}', ("Exit code 1 when "
                                                                             "any `ok` is false.")),
    ("metier scan PATH --json", ('{"ruleset": text, "scanned": number, "skills": [Scanned without '
                                'ruleset]}'),
     ("`waived` is there only where something was; each row of it is a Finding with `reason` and "
     "`told_by`. Each skill also has its `reason`, one line, and its `capabilities`, a list of texts; each finding its `"
     "count` and its `places`, each with `path`, `line`, `column`, `evidence` and `fingerprint`. What says only what a skill "
     "can do is no finding without `--all`.")),
    ("metier observe PATH --json", ('{"observed": number, "skills": [SkillObservation]}'),
     ("An event has `kind`, `what`, `where`, `canary` (the decoys whose secrets were in it) and `size`; the bytes "
     "themselves are never given. Exit code 1 when any skill is dangerous, 125 where there is no sandbox.")),
    ("metier trust show NAME --json", "Trusted", ("`approve`, `quarantine`, `block` and `unblock` "
                                                 "give the same.")),
    ("metier trust project DIR --json", '{"project": text, "trusted": yes or no, "skills": [text]}', ""),
    ("metier trust own PATH --json", '{"path": text, "own": yes or no}', ""),
    ("metier trust source --json", '{"sources": [TrustedSource]}', "With a source, the sources that are trusted then."),
    ("metier trust manifest DIR --json", "ManifestCheck", "With `--check`, exit code 1 when `ok` is false."),
    ("metier waive RULE NAME --json", "GivenWaiver", ('Alone: `{"waivers": [GivenWaiver]}`. With `--remove`: '
                                                    '`{"rule": text, "name": text, "removed": yes or no}`.')),
    ("metier trust keys list --json", '{"keys": [{"key": text, "private": yes or no}]}',
     'With `new`, `import` and `remove`: `{"key": text, "path": text, "done": text}`.'),
    ("metier trust sign NAME --json", "Signed with path", "`verify` gives Signed."),
    ("metier audit tail --json", '{"events": [Event]}',
     ("An Event has `ts`, `event`, `outcome`, `who`, `name`, `digest`, `source`, `details`, and "
     "what chains it.")),
    ("metier audit verify --json", "VerifiedLog", "Exit code 1 when `ok` is false."),
    ("metier why NAME --json", "Why with requires, required_by and observed",
     ("`requires` and `required_by` are lists of names. `observed` is a KeptObservation where the copy that counts was "
      "observed as it is now, otherwise null.")),
    ("metier doctor --json", "{" + ", ".join(f'"{field}": …' for field in DoctorReport._fields) + "}", "With `--agents`: every agent."),
    ("metier status --json", "DoctorReport with trusted, installed, candidates and attention",
     "`installed` are names, `candidates` is how many updates and drafts wait for a person."),
    ("metier add SOURCE --json", "Outcome", ("Exit code 1 when any is refused. Several to choose "
                                            "from: an error with `candidates`.")),
    ("metier remove NAME --json", "Outcome",
     ("`metier update`, `rollback` (of an installed skill) and `adopt` give the same. Exit code 1 "
     "when any is refused or held.")),
    ("metier outdated --json", '{"skills": [UpstreamStatus]}', ""),
    ("metier sync --json", "SyncOutcome", "Exit code 1 when `ok` is false."),
    ("metier diff NAME --json", '{"name": text, "diff": text}', ("A unified diff; empty when "
                                                                "nothing differs.")),
    ("metier merge NAME --json", "MergeStatus", "Exit code 1 while anything is left to settle."),
    ("metier history NAME --json", '{"name": text, "revisions": [Revision]}',
     ("The newest first. Of a mirrored skill: VersionedSkill, as `rollback` of one gives; with a version: "
     "ViewedVersion.")),
    ("metier plugin list --json", '{"plugins": [PluginRow], "errors": [PluginFault]}', ("With an ID, that "
                                                                              "one alone.")),
    ("metier plugin enable ID --json", "PluginResult",
     ("`disable`, `pause`, `resume`, `adopt` and `sync` give the same. Exit code 1 when any is "
     "refused or a source is unreachable.")),
    ("metier review list --json", '{"candidates": [ReviewCandidate]}', ("With `--all` also those that "
                                                                 "were decided.")),
    ("metier review show ID --json", "Reviewed with candidates", ("A list of the one ReviewCandidate. "
                                                                 "`edit` gives the same.")),
    ("metier review accept ID --json", "Decided with candidates",
     "A list of the one ReviewCandidate. `reject` gives the same. Exit code 1 when `done` is false."),
    ("metier gc --json", "Freed", ""),
    ("metier run NAME SCRIPT --json", "Ran with exit_code",
     ("`exit_code` in the place of `code`; it is the exit code too. `denied` lists what the sandbox "
      "refused, in sentences that name the option. Nothing is printed live. A "
     "refusal: an error, exit code 125.")),
    ("metier run NAME SCRIPT --dry-run --json",
     ('{"name": text, "script": text, "allowed": yes or no, "asks": yes or no, "reasons": [text], '
      '"network": yes or no, '
     '"sandboxed": yes or no, "in_process": yes or no, "command": [text], "mounts": [Mount], '
     '"environment": [text], '
     '"fixed_environment": [text], "secret_files": [text], "limits": RunLimits, "not_granted": '
     '[text], "ignored": [text], '
     '"words": [text], …}'),
     ("What `--dry-run` says in words, as data. Names of variables, never values. Exit code 1 "
      "when `allowed` is false. Inside "
      "metier's own process `limits` has `seconds` alone.")),
    ("metier mcp config --for CLIENT --json", "Configured", ""),
    ("metier search WORDS --json", ('{"results": [SearchResult], "unreachable": [{"source": text, "why": '
                                   'text}]}'),
     "Exit code 1 when nothing fits."),
    ("metier lock export --json", "ExchangeOutcome", ("`import` gives the same, and exit code 1 when it "
                                             "left any out.")),
    ("metier pack PATH --json", "PackedSkill", ""),
    ("metier publish PATH --json", "PublishedIndex", "Exit code 1 when any is refused."),
    ("metier push PATH --to TARGET --json", "PushedSkill", ""),
    ("metier sign NAME --json", "Signed with path", ""),
    ("metier new NAME --json", '{"name": text, "path": text}', ""),
    ("metier enable NAME --json", '{"name": text, "path": text, "state": State, "config": text}', "`disable` gives the same."),
)  # fmt: skip
SHAPES = (
    "Card",
    "Diagnostic",
    "Problem",
    "Category",
    "Body",
    "File",
    "Checked",
    "Why",
    "Choice",
    "Hit",
    "Indexed",
    "Confusion",
    "Confusable",
    "Match",
    "SkillTriggers",
    "Dispatched",
    "Declined",
    "Observation",
    "Observed",
    "Section",
    "Page",
    "Disclosure",
    "Expanded",
    "SlashCommand",
    "Prepared",
    "NeededServer",
    "Tool",
    "CredentialFile",
    "Ask",
    "Usage",
    "Used",
    "Idle",
    "Costly",
    "Outcome",
    "Plan",
    "PlanStep",
    "InstallTarget",
    "Conflict",
    "Installed",
    "Refusal",
    "HeldUpdate",
    "SyncOutcome",
    "Revision",
    "Ran",
    "Mount",
    "KeptObservation",
    "RunLimits",
    "Layer",
    "Configured",
    "UpstreamStatus",
    "UpstreamServer",
    "UpstreamLook",
    "MergeStatus",
    "Freed",
    "SearchResult",
    "ExchangeOutcome",
    "PackedSkill",
    "PublishedIndex",
    "PushedSkill",
    "BundledSkill",
    "PluginRow",
    "PluginSkillRow",
    "PluginFault",
    "PluginResult",
    "VersionedSkill",
    "MirroredVersion",
    "VersionProvenance",
    "ViewedVersion",
    "ReviewCandidate",
    "Evidence",
    "Reviewed",
    "Decided",
    "Scanned",
    "Waived",
    "Finding",
    "Trusted",
    "TrustedSource",
    "ManifestCheck",
    "GivenWaiver",
    "Signed",
    "VerifiedLog",
)
"""The values that a command prints; a class name exists once."""
SUBJECTS = {
    "prose": "What a text may try to make an agent, or its user, do.",
    "shell": "What shell commands may do, in scripts, in fenced blocks and in inline code that a "
    "text says to run.",
    "python": "What Python code may do, told by its syntax tree and by what flows from where to "
    "where.",
    "javascript": "What JavaScript and TypeScript may do.",
    "powershell": "What PowerShell may do.",
    "scripts": "What Ruby, PHP, Perl, Lua, batch files, AppleScript and compiled languages may do.",
    "supply": "Where the code of others comes from.",
    "structure": "What the shape of a skill's folder may say.",
    "keys": "Keys and passwords that lie in a skill.",
    "declared": "What a skill declares, held against what it does, and what no single place shows.",
    "observed": "What `metier observe` sees a skill do in the sandbox, among decoys.",
}
ALL_TABLES = (*TABLES, observed)
ALL_RULES = {**SCAN_RULES, **OBSERVED_RULES}
OF_TREES = (structure, keys, declared)
"""Tables about a skill as a whole, of which nothing is quoted."""
ROWS = re.compile(r" \([A-Z]{2}-\d[^)]*\)")
"""Rows of behaviours that the code names, which mean nothing to a reader of these pages."""
WORDS = (
    "State",
    "Readiness",
    "Scope",
    "Kind",
    "Severity",
    "Harm",
    "Level",
    "Trust",
    "Phase",
    "Action",
    "PluginStatus",
    "BindingStatus",
    "CandidateKind",
    "CandidateStatus",
    "MergeMode",
)


def main() -> int:
    """Write every page, or compare every page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 when a page is out of date"
    )
    check = parser.parse_args().check
    pages = all_pages()
    kept = ROOT / REFERENCE / "rules"
    left_over = [
        path for path in kept.glob("*.md") if f"{REFERENCE}/rules/{path.name}" not in pages
    ]
    changed = [name for name, text in pages.items() if _read(name) != text] + [
        path.name for path in left_over
    ]
    if check:
        for name in changed:
            print(f"{name} is out of date: run 'make docs'", file=sys.stderr)
        return 1 if changed else 0
    for path in left_over:
        path.unlink()
    for name, text in pages.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(text, encoding="utf-8")
    print(f"{len(pages)} pages, {len(changed)} changed")
    return 0


def all_pages() -> dict[str, str]:
    """Give every generated page by its path."""
    pages = {
        f"{REFERENCE}/cli.md": cli_page(),
        f"{REFERENCE}/rules.md": rules_page(),
        f"{REFERENCE}/errors.md": errors_page(),
        f"{REFERENCE}/configuration.md": configuration_page(),
        f"{REFERENCE}/agents.md": agents_page(),
        f"{REFERENCE}/json.md": json_page(),
        f"{REFERENCE}/library.md": library_page(),
        f"{REFERENCE}/scan-rules.md": scan_rules_page(),
        "docs/explanation/trust.md": with_block("docs/explanation/trust.md", TABLE, trust_table()),
    }
    pages |= {
        f"{REFERENCE}/rules/{scan_page_name(table)}": scan_page(table) for table in ALL_TABLES
    }
    return pages | {f"{REFERENCE}/rules/{code}.md": rule_page(code) for code in RULES}


def with_block(name: str, what: str, made: str) -> str:
    """Put what was made between a page's two marks."""
    first, last = f"<!-- {what}: made by scripts/reference.py -->\n", f"<!-- end of {what} -->"
    before, begin, rest = _read(name).partition(first)
    _old, end, after = rest.partition(last)
    if not (begin and end):
        message = f"{name} has no {first.strip()} … {last}"
        raise SystemExit(message)
    return f"{before}{first}{made}{last}{after}"


def cli_page() -> str:
    """Give the help of every command."""
    parts = ["# Commands\n", NOTE, f"```text\n{overview()}```\n"]
    parts += ["Every command takes these:\n", "| option | does |\n|---|---|"]
    parts += [f"| `{f'{o.name} {o.metavar}'.strip()}` | {_cell(o.help)} |" for o in COMMON]
    parts.append(
        "\nExit codes: 0 done · 1 the answer is no (faults, refused, not found) · 2 wrong usage, "
        "or metier failed.\n"
    )
    parts += [
        f"## {command.name}\n\n```text\n{command_help(command)}```\n" for command in all_commands()
    ]
    return "\n".join(parts)


def rules_page() -> str:
    """Give the index of rules."""
    rows = [
        f"| [{c}](rules/{c}.md) | {r.slug} | {r.severity} | {_cell(r.summary)} |"
        for c, r in sorted(RULES.items())
    ]
    return "\n".join(
        [
            "# Rules\n",
            NOTE,
            (
                "SK rules are about a skill; `metier check` reports them. WK rules are about folders "
                "on the way to skills. TR rules are"
            ),
            (
                "about the configuration of trust. What a skill might *do* is the matter of [the "
                "rules of `metier scan`](scan-rules.md).\n"
            ),
            "| code | name | severity | says |\n|---|---|---|---|",
            *rows,
            "",
        ]
    )


def rule_page(code: str) -> str:
    """Give the page of one rule."""
    rule = RULES[code]
    effect = {
        "error": "`metier check` fails.",
        "warning": "`metier check --strict` fails.",
        "info": "A remark; nothing fails.",
    }
    lines = [
        f"# {code}: {rule.slug}\n",
        NOTE,
        f"**{rule.summary}**\n",
        f"Severity: {rule.severity}. {effect[rule.severity]}\n",
    ]
    if code in FATAL:
        lines.append("A skill with this fault cannot be read: its state is `invalid`.\n")
    if code in BARE:
        lines.append("Such a skill is hidden unless `allow_without_frontmatter` is set.\n")
    lines += [
        f"## Why it matters\n\n{rule.why}\n",
        f"## How to put it right\n\n{rule.fix}\n",
        "[All rules](../rules.md)\n",
    ]
    return "\n".join(lines)


def scan_rules_page() -> str:
    """Give the index of what `metier scan` looks for."""
    homes = {rule.id: scan_page_name(table) for table in ALL_TABLES for rule in table.RULES}
    rows = [
        f"| [{rule.id}](rules/{homes[rule.id]}#{rule.id.lower()}) | {rule.severity} | "
        f"{rule.category} | {_cell(rule.title)} |"
        for rule in sorted(ALL_RULES.values())
    ]
    return "\n".join(
        [
            "# Rules of `metier scan`\n",
            NOTE,
            (
                f"{len(ALL_RULES)} rules; those that begin with OB are `metier observe`'s. A severity says "
                "how seldom an honest skill does this; "
                f"*low* and *info* are capabilities, worth"
            ),
            (
                "knowing and harmless by themselves. [How a verdict is "
                "made](../explanation/scanning.md) says what a weight means.\n"
            ),
            "| rule | severity | category | says |\n|---|---|---|---|",
            *rows,
            "",
        ]
    )


def scan_page_name(table: ModuleType) -> str:
    """Name the page of one table of rules."""
    return f"scan-{table.__name__.rpartition('.')[2]}.md"


def scan_page(table: ModuleType) -> str:
    """Give every rule of one table."""
    name = table.__name__.rpartition(".")[2]
    lines = [f"# Scan rules: {name}\n", NOTE, f"{SUBJECTS[name]}\n"]
    for rule in table.RULES:
        lines += [
            f"## {rule.id}\n",
            f"**{rule.title}.** Severity: {rule.severity}. Category: {rule.category}.\n",
            f"{_sentence(rule.why)} {weighs(rule, table)}\n",
            f"*What to do:* {_sentence(rule.hint)}\n",
        ]
    return "\n".join([*lines, "[All rules of `metier scan`](../scan-rules.md)\n"])


def weighs(rule: ScanRule, table: ModuleType) -> str:
    """Say what a rule does to the level."""
    aloud, quiet = weight_of(rule.id), weight_of(f"{rule.id}~")
    if table is observed:
        grave = rule.severity in {"critical", "high"}
        return (
            "It makes a skill *dangerous*."
            if grave
            else (
                "It makes a skill *caution*."
                if rule.severity == "medium"
                else "It changes no level."
            )
        )
    if rule.id == "SC801":
        return "It weighs what the passage weighs."
    doubt = " A skill with it is never called safe." if rule.id in NEVER_SAFE_RULES else ""
    if not aloud:
        return f"By itself it weighs nothing.{doubt}"
    quoted = (
        f", {quiet:.1f} where it is quoted or shown as an example"
        if quiet and table not in OF_TREES
        else ""
    )
    return f"It weighs {aloud:.1f}{quoted}; *dangerous* begins at {learned.DANGEROUS:.1f}.{doubt}"


def trust_table() -> str:
    """Give the table of trust as it is without any configuration."""
    cells = {
        (level, phase): " · ".join(
            DEFAULT_TABLE.action(level, verdict, phase) for verdict in VERDICTS
        )
        for level in LEVELS
        for phase in PHASES
    }
    rows = [
        f"| {level} | {' | '.join(cells[level, phase] for phase in PHASES)} |" for level in LEVELS
    ]
    return "\n".join([f"| level | {' | '.join(PHASES)} |", "|---|---|---|---|", *rows, ""])


def errors_page() -> str:
    """Give the tree of errors, and what each narrower code means."""
    own = {
        one.code
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, errors.MetierError)
    }
    bare = error_codes.used(SOURCE) - own - set(error_codes.CODES) | (
        set(error_codes.CODES) - error_codes.named(SOURCE)
    )
    if bare:
        message = (
            f"scripts/error_codes.py does not describe {sorted(bare)}, or describes what is "
            f"not there"
        )
        raise SystemExit(message)
    found = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.MetierError)
    ]
    tree = (errors.__doc__ or "").split("\n\n")[1]
    rows = [
        f"| `{one.__name__}` | `{one.code}` | {one.exit_code} | "
        f"{_cell((one.__doc__ or '').strip())} |"
        for one in found
    ]
    parts = [
        "# Errors\n",
        NOTE,
        (
            "What is wrong with a skill is a [diagnostic](rules.md) on its row, never an exception. "
            "An operation"
        ),
        "that fails raises one of these; each has `code`, `message` and `hint`.\n",
        f"```text\n{tree}\n```\n",
        "| class | code | exit code | says |\n|---|---|---|---|",
        *rows,
        "",
        (
            "The command line prints `error: …` and `hint: …` on standard error; with `--json`, one "
            "document on standard output:"
        ),
        (
            '`{"code": …, "message": …, "hint": …}`. Many places give a narrower code than their '
            "class; the exit code is then"
        ),
        (
            "still that of the class. Where one skill of a source cannot be taken as it is, the "
            "reason begins with the code.\n"
        ),
    ]
    for title, codes in error_codes.GROUPS:
        parts += [f"## {title}\n", "| code | says |\n|---|---|"]
        parts += [*(f"| `{code}` | {_cell(text)} |" for code, text in codes.items()), ""]
    return "\n".join(parts)


def configuration_page() -> str:
    """Give every setting with its default."""
    defaults = {**merge.default_settings(), **policy.default_trust()}
    defaults["trust.publishers"] = {}
    below = {key: found for key, found in merge._TOP.items() if isinstance(found, dict)}  # noqa: SLF001 - the reference shows every key
    tables = {
        "limits": model.Limits._fields,
        "skills": merge._SKILLS,  # noqa: SLF001
        "trust": policy._READERS,  # noqa: SLF001
        "scan": ("rules", "model", "observe", *(f"judge.{key}" for key in JudgeSettings._fields)),
        "secrets": ("store", "refuse"),
        **below,
    }
    known = {
        *merge._TOP,  # noqa: SLF001 - the same
        *(f"{table}.{key}" for table, keys in tables.items() for key in keys),
    } - set(tables)
    if set(SETTINGS) != known:
        message = f"scripts/reference.py does not describe {sorted(set(SETTINGS) ^ known)}"
        raise SystemExit(message)
    rows = [
        f"| `{key}` | {_toml(defaults.get(key, ()))} | {_cell(text)} |"
        for key, text in SETTINGS.items()
    ]
    table = "\n".join(["| key | default | does |\n|---|---|---|", *rows])
    return f"# Configuration\n\n{NOTE}\n{CONFIGURED}\n{table}\n\n{EXAMPLE}"


def agents_page() -> str:
    """Give the agents metier knows, with their folders."""
    rows = [
        f"| {_cell(a.title)} | `{a.id}` | {a.asked} | {_folders(a)} | {_rules_of(a)} |"
        for a in AGENTS
    ]
    return "\n".join(
        [
            "# Agents\n",
            NOTE,
            (
                f"`metier list --agent ID` and `metier why NAME --agent ID` answer by that agent's "
                f"own rules. There are {len(AGENTS)}, and"
            ),
            "each is a row of a table. Folders are given strongest first. Where a version is named, it was",
            "asked what it lists ([how](../explanation/agents.md)); the other rows follow documentation, which",
            "`metier doctor --agents` names.\n",
            "| agent | id | asked | folders | note |\n|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def json_page() -> str:
    """Give the documents that `--json` prints, and the shapes in them."""
    parts = [
        "# JSON\n",
        NOTE,
        "With `--json` a command prints one document on standard output and nothing else there.",
        "The library gives the same values, with the same names as attributes. What has to do with",
        (
            "[triggers](../how-to/use-triggers.md), from Match to Observed, comes from the library "
            "alone, as does Bundled.\n"
        ),
    ]
    parts += [
        f"**`{command}`**: `{shape}`. {text}".rstrip() + "\n" for command, shape, text in DOCUMENTS
    ]
    known = _classes()
    parts += [_shape(known[name]) for name in SHAPES]
    words = [f"- `{name}`: {_literal(name)}" for name in WORDS]
    return "\n".join([*parts, "## Words\n", *words, ""])


def library_page() -> str:
    """Give every verb of a library, and every name that a program can import."""
    source = (SOURCE / "library.py").read_text(encoding="utf-8")
    lines = source.splitlines()
    tree = {
        node.name: node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    parts = [
        "# Library\n",
        NOTE,
        (
            "`metier.open` gives a `Library`, here `m`. "
            "[Embed metier in a program](../how-to/embed.md) shows how they are used together.\n"
        ),
        "| call | does |\n|---|---|",
        f"| `metier.open{_signature(tree['open_library'])}` | {_first_words(tree['open_library'])} |",
    ]
    at = tree["Library"].lineno
    for verb in tree["Library"].body:
        if not isinstance(verb, ast.FunctionDef) or verb.name.startswith("_"):
            continue
        for line in lines[at : verb.lineno]:
            if line.startswith("    # --- "):
                title = line.removeprefix("    # --- ")
                parts.append(f"\n## {title[0].upper()}{title[1:]}\n\n| call | does |\n|---|---|")
        at = verb.lineno
        plain = any(ast.unparse(one) == "property" for one in verb.decorator_list)
        called = f"m.{verb.name}" + ("" if plain else _signature(verb))
        parts.append(f"| `{called}` | {_first_words(verb)} |")
    parts.append(
        "\n## Names\n\nAll of them are imported from `metier`.\n\n| name | is |\n|---|---|"
    )
    for name in metier.__all__:
        value = getattr(metier, name)
        if isinstance(value, type):
            parts.append(f"| `{name}` | {_cell(' '.join((value.__doc__ or '').split()))} |")
    return "\n".join((*parts, ""))


def _signature(verb: ast.FunctionDef | ast.ClassDef) -> str:
    """Give a function's arguments as a caller sees them, without types."""
    assert isinstance(verb, ast.FunctionDef)
    given = verb.args
    plain = [one.arg for one in given.args if one.arg != "self"]
    for place, default in enumerate(reversed(given.defaults), 1):
        plain[-place] += f"={ast.unparse(default)}"
    named = [
        one.arg + (f"={ast.unparse(default)}" if default is not None else "")
        for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    rest = [f"**{given.kwarg.arg}"] if given.kwarg else []
    return f"({', '.join([*plain, *(['*', *named] if named else []), *rest])})"


def _first_words(verb: ast.FunctionDef | ast.ClassDef) -> str:
    """Give the first paragraph of what a function says of itself."""
    return _cell(" ".join((ast.get_docstring(verb) or "").partition("\n\n")[0].split()))


def _classes() -> dict[str, ast.ClassDef]:
    """Give every class of the source by its name."""
    return {
        node.name: node
        for file in sorted(Path(metier.__file__).parent.rglob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }


def _shape(node: ast.ClassDef) -> str:
    rows, at = [], node.body
    for number, item in enumerate(at):
        if isinstance(item, ast.AnnAssign):
            after = at[number + 1] if number + 1 < len(at) else None
            text = (
                after.value.value
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                else ""
            )
            said = _cell(ROWS.sub("", str(text)))
            rows.append(
                f"| `{ast.unparse(item.target)}` | `{_cell(_written_out(item.annotation))}` | "
                f"{said} |"
            )
    about = ROWS.sub("", ast.get_docstring(node) or "")
    return "\n".join(
        [f"## {node.name}\n", f"{about}\n", "| field | type | |\n|---|---|---|", *rows, ""]
    )


def _written_out(annotation: ast.expr) -> str:
    """Give a type as a reader of these pages knows it."""
    text = ast.unparse(annotation)
    return re.sub(
        r"\bTexts\b", "tuple[str, ...]", re.sub(r"\bJsonObject\b", "dict[str, Any]", text)
    )


def _literal(name: str) -> str:
    nodes = [
        node
        for module in (model, mirrors)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
    ]
    for node in nodes:
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == name
            and isinstance(node.value, ast.Subscript)
        ):
            return " · ".join(f"`{word}`" for word in ast.literal_eval(node.value.slice) if word)
    message = f"neither model.py nor mirrors.py has words for {name}"
    raise SystemExit(message)


def _folders(agent: Agent) -> str:
    return "<br>".join(f"{scope}: `{_cell(path)}`" for scope, path in agent.folders)


_REACHES = {
    "ancestors": "Looks in every folder from the project's root to the working folder.",
    "upwards": "Looks in every folder from the project's root to the working folder, and outside a "
    "project in every folder above it.",
    "homewards": "Looks in every folder from the project's root to the working folder, and outside a "
    "project in every folder above it, but in none above the home folder.",
    "folder": "Looks in the working folder and none above it.",
    "root": "Looks in the project's root alone.",
}


def _rules_of(agent: Agent) -> str:
    """Say in words what sets an agent apart."""
    said = [agent.note] if agent.note else []
    if agent.reach in _REACHES:
        said.append(_REACHES[agent.reach])
    if agent.duplicates == "keep":
        said.append("Keeps every copy of a name.")
    if agent.limits:
        deep = f"Goes {agent.limits.depth} deep"
        folders = agent.limits.folders
        few = folders < Limits().folders
        said.append(f"{deep} and lists at most {folders:,} folders in a root." if few else deep)
    if agent.config:
        said.append("Reads " + ", ".join(f"`{file.path}`" for file in agent.config) + ".")
    if agent.aliases:
        said.append("Also known as " + ", ".join(f"`{alias}`" for alias in agent.aliases) + ".")
    return _cell(" ".join(one if one.endswith(".") else f"{one}." for one in said))


def _toml(value: object) -> str:
    if value is None:
        return "not set"
    if value == {}:
        return "`{}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{word}"' for word in value) + "]`"
    return f"`{value:,}`".replace(",", "_") if isinstance(value, (int, float)) else f'`"{value}"`'


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _cell(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text).replace("|", "\\|")


def _read(name: str) -> str:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
