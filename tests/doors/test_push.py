"""`metier push`, as somebody types it, to a real registry and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run
from fakes.registry import shared

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer

pytestmark = pytest.mark.loopback


@pytest.mark.docker_registry
def test_a_skill_is_pushed_and_installed_from_there(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    place = shared().place
    config = tmp_path / "metier.toml"
    config.write_text(f'[supply]\nprivate_hosts = ["{place}"]\n')
    env = {**home.env, "METIER_CONFIG": str(config)}
    target = f"oci://{place}/doors/{tmp_path.name.lower().replace('_', '-').strip('-')}"
    folder = skill("mine/count")

    first = run(env, "push", str(folder), "--to", f"{target}:v1", "--json", cwd=tmp_path)
    again = run(env, "push", str(folder), "--to", f"{target}:v1", cwd=tmp_path)
    added = run(env, "add", f"{target}@{first.json['digest']}", "--user", "--yes", cwd=tmp_path)

    assert (0, 0, 0) == (first.code, again.code, added.code)
    assert {"name": "count", "version": "", "state": "pushed", "to": f"{target}:v1"}.items() <= (
        first.json.items()
    )
    assert again.out.startswith(
        f"count is already at {target}:v1\n  manifest {first.json['digest']}\n"
    )
    assert (home.path / ".agents/skills/count/SKILL.md").read_bytes() == (
        folder / "SKILL.md"
    ).read_bytes()


def test_a_registry_on_this_machine_is_allowed_by_the_command_that_the_hint_names(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    folder = skill("mine/pdf")

    answer = run(
        home.env, "push", str(folder), "--to", "oci://127.0.0.1:5000/team/pdf", cwd=tmp_path
    )

    hint = "allow it: metier config set supply.private_hosts '[\"127.0.0.1:5000\"]'"
    assert (1, hint) == (answer.code, error_of(answer)[1])


def test_where_to_push_has_to_be_said(home: Home, skill: Writer, tmp_path: Path) -> None:
    answer = run(home.env, "push", str(skill("mine/count")), cwd=tmp_path)

    assert (2, "say where to push it") == (
        answer.code,
        answer.err.partition("\n")[0].removeprefix("error: "),
    )
