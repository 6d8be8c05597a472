"""All that a sandbox is told when it runs a code skill: its very bytes, the program that calls it, and what it is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.execute.inside import disk as inside
from metier.execute.interpreters import env as interpreters
from metier.execute.plan import allowance, read_wishes
from metier.running.cages import Lending, lent_here, secrets, surroundings
from metier.running.planning import place_for
from metier.runs import SCRATCH, SKILL, Cage, Given

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.app import Library
    from metier.running.admitting import Admitted
    from metier.runs import Call, Lent

INSIDE, ASKED = "/run/metier/inside.py", "/run/metier/call.json"
"""Where the program that calls the skill lies inside, and what it is asked: a task stands in no list of arguments."""


def caged(library: Library, admitted: Admitted, asked: Call, lent: Lent, values: Mapping[str, str]) -> Lending:
    """Lay out everything for one call; the folder of the skill is not in it, only the one file that was gated."""
    settings, gated = library.settings.run, admitted.gated
    granted = allowance(read_wishes(gated.facts.permissions), lent, settings, admitted.level, place_for(library),
                        place_for(library, lent=True))  # fmt: skip
    if granted.unmet:
        raise RefusedError(f"it cannot be lent {'; '.join(granted.unmet)}", hint="lend the file or folder itself, where it lies")
    found = interpreters.find("python3", settings.interpreters, library.env.get("PATH", ""), library.home or "",
                              library.data or "")  # fmt: skip
    source = f"{SKILL}/{gated.file}"
    words = {"task": asked.task, "context": asked.context}
    variables, files = secrets(values, as_files=settings.secrets == "file")
    base = surroundings(admitted.card.name, cwd=lent_here(library, granted.mounts))
    cage = Cage(
        (*found.command, "-I", "-B", INSIDE, source, ASKED), (*found.mounts, *granted.mounts),
        (Given(source, gated.data), Given(INSIDE, inside.program()), Given(ASKED, json.dumps(words).encode()), *files),
        tuple({**base, **variables}.items()), SCRATCH, granted.network, granted.bounds,
        sockets=not granted.mounts, reports=True,
    )  # fmt: skip
    return Lending(cage, values)
