"""From the table of agents to folders: order, expansion, links, and where the search stops."""

from __future__ import annotations

import pytest

from metier.discover.agent_config import AgentSettings
from metier.discover.agents import AGENTS, Agent, agent_named
from metier.discover.scopes import Surroundings, given_roots, project_root_candidates, roots_for
from metier.model import SCOPES, Root, Scope
from metier.settings.merge import Settings

HERE = Surroundings(
    home="/home/me", cwd="/src/app", project_root="/src/app", env={}, platform="linux"
)
DEFAULTS = Settings()


def agent(name: str) -> Agent:
    """Give an agent that must exist."""
    found = agent_named(name)
    assert found is not None
    return found


def locations(roots: tuple[Root, ...], scope: Scope | None = None) -> list[str]:
    """List where roots are, of one scope or of all."""
    return [root.location for root in roots if scope in {None, root.scope}]


def by_location(roots: tuple[Root, ...]) -> dict[str, Root]:
    return {root.location: root for root in roots}


# --- metier's own view


def test_without_an_agent_scopes_come_in_the_order_of_the_settings() -> None:  # MT-2
    place = HERE._replace(packages=("/venv/skills",))
    order: tuple[Scope, ...] = (
        "user",
        "package",
        "project",
        "external",
        "plugin",
        "admin",
        "system",
    )

    roots = roots_for(None, place, Settings(external_dirs=("/opt/skills",), precedence=order)).roots

    # What an agent ships for itself is that agent's alone.
    assert [*order][:-1] == list(dict.fromkeys(root.scope for root in roots))


def test_a_scope_that_the_settings_leave_out_is_the_weakest_and_not_absent() -> None:  # MT-2
    place = HERE._replace(packages=("/venv/skills",))

    roots = roots_for(
        None, place, Settings(external_dirs=("/opt/skills",), precedence=("user",))
    ).roots

    others = [scope for scope in SCOPES if scope not in {"user", "system"}]
    assert ["user", *others] == list(dict.fromkeys(root.scope for root in roots))


def test_without_an_agent_the_shared_convention_is_the_strongest_of_its_scope() -> None:
    roots = roots_for(None, HERE, DEFAULTS).roots

    project, user = locations(roots, "project"), locations(roots, "user")
    assert [
        "/src/app/.agents/skills",
        "/src/app/.agent/skills",
        "/src/app/.claude/skills",
        "/src/app/.codex/skills",
    ] == project[:4]
    assert [
        "/home/me/.agents/skills",
        "/home/me/.config/agents/skills",
        "/home/me/.agent/skills",
        "/home/me/.claude/skills",
    ] == user[:4]
    assert [] == locations(roots, "system")
    assert ["/etc/claude-code/.claude/skills", "/etc/codex/skills"] == locations(roots, "admin")
    assert ["/home/me/.claude/plugins/cache", "/home/me/.codex/plugins/cache"] == locations(
        roots, "plugin"
    )
    assert {"universal"} == {root.agent for root in roots if "/.agents/" in root.location}


def test_no_folder_is_looked_in_twice() -> None:  # CX-22
    settings = Settings(
        external_dirs=("/src/app/.agents/skills", "/opt/skills", "/opt/skills/", "~/.claude/skills")
    )

    roots = roots_for(None, HERE, settings).roots

    found = locations(roots)
    assert len(found) == len(set(found))
    assert ["/opt/skills"] == locations(roots, "external")


def test_two_rows_that_come_to_one_path_are_one_root_and_the_first_names_it() -> None:  # CX-22
    place = HERE._replace(env={"CODEX_HOME": "/home/me/.agents"})

    roots = roots_for(agent("codex"), place, DEFAULTS).roots

    assert ["/home/me/.agents/skills"] == locations(roots, "user")


# --- the way up to the project's root


def test_all_folders_of_the_nearest_directory_come_before_the_next() -> None:  # CX-23
    place = HERE._replace(cwd="/src/app/a/b")

    found = locations(roots_for(None, place, DEFAULTS).roots, "project")

    above = [path.partition("/.")[0] for path in found if "/." in path]
    assert ["/src/app/a/b", "/src/app/a", "/src/app"] == list(dict.fromkeys(above))
    assert sorted(above, key=len, reverse=True) == above
    assert "/src/app/a/b/.agents/skills" == found[0]


