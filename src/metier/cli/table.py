"""Every command with its options, help and examples, in one table: help, completion and the reference come from here."""

from __future__ import annotations

from metier.cli.argv import Command, Option
from metier.cli.rows_run import RUN
from metier.cli.rows_serve import SERVE
from metier.cli.rows_supply import SUPPLY
from metier.model import SCOPES

COMMON = (
    Option("--json", "print one JSON document and nothing else"),
    Option("--root", "look in exactly this folder instead of the configured ones (may be repeated)", "DIR", repeat=True),
    Option("--agent", "see the world as this agent does (codex, claude-code, gemini-cli, ...)", "NAME"),
    Option("-C", "work as if started in this folder", "DIR"),
    Option("--help", "show this help", short="-h"),
)

COMMANDS = (
    Command(
        "tour", "see the whole pipeline at work, on this machine and on bundled examples",
        examples=(("metier tour", "finished in seconds, leaves nothing behind"),),
    ),
    Command(
        "list", "list the skills that are visible here",
        options=(
            Option("--scope", "only this scope", "S", choices=SCOPES),
            Option("--category", "only this category", "C"),
            Option("--all", "everything that was found, with the reason it is not visible"),
            Option("--digests", "compute the digest of each skill"),
        ),
        examples=(
            ("metier list", "what is there, from which scope, at which token cost"),
            ("metier list --all", "also what is hidden, shadowed or broken, and why"),
            ("metier list --agent codex --json", "what Codex sees, for a script"),
        ),
        detail="A broken skill is never silently absent: it is reported with its place, a code and a hint.",
    ),
    Command(
        "categories", "list the categories of skills",
        examples=(("metier categories", "names, descriptions and counts"),),
    ),
    Command(
        "show", "show a skill's instructions, or one of its files", "NAME",
        options=(
            Option("--file", "show this file of the skill", "PATH"),
            Option("--sections", "list the sections of its body, each with its token cost"),
            Option("--section", "show this section alone", "HEADING"),
            Option("--cursor", "show a long body or file page by page: from here on ('' for the first page)", "CURSOR"),
        ),
        examples=(
            ("metier show pdf", "the body and the names of its files"),
            ("metier show pdf --section 'Fill a form'", "one section of it"),
            ("metier show pdf --file references/forms.md", "one linked file"),
            ("metier show user:pdf", "the copy of one scope; a path or plugin:name works too"),
        ),
    ),
    Command(
        "check", "hold skills against the Agent Skills standard", "PATH...",
        options=(Option("--strict", "warnings count as faults too"),),
        examples=(
            ("metier check ./my-skill", "one skill"),
            ("metier check --strict skills/", "everything below a folder, as a publisher wants it"),
        ),
        detail="Exit code 1 when any skill has a fault. Each rule has a page in docs/reference/rules.md.",
    ),
    Command(
        "scan", "say what skills might do, before anybody uses them", "PATH...",
        options=(
            Option("--format", "how to report", "FORMAT", choices=("text", "json", "sarif")),
            Option("--policy", "what counts as dangerous: strict counts caution too, permissive takes caution for safe", "POLICY",
                   choices=("strict", "balanced", "permissive")),
            Option("--baseline", "take the findings in this file as known and accepted", "FILE"),
            Option("--write-baseline", "accept every finding of now: write them to this file", "FILE"),
            Option("--min-severity", "leave out findings below this; the level stays what it is", "SEVERITY",
                   choices=("critical", "high", "medium", "low", "info")),
        ),
        examples=(
            ("metier scan ./some-skill", "one skill: its level, and what was found where"),
            ("metier scan --policy strict skills/", "everything below a folder, as a cautious team wants it"),
            ("metier scan --format sarif . > scan.sarif", "for a code host"),
            ("metier scan --write-baseline known.json .", "accept what is there; later: --baseline known.json"),
        ),
        detail="Nothing is run and nothing is sent anywhere. Exit code 1 when any skill is dangerous.",
    ),
    Command(
        "trust", "decide which skills may be used; every decision is about their bytes as they are now",
        "show|approve|quarantine|block|unblock|project|keys|sign|verify [NAME...]",
        options=(
            Option("--yes", "do not ask"),
            Option("--reason", "why, for the audit log", "TEXT"),
            Option("--accept-dangerous", "approve even what a scan calls dangerous; needs --reason"),
            Option("--level", "with approve: how far (default: verified)", "L", choices=("verified", "trusted")),
            Option("--revoke", "with project: stop offering its skills to models"),
            Option("--key", "with sign: the key to sign with, when there are several", "ID"),
            Option("--signature", "with verify: check this signature, and keep it when it is good", "FILE"),
        ),
        examples=(
            ("metier trust show pdf", "the decision on a skill, and its reasons"),
            ("metier trust approve pdf --reason 'read it'", "until a byte of it changes"),
            ("metier trust block pdf", "never load or run it, whatever its name or place"),
            ("metier trust project .", "offer this project's skills to models"),
            ("metier trust keys list", "whose signatures count; also: new, import FILE, remove ID"),
            ("metier trust sign pdf", "vouch for it with your key; verify checks"),
        ),
        detail="Exit code 1 when the answer is no, as for a dangerous skill without --accept-dangerous.",
    ),
    Command(
        "audit", "show what was decided here, by whom and when, or prove that nobody changed it", "tail|verify",
        options=(Option("--limit", "show this many events (default: 20)", "N"),),
        examples=(
            ("metier audit tail", "the last decisions"),
            ("metier audit verify", "edits, deletions and cuts are shown with their place"),
        ),
        detail="Exit code 1 when the log is not as it was written.",
    ),
    Command(
        "why", "say which copy of a skill wins, and why each other copy does not", "NAME",
        examples=(
            ("metier why pdf", "which rule, setting, gate or folder decides"),
            ("metier why pdf --agent claude-code", "by that agent's own folders and precedence"),
        ),
    ),
    Command(
        "find", "find the skills that fit a task", "[TASK]",
        options=(
            Option("--limit", "how many to show (10)", "N"),
            Option("--scope", "only this scope", "S", choices=SCOPES),
            Option("--category", "only this category", "C"),
            Option("--state", "only skills in this state: visible, shadowed or ask (may be repeated)", "STATE", repeat=True),
            Option("--tag", "only skills with this tag (may be repeated)", "TAG", repeat=True),
            Option("--typing", "the last word may be unfinished"),
            Option("--index", "first bring the index up to date, vectors too, however long that takes"),
            Option("--confusable", "show which skills answer the same tasks, instead"),
        ),
        examples=(
            ("metier find 'fill in this tax form'", "the best first, with what made each rank"),
            ("metier find 'deploy to staging' --scope project --limit 3", "only what this project ships"),
            ("metier find - < message.txt", "a task that is too long for an argument"),
            ("metier find --index", "read everything now, so that later questions need not"),
            ("metier find --confusable", "pairs of skills that a model could mistake for one another"),
        ),
        detail="With - the task is read from standard input, up to 1 MiB.\n"
               "Nothing leaves this machine: words and vectors are compared here. A blocked or hidden skill is never suggested.",
    ),
    Command(
        "prompt", "print the catalogue of skills for a model, within a token budget",
        options=(
            Option("--budget", "tokens for the catalogue (the instructions come on top), or with --window a share such as 2%", "N"),
            Option("--window", "the model's context window in tokens", "N"),
            Option("--format", "how to write it (default: xml)", "FORMAT", choices=("xml", "markdown", "json")),
            Option("--mode", "full, compact (names alone) or auto, which is compact for a small window", "MODE",
                   choices=("full", "compact", "auto")),
            Option("--task", "what the model is to do: when not all fit, those that fit the task go in", "TEXT"),
            Option("--previous", "the --json output of an earlier prompt: keep as much of its beginning as can be", "FILE"),
            Option("--delta", "with --previous: print only what changed since"),
        ),
        examples=(
            ("metier prompt", "every visible skill in about 2,000 tokens"),
            ("metier prompt --window 200000 --budget 2% --format markdown", "a share of the window"),
            ("metier prompt --json > before.json", "later: metier prompt --previous before.json --delta"),
        ),
        detail="The budget covers the catalogue; the instructions after it, fewer than 250 tokens, come on top.\n"
               "What was shortened or left out is reported on standard error, and in --json. No skills, no text.",
    ),
    Command(
        "expand", "turn slash commands and $mentions of a message into what a model receives", "[TEXT]",
        options=(
            Option("--select", "a skill selected by hand: its path, or name=path (may be repeated)", "PATH", repeat=True),
            Option("--session", "the id of the session, for skills that ask for it", "ID"),
            Option("--commands", "list every slash command instead, with its argument hint"),
        ),
        examples=(
            ("metier expand '/pdf fill in the form'", "the skill's instructions, then the request"),
            ("metier expand 'use $pdf and $brand for this'", "mentions; [$pdf](/path/SKILL.md) names one copy"),
        ),
        detail="TEXT - reads standard input. \\/ at the start is a plain slash. Exit code 1 when a slash command gives no skill. "
               "On paper, control characters are shown escaped; --json has the message as it is.",
    ),
    Command(
        "setup", "say what a skill still needs, and ask for the secrets it declares", "NAME",
        options=(
            Option("--store", "where to keep what you give (default: file)", "STORE", choices=("session", "file", "keyring")),
            Option("--stdin", "take the secrets from standard input, one a line, in the order they are asked for"),
            Option("--skip", "ask for nothing, only say what is missing"),
            Option("--yes", "accepted for scripts; nothing is asked that it could answer"),
        ),
        examples=(
            ("metier setup weather", "asks without echo; Enter skips"),
            ("metier setup weather --stdin < keys.txt", "for a script"),
        ),
        detail="What a skill can do without is asked for last. Values are never arguments and never printed. Exit code 1 while "
        "something is missing.",
        private=True,
    ),
    *RUN,
    *SERVE,
    *SUPPLY,
    Command(
        "secrets", "list, set or forget the secrets that skills may ask for", "list|set|unset [NAME...]",
        options=(
            Option("--store", "where: in a file that only you can read, or the system's keyring", "STORE",
                   choices=("file", "keyring")),
            Option("--yes", "accepted for scripts; nothing is asked that it could answer"),
        ),
        examples=(
            ("metier secrets list", "names, where each is kept and which skills declare it; never values"),
            ("metier secrets set OPENWEATHER_API_KEY", "asks without echo, or takes one line of standard input"),
            ("metier secrets unset OPENWEATHER_API_KEY", "forgets it"),
        ),
        private=True,
    ),
    Command(
        "tools", "print the schemas of the tools that an agent's host can register",
        options=(Option("--only", "only this tool (may be repeated)", "TOOL", repeat=True),),
        examples=(("metier tools", "JSON Schema; 'metier.tools' has the handlers"),),
    ),
    Command(
        "usage", "show which skills are used, what they cost, and which nobody needs",
        options=(Option("--days", "what was not used for so long counts as dead (default: 30)", "N"),),
        examples=(("metier usage", "counts kept on this machine alone; 'usage = false' in the configuration stops them"),),
    ),
    Command(
        "new", "write a new skill that passes a strict check", "NAME",
        options=(
            Option("--dir", "put it in this folder (default: .agents/skills of the project)", "DIR"),
            Option("--description", "what it does and when to use it", "TEXT"),
        ),
        examples=(("metier new release-notes", "makes .agents/skills/release-notes/SKILL.md"),),
    ),
    Command(
        "enable", "show a skill again", "NAME",
        examples=(("metier enable pdf", "writes a rule to your configuration"),),
    ),
    Command(
        "disable", "hide a skill", "NAME",
        examples=(("metier disable pdf", "writes a rule to your configuration"),),
    ),
    Command(
        "doctor", "show what is configured, what is missing and what is wrong",
        options=(Option("--agents", "list every agent metier knows, with its folders"),),
        examples=(("metier doctor", "folders, agents, index, tools and problems"),),
    ),
    Command(
        "completion", "print a completion script for a shell", "SHELL",
        examples=(('eval "$(metier completion bash)"', "bash, zsh or fish"),),
    ),
)  # fmt: skip


def command_named(name: str) -> Command | None:
    """Find a command."""
    return next((command for command in COMMANDS if command.name == name), None)
