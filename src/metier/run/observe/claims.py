"""What a skill says of itself, held against what it did: which hosts and files it names, and whose a
secret is. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.run.observe.canaries import find_canaries
from metier.run.observe.places import (
    COMMON_PROGRAMS,
    GENERIC_WORDS,
    OWN_DATA,
    PROGRAM_FILES,
    SENDING_PROGRAMS,
    SPOKEN_NAMES,
    SPOKEN_PLACES,
    STARTERS,
    VENDORS,
)
from metier.run.observe.signs import (
    body,
    is_login_port,
    owner_of,
    takes_place,
    without_logins,
    without_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.run.observe.model import Canary, Seen, Stage
    from metier.run.observe.plan import ReadSkill

NO_FILES = ("\0",)
_ASSIGNED = re.compile(
    r"\b([A-Z][A-Z0-9_]{2,40})=[\"']?(?:[a-z]+://)?(?:[\w.-]+@)?([\w.-]+\.[a-z]{2,})"
)
"""A host in the instructions as the value of a variable: one of the user's, in an example."""
_BUCKET = re.compile(r"\b\w*BUCKET\w*=[\"']?(?:s3://|gs://|b2://)?([a-z0-9][\w.-]+)")
"""A bucket in the instructions as the value of a variable."""
_RESERVED = re.compile(r"(?:.+\.)?(?:example\.(?:com|org|net)|example|test|invalid)")
"""Names that nobody owns: who writes one means a host of the reader's."""
_HOST_IN_TEXT = re.compile(
    r"(?<![\w.-])((?:[a-z0-9-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})", re.IGNORECASE
)


