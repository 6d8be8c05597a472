"""Sums up an examination: what a person should look at, and the command that helps. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.run.model import LINUX
from metier.trust.decision_records import REPAIR

if TYPE_CHECKING:
    from metier.doctor.examine import DoctorReport


class Advice(NamedTuple):
    """One thing that is worth a look."""

    about: str
    """What it is about, in one word."""
    what: str
    help: str = ""
    """The command that helps, or what to do."""

    @property
    def text(self) -> str:
        """Both in one line."""
        return f"{self.what}: {self.help}" if self.help else self.what


def advise(report: DoctorReport) -> list[Advice]:
    """Give what a person should look at, the gravest first."""
    invalid = report.skills.states.get("invalid", 0)
    waiting = report.skills.readiness.get("setup_needed", 0)
    bare = report.searching.skills - report.searching.embedded if report.searching.vectors else 0
    plugins = report.mirroring
    unkept = report.searching.unwritable
    damaged = any(text.endswith(REPAIR) for text in report.warnings)
    found: tuple[tuple[object, Advice], ...] = (
        (damaged, Advice("trust", "the record of your trust decisions is damaged", REPAIR)),
        *(
            (text, Advice("lock", text, "restore it with 'git checkout', or correct it"))
            for text in report.installing.trouble
        ),
        (invalid, Advice("broken", f"{_skills(invalid)} can't be read", "metier list --all")),
        (
            waiting,
            Advice(
                "setup", f"{_skills(waiting)} not ready", "metier show NAME says what is missing"
            ),
        ),
        (
            not report.memory.writable,
            Advice("index", "the index cannot be written, so every listing starts anew"),
        ),
        (unkept, Advice("index", "what is searched cannot be kept", unkept)),
        (
            not sandbox_works(report) and not needs_linux(report),
            Advice("sandbox", "no script can be run", "the sandbox lacks something, see above"),
        ),
        (
            report.reading.trouble,
            Advice(
                "scan",
                "no skill can be scanned",
                "reinstall 'metier[embed]', or set scan.model = \"off\"",
            ),
        ),
        (
            not report.secrets.safe,
            Advice("secrets", "secrets are not given to skills", "their file is not safe"),
        ),
        (report.counting.spoilt, Advice("uses", "counts that could not be read were set aside")),
        (
            bare,
            Advice(
                "find",
                f"{_skills(bare)} {'is found by its' if bare == 1 else 'are found by their'} words alone",
                "metier find --index",
            ),
        ),
        (
            plugins.waiting,
            Advice(
                "review",
                f"{plugins.waiting:,} plugin update{' waits' if plugins.waiting == 1 else 's wait'} for review",
                "metier review list",
            ),
        ),
        (plugins.trouble, Advice("plugins", "what is noted about plugins cannot be read")),
        (report.truncated, Advice("folders", "parts of the folders were not searched")),
        (report.problems, Advice("folders", "some folders could not be read as asked")),
    )
    return [one for is_so, one in found if is_so]


def _skills(count: int) -> str:
    return f"{count:,} skill{'s' * (count != 1)}"


def sandbox_works(report: DoctorReport) -> bool:
    """Tell whether a script can be run here."""
    return all(one.active for one in report.sandbox if one.needed)


def needs_linux(report: DoctorReport) -> bool:
    """Tell whether there is no sandbox for this system, so that nothing can be done about it."""
    return any(one.name == LINUX and not one.active for one in report.sandbox)
