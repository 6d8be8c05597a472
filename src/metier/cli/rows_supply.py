"""The part of the table of commands that gets skills in, mirrors plugins, has changes reviewed and hands skills on."""

from __future__ import annotations

from metier.cli.argv import Command, Option

_YES = Option("--yes", "do not ask")
_UNASKED = Option("--yes", "accepted for scripts; nothing is asked")
_USER = Option("--user", "the skills of your home folder instead of this project's")
_WHERE = (Option("--project", "the skills of this project"), _USER)
_DRY = Option("--dry-run", "show what would be done, and do nothing")

SUPPLY = (
    Command(
        "add", "get skills from anywhere: fetched, scanned, decided about, locked, and put where agents look", "SOURCE",
        options=(
            Option("--skill", "only this skill of the source (may be repeated)", "NAME", repeat=True),
            Option("--all", "every skill of the source"),
            Option("--ref", "this branch, tag, commit or version", "R"),
            Option("--to", "also for this agent (may be repeated)", "AGENT", repeat=True),
            *_WHERE, _YES, _DRY,
            Option("--name", "install it under this name", "NAME"),
            Option("--force", "replace a different skill of that name, and install what is only doubtful; never what is dangerous"),
            Option("--accept-dangerous", "install even what a scan calls dangerous; needs --reason"),
            Option("--reason", "why, for the audit log", "TEXT"),
        ),
        examples=(
            ("metier add anthropics/skills --skill pdf", "one skill of a repository on GitHub"),
            ("metier add https://host/team/repo.git#v2:skills/pdf", "by branch, tag or commit, and a path inside"),
            ("metier add ./folder", "a folder; skill.zip and other archives work too"),
            ("metier add https://example.com", "what a site offers in its well-known index"),
            ("metier add marketplace:anthropics/skills --skill pdf", "by a marketplace's own list of plugins"),
            ("metier add anthropics/skills --all --to claude-code --dry-run", "the plan, and nothing else"),
        ),
        detail="Nothing reaches a folder that agents read before it was scanned and decided about.\n"
               "Exit code 1 when any is refused, or when a source has several skills and none is named: then they are listed.",
    ),
    Command(
        "remove", "take back what was installed, and nothing else", "NAME...",
        options=(*_WHERE, _YES, _DRY, Option("--force", "even where it was edited; the edits stay in the store")),
        examples=(("metier remove pdf", "its folder, its links and its place in the lock"),),
    ),
    Command(
        "update", "bring installed skills up to date; your edits are merged", "[NAME...]",
        options=(Option("--check", "show what there is, and change nothing"), *_WHERE, _YES),
        examples=(
            ("metier update", "look at everything, show the plan, ask"),
            ("metier update pdf --yes", "apply what merges cleanly; what conflicts or wants more is held"),
            ("metier update --check", "exit code 1 when something waits"),
        ),
        detail="Held updates say why; 'metier merge NAME' settles them. Exit code 1 when any is held.",
    ),
    Command(
        "outdated", "say which installed skills have a newer version", options=_WHERE,
        examples=(("metier outdated", "nothing is changed"),),
    ),
    Command(
        "sync", "make the disk match the lock",
        options=(Option("--frozen", "change neither the lock nor what differs: restore what is missing, or fail"), *_WHERE),
        examples=(
            ("metier sync", "after a pull: what the lock has and the disk lacks"),
            ("metier sync --frozen", "in CI: the same bytes, or exit code 1"),
        ),
        detail="Nothing is fetched that the store has already.",
    ),
    Command(
        "diff", "show what was edited in an installed or mirrored skill", "NAME",
        options=(
            Option("--against", "base (default), theirs, a revision's number; of a mirrored skill a version, or two", "WHAT"),
            *_WHERE,
        ),
        examples=(
            ("metier diff pdf", "your edits"), ("metier diff pdf --against theirs", "what the update that waits changes"),
            ("metier diff pdf --against v0002", "from that version to your copy"),
            ("metier diff pdf --against v0001..v0003", "from one version to another"),
        ),
    ),
    Command(
        "merge", "settle a held update", "NAME",
        options=(
            Option("--ours", "keep my side of each conflict"), Option("--theirs", "take the new version's side of each conflict"),
            Option("--continue", "go on with the files as I have edited them"), Option("--abort", "forget this update"), *_WHERE,
            _UNASKED,
        ),
        examples=(
            ("metier merge pdf", "show each conflict, and where to edit it"),
            ("metier merge pdf --continue", "check, scan and apply what you edited"),
            ("metier merge pdf --theirs", "where both changed a line, take the new one"),
        ),
        detail="Exit code 1 while it waits. What comes out is scanned again, and is one more revision: metier rollback undoes it.",
    ),
    Command(
        "history", "list the revisions of an installed skill, or the versions of a mirrored one", "NAME [VERSION]",
        options=(Option("--file", "with VERSION: show this file of it", "PATH"), *_WHERE),
        examples=(
            ("metier history pdf", "what it was, since when, and by what"),
            ("metier history pdf v0002", "the instructions of one version, and the names of its files"),
            ("metier history pdf v0002 --file scripts/fill.sh", "one file of it"),
        ),
    ),
    Command(
        "rollback", "put an installed or mirrored skill back as it was", "NAME [REV]", options=(*_WHERE, _UNASKED),
        examples=(
            ("metier rollback pdf", "to the revision or version before"), ("metier rollback pdf 3", "to that revision"),
            ("metier rollback pdf v0002", "to that version; what is there now stays one too"),
        ),
    ),
    Command(
        "plugin", "mirror plugins: their skills are yours to edit, and what they change is put before you",
        "list|enable|disable|pause|resume|adopt|sync [ID...]",
        options=(
            Option("--ref", "with enable: this branch, tag, commit or version", "R"),
            Option("--plugin", "with enable: this plugin of a source that has several", "NAME"),
            Option("--to", "with enable: also for this agent (may be repeated)", "AGENT", repeat=True),
            Option("--dry-run", "with enable: show what would be done, and do nothing"),
            *_WHERE, _YES, Option("--no-wait", "give up at once when another process is changing skills"),
        ),
        examples=(
            ("metier plugin list", "discovered, enabled, paused, pending, missing, disabled, adopted"),
            ("metier plugin list brand-kit", "one of them, with its skills"),
            ("metier plugin enable brand-kit", "all of its skills or none: fetched, scanned, shown, asked about"),
            ("metier plugin enable owner/repo --plugin brand-kit", "straight from where it lies; a folder works too"),
            ("metier plugin sync", "edits become versions; what is new waits in 'metier review list'"),
            ("metier plugin pause brand-kit", "leave its skills as they are; resume goes on"),
            ("metier plugin disable brand-kit --yes", "agents no longer see its skills; nothing of them is lost"),
            ("metier plugin adopt brand-kit palette", "the skill is yours from now on; its versions stay"),
        ),
        detail="ID is what the list shows; the marketplace behind the @ may be left out where only one plugin fits.\n"
               "Nothing that a plugin changes reaches your copies before a person said yes. The setting plugins.sources names\n"
               "where plugins are looked for. Exit code 1 when a skill is refused, or a source cannot be reached.",
    ),
    Command(
        "review", "decide about changes that wait for a person: of plugins, of agents, and held updates",
        "list|show|accept|reject|edit [ID]",
        options=(
            Option("--all", "with list: also what was decided already"),
            Option("--ours", "with accept: keep my side of each conflict"),
            Option("--theirs", "with accept: take the new side of each conflict"),
            Option("--reason", "why, for whoever asks later", "TEXT"),
            *_WHERE, _YES,
        ),
        examples=(
            ("metier review list", "what waits, and for what"),
            ("metier review show pdf", "the verdict, what it gains, and the diff"),
            ("metier review accept pdf", "publish it at once"),
            ("metier review reject pdf --reason 'too much'", "the skill stays as it is"),
            ("metier review edit pdf", "lay it out in a folder, to be changed before it is accepted"),
        ),
        detail="ID is what the list shows, the beginning of it, or the skill's name, where only one open change fits.\n"
               "Accepting is for what was shown: where anything moved since, it is made anew and asked about again, and the exit\n"
               "code is 1.",
    ),
    Command(
        "search", "find skills in remote sources and taps", "WORDS", options=(Option("--limit", "how many to show (20)", "N"),),
        examples=(("metier search 'fill pdf forms'", "in what supply.taps and supply.registries name"),),
        detail="Sources are asked at once; one that is slow or dead is named, not waited for.",
    ),
    Command(
        "tap", "name the repositories that search looks through", "list|add|remove [SOURCE]",
        examples=(("metier tap add our-company/skills", "metier search, and plain names for metier add, then look there"),),
    ),
    Command(
        "adopt", "put a skill that lies on disk already under the lock, unchanged", "PATH",
        options=(Option("--source", "where it came from, as for add", "SOURCE"), *_WHERE),
        examples=(("metier adopt .agents/skills/pdf --source anthropics/skills", "so that it can be updated"),),
    ),
    Command(
        "gc", "free what no lock, no revision and no version needs",
        options=(_DRY, Option("--revisions", "keep only this many revisions of each skill", "N")),
        examples=(("metier gc --dry-run", "how much there is to free"),),
    ),
    Command(
        "lock", "exchange records with other tools; no skill's bytes are touched", "export|import [FILE]",
        options=(Option("--format", "whose record", "FORMAT", choices=("npx", "gh", "hermes", "clawhub", "apm")), *_WHERE, _YES),
        examples=(
            ("metier lock import --format npx", "take over what 'npx skills' installed"),
            ("metier lock export --format npx skills-lock.json", "for those who use that tool"),
        ),
    ),
    Command(
        "pack", "write a skill as an archive, the same bytes every time", "PATH [FILE]",
        examples=(("metier pack ./my-skill", "my-skill.tar.gz and its digest"),),
    ),
    Command(
        "publish", "write a well-known index that any web server can host", "PATH...",
        options=(Option("--well-known", "the site's folder; the index goes below .well-known", "DIR"),),
        examples=(("metier publish skills/ --well-known ./site", "index.json with digests, and an archive of each skill"),),
        detail="A skill that fails a strict check or that a scan calls dangerous is not published.",
    ),
    Command(
        "sign", "sign a skill's bytes with your key", "NAME-or-PATH", options=(Option("--key", "the key to sign with", "ID"),),
        examples=(("metier sign ./my-skill", "before you publish it; a skill that is listed goes by its name"),),
    ),
)  # fmt: skip
