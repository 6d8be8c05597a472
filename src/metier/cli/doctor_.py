"""`metier doctor`."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from metier import cli
from metier.cli import output

if TYPE_CHECKING:
    from metier.cli.argv import Values
    from metier.diagnosis import Report
    from metier.discover.agents import Agent


def run(values: Values) -> int:
    """Show what is configured, missing, wrong and slow; or every agent in the table."""
    if values["agents"]:
        output.write(_agent_table(as_json=bool(values["json"])))
        return 0
    with cli.library(values) as m:
        report = m.doctor()
    output.write(output.json_text(report) + "\n" if values["json"] else text(report))
    return 0


def text(report: Report) -> str:
    """Lay a report out for a person."""
    parts = (_metier, _project, _folders, _agents, _skills, _problems, _tools, _sandbox, _kept, _plugins, _finding, _speed,
             _attention)  # fmt: skip
    return "\n".join(part for show in parts if (part := show(report)))


def _metier(report: Report) -> str:
    memory = report.memory
    if memory.folder is None:
        index = "nowhere: no home folder is known; set METIER_HOME"
    else:
        state = "can be written" if memory.writable else memory.trouble or "cannot be written: every run reads everything again"
        size = f"index of {memory.snapshots:,} files, {memory.bytes / 1024:,.0f} KiB"
        index = f"{memory.folder} ({size}; {state})" if memory.exists else f"{memory.folder} (not there yet; {state})"
    rows = [
        ("metier", f"{report.version} on {report.python}, {report.platform}"),
        ("METIER_HOME", index),
        ("home", report.home or "not known: folders that begin with ~ are left out; set HOME"),
    ]
    for layer in report.configuration:
        where = layer.path or "nowhere"
        rows.append((f"{layer.layer} configuration", where if layer.found else f"none ({where})"))
    return _section("Configuration", rows)


def _project(report: Report) -> str:
    marker = report.project.marker
    made_by = f"because it holds {marker}" if marker else "the working folder: no marker in it or above it"
    return _section("Project", [("root", f"{report.project.folder} ({made_by})"), ("asking as", report.asking)])


def _folders(report: Report) -> str:
    if not report.roots:
        return _heading("Folders") + "None of the folders that metier looks in exists.\n"
    rows = [
        (output.clean(root.location), root.scope, root.agent or "-", f"{root.skills:,}", f"{root.stats:,}", root.links,
         output.clean(root.told_by))
        for root in report.roots
    ]  # fmt: skip
    heads = ("FOLDER", "SCOPE", "AGENT", "SKILLS", "STATS", "LINKS", "NAMED BY")
    return _heading("Folders, strongest first") + output.table(rows, heads)


def _agents(report: Report) -> str:
    if not report.agents:
        return _heading("Agents") + "No agent that metier knows has left a trace here.\n"
    rows = [
        (one.id, f"{one.skills:,}", f"{one.shadowed:,}", f"{one.same_name:,}", f"{one.invalid:,}", output.clean(one.found_by))
        for one in report.agents
    ]
    heads = ("AGENT", "SEES", "SHADOWED", "SAME NAME", "INVALID", "FOUND BY")
    return _heading("Agents on this machine, and what each sees here") + output.table(rows, heads)


def _skills(report: Report) -> str:
    skills = report.skills
    rows = [("found", f"{skills.total:,}")]
    rows += [(f"by {what}", _counted(counts)) for what, counts in
             (("scope", skills.scopes), ("state", skills.states), ("readiness", skills.readiness)) if counts]  # fmt: skip
    rows += [("rules broken", _counted(skills.codes) or "none")]
    faults = (output.diagnostic_lines(fault.skill, [fault.diagnostic], "  ") for fault in skills.faults)
    return _section("Skills", rows) + "".join(faults)


def _problems(report: Report) -> str:
    lines = [f"{output.clean(one.path)}: {one.code} {output.clean(one.message)}\n" for one in (*report.problems, *report.truncated)]
    lines += [f"{output.clean(warning)}\n" for warning in report.warnings]
    return _heading("Problems with folders") + "".join(lines) if lines else ""


def _tools(report: Report) -> str:
    return _section("Tools", [(tool.name, f"found {tool.note}".rstrip() if tool.found else tool.note) for tool in report.tools])


def _sandbox(report: Report) -> str:
    def told(active: object, detail: str, hint: str) -> str:
        return f"active: {detail}" if active else "; ".join(part for part in (f"missing: {detail}", hint) if part)

    first = "scripts can be run" if _works(report) else "no script is run here until what is missing is there"
    rows = [("runs", first), *((one.name, told(one.active, one.detail, one.hint)) for one in report.sandbox)]
    return _section("Sandbox", rows)


def _works(report: Report) -> bool:
    return all(one.active for one in report.sandbox if one.needed)


def _kept(report: Report) -> str:
    secrets, watching, counting = report.secrets, report.watching, report.counting
    if secrets.file is None:
        place = "nowhere: no home folder is known; set METIER_HOME"
    else:
        place = f"{secrets.file} ({_names(secrets.in_file)}, for you alone)" if secrets.safe else secrets.trouble
    ring = f"{secrets.keyring} ({_names(secrets.in_keyring)})" if secrets.keyring else secrets.no_keyring
    notices = "told by the system" if watching.mode == "notices" else f"looked for from time to time: {watching.reason}"
    counted = f"counted in {counting.file}, on this machine alone" if counting.on else "not counted"
    rows = [("secrets", place), ("keyring", ring), ("changes", notices), ("uses", counting.trouble or counted)]
    rows += [("set aside", f"{path}: it could not be read; remove it with: rm {quote(path)}*") for path in counting.spoilt]
    return _section("Secrets, watching, counting", rows)


def _plugins(report: Report) -> str:
    found = report.mirroring
    if not found.plugins and not found.trouble:
        return ""
    rows = [("mirrored", f"{found.plugins:,}, {found.paused:,} paused, {found.missing:,} missing"),
            ("waiting", f"{found.waiting:,}: metier review list" if found.waiting else "nothing")]  # fmt: skip
    return _section("Plugins", [*rows, *(("unreadable", output.clean(one)) for one in found.trouble)])


def _finding(report: Report) -> str:
    found, total = report.searching, report.skills.total
    index = f"{found.skills:,} of {total:,} skills, {found.bytes / 1024:,.0f} KiB in {found.folder}"
    if found.host:
        index = f"{found.skills:,} of {total:,} skills, kept by a host"
    elif found.folder is None:
        index = "not kept: no home folder is known"
    elif found.unwritable and not found.skills:
        index = f"cannot be kept, and is made anew for every question: {found.unwritable}"
    elif not found.skills:
        index = f"none yet: the first 'metier find' makes it in {found.folder}"
    meaning = f"counts, by {found.model}" if found.vectors else f"does not count: {found.reason}"
    meaning += f"; {found.embedded:,} of {found.skills:,} skills have vectors" if found.vectors and found.skills else ""
    return _section("Finding skills", [("index", found.trouble or index), ("meaning", meaning)])


def _names(count: int) -> str:
    return "1 name" if count == 1 else f"{count:,} names"


def _speed(report: Report) -> str:
    speed = report.speed
    rows = [
        ("first listing", f"{speed.cold_ms:,.1f} ms, with nothing remembered"),
        ("next listings", f"{speed.warm_ms:,.1f} ms, {speed.stats:,} stats to see that nothing has changed"),
    ]
    rows += [("crowded", f"{output.clean(path)} holds {entries:,} entries that are watched") for path, entries in speed.crowded]
    rows += [("no skills", f"{output.clean(path)} costs {stats:,} stats and holds no skill") for path, stats in speed.empty]
    return _section("Speed, measured just now", rows)


def _attention(report: Report) -> str:
    """Sum up: what a person should look at, or that there is nothing."""
    invalid = report.skills.states.get("invalid", 0)
    waiting = report.skills.readiness.get("setup_needed", 0)
    bare = report.searching.skills - report.searching.embedded if report.searching.vectors else 0
    plugins = report.mirroring
    found = [
        f"{invalid:,} skills cannot be read: metier list --all" if invalid else "",
        f"{waiting:,} skills lack something they need: metier show NAME says what" if waiting else "",
        "the index cannot be written, so every listing starts anew" if not report.memory.writable else "",
        f"what is searched cannot be kept: {report.searching.unwritable}" if report.searching.unwritable else "",
        "no script can be run: the sandbox lacks something, see above" if not _works(report) else "",
        "secrets are not given to skills: their file is not safe" if not report.secrets.safe else "",
        "counts that could not be read were set aside" if report.counting.spoilt else "",
        f"{bare:,} skills are found by their words alone: metier find --index" if bare else "",
        f"what plugins changed waits for you, {plugins.waiting:,} in all: metier review list" if plugins.waiting else "",
        "what is noted about plugins cannot be read" if plugins.trouble else "",
        "parts of the folders were not searched" if report.truncated else "",
        "some folders could not be read as asked" if report.problems else "",
    ]
    said = [line for line in found if line]
    if not said:
        return output.style("Nothing needs attention.", "green") + "\n"
    return output.style("Worth a look:", "yellow") + "\n" + "".join(f"  {line}\n" for line in said)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


def _heading(title: str) -> str:
    return output.style(title, "bold") + "\n"


def _section(title: str, rows: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _value in rows)
    return _heading(title) + "".join(f"  {name.ljust(width)}  {output.clean(value)}\n" for name, value in rows)


# --- the table of agents


def _agent_table(*, as_json: bool) -> str:
    from metier.discover.agents import AGENTS

    if as_json:
        rows = [
            {**agent._asdict(), "folders": [{"scope": scope, "path": path} for scope, path in agent.folders]} for agent in AGENTS
        ]
        return output.json_text({"agents": rows}) + "\n"
    return "\n".join(map(_agent, AGENTS)) + f"\n{len(AGENTS)} agents, the folders of each strongest first\n"


def _agent(agent: Agent) -> str:
    other = f"  ({', '.join(agent.aliases)})" if agent.aliases else ""
    out = [f"{output.style(agent.id, 'bold')}  {agent.title}{other}\n"]
    places = (*agent.folders, *(("plugin", path) for path in agent.plugins))
    out += [f"  {scope.ljust(9)}{path}\n" for scope, path in places]
    out.append(f"  {output.style(agent.note, 'dim')}\n" if agent.note else "")
    return "".join(out)
