"""Whatever a model sends to a tool, the answer is plain data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, skill
from hypothesis import HealthCheck, given, settings, strategies as st

from metier import tools
from metier.disclose.schemas import BY_NAME

if TYPE_CHECKING:
    from metier.library import Library

WORDS = st.one_of(
    st.sampled_from(
        [
            "notes",
            "user:notes",
            "SKILL.md",
            "references/a.md",
            "../x",
            "Style",
            "create",
            "delete",
            "patch",
            "0" * 16 + ":0",
            "/",
            "\0",
            "\ud800",
        ]
    ),
    st.text(max_size=8),
)
VALUES = st.one_of(
    WORDS,
    WORDS,
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.lists(WORDS, max_size=2),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Give a library with one skill of the user's own."""
    place = Place(tmp_path_factory.mktemp("machine"))
    skill(
        place.home / ".agents/skills/notes",
        body="# Notes\n\n## Style\n\nBe brief.\n",
        files={"references/a.md": "a\n"},
    )
    return place.scopes()


@settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(name=st.sampled_from([*BY_NAME, "nothing"]), data=st.data())
def test_every_call_has_an_answer_fit_for_json(
    library: Library, name: str, data: st.DataObject
) -> None:
    keys = (
        st.sampled_from([*BY_NAME[name]["input_schema"]["properties"], "other"])
        if name in BY_NAME
        else st.text(max_size=3)
    )
    required = BY_NAME[name]["input_schema"].get("required", ()) if name in BY_NAME else ()
    arguments: dict[str, Any] = {key: data.draw(WORDS) for key in required} | data.draw(
        st.dictionaries(keys, VALUES, max_size=3)
    )

    answer = tools.call(library, name, arguments)

    assert answer["success"] is True or {"code", "message", "hint"} <= set(answer["error"])
    assert "unexpected" != (answer.get("error") or {}).get("code")
    json.dumps(answer, ensure_ascii=False).encode()
