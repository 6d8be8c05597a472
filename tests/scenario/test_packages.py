"""Skills that installed Python distributions ship: the package scope."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import metier

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


def ship(site: Path, name: str, *skills: str) -> None:
    """Install a distribution by hand: a record that names the skills."""
    (site / f"{name}-1.0.dist-info").mkdir(parents=True)
    rows = [f"{name}/.agents/skills/{skill}/SKILL.md,sha256=x,1\n" for skill in skills]
    (site / f"{name}-1.0.dist-info" / "RECORD").write_text(
        f"{name}/__init__.py,sha256=x,1\n" + "".join(rows)
    )


def test_a_skill_shipped_by_an_installed_package_is_in_the_package_scope(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    site = tmp_path / "project" / ".venv" / "lib" / "python3.11" / "site-packages"
    ship(site, "chartlib", "draw-charts")
    ship(site, "plain")
    skill("project/.venv/lib/python3.11/site-packages/chartlib/.agents/skills/draw-charts")
    skill("project/.venv/lib/python3.11/site-packages/stray/.agents/skills/not-recorded")

    with metier.open(env=home.env, cwd=tmp_path / "project") as library:
        found = [(card.name, card.scope) for card in library.skills()]

    assert [("draw-charts", "package")] == found


def test_a_package_installed_later_is_noticed(tmp_path: Path, home: Home, skill: Writer) -> None:
    site = tmp_path / "project" / ".venv" / "lib" / "python3.11" / "site-packages"
    ship(site, "chartlib", "draw-charts")
    skill("project/.venv/lib/python3.11/site-packages/chartlib/.agents/skills/draw-charts")
    with metier.open(env=home.env, cwd=tmp_path / "project") as library:
        library.skills()

    ship(site, "maplib", "draw-maps")
    skill("project/.venv/lib/python3.11/site-packages/maplib/.agents/skills/draw-maps")

    with metier.open(env=home.env, cwd=tmp_path / "project") as library:
        assert ["draw-charts", "draw-maps"] == sorted(card.name for card in library.skills())


def test_the_user_s_own_copy_beats_a_package_s(tmp_path: Path, home: Home, skill: Writer) -> None:
    site = tmp_path / "project" / ".venv" / "lib" / "python3.11" / "site-packages"
    ship(site, "chartlib", "draw-charts")
    skill("project/.venv/lib/python3.11/site-packages/chartlib/.agents/skills/draw-charts")
    own = skill("home/.agents/skills/draw-charts")

    with metier.open(env=home.env, cwd=tmp_path / "project") as library:
        library.trust_project()
        answer = library.why("draw-charts")

    assert str(own) == answer.chosen
    assert [("user", "visible"), ("package", "shadowed")] == [
        (one.scope, one.state) for one in answer.candidates
    ]


def test_an_environment_inside_a_project_waits_for_trust_with_it(
    tmp_path: Path, home: Home, skill: Writer
) -> None:  # MT-18
    site = tmp_path / "project" / ".venv" / "lib" / "python3.11" / "site-packages"
    ship(site, "chartlib", "draw-charts")
    skill("project/.venv/lib/python3.11/site-packages/chartlib/.agents/skills/draw-charts")

    with metier.open(env=home.env, cwd=tmp_path / "project") as library:
        (before,) = library.skills()
        library.trust_project()
        (after,) = library.skills()

    assert (("ask", "project"), ("visible", "")) == (
        (before.state, before.held),
        (after.state, after.held),
    )


def test_an_environment_outside_the_project_does_not(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    site = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    ship(site, "chartlib", "draw-charts")
    skill("env/lib/python3.11/site-packages/chartlib/.agents/skills/draw-charts")
    (tmp_path / "project").mkdir()

    with metier.open(
        env={**home.env, "VIRTUAL_ENV": str(tmp_path / "env")}, cwd=tmp_path / "project"
    ) as library:
        (card,) = library.skills()

    assert "visible" == card.state


def depend(project: Path, *names: str, kind: str = "dependencies") -> None:
    """Name packages in the project's own package.json."""
    file = project / "package.json"
    manifest = json.loads(file.read_text()) if file.exists() else {}
    manifest.setdefault(kind, {}).update(dict.fromkeys(names, "^1.0.0"))
    file.write_text(json.dumps(manifest))


def test_npm_packages_that_the_project_names_ship_skills(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    project = tmp_path / "project"
    modules = project / "node_modules"
    (project / ".git").mkdir(parents=True)
    depend(project, "charts", "@maps/core", "linked", "away", "../escape", ".bin", "absent")
    depend(project, "devtool", kind="devDependencies")
    for package, name in (
        ("charts", "draw-charts"),
        ("@maps/core", "draw-maps"),
        (".pnpm/linked@2.0.0/node_modules/linked", "draw-lines"),
        ("devtool", "lint-all"),
        ("unnamed", "not-named"),
        ("charts/node_modules/deep", "too-deep"),
    ):
        skill(f"project/node_modules/{package}/skills/{name}")
        (modules / package / "package.json").write_text(json.dumps({"version": "1.2.3"}))
    skill("escape/skills/not-inside")
    skill("outside/skills/not-the-project-s")
    (modules / "linked").symlink_to(".pnpm/linked@2.0.0/node_modules/linked")
    (modules / "away").symlink_to(tmp_path / "outside")

    with metier.open(env=home.env, cwd=project) as library:
        gated = {card.name: (card.state, card.held) for card in library.skills()}
        told = library.why("draw-lines")
        roots = [root.told_by for root in library.context.catalogue.roots()]
        library.trust_project()
        free = {card.state for card in library.skills()}

    assert {"draw-charts", "draw-maps", "draw-lines", "lint-all"} == gated.keys()
    assert {("ask", "project")} == set(gated.values())
    assert {"visible"} == free
    assert {"the npm package linked 1.2.3", "the npm package @maps/core 1.2.3"} <= set(roots)
    assert "the npm package linked 1.2.3" in str(told)


def test_a_hostile_package_json_names_nothing(tmp_path: Path, home: Home, skill: Writer) -> None:
    project = tmp_path / "project"
    skill("project/node_modules/charts/skills/draw-charts")
    for junk in (
        b"",
        b"[]",
        b"{",
        b'{"dependencies": ["charts"]}',
        b"[" * 100_000,
        b"\xff",
        b'{"dependencies": {"charts": 1}, "x": "' + b"x" * (1 << 20) + b'"}',
    ):
        (project / "package.json").write_bytes(junk)
        with metier.open(env=home.env, cwd=project) as library:
            assert [] == list(library.skills())
    many = {"dependencies": {f"p{number}": "1" for number in range(1_000)} | {"charts": "1"}}
    (project / "package.json").write_text(json.dumps(many))
    with metier.open(env=home.env, cwd=project) as library:
        assert [] == list(library.skills())  # it is beyond what is looked at