@pytest.mark.parametrize(
    ("cwd", "project_root", "expected"),
    [
        ("/src/app", "/src/app", ["/src/app"]),
        ("/src/app/a", "/src/app", ["/src/app/a", "/src/app"]),
        ("/src/app/a", "/src/app/", ["/src/app/a", "/src/app"]),
        ("/src/app/a/", "/src/app", ["/src/app/a", "/src/app"]),
        ("/src/application", "/src/app", ["/src/application"]),  # a name that only begins alike
        ("/elsewhere", "/src/app", ["/elsewhere"]),
        ("/src", "/src/app", ["/src"]),
        ("/a", "/", ["/a", ""]),
        ("/", "/", [""]),
    ],
)
def test_the_search_never_goes_above_the_projects_root(
    cwd: str, project_root: str, expected: list[str]
) -> None:
    place = HERE._replace(cwd=cwd, project_root=project_root)  # CX-23

    found = locations(roots_for(agent("codex"), place, DEFAULTS).roots, "project")

    assert [
        f"{folder}/{name}/skills" for folder in expected for name in (".agents", ".codex")
    ] == found


def test_an_agent_that_only_knows_its_workspace_skips_what_lies_between() -> None:
    place = HERE._replace(cwd="/src/app/a/b")

    found = locations(roots_for(agent("roo-code"), place, DEFAULTS).roots, "project")

    assert ["/src/app/a/b/.roo/skills", "/src/app/.roo/skills"] == found


def test_an_interleaved_order_holds_and_some_read_the_root_of_a_project_alone() -> None:
    place = HERE._replace(cwd="/src/app/a")

    found = locations(roots_for(agent("deep-agents"), place, DEFAULTS).roots)

    assert [
        "/src/app/.claude/skills",
        "/home/me/.claude/skills",
        "/src/app/.agents/skills",
        "/src/app/.deepagents/skills",
        "/home/me/.agents/skills",
        "/home/me/.deepagents/agent/skills",
    ] == found


def test_some_take_all_folders_of_one_name_before_those_of_the_next_and_look_above_the_project() -> (
    None
):
    found = locations(roots_for(agent("amp"), HERE, DEFAULTS).roots)

    assert [
        "/home/me/.config/agents/skills",
        "/home/me/.agents/skills",
        "/home/me/.config/amp/skills",
        "/src/app/.agents/skills",
        "/src/.agents/skills",
        "/.agents/skills",
        "/src/app/.claude/skills",
        "/src/.claude/skills",
        "/.claude/skills",
        "/home/me/.claude/skills",
        "/home/me/.claude/plugins/cache",
    ] == found


def test_of_one_agents_folders_some_are_looked_for_further_up_than_others() -> None:
    place = HERE._replace(cwd="/a/b", project_root="/a/b", in_project=False)

    found = locations(roots_for(agent("kilo-code"), place, DEFAULTS).roots, "project")

    assert ["/a/b/.agents/skills"] == [path for path in found if ".agents" in path]
    assert ["/a/b", "/a", ""] == [
        path.removesuffix("/.kilo/skills") for path in found if ".kilo/" in path
    ]


def test_where_an_agent_follows_a_projects_links_only_inside_it_the_root_says_so() -> None:
    place = HERE._replace(cwd="/a/b", project_root="/a/b", in_project=False)

    roots = by_location(roots_for(agent("kilo-code"), place, DEFAULTS).roots)

    assert ("contained", "/a/b") == roots["/a/b/.kilo/skills"][4:6]
    assert "follow" == roots["/a/.kilo/skills"].links


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("codex", ["/a/b"]),
        ("roo-code", ["/a/b"]),
        ("gemini-cli", ["/a/b"]),
        ("claude-code", ["/a/b", "/a", ""]),
        ("opencode", ["/a/b", "/a", ""]),
        ("deep-agents", []),
    ],
)
def test_outside_a_project_each_looks_as_far_up_as_it_does(name: str, expected: list[str]) -> None:
    place = HERE._replace(cwd="/a/b", project_root="/a/b", in_project=False)

    found = locations(roots_for(agent(name), place, DEFAULTS).roots, "project")

    assert expected == list(dict.fromkeys(path.partition("/.")[0] for path in found))


