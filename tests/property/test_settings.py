"""Layers of configuration: a project's file narrows or is ignored, whatever it says."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings, strategies as st

from metier.errors import ConfigError
from metier.model import SCOPES, Limits
from metier.settings.merge import ConfigSource, Settings, merge

NUMBERS = st.one_of(
    st.integers(-5, 10**12), st.booleans(), st.text(max_size=3), st.floats(), st.none()
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
RULES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "path": st.text(max_size=5),
            "name": st.text(max_size=5),
            "enabled": st.booleans(),
            "x": ANYTHING,
        },
    ),
    max_size=3,
)
KNOWN_KEYS = [*Settings._fields, "skills", "limits"]
PROJECT = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys([key for key in KNOWN_KEYS if key not in {"skills", "limits"}], ANYTHING),
        "limits": st.one_of(
            ANYTHING,
            st.dictionaries(st.sampled_from([*Limits._fields, "width"]), NUMBERS, max_size=4),
        ),
        "skills": st.one_of(
            ANYTHING,
            st.fixed_dictionaries(
                {}, optional={"config": RULES, "disabled": ANYTHING, "platform_disabled": ANYTHING}
            ),
        ),
        "unheard of": ANYTHING,
        "on_collision": st.sampled_from(["first", "refuse", "last", 1]),
        "hide_unready": st.one_of(st.booleans(), ANYTHING),
    },
)
WORDS = st.lists(st.text(min_size=1, max_size=6), max_size=3)
USER = st.fixed_dictionaries(
    {},
    optional={
        "external_dirs": WORDS, "root_markers": WORDS, "precedence": st.permutations(SCOPES), "on_collision": st.sampled_from(["first", "refuse"]),
        "hide_unready": st.booleans(), "allow_without_frontmatter": st.booleans(), "tools": WORDS, "toolsets": WORDS,
        "inline_shell": st.booleans(), "usage": st.booleans(), "mcp_servers": WORDS,
        "prompt": st.fixed_dictionaries({}, optional={"budget": st.integers(1, 10**6), "include": st.booleans(), "order": st.permutations(SCOPES)}),
        "manage": st.fixed_dictionaries({}, optional={"review": st.sampled_from(["never", "caution", "always"]), "pinned": WORDS}),
        "secrets": st.fixed_dictionaries({}, optional={"store": st.sampled_from(["session", "file", "keyring"])}),
        "limits": st.dictionaries(st.sampled_from(Limits._fields), st.integers(1, 10**9)),
        "skills": st.fixed_dictionaries({}, optional={"disabled": WORDS, "config": st.lists(
            st.builds(lambda name, enabled: {"name": name, "enabled": enabled}, st.from_regex("[a-z]{1,4}", fullmatch=True), st.booleans()), max_size=3)}),
    },
)  # fmt: skip


def source(layer: Any, values: dict[str, Any]) -> ConfigSource:
    return ConfigSource(layer, f"/{layer}/metier.toml", "", values)


@settings(max_examples=500)
@given(USER, PROJECT)
def test_a_project_never_widens_what_its_user_allows(
    user: dict[str, Any], project: dict[str, Any]
) -> None:  # MT-17
    allowed = merge([source("user", user)])

    narrowed = merge([source("user", user), source("project", project)])

    asked = narrowed.project_limits or allowed.limits
    assert all(ours >= theirs >= 1 for ours, theirs in zip(allowed.limits, asked, strict=True))
    assert narrowed.on_collision in {allowed.on_collision, "refuse"}
    assert narrowed.hide_unready >= allowed.hide_unready
    assert narrowed.inline_shell <= allowed.inline_shell
    assert narrowed.usage <= allowed.usage
    same = narrowed._replace(
        project_limits=None,
        on_collision=allowed.on_collision,
        hide_unready=allowed.hide_unready,
        inline_shell=allowed.inline_shell,
        usage=allowed.usage,
        problems=(),
    )
    assert allowed == same


@settings(max_examples=300)
@given(USER, PROJECT)
def test_whatever_a_project_asks_for_in_vain_is_said(
    user: dict[str, Any], project: dict[str, Any]
) -> None:
    narrowed = merge([source("user", user), source("project", project)])

    may = {"limits", "on_collision", "hide_unready", "inline_shell", "usage"}
    assert len(narrowed.problems) >= len([key for key in project if key not in may])
    assert all(
        "/project/metier.toml" == problem.path and "WK012" == problem.code
        for problem in narrowed.problems
    )


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from([*KNOWN_KEYS, "skils", "x"]), ANYTHING, max_size=3))
def test_a_user_s_file_is_taken_or_refused_with_a_reason_and_a_hint(values: dict[str, Any]) -> None:
    refused: ConfigError | None = None
    try:
        hash(merge([source("user", values)]))
    except ConfigError as error:
        refused = error

    assert refused is None or ("/user/metier.toml" in refused.message and refused.hint)


@given(st.lists(USER, max_size=3))
def test_a_later_layer_only_changes_the_keys_it_names(layers: list[dict[str, Any]]) -> None:
    before = merge([source("user", layer) for layer in layers])
    after = merge(
        [
            *(source("user", layer) for layer in layers),
            source("user", {"host_platform": "telegram"}),
        ]
    )

    assert before._replace(host_platform="telegram") == after
