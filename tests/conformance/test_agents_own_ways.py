"""What single agents do otherwise than all others, each seen when it was asked, by way of `--agent` of the library."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import metier
from metier.model import Card

Sees = Callable[..., dict[str, Card]]


def skill(place: Path, name: str, *more: str, description: str = "Does one thing well.") -> Path:
    place.mkdir(parents=True, exist_ok=True)
    lines = ["---", f"name: {name}", f"description: {description}", *more, "---", "", "Text.", ""]
    (place / "SKILL.md").write_text("\n".join(lines))
    return place


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "work"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def sees(tmp_path: Path, home: Path, work: Path) -> Sees:
    """Ask what an agent lists, by name."""

    def ask(agent: str, **more: str) -> dict[str, Card]:
        env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "METIER_HOME": str(tmp_path / "metier"),
            "METIER_SCAN_MODEL": "off",
            "METIER_BACKGROUND": "off",
            **more,
        }
        with metier.open(cwd=str(work), env=env, agent=agent) as library:
            library.trust_project(str(work))
            return {card.name: card for card in library.skills()}

    return ask


def test_qwen_code_reads_lines_and_no_yaml(sees: Sees, home: Path) -> None:
    skill(home / ".qwen/skills/colon", "colon", description="Use when: asked")
    skill(home / ".qwen/skills/flow", "flow", "paths: ['*.rs']")
    skill(home / ".qwen/skills/said", "said # a comment")

    assert {"colon"} == set(sees("qwen-code"))


def test_an_extension_of_qwen_code_brings_skills(sees: Sees, home: Path) -> None:
    skill(home / ".qwen/extensions/ext/skills/brought", "brought")

    assert {"brought"} == set(sees("qwen-code"))


def test_copilot_takes_the_folders_of_one_name_all_the_way_up_before_the_next(
    sees: Sees, work: Path
) -> None:
    skill(work / ".agents/skills/same", "same")
    first = skill(work / ".github/skills/same", "same")

    assert str(first) == sees("github-copilot")["same"].path


def test_copilot_loads_a_skill_without_a_name_by_its_folder_and_writes_spaces_as_hyphens(
    sees: Sees, home: Path
) -> None:
    (skill(home / ".copilot/skills/folder", "x") / "SKILL.md").write_text(
        "---\n- a\n---\n\nText.\n"
    )
    skill(home / ".copilot/skills/other", "two words")

    assert {"folder", "two-words"} == set(sees("github-copilot"))


def test_copilots_list_gives_only_the_names_of_what_does_not_fit(sees: Sees, home: Path) -> None:
    for number in range(20):
        name = f"skill-{number:02}"
        skill(home / ".copilot/skills" / name, name, description="x" * 800)

    cut = [
        card for card in sees("github-copilot").values() if "budget is full" in str(card.reasons)
    ]
    wide = sees("github-copilot", SKILL_CHAR_BUDGET="100000")

    assert 4 == len(cut)
    assert not any("budget is full" in str(card.reasons) for card in wide.values())


def test_kilo_code_follows_a_projects_links_only_inside_it(
    sees: Sees, home: Path, work: Path
) -> None:
    inside = skill(work / "store/inside", "inside")
    outside = skill(home / "store/outside", "outside")
    skills = work / ".kilo/skills"
    (skills / "c").mkdir(parents=True)
    (skills / "a").symlink_to(inside)
    (skills / "b").symlink_to(outside)
    (skills / "c/SKILL.md").symlink_to(outside / "SKILL.md")

    assert {"inside"} == set(sees("kilo-code"))


def test_amp_looks_above_the_project_and_lets_the_user_win(
    sees: Sees, home: Path, work: Path
) -> None:
    skill(work.parent / ".agents/skills/above", "above")
    skill(work / ".agents/skills/same", "same")
    own = skill(home / ".config/agents/skills/same", "same")

    seen = sees("amp")

    assert {"above", "same"} == set(seen)
    assert str(own) == seen["same"].path


def test_amp_takes_folders_with_colons_between_them_and_plugins_without_their_names(
    sees: Sees, home: Path
) -> None:
    skill(home / "one/a", "a")
    skill(home / "two/b", "b")
    plugin = home / ".claude/plugins/cache/market/plug/1.0.0"
    skill(plugin / "skills/c", "c")
    (plugin / ".claude-plugin").mkdir()
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "plug"}')
    (home / ".config/amp").mkdir(parents=True)
    settings = {"amp.skills.path": f"~/one:{home}/two"}
    (home / ".config/amp/settings.json").write_text(json.dumps(settings))

    assert {"a", "b", "c"} == set(sees("amp"))


def test_pi_takes_flat_files_in_its_own_folders_alone(sees: Sees, home: Path) -> None:
    text = "---\nname: {}\ndescription: Does one thing.\n---\n\nText.\n"
    for folder, name in ((".pi/agent", "mine"), (".agents", "shared")):
        (home / folder / "skills").mkdir(parents=True)
        (home / folder / "skills" / f"{name}.md").write_text(text.format(name))

    assert {"mine"} == set(sees("pi"))


def test_pi_sees_nothing_else_in_a_folder_that_is_itself_a_skill(sees: Sees, home: Path) -> None:
    skill(home / ".agents/skills", "stray")
    skill(home / ".agents/skills/below", "below")

    assert {"stray"} == set(sees("pi"))


def test_pis_settings_name_folders_and_what_is_off(sees: Sees, home: Path) -> None:
    for name in ("on", "off"):
        skill(home / "more" / name, name)
    (home / ".pi/agent").mkdir(parents=True)
    (home / ".pi/agent/settings.json").write_text(json.dumps({"skills": ["~/more", "!off"]}))

    assert {"on"} == set(sees("pi"))


def test_kimi_reads_only_the_first_of_two_shared_folders_that_exists(
    sees: Sees, home: Path
) -> None:
    skill(home / ".agents/skills/second", "second")

    assert {"second"} == set(sees("kimi-code"))

    skill(home / ".config/agents/skills/first", "first")

    assert {"first"} == set(sees("kimi-code"))


def test_kimi_loads_what_has_no_frontmatter_and_not_what_has_a_broken_one(
    sees: Sees, home: Path
) -> None:
    (skill(home / ".kimi/skills/bare", "x") / "SKILL.md").write_text("Only text.\n")
    skill(home / ".kimi/skills/broken", "broken", description="a: b: c")

    assert {"bare"} == set(sees("kimi-code"))


def test_a_folder_that_kimis_settings_write_short_lies_in_the_project(
    sees: Sees, home: Path, work: Path
) -> None:
    skill(work / "near/one", "one")
    (home / ".kimi").mkdir()
    (home / ".kimi/config.toml").write_text('extra_skill_dirs = ["near"]\n')

    assert {"one"} == set(sees("kimi-code"))


def test_droid_wants_a_body_and_names_in_small_letters(sees: Sees, home: Path) -> None:
    skill(home / ".factory/skills/good", "good")
    skill(home / ".factory/skills/loud", "Loud")
    skill(home / ".factory/skills/off", "off", "enabled: false")
    empty = skill(home / ".factory/skills/empty", "empty") / "SKILL.md"
    empty.write_text("---\nname: empty\ndescription: Does one thing.\n---\n")

    assert {"good"} == set(sees("droid"))


def test_continue_follows_links_to_files_and_not_to_folders(sees: Sees, home: Path) -> None:
    stored = skill(home / "store/one", "one")
    other = skill(home / "store/two", "two")
    skills = home / ".continue/skills"
    (skills / "one").mkdir(parents=True)
    (skills / "one/SKILL.md").symlink_to(stored / "SKILL.md")
    (skills / "two").symlink_to(other)

    assert {"one"} == set(sees("continue"))


def test_continue_finds_a_frontmatter_after_other_words(sees: Sees, home: Path) -> None:
    file = skill(home / ".continue/skills/late", "late") / "SKILL.md"
    file.write_text("Words first.\n" + file.read_text())

    assert {"late"} == set(sees("continue"))


def test_why_says_where_chance_decides_between_two_copies_in_one_folder(
    tmp_path: Path, home: Path, work: Path
) -> None:
    for folder in ("a", "b"):
        skill(home / ".qwen/skills" / folder, "same")
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "METIER_HOME": str(tmp_path / "metier"),
        "METIER_SCAN_MODEL": "off",
        "METIER_BACKGROUND": "off",
    }

    with metier.open(cwd=str(work), env=env, agent="qwen-code") as library:
        cards = library.skills(all=True)

    assert [True, False] == sorted(
        ("may take either" in " ".join(card.reasons) for card in cards), reverse=True
    )


def test_a_skill_whose_file_is_another_skills_is_seen_by_the_second_listing_too(
    sees: Sees, home: Path
) -> None:
    skill(home / ".gemini/skills/plain", "plain")
    linked = skill(home / ".gemini/skills/through", "through") / "SKILL.md"
    linked.unlink()
    linked.symlink_to("../plain/SKILL.md")
    skill(home / ".gemini/skills/other", "other")
    first = sees("gemini-cli")
    (home / ".gemini/skills/other/SKILL.md").unlink()  # so that the folders are looked at again

    second = sees("gemini-cli")

    assert {"plain", "other"} == set(first)
    assert {"plain"} == set(second)
    assert first["plain"].path == second["plain"].path


@pytest.mark.parametrize("scope", ["home", "work"])
def test_of_one_file_claude_code_takes_the_first_skill_at_every_listing(
    sees: Sees, home: Path, work: Path, scope: str
) -> None:
    root = (home if scope == "home" else work) / ".claude/skills"
    skill(root / "real", "real")
    for name in ("after", "the-same"):
        (root / name).mkdir()
        (root / name / "SKILL.md").symlink_to("../real/SKILL.md")
    (root / "a-link").symlink_to("zz")
    skill(root / "zz", "zz")

    first = sees("claude-code")
    skill(root / "new", "new")
    second = sees("claude-code")

    assert {"after", "a-link"} == set(first)
    assert {"after", "a-link", "new"} == set(second)


def test_with_claude_code_a_skill_that_the_model_is_not_offered_hides_no_other(
    sees: Sees, home: Path, work: Path
) -> None:
    skill(home / ".claude/skills/deploy", "deploy", "disable-model-invocation: true")
    skill(home / ".claude/skills/style", "style", 'paths: "*.py"')
    skill(home / ".claude/skills/shown", "shown")
    for name in ("deploy", "style", "shown"):
        skill(work / f".claude/skills/{name}", name)

    seen = sees("claude-code")

    assert {"deploy": "project", "style": "project", "shown": "user"} == {
        name: card.scope for name, card in seen.items()
    }


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ('"**"', True),
        ('["/**", "**/**"]', True),
        ("3", True),
        ("{a: b}", True),
        ('["**/*"]', False),
        ('"*"', False),
        ('"src/**"', False),
    ],
)
def test_claude_code_offers_a_skill_whose_paths_are_all_or_none(
    sees: Sees, home: Path, said: str, offered: bool
) -> None:
    skill(home / ".claude/skills/style", "style", f"paths: {said}")

    assert offered == ("style" in sees("claude-code"))


def test_claude_code_looks_above_a_working_folder_but_not_above_the_home(
    sees: Sees, home: Path, work: Path, tmp_path: Path
) -> None:
    (work / ".git").rmdir()
    skill(Path(os.path.realpath(tmp_path)) / ".claude/skills/above", "above")
    place = home / "place/deep"
    skill(home / "place/.claude/skills/between", "between")
    place.mkdir(parents=True)
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "METIER_HOME": str(tmp_path / "other")}

    with metier.open(cwd=str(place), env=env, agent="claude-code") as library:
        in_home = {card.name for card in library.skills(all=True)}

    assert {"between"} == in_home
    assert {"above"} == set(sees("claude-code"))


@pytest.mark.parametrize(
    ("sidecar", "offered"),
    [
        ("policy: [\n", True),
        ('policy:\n  allow_implicit_invocation: "perhaps"\n', True),
        ("policy:\n  products: [nothing-known]\n", True),
        ("policy:\n  products: [codex]\n", True),
        ("policy:\n  products: [chatgpt]\n", False),
        ("policy:\n  allow_implicit_invocation: false\n", False),
    ],
)
def test_codex_passes_over_a_sidecar_that_it_cannot_read(
    sees: Sees, home: Path, sidecar: str, offered: bool
) -> None:
    folder = skill(home / ".codex/skills/pdf", "pdf")
    (folder / "agents").mkdir()
    (folder / "agents/openai.yaml").write_text(sidecar)

    assert offered == ("pdf" in sees("codex"))


@pytest.mark.parametrize(
    ("agent", "root", "said", "loaded"),
    [
        ("codex", ".codex/skills", "metadata: null", False),
        ("codex", ".codex/skills", "metadata: {short-description: [a]}", False),
        ("codex", ".codex/skills", "metadata: {short-description: Hi}", True),
        ("opencode", ".config/opencode/skills", "icon: !!binary aGk=", True),
        ("opencode", ".config/opencode/skills", "icon: !mine aGk=", False),
        ("opencode", ".config/opencode/skills", 'note: "\\ud83d\\ude00"', True),
        ("deep-agents", ".deepagents/agent/skills", "license:\tMIT", False),
        ("deep-agents", ".deepagents/agent/skills", 'note: "\\ud800"', True),
        ("hermes", ".hermes/skills", 'platforms: "macos, linux"', False),
        ("hermes", ".hermes/skills", "platforms: linux", True),
    ],
)
def test_what_stands_beside_a_name_decides_as_the_agents_own_reader_does(
    sees: Sees, home: Path, agent: str, root: str, said: str, loaded: bool
) -> None:
    skill(home / root / "pdf", "pdf", said)

    assert loaded == ("pdf" in sees(agent))


@pytest.mark.parametrize(
    ("where", "file", "listed"),
    [
        ("", "settings.json", True),
        ("", "settings.local.json", False),
        ("sub", "settings.local.json", True),
        ("sub/deep", "settings.json", False),
        ("sub/deep", "settings.local.json", False),
    ],
)
def test_claude_codes_local_settings_count_at_the_root_and_in_the_working_folder(
    home: Path, work: Path, tmp_path: Path, where: str, file: str, listed: bool
) -> None:
    skill(home / ".claude/skills/pdf", "pdf")
    place = work / "sub/deep"
    place.mkdir(parents=True)
    (work / where / ".claude").mkdir()
    (work / where / ".claude" / file).write_text(json.dumps({"skillOverrides": {"pdf": "off"}}))
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "METIER_HOME": str(tmp_path / "other")}

    with metier.open(cwd=str(place), env=env, agent="claude-code") as library:
        names = {card.name for card in library.skills()}

    assert listed == ("pdf" in names)


def test_a_folder_that_opencodes_settings_write_short_lies_in_the_working_folder(
    home: Path, work: Path, tmp_path: Path
) -> None:
    skill(work / "extra/at-root", "at-root")
    skill(work / "sub/extra/at-sub", "at-sub")
    settings = home / ".config/opencode/opencode.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"skills": {"paths": ["./extra"]}}))
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "METIER_HOME": str(tmp_path / "other")}

    with metier.open(cwd=str(work / "sub"), env=env, agent="opencode") as library:
        names = {card.name for card in library.skills(all=True)}

    assert {"at-sub"} == names
