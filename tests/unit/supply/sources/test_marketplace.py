"""Marketplaces and plugin manifests: what they list, where it lies, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from metier.errors import NotFoundError
from metier.supply.model import Item
from metier.supply.sources.marketplace import MARKETS, Marketplace, marketplace_in
from metier.supply.sources.pick import SourceContents, choose, skills_in

HASH = "0123456789abcdef0123456789abcdef01234567"
CLAUDE = ".claude-plugin/marketplace.json"


def skill(name: str) -> str:
    return f"---\nname: {name}\ndescription: Does {name}.\n---\n"


def reader(files: Mapping[str, str]) -> Any:
    def read(items: Sequence[Item]) -> dict[str, bytes]:
        return {item.path: files[item.path].encode() for item in items}

    return read


def items_of(files: Mapping[str, str]) -> list[Item]:
    return [Item(path, len(text.encode()), "file", f"k{path}") for path, text in files.items()]


def market(files: Mapping[str, str], below: str = "") -> Marketplace | None:
    return marketplace_in(items_of(files), reader(files), below)


def listed(*plugins: dict[str, Any], where: str = CLAUDE, **more: Any) -> dict[str, str]:
    return {
        where: json.dumps(
            {"name": "shop", "owner": {"name": "x"}, "plugins": list(plugins), **more}
        )
    }


def pick(files: Mapping[str, str], **more: Any) -> SourceContents:
    return skills_in(items_of(files), reader(files), **more)


SKILLS = {f"skills/{name}/SKILL.md": skill(name) for name in ("pdf", "docx", "art")}


def test_a_list_that_stands_in_for_manifests_groups_the_skills_it_names() -> None:
    files = {
        **SKILLS,
        **listed(
            {
                "name": "document-skills",
                "source": "./",
                "strict": False,
                "skills": ["./skills/pdf", "./skills/docx"],
            },
            {"name": "example-skills", "source": "./", "strict": False, "skills": ["./skills/art"]},
        ),
    }

    found = pick(files)

    assert {"pdf": "document-skills", "docx": "document-skills", "art": "example-skills"} == {
        one.name: one.plugin for one in found.skills
    }
    assert () == found.problems


def test_a_skill_is_chosen_by_its_plugin_and_name() -> None:
    files = {
        "a/skills/pdf/SKILL.md": skill("pdf"),
        "b/skills/pdf/SKILL.md": skill("pdf"),
        **listed({"name": "one", "source": "./a"}, {"name": "two", "source": "./b"}),
    }

    found = choose(pick(files), ["two:pdf"], everything=False)

    assert ["b/skills/pdf"] == [one.path for one in found]


def test_a_plugin_that_was_renamed_is_found_by_its_old_name() -> None:
    files = {
        **SKILLS,
        **listed({"name": "office", "source": "./"}, renames={"documents": "office"}),
    }

    found = choose(pick(files), ["documents:pdf"], everything=False)

    assert ["skills/pdf"] == [one.path for one in found]


def test_a_marketplace_offers_only_what_it_lists() -> None:
    files = {**SKILLS, **listed({"name": "x", "source": "./", "skills": ["./skills/pdf"]})}

    found = [[one.name for one in pick(files, market=only).skills] for only in (True, False)]

    assert [["pdf"], ["art", "docx", "pdf"]] == found


def test_a_source_that_is_no_marketplace_is_not_found_as_one() -> None:
    with pytest.raises(NotFoundError) as caught:
        pick(SKILLS, market=True)

    assert "marketplace" in caught.value.message


def test_the_agents_own_place_comes_before_the_others() -> None:
    files = {
        **SKILLS,
        **{
            key: text
            for at, where in enumerate(reversed(MARKETS))
            for key, text in listed({"name": f"p{at}", "source": "./"}, where=where).items()
        },
    }

    found = market(files)

    assert found is not None
    assert ["p2"] == [plugin.name for plugin in found.plugins]


@pytest.mark.parametrize("where", MARKETS)
def test_each_agent_s_list_is_read(where: str) -> None:
    found = market(
        {
            **SKILLS,
            **listed(
                {
                    "name": "p",
                    "source": {"source": "local", "path": "./"},
                    "policy": {"installation": "AVAILABLE"},
                },
                where=where,
            ),
        }
    )

    assert found is not None
    assert ("shop", ("skills",)) == (found.name, found.plugins[0].skills)


@pytest.mark.parametrize("source", ["pdf-plugin", "./pdf-plugin", "./plugins/pdf-plugin"])
def test_a_root_for_plugins_goes_before_their_paths(source: str) -> None:
    found = market(
        {
            "plugins/pdf-plugin/skills/pdf/SKILL.md": skill("pdf"),
            **listed({"name": "p", "source": source}, metadata={"pluginRoot": "./plugins"}),
        }
    )

    assert found is not None
    assert (("plugins/pdf-plugin/skills",), ()) == (
        found.plugins[0].skills,
        found.plugins[0].problems,
    )


@pytest.mark.parametrize(
    ("manifest", "places"),
    [
        ({}, ("p/skills",)),
        ({"skills": "./more"}, ("p/more",)),
        ({"skills": ["./a", "./b/c"]}, ("p/a", "p/b/c")),
        ({"skills": ["./"]}, ("p",)),
        ({"skills": ["../out"]}, ("p/skills",)),
    ],
)
def test_a_plugin_s_own_manifest_says_where_its_skills_are(
    manifest: dict[str, Any], places: tuple[str, ...]
) -> None:
    files = {
        "p/.claude-plugin/plugin.json": json.dumps(
            {"name": "p", "version": "1.2", "description": "d", **manifest}
        ),
        "p/skills/x/SKILL.md": skill("x"),
        **listed({"name": "p", "source": "./p"}),
    }

    found = market(files)

    assert found is not None
    assert (places, "1.2", "d") == (
        found.plugins[0].skills,
        found.plugins[0].version,
        found.plugins[0].description,
    )


def test_a_list_that_is_not_strict_overrules_the_manifest() -> None:
    files = {
        "p/.claude-plugin/plugin.json": json.dumps({"name": "p", "skills": ["./a"]}),
        "p/b/SKILL.md": skill("b"),
        **listed({"name": "p", "source": "./p", "strict": False, "skills": ["./b"]}),
    }

    found = market(files)

    assert found is not None
    assert ("p/b",) == found.plugins[0].skills


def test_a_plugin_may_be_one_skill_at_its_top() -> None:
    files = {"p/SKILL.md": skill("one"), **listed({"name": "p", "source": "./p"})}

    found = pick(files, market=True)

    assert [("one", "p", "p")] == [(one.name, one.path, one.plugin) for one in found.skills]


@pytest.mark.parametrize(
    ("source", "location", "ref", "path"),
    [
        ({"source": "github", "repo": "o/r"}, "https://github.com/o/r", "", ""),
        ({"source": "github", "repo": "o/r", "ref": "v1"}, "https://github.com/o/r", "v1", ""),
        (
            {"source": "github", "repo": "o/r", "ref": "v1", "sha": HASH},
            "https://github.com/o/r",
            HASH,
            "",
        ),
        (
            {"source": "url", "url": "https://gitlab.com/g/r.git"},
            "https://gitlab.com/g/r.git",
            "",
            "",
        ),
        ({"source": "url", "url": "https://github.com/o/r"}, "https://github.com/o/r", "", ""),
        ({"source": "url", "url": "git@h:x.git", "ref": "main"}, "git@h:x.git", "main", ""),
        (
            {"source": "git-subdir", "url": "https://h/x.git", "path": "./plugins/a", "sha": HASH},
            "https://h/x.git",
            HASH,
            "plugins/a",
        ),
        ({"source": "git-subdir", "url": "o/r", "path": "a"}, "https://github.com/o/r", "", "a"),
        ("https://h/x.git", "https://h/x.git", "", ""),
    ],
)
def test_a_plugin_elsewhere_becomes_a_request_pinned_where_it_can_be(
    source: object, location: str, ref: str, path: str
) -> None:
    found = market(listed({"name": "p", "source": source}))

    assert found is not None
    assert [("git", location, ref, path)] == [one[:4] for one in found.elsewhere]
    assert () == found.problems


def test_a_list_of_skills_elsewhere_becomes_a_request_for_each() -> None:
    found = market(
        listed(
            {
                "name": "p",
                "source": {"source": "github", "repo": "o/r", "path": "sub"},
                "strict": False,
                "skills": ["./a", "b"],
            }
        )
    )

    assert found is not None
    assert ["sub/a", "sub/b"] == [one.path for one in found.elsewhere]


def test_a_name_with_its_plugin_leads_to_that_plugin_s_source_alone() -> None:
    found = market(
        listed(
            {"name": "one", "source": {"source": "github", "repo": "o/one"}},
            {"name": "two", "source": {"source": "github", "repo": "o/two"}},
            renames={"old": "two"},
        )
    )

    assert found is not None
    assert [
        ["https://github.com/o/two"],
        ["https://github.com/o/two"],
        ["https://github.com/o/one", "https://github.com/o/two"],
        ["https://github.com/o/one", "https://github.com/o/two"],
    ] == [
        [one.location for one in found.leading_to(names)]
        for names in (["two:x"], ["old:x"], ["x"], [])
    ]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"source": "npm", "package": "@x/y"}, "npm"),
        ({"source": "pip", "package": "y"}, "kind"),
        ({"source": "github"}, "kind"),
        (7, "neither"),
        (None, "neither"),
        ("../out", "leaves"),
        ("/etc", "leaves"),
        ("a\\..\\b", "leaves"),
        ("./nowhere", "no folder"),
        ({"source": "local", "path": "../x"}, "leaves"),
        ({"source": "url", "url": "https://u:p@h/x.git"}, "refused"),
        ({"source": "url", "url": "file:///etc"}, "refused"),
        ({"source": "url", "url": "/etc"}, "refused"),
        ({"source": "url", "url": "ext::sh -c x"}, "refused"),
        ({"source": "github", "repo": "--upload-pack=x"}, "refused"),
        ({"source": "github", "repo": "./x"}, "refused"),
        ({"source": "github", "repo": "o/r", "ref": "--x"}, "refused"),
        ({"source": "github", "repo": "o/r", "path": "../x"}, "refused"),
        ({"source": "url", "url": "https://e.com/x.zip"}, ""),
        ({"source": "url", "url": "clawhub:x"}, "refused"),
        ({"source": "url", "url": "marketplace:o/r"}, "refused"),
    ],
)
def test_a_source_that_may_not_be_is_that_plugin_s_problem_and_no_other_s(
    source: object, why: str
) -> None:
    found = market(
        {**SKILLS, **listed({"name": "bad", "source": source}, {"name": "good", "source": "./"})}
    )

    assert found is not None
    assert ("good", ("skills",), ()) == (
        found.plugins[1].name,
        found.plugins[1].skills,
        found.plugins[1].problems,
    )
    assert why in " ".join(found.problems)
    assert not any(
        one.location.startswith(("file:", "/")) or "u:p" in f"{one}" for one in found.elsewhere
    )


def test_a_skill_outside_its_plugin_is_left_out_with_a_problem() -> None:
    found = market(
        {
            **SKILLS,
            **listed(
                {
                    "name": "p",
                    "source": "./skills",
                    "strict": False,
                    "skills": ["./pdf", "../secret", 7],
                }
            ),
        }
    )

    assert found is not None
    assert (("skills/pdf",), ("plugin p: a skill it lists lies outside the plugin",)) == (
        found.plugins[0].skills,
        found.problems,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        '{"plugins": {}}',
        '{"plugins": 7}',
        "[" * 100_000,
        '{"a": ' + "9" * 10_000 + "}",
        "\ufeff{}",
        '{"plugins": [' + " " * 2_000_000 + "]}",
    ],
)
def test_a_list_that_cannot_be_read_is_a_note_and_the_skills_are_still_there(text: str) -> None:
    found = pick({**SKILLS, CLAUDE: text})

    assert 3 == len(found.skills)
    assert len(found.problems) == 1
    assert CLAUDE in found.problems[0]


@pytest.mark.parametrize(
    "entry",
    [
        7,
        None,
        [],
        {},
        {"name": 7},
        {"name": "x" * 100_000, "source": {}},
        {"name": "p", "source": {"source": []}},
        {"name": "p", "skills": {"a": 1}},
        {"name": "\ud800", "source": "./\ud800"},
    ],
)
def test_entries_of_any_shape_are_values_like_any_other(entry: object) -> None:
    found = market(
        {**SKILLS, CLAUDE: json.dumps({"plugins": [entry], "renames": [1], "metadata": "x"})}
    )

    assert found is not None
    assert len(found.plugins) <= 1


def test_a_list_of_very_many_plugins_is_cut() -> None:
    found = market(
        {**SKILLS, CLAUDE: json.dumps({"plugins": [{"name": str(n)} for n in range(5000)]})}
    )

    assert found is not None
    assert (2000, True) == (len(found.plugins), "2000" in found.problems[0])


# --- manifests without a list


@pytest.mark.parametrize(
    "where",
    [".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".cursor-plugin/plugin.json"],
)
def test_a_plugin_names_its_skills_without_any_list(where: str) -> None:
    found = pick(
        {
            f"p/{where}": json.dumps({"name": "office"}),
            "p/skills/pdf/SKILL.md": skill("pdf"),
            "other/SKILL.md": skill("other"),
        }
    )

    assert {"pdf": "office", "other": ""} == {one.name: one.plugin for one in found.skills}


def test_an_agent_plugin_has_its_skills_in_the_fixed_place() -> None:
    manifest = {
        "$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
        "name": "office",
        "skills": ["./elsewhere"],
    }

    found = market({"plugin.json": json.dumps(manifest), "skills/pdf/SKILL.md": skill("pdf")})

    assert found is not None
    assert ("office", "skills") == (found.plugins[0].name, found.plugins[0].skills[0])


def test_a_plugin_json_of_somebody_else_is_no_plugin() -> None:
    found = market({"plugin.json": json.dumps({"name": "webpack"}), "a/plugin.json": "{"})

    assert found is None