@pytest.mark.parametrize("name", [None, "gemini-cli", "claude-code"])
@pytest.mark.parametrize("cwd", ["/home/me", "/home/me/work"])
def test_in_the_home_folder_the_users_skills_are_still_the_users(
    name: str | None, cwd: str
) -> None:
    place = HERE._replace(cwd=cwd, project_root="/home/me")

    roots = by_location(roots_for(agent(name) if name else None, place, DEFAULTS).roots)

    tool = ".claude" if name == "claude-code" else ".gemini"
    assert "user" == roots[f"/home/me/{tool}/skills"].scope
    if cwd != "/home/me":
        assert "project" == roots[f"{cwd}/{tool}/skills"].scope


def test_a_folder_called_like_a_variable_is_that_folder() -> None:
    place = HERE._replace(
        cwd="/src/${HOME}/~", project_root="/src/${HOME}/~", packages=("/venv/${X}/skills",)
    )

    scopes = roots_for(None, place, DEFAULTS)

    assert "/src/${HOME}/~/.agents/skills" == scopes.roots[0].location
    assert ["/venv/${X}/skills"] == locations(scopes.roots, "package")
    assert () == scopes.problems


# --- variables and the home folder


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/opt/skills", "/opt/skills"),
        ("/opt/skills/", "/opt/skills"),
        ("~/mine", "/home/me/mine"),
        ("~", "/home/me"),
        ("${TEAM}/skills", "/srv/team/skills"),
        ("/a/${NAME}/${NAME}", "/a/x/x"),
        ("${TILDE}/skills", "/home/me/t/skills"),
        ("${NONE:-~/fallback}/skills", "/home/me/fallback/skills"),
        ("${LOOP}/skills", "/home/me/${LOOP}/skills"),  # a value is not expanded again
        (
            "mine",
            "/home/me/mine",
        ),  # the folder that somebody stands in must not decide what the configuration means
        ("/odd/${open", "/odd/${open"),
    ],
)
def test_a_folder_that_the_user_added_is_expanded(written: str, expected: str) -> None:  # HE-2
    env = {"TEAM": "/srv/team/", "NAME": "x", "TILDE": "~/t", "LOOP": "${LOOP}", "EMPTY": ""}

    scopes = roots_for(None, HERE._replace(env=env), Settings(external_dirs=(written,)))

    assert [expected] == locations(scopes.roots, "external")
    assert () == scopes.problems


@pytest.mark.parametrize(
    ("written", "code", "said"),
    [
        ("${NOT_SET}/skills", "WK010", "NOT_SET"),
        ("/a/${EMPTY}/skills", "WK010", "EMPTY"),
        ("${}/skills", "WK010", "variable"),
        ("~somebody/skills", "WK011", "somebody"),
    ],
)
def test_a_folder_that_cannot_be_expanded_is_reported_and_left_out(
    written: str, code: str, said: str
) -> None:  # HE-2
    place = HERE._replace(env={"EMPTY": ""})

    scopes = roots_for(None, place, Settings(external_dirs=(written, "/opt/skills")))

    assert ["/opt/skills"] == locations(scopes.roots, "external")
    assert [(written, code)] == [(problem.path, problem.code) for problem in scopes.problems]
    assert said in scopes.problems[0].message


def test_folders_that_an_agents_own_configuration_names_are_its_weakest_and_keep_their_order() -> (
    None
):  # HE-2
    said = AgentSettings(folders=(("/b", "config.yaml"), ("~/a", "config.yaml")))

    roots = roots_for(agent("hermes"), HERE, DEFAULTS, said).roots

    assert ["/home/me/.hermes/skills", "/b", "/home/me/a"] == locations(roots)
    assert "config.yaml" == roots[-1].told_by


