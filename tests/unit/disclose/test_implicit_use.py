"""Use of a skill without naming it: its script is run, or its file is read (CX-48)."""

from __future__ import annotations

import pytest

from metier.disclose.mentions import ImplicitSkill, skill_used_by

SKILLS = [
    ImplicitSkill("/s/pdf/SKILL.md", "/s/pdf/scripts"),
    ImplicitSkill("/link/doc/SKILL.md", "/link/doc/scripts"),
    ImplicitSkill("/s/flat.md", "/s/flat.md/scripts"),
]


def real(path: str) -> str:
    return "/real" + path[len("/link") :] if path.startswith("/link/") else path


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python3 /s/pdf/scripts/fill.py --x", 0),
        ("python3 -u -- /s/pdf/scripts/deep/er/fill.py", 0),
        ("/usr/bin/Python.EXE pdf/scripts/fill.py", 0),
        ("bash ./pdf/../pdf/scripts/a.SH", 0),
        ("bash -e pdf/scripts/a.sh", 0),
        ("'C:\\tools\\node.exe' pdf/scripts/a.js", 0),
        ("python /link/doc/scripts/a.py", 1),
        ("python /real/doc/scripts/a.py", 1),
        ("python3 -c 'import x' /s/pdf/scripts/fill.py", None),
        ("python -c /s/pdf/scripts/fill.py", None),
        ("bash -lc /s/pdf/scripts/a.sh", None),
        ("node -e /s/pdf/scripts/a.js", None),
        ("python3 /s/pdf/scripts/notes.txt", None),
        ("python3 first /s/pdf/scripts/fill.py", None),
        ("python3 /s/pdf/fill.py", None),
        ("python3 /s/pdf/scripts.py", None),
        ("ruby3 /s/pdf/scripts/a.rb", None),
        ("/s/pdf/scripts/fill.py", None),
        ("cat /s/pdf/SKILL.md", 0),
        ("sed -n 1,20p pdf/SKILL.md", 0),
        ("head -5 pdf/skill.md", 0),
        ("bat /s/flat.md", 2),
        ("awk 1 /real/doc/SKILL.md", 1),
        ("cat /s/pdf/references/a.md", None),
        ("grep x /s/pdf/SKILL.md", None),
        ("cat -- ''", None),
        ("cat 'unclosed /s/pdf/SKILL.md", 0),
        ("cat \0 /s/pdf/SKILL.md", 0),
        ("python3 -Werror::DeprecationWarning /s/pdf/scripts/fill.py", 0),
        ("python3 -W error -X dev /s/pdf/scripts/fill.py", 0),
        ("python3 -uW error /s/pdf/scripts/fill.py", 0),
        ("python3 -m pdf /s/pdf/scripts/fill.py", None),
        ("python3 -mpdf /s/pdf/scripts/fill.py", None),
        ("python3 -Ic /s/pdf/scripts/fill.py", None),
        ("ruby -rset -I lib /s/pdf/scripts/a.rb", 0),
        ("ruby -ne /s/pdf/scripts/a.rb", None),
        ("perl -MData::Dumper -w /s/pdf/scripts/a.pl", 0),
        ("perl -Mstrict -e /s/pdf/scripts/a.pl", None),
        ("bash -eo pipefail /s/pdf/scripts/a.sh", 0),
        ("node -r ./setup.js /s/pdf/scripts/a.js", 0),
        ("node --eval=1 /s/pdf/scripts/a.js", None),
        ("pwsh -NoProfile -ExecutionPolicy Bypass -File /s/pdf/scripts/a.ps1", 0),
        ("pwsh -Command /s/pdf/scripts/a.ps1", None),
        ("python3 ~/pdf/scripts/fill.py", 0),
        ("cat ~/pdf/SKILL.md", 0),
        ("cat ~pdf/SKILL.md", None),
        ("cat", None),
        ("", None),
        ("   ", None),
    ],
)
def test_a_command_uses_a_skill(command: str, expected: int | None) -> None:
    assert expected == skill_used_by(command, "/s", SKILLS, real, "/s")


def test_without_a_home_a_tilde_is_only_a_name() -> None:
    assert skill_used_by("cat ~/pdf/SKILL.md", "/s", SKILLS, real) is None