class ClaimsAndDeeds:
    """Holds what a skill says while it is judged, and what was seen."""

    def __init__(
        self,
        skill: ReadSkill,
        stage: Stage,
        events: Iterable[Seen],
    ) -> None:
        """Read what the skill says."""
        self.skill, self.stage = skill, stage
        self.events = [_marked(one, stage) for one in events]
        text = skill.files.get(skill.main, b"").decode("utf-8", "replace")
        self.text = text.lower()
        self.named = {host.lower() for host in _HOST_IN_TEXT.findall(text)}
        ours = {name for name, value in stage.variables if stage.domain in value}
        self.set = {
            host.lower()
            for name, host in _ASSIGNED.findall(text)
            if name in ours and _RESERVED.fullmatch(host.lower())
        }
        self.buckets = {name.lower() for name in _BUCKET.findall(text)}
        self.canaries = {one.place: one for one in stage.canaries}
        self.given = {
            host.lower()
            for _name, value in stage.variables
            for host in _HOST_IN_TEXT.findall(value)
        }

    def is_meant(self, canary: Canary, host: str) -> bool:
        """Tell whether a secret went where it belongs: to its own vendor, or to the host that a
        skill names, which asked for a secret of its own.
        """
        if self.is_vendors_own(canary, host):
            return True
        if canary.kind == "work" and host in {"github.com", "api.github.com"}:
            return True  # the project's own remote
        if canary.kind == "asked" and self.is_given(host):
            return True
        asked = canary.kind == "asked" or canary.place.startswith("$")
        declared = canary.place.removeprefix("$").lower() in self.text
        foreign = any(part in canary.place for part in VENDORS)
        return asked and declared and not foreign and (self.is_named(host) or self.is_given(host))

    def is_namesake(self, canary: Canary, host: str) -> bool:
        """Tell whether a variable that the skill asks for is called after the host that gets it; or
        whether the instructions call that host by its owner.
        """
        return canary.kind == "asked" and (
            self.is_called_after(canary, host) or self.is_spoken(host)
        )

    @staticmethod
    def is_called_after(canary: Canary, host: str) -> bool:
        """Tell whether a secret is called after a host, whole or by how its name begins."""
        words = {word for word in canary.place.lower().strip("$").split("_") if len(word) > 3}
        owner, telling = owner_of(host), words - GENERIC_WORDS
        return owner in telling or any(len(word) > 5 and owner.startswith(word) for word in telling)

    def is_login(self, canary: Canary, to: str, data: bytes) -> bool:
        """Tell whether a token that the instructions ask for went out as programs log in: sealed, in
        a header of its own, or as servers of files and of mail want it, and nothing else of the
        user's with it. Whose host that is, nobody can see here.
        """
        said = canary.kind == "asked" and canary.place.removeprefix("$").lower() in self.text
        lines = is_login_port(to)
        rest = without_names(data) if lines else without_logins(data)
        return (
            said
            and (lines or to.endswith(":443"))
            and not any(part in canary.place for part in VENDORS)
            and bool(data)
            and not find_canaries(rest, self.stage.canaries)
        )

    def is_own_account(self, canary: Canary, places: Iterable[str], host: str, data: bytes) -> bool:
        """Tell whether documents, or the settings of the project that the instructions speak of, went
        to a service that they speak of, with the key that the user has for just that service: not into
        an account of a stranger's.
        """
        own = canary.place.startswith(tuple(f"~/{folder}" for folder in OWN_DATA))
        mine = own or (self.is_of_project(canary.place) and self.is_about(canary.place))
        login = data.partition(b"\r\n\r\n")[0]
        keys = [self.canaries[one] for one in places if one != canary.place]
        # A file of logins that is sent itself is no way to log in.
        keys = [
            one
            for one in keys
            if one.place.startswith("$")
            or (find_canaries(login, (one,)) and not find_canaries(body(data), (one,)))
        ]
        return (
            mine
            and self.is_spoken(host)
            and any(
                self.is_vendors_own(one, host)
                or (one.kind == "asked" and self.is_called_after(one, host))
                for one in keys
            )
        )

    def is_handed_over(self, canary: Canary, host: str) -> bool:
        """Tell whether the project, or documents that the instructions speak of, went to a host that
        the user chose: a backup on a server of one's own.
        """
        folder = next((one for one in OWN_DATA if canary.place.startswith(f"~/{one}")), "")
        own = bool(folder) and folder.lower().strip("/") in self.text
        spoken = own or self.is_of_project(canary.place)
        return spoken and (self.is_given(host) or self.is_set(host))

    def is_for_input(self, host: str, where: str) -> bool:
        """Tell whether what a script was given to work on may go to a host: the skill speaks of it, the
        user chose it, or a program sends it that people send files with.
        """
        chosen = self.is_spoken(host) or self.is_given(host) or self.is_set(host)
        return chosen or bool(self.programs(where) & SENDING_PROGRAMS)

    def is_set(self, host: str) -> bool:
        """Tell whether a host that nobody owns, or a bucket, is the value of a variable in the
        instructions: the user's own takes its place.
        """
        low = host.lower()
        if self.is_vendors_storage(low) and low.partition(".")[0] in self.buckets:
            return True
        scripts = (data for path, data in self.skill.files.items() if path != self.skill.main)
        return low in self.set and not any(low.encode() in data.lower() for data in scripts)

    @staticmethod
    def is_vendors_storage(host: str) -> bool:
        """Tell whether a host is a bucket at one of the well-known vendors."""
        return host.endswith((".amazonaws.com", ".backblazeb2.com")) and host.count(".") > 2

    def is_of_project(self, place: str) -> bool:
        """Tell whether a file lies in the project."""
        return place.startswith(f"{self.shown(self.stage.project)}/")

    @staticmethod
    def is_vendors_own(canary: Canary, host: str) -> bool:
        """Tell whether a secret belongs to one of the well-known vendors, and this is its host."""
        if host.startswith("hooks."):  # anybody's
            return False
        vendors = [one for part, hosts in VENDORS.items() if part in canary.place for one in hosts]
        return any(host == one or host.endswith(f".{one}") for one in vendors)

    def is_spoken_of(self, canary: Canary, host: str, where: str, data: bytes) -> bool:
        """Tell whether a secret goes to its vendor in the open: by the vendor's own program, or as
        the instructions say. A whole file of secrets is no way to log in.
        """
        if canary.kind == "work":
            return True
        started = self.programs(where)
        own = any(canary.place.startswith(PROGRAM_FILES.get(one, NO_FILES)) for one in started)
        if canary.place.startswith("~"):
            return own or (self.is_spoken(host) and not find_canaries(body(data), (canary,)))
        said = canary.place.removeprefix("$").lower() in self.text
        tools = started & {"git", "gh", "npm", "npx", "aws", "gcloud", "docker", "twine", "az"}
        return said or bool(tools) or self.is_spoken(host) or self.is_given(host)

    def is_spoken(self, host: str) -> bool:
        """Tell whether the instructions speak of a host, or of whose it is."""
        label = owner_of(host)
        telling = len(label) > 3 and label not in GENERIC_WORDS
        spoken = telling and re.search(rf"(?<![a-z]){re.escape(label)}(?![a-z])", self.text)
        return self.is_named(host) or bool(spoken)

    def programs(self, where: str) -> set[str]:
        """Give the programs that one try started, by their names."""
        return {
            word.rpartition("/")[2]
            for each in self.events
            if each.kind == "exec" and each.where == where
            for word in _started(each.what)
        }

    def is_named(self, host: str) -> bool:
        """Tell whether the skill's instructions name a host, or the domain that it is in."""
        low = host.lower()
        return any(
            low == one or low.endswith(f".{one}") or one.endswith(f".{low}") for one in self.named
        )

    def is_vendor(self, host: str) -> bool:
        """Tell whether a skill says in its head whose host this is: `deploy-to-vercel`."""
        label = owner_of(host)
        head = f"{self.skill.name}\n{self.text.partition(chr(10) + '---')[0]}".lower()
        telling = len(label) > 3 and label not in GENERIC_WORDS
        return telling and re.search(rf"\b{re.escape(label)}\b", head) is not None

    def is_given(self, host: str) -> bool:
        """Tell whether the host is one that we gave as an argument or in a variable. No skill can bring
        along one that lies in the stage's own domain.
        """
        low = host.lower()
        ours = low == self.stage.domain or low.endswith(f".{self.stage.domain}")
        return ours or (
            low in self.given
            and not any(low.encode() in data.lower() for data in self.skill.files.values())
        )

    def is_read_by_program(self, one: Seen) -> bool:
        """Tell whether a program of this try reads such a file by itself, as ssh does its keys."""
        started = {*self.programs(one.where), one.program.rpartition("/")[2]}
        return any(one.what.startswith(PROGRAM_FILES.get(name, NO_FILES)) for name in started)

    def replaces_program(self) -> bool:
        """Tell whether a program of a name that people start was put somewhere in the home, or lies in
        the skill.
        """
        brought = {path.rpartition("/")[2] for path in self.skill.files}
        return any(map(takes_place, self.events)) or bool(brought & COMMON_PROGRAMS)

    def is_told(self, place: str) -> bool:
        """Tell whether the instructions say that they change a file that runs by itself, by its name
        or as people speak of it.
        """
        words = (
            one for start, some in SPOKEN_PLACES.items() if place.startswith(start) for one in some
        )
        return self.is_about(place) or any(word in self.text for word in words)

    def is_about(self, place: str) -> bool:
        """Tell whether the instructions speak of a file openly, by its name."""
        name = place.rpartition("/")[2].lower()
        folder = place.split("/")[1].lower() if "/" in place else ""
        words = SPOKEN_NAMES.get(name, name.lstrip("."))
        return (
            name in self.text
            or words in self.text
            or (len(folder) > 4 and f"~/{folder}" in self.text)
        )

    def old(self, one: Seen) -> bytes:
        """Give what a file of the stage held before."""
        return next((d.data for d in self.stage.decoys if self.shown(d.path) == one.what), b"")

    def shown(self, path: str) -> str:
        """Give a path as events name it: below the home with a tilde."""
        home = self.stage.home
        return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path


def _started(what: str) -> list[str]:
    """Give the words of a command that name a program: the first, and what it starts in turn."""
    words = what.split()[:2]
    return words if words and words[0].rpartition("/")[2] in STARTERS else words[:1]


def _marked(seen: Seen, stage: Stage) -> Seen:
    """Find the canaries in what was sent."""
    if seen.kind != "send" or seen.canaries:
        return seen
    return seen._replace(canaries=find_canaries(seen.data, stage.canaries))
