"""`metier doctor`."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import library
from metier.cli.output import (
    NO_AGENTS,
    answer,
    clean,
    columns,
    counted,
    counts_text,
    diagnostic_lines,
    lines,
    problem_lines,
    style,
    table,
)
from metier.doctor.advice import advise, needs_linux, sandbox_works
from metier.standard.rules import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.discover.agents import Agent
    from metier.doctor.examine import DoctorReport
    from metier.model import Loading


def run(values: Values) -> int:
    """Show what is configured, missing, wrong and slow; or every agent in the table."""
    if values.flag("agents"):
        from metier.discover.agents import AGENTS

        answer(values, AGENTS, _agents_text, _agents_document(AGENTS))
        return 0
    with library(values) as m:
        report = m.doctor()
    answer(values, report, text)
    return 0


def text(report: DoctorReport) -> str:
    """Lay a report out for a person."""
    parts = (
        _metier,
        _project,
        _folders,
        _agents,
        _skills,
        _problems,
        _tools,
        _sandbox,
        _kept,
        _plugins,
        _scanning,
        _finding,
        _speed,
        _attention,
    )
    return "\n".join(part for show in parts if (part := show(report)))


def _metier(report: DoctorReport) -> str:
    memory = report.memory
    if memory.folder is None:
        index = "nowhere: no home folder is known; set METIER_HOME"
    else:
        state = (
            "can be written"
            if memory.writable
            else memory.trouble or "cannot be written: every run reads everything again"
        )
        size = f"index of {counted(memory.snapshots, 'file')}, {memory.bytes / 1024:,.0f} KiB"
        index = (
            f"{memory.folder} ({size}; {state})"
            if memory.exists
            else f"{memory.folder} (not there yet; {state})"
        )
    rows = [
        ("metier", f"{report.version} on {report.python}, {report.platform}"),
        ("METIER_HOME", index),
        ("home", report.home or "not known: folders that begin with ~ are left out; set HOME"),
    ]
    for layer in report.configuration:
        where = layer.path or "nowhere"
        rows.append((f"{layer.layer} configuration", where if layer.found else f"none ({where})"))
    return _section("Configuration", rows)


def _project(report: DoctorReport) -> str:
    marker = report.project.marker
    made_by = (
        f"because it holds {marker}"
        if marker
        else "the working folder: no marker in it or above it"
    )
    return _section(
        "Project", [("root", f"{report.project.folder} ({made_by})"), ("asking as", report.asking)]
    )


def _folders(report: DoctorReport) -> str:
    if not report.roots:
        return _heading("Folders") + "None of the folders that metier looks in exists.\n"
    rows = [
        (
            root.location,
            root.scope,
            root.agent or "-",
            f"{root.skills:,}",
            f"{root.stats:,}",
            root.links,
            root.told_by,
        )
        for root in report.roots
    ]
    heads = ("FOLDER", "SCOPE", "AGENT", "SKILLS", "STATS", "LINKS", "NAMED BY")
    return _heading("Folders, strongest first") + table(rows, heads)


def _agents(report: DoctorReport) -> str:
    if not report.agents:
        return _heading("Agents") + NO_AGENTS
    rows = [
        (
            one.id,
            f"{one.skills:,}",
            f"{one.shadowed:,}",
            f"{one.same_name:,}",
            f"{one.invalid:,}",
            f"{one.left_out:,}",
            one.found_by,
        )
        for one in report.agents
    ]
    heads = ("AGENT", "SEES", "SHADOWED", "SAME NAME", "INVALID", "LEFT OUT", "FOUND BY")
    full = "".join(
        f"{one.title}'s listing budget is full; {one.cut:,} of its {counted(one.skills, 'skill')} "
        f"{'is' if one.cut == 1 else 'are'} cut\n"
        for one in report.agents
        if one.cut
    )
    return _heading("Agents on this machine, and what each sees here") + table(rows, heads) + full


def _skills(report: DoctorReport) -> str:
    skills = report.skills
    rows = [("found", f"{skills.total:,}")]
    rows += [
        (f"by {what}", counts_text(counts))
        for what, counts in (
            ("scope", skills.scopes),
            ("state", skills.states),
            ("readiness", skills.readiness),
            ("verdict", skills.verdicts),
        )
        if counts
    ]
    broken = in_words(skills.codes)
    rows += [("rules broken", "" if broken else "none")]
    rows += [(f"  {count}", told) for count, told in broken]
    faults = (diagnostic_lines(fault.skill, [fault.diagnostic], "  ") for fault in skills.faults)
    return _section("Skills", rows) + "".join(faults)


def _problems(report: DoctorReport) -> str:
    said = problem_lines((*report.problems, *report.truncated)) + lines(report.warnings, "")
    return _heading("Problems with folders") + said if said else ""


def _tools(report: DoctorReport) -> str:
    return _section(
        "Tools",
        [
            (tool.name, f"found {tool.note}".rstrip() if tool.found else tool.note)
            for tool in report.tools
        ],
    )


def _sandbox(report: DoctorReport) -> str:
    first = (
        "scripts can be run"
        if sandbox_works(report)
        else "scripts can't be run on this system"
        if needs_linux(report)
        else "no script is run here until what is missing is there"
    )
    rows = [("runs", first)]
    for one in report.sandbox:
        hint = f"; {one.hint}" if one.hint else ""
        stands = f"active: {one.detail}" if one.active else f"missing: {one.detail}{hint}"
        rows.append((one.name, stands))
    return _section("Sandbox", rows)


def _kept(report: DoctorReport) -> str:
    secrets = report.secrets
    watching = report.watching
    counting = report.counting
    if secrets.file is None:
        place = "nowhere: no home folder is known; set METIER_HOME"
    else:
        place = (
            f"{secrets.file} ({counted(secrets.in_file, 'name')}, for you alone)"
            if secrets.safe
            else secrets.trouble
        )
    ring = (
        f"{secrets.keyring} ({counted(secrets.in_keyring, 'name')})"
        if secrets.keyring
        else secrets.no_keyring
    )
    notices = (
        "told by the system"
        if watching.mode == "notices"
        else f"looked for from time to time: {watching.reason}"
    )
    counts = f"counted in {counting.file}, on this machine alone" if counting.on else "not counted"
    rows = [
        ("secrets", place),
        ("keyring", ring),
        ("changes", notices),
        ("uses", counting.trouble or counts),
    ]
    rows += [
        ("set aside", f"{path}: it could not be read; remove it with: rm {quote(path)}*")
        for path in counting.spoilt
    ]
    return _section("Secrets, watching, counting", rows)


def _plugins(report: DoctorReport) -> str:
    found = report.mirroring
    if not found.plugins and not found.trouble:
        return ""
    rows = [
        ("mirrored", f"{found.plugins:,}, {found.paused:,} paused, {found.missing:,} missing"),
        ("waiting", f"{found.waiting:,}: metier review list" if found.waiting else "nothing"),
    ]
    return _section("Plugins", [*rows, *(("unreadable", one) for one in found.trouble)])


def _scanning(report: DoctorReport) -> str:
    found = report.reading
    verdicts = f"by rules, and by {found.model}, which reads prose"
    if found.trouble:
        verdicts = f"none can be made: {found.trouble}"
    elif not found.model:
        verdicts = f"by rules alone: {found.reason}"
    return _section("Scanning skills", [("verdicts", verdicts)])


def _finding(report: DoctorReport) -> str:
    found = report.searching
    total = report.skills.total
    indexed = f"{found.skills:,} of {counted(total, 'skill')}"
    index = f"{indexed}, {found.bytes / 1024:,.0f} KiB in {found.folder}"
    if found.host:
        index = f"{indexed}, kept by a host"
    elif found.folder is None:
        index = "not kept: no home folder is known"
    elif found.unwritable and not found.skills:
        index = f"cannot be kept, and is made anew for every question: {found.unwritable}"
    elif not found.skills:
        index = f"none yet: the first 'metier find' makes it in {found.folder}"
    meaning = f"counts, by {found.model}" if found.vectors else f"does not count: {found.reason}"
    meaning += (
        f"; vectors for {found.embedded:,} of {counted(found.skills, 'skill')}"
        if found.vectors and found.skills
        else ""
    )
    return _section("Finding skills", [("index", found.trouble or index), ("meaning", meaning)])


def _speed(report: DoctorReport) -> str:
    speed = report.speed
    rows = [
        ("first listing", f"{speed.cold_ms:,.1f} ms, with nothing remembered"),
        (
            "next listings",
            f"{speed.warm_ms:,.1f} ms, {speed.stats:,} stats to see that nothing has changed",
        ),
    ]
    rows += [
        ("crowded", f"{path} holds {entries:,} entries that are watched")
        for path, entries in speed.crowded
    ]
    rows += [
        ("no skills", f"{path} costs {stats:,} stats and holds no skill")
        for path, stats in speed.empty
    ]
    return _section("Speed, measured just now", rows)


def _attention(report: DoctorReport) -> str:
    """Sum up: what a person should look at, or that there is nothing."""
    said = "".join(f"  {one.text}\n" for one in advise(report))
    if not said:
        return style("Nothing needs attention.", "green") + "\n"
    return f"{style('Worth a look:', 'yellow')}\n{said}"


def _heading(title: str) -> str:
    return style(title, "bold") + "\n"


def _section(title: str, rows: list[tuple[str, str]]) -> str:
    return _heading(title) + columns([(name, clean(value)) for name, value in rows])


# --- the table of agents


def _agents_document(agents: Sequence[Agent]) -> dict[str, object]:
    shown = (
        "id",
        "title",
        "reach",
        "duplicates",
        "plugins",
        "extensions",
        "aliases",
        "note",
        "asked",
        "read_in",
    )
    rows = [
        {
            **{name: getattr(agent, name) for name in shown},
            "folders": [{"scope": scope, "path": path} for scope, path in agent.folders],
            "config": [file.path for file in agent.config],
            "without": {variable: list(paths) for variable, paths in agent.without},
            "budget": agent.budget._asdict() if agent.budget else None,
            "loads": _loads(agent.loading) if agent.loading else None,
        }
        for agent in agents
    ]
    return {"agents": rows}


def _loads(loading: Loading) -> dict[str, object]:
    """Give the rules by which an agent loads skills, as JSON has them."""
    rules = {**loading._asdict(), "fields": [rule._asdict() for rule in loading.fields]}
    del rules["watched"]  # how metier saves time, and no rule
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in rules.items()
    }


def _agents_text(agents: Sequence[Agent]) -> str:
    listed = "\n".join(map(_agent, agents))
    return f"{listed}\n{len(agents)} agents, the folders of each strongest first\n"


def _agent(agent: Agent) -> str:
    other = f"  ({', '.join(agent.aliases)})" if agent.aliases else ""
    places = (*agent.folders, *(("plugin", path) for path in agent.plugins))
    folders = "".join(f"  {scope:9}{path}\n" for scope, path in places)
    folders += "".join(f"  {'config':9}{file.path}\n" for file in agent.config)
    told = f"as {agent.title} {agent.asked} answered" if agent.asked else f"by {agent.read_in}"
    folders += f"  {style(told, 'dim')}\n"
    note = f"  {style(agent.note, 'dim')}\n" if agent.note else ""
    return f"{style(agent.id, 'bold')}  {agent.title}{other}\n{folders}{note}"


ROWS = (
    CommandRow(
        "doctor",
        options=(Option("--agents", "list every agent metier knows, with its folders"),),
        examples={"metier doctor": "folders, agents, index, tools and problems"},
        paged=True,
        run=run,
    ),
)