@pytest.mark.parametrize("name", ["codex", "hermes", "cursor"])
def test_no_agent_reads_the_folders_that_the_user_added_to_metier_and_that_is_said(
    name: str,
) -> None:
    scopes = roots_for(agent(name), HERE, Settings(external_dirs=("/a",)))

    assert [] == locations(scopes.roots, "external")
    assert [("/a", "WK014")] == [(problem.path, problem.code) for problem in scopes.problems]


@pytest.mark.parametrize(
    ("name", "variable", "expected"),
    [
        ("codex", "CODEX_HOME", ["/home/me/.agents/skills", "/x/y/skills"]),  # CX-21
        ("claude-code", "CLAUDE_CONFIG_DIR", ["/x/y/skills"]),
        ("grok", "GROK_HOME", ["/x/y/skills"]),
        ("mistral-vibe", "VIBE_HOME", ["/x/y/skills", "/home/me/.agents/skills"]),
        (
            "opencode",
            "XDG_CONFIG_HOME",
            [
                "/x/y/opencode/skills",
                "/x/y/opencode/skill",
                "/home/me/.opencode/skills",
                "/home/me/.opencode/skill",
                "/home/me/.agents/skills",
                "/home/me/.claude/skills",
            ],
        ),
    ],
)
def test_an_agents_own_variable_moves_its_folder(
    name: str, variable: str, expected: list[str]
) -> None:
    place = HERE._replace(env={variable: "/x/y/"})

    roots = roots_for(agent(name), place, DEFAULTS).roots

    assert expected == locations(roots, "user")
    assert all(path.startswith("/x/y/plugins/") for path in locations(roots, "plugin"))


def test_a_variable_that_is_set_to_nothing_counts_as_not_set() -> None:
    place = HERE._replace(env={"CODEX_HOME": " "})

    assert "/home/me/.codex/skills" in locations(roots_for(agent("codex"), place, DEFAULTS).roots)


def test_a_relative_variable_is_below_the_working_folder() -> None:
    place = HERE._replace(env={"CODEX_HOME": "state"})

    assert "/src/app/state/skills" in locations(roots_for(agent("codex"), place, DEFAULTS).roots)


@pytest.mark.parametrize("home", [None, ""])
def test_without_a_home_the_rest_is_searched_and_the_loss_is_told_once(home: str | None) -> None:
    place = HERE._replace(home=home, env={"CODEX_HOME": "/srv/codex"})

    scopes = roots_for(None, place, Settings(external_dirs=("/opt/skills",)))

    assert {"project", "user", "admin", "plugin", "external"} == {
        root.scope for root in scopes.roots
    }
    assert ["/srv/codex/skills"] == locations(scopes.roots, "user")
    assert [("~", "WK011")] == [(problem.path, problem.code) for problem in scopes.problems]


@pytest.mark.parametrize("written", ["~/mine", "mine"])
def test_without_a_home_a_folder_that_needs_it_is_reported_by_its_own_name(
    written: str,
) -> None:  # HE-2
    place = HERE._replace(home=None)

    scopes = roots_for(None, place, Settings(external_dirs=(written,)))

    assert [] == locations(scopes.roots, "external")
    assert (written, "WK011") in [(problem.path, problem.code) for problem in scopes.problems]


def test_a_home_at_the_top_of_the_disk_doubles_no_slash() -> None:
    found = locations(roots_for(agent("codex"), HERE._replace(home="/"), DEFAULTS).roots, "user")

    assert ["/.agents/skills", "/.codex/skills"] == found


def test_what_an_agent_ships_for_itself_is_read_by_that_agent_alone() -> None:
    shipped = "/home/me/.codex/skills/.system"
    views = {one.id: roots_for(one, HERE, DEFAULTS).roots for one in AGENTS}

    assert ["codex"] == [id_ for id_, roots in views.items() if shipped in by_location(roots)]
    assert shipped not in by_location(roots_for(None, HERE, DEFAULTS).roots)


# --- links


def test_links_are_followed_only_where_the_user_or_the_administrator_named_the_folder() -> (
    None
):  # MT-6
    place = HERE._replace(cwd="/src/app/a", packages=("/venv/skills",))

    roots = roots_for(None, place, Settings(external_dirs=("/opt/skills",))).roots

    assert {
        "project": {"contained"},
        "user": {"follow"},
        "system": set(),
        "admin": {"follow"},
        "plugin": {"contained"},
        "external": {"follow"},
        "package": {"never"},
    } == {scope: {root.links for root in roots if root.scope == scope} for scope in SCOPES}
    assert {"/src/app"} == {root.within for root in roots if root.scope == "project"}
    assert all(root.within == root.location for root in roots if root.scope == "plugin")
    assert {""} == {root.within for root in roots if root.links != "contained"}


def test_outside_the_project_links_must_stay_in_the_working_folder() -> None:  # MT-6
    roots = roots_for(None, HERE._replace(cwd="/elsewhere"), DEFAULTS).roots

    assert {"/elsewhere"} == {root.within for root in roots if root.scope == "project"}


def test_an_agents_row_says_in_which_scopes_links_are_followed() -> None:  # CX-26
    roots = roots_for(agent("codex"), HERE, DEFAULTS).roots

    links = {root.scope: root.links for root in roots}
    assert {
        "project": "follow",
        "user": "follow",
        "admin": "follow",
        "system": "never",
        "plugin": "follow",
    } == links


# --- who named it


def test_a_root_says_which_row_named_it() -> None:
    roots = by_location(roots_for(None, HERE, DEFAULTS).roots)

    root = roots["/home/me/.claude/skills"]

    assert ("claude-code", "the agent table: claude-code, user") == (root.agent, root.told_by)


def test_as_an_agent_every_root_is_named_by_its_row() -> None:
    roots = roots_for(agent("codex"), HERE, DEFAULTS).roots

    assert {"codex"} == {root.agent for root in roots}
    assert "the agent table: codex, project" == roots[0].told_by


def test_folders_named_by_hand_keep_their_order_and_are_the_users_own() -> None:  # MT-1, MT-6
    roots = given_roots(["/b", "/a", "/b"])

    assert (
        Root("/b", "external", "", "--root", "follow", named=True),
        Root("/a", "external", "", "--root", "follow", named=True),
    ) == roots


# --- candidates for the project's root


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        ("/a/b/c", ("/a/b/c", "/a/b", "/a", "/")),
        ("/a/b/", ("/a/b", "/a", "/")),
        ("/", ("/",)),
        ("/odd\\name/b", ("/odd\\name/b", "/odd\\name", "/")),
        ("/:/b", ("/:/b", "/:", "/")),
        ("C:\\Users\\me", ("C:\\Users\\me", "C:\\Users", "C:\\")),
        ("C:\\", ("C:\\",)),
        ("C:/Users/me", ("C:/Users/me", "C:/Users", "C:/")),
        ("a/b", ("a/b", "a")),
        ("", ("",)),
    ],
)
def test_the_project_may_begin_in_the_working_folder_or_any_above(
    cwd: str, expected: tuple[str, ...]
) -> None:  # CX-23
    assert expected == project_root_candidates(cwd)


# --- Windows


def test_on_windows_paths_are_left_as_they_are_written() -> None:
    place = Surroundings(
        "C:\\Users\\me", "C:\\src\\app\\a", "C:\\src\\app", {"CODEX_HOME": "D:\\codex"}, "win32"
    )

    found = locations(roots_for(agent("codex"), place, DEFAULTS).roots)

    assert [
        "C:\\src\\app\\a/.agents/skills",
        "C:\\src\\app\\a/.codex/skills",
        "C:\\src\\app/.agents/skills",
        "C:\\src\\app/.codex/skills",
        "C:\\Users\\me/.agents/skills",
        "D:\\codex/skills",
        "D:\\codex/skills/.system",
        "D:\\codex/plugins/cache",
    ] == found


def test_the_number_of_folders_grows_only_with_the_depth_of_the_working_folder() -> None:
    deep = HERE._replace(cwd="/src/app" + "/x" * 6)

    shallow, found = (roots_for(None, place, DEFAULTS).roots for place in (HERE, deep))

    assert 7 * len(locations(shallow, "project")) == len(locations(found, "project"))
