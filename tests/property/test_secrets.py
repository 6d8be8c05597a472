"""What holds for every name and value: the file gives back what it was given, and a grant never exceeds a declaration."""

from __future__ import annotations

from hypothesis import given, strategies as st

from metier.secrets.names import is_name, names_in, refusal, values_in, with_value, without
from metier.secrets.vault import SessionStore, Vault

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)
HOSTS = st.sampled_from(
    [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "METIER_HOME",
        "HF_TOKEN",
        "ZEPH_SECRET_XAI_API_KEY",
        "CLAUDE_CODE_USE_BEDROCK",
    ]
)
VALUES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60
) | st.text("\"'\\\n\r #=$`x\x0b\x85\u2028", min_size=1, max_size=30)
ENTRIES = st.lists(st.tuples(NAMES, VALUES), max_size=8)
FILES = st.text(max_size=200) | st.lists(st.text("AB=\"'# \\x\r", max_size=12), max_size=8).map(
    "\n".join
)


@given(FILES, ENTRIES)
def test_what_is_written_is_read_back_whatever_stood_there_before(
    before: str, entries: list[tuple[str, str]]
) -> None:
    text = before
    for name, value in entries:
        text = with_value(text, name, value)

    found = values_in(text)

    assert dict(entries) == {name: found[name] for name, _value in entries}
    others = {name: value for name, value in values_in(before).items() if name not in dict(entries)}
    assert others == {name: value for name, value in found.items() if name not in dict(entries)}


@given(FILES, NAMES)
def test_what_is_taken_out_is_gone_and_nothing_else(text: str, name: str) -> None:
    rest = without(text, name)

    assert {key: value for key, value in values_in(text).items() if key != name} == values_in(rest)


@given(FILES)
def test_names_agree_with_values(text: str) -> None:
    assert {name: bool(value.strip()) for name, value in values_in(text).items()} == names_in(text)


@given(
    st.dictionaries(NAMES | HOSTS, VALUES, max_size=8),
    st.dictionaries(NAMES | HOSTS, VALUES, max_size=8),
    st.lists(NAMES | HOSTS | st.text(max_size=8)),
)
def test_a_grant_is_part_of_what_is_declared_less_what_is_refused(
    env: dict[str, str], kept: dict[str, str], declared: list[str]
) -> None:
    vault = Vault([SessionStore(kept)], env)

    granted = vault.granted(declared)

    assert set(granted) <= {name for name in declared if is_name(name) and not refusal(name, env)}
    assert all(value.strip() for value in granted.values())
    assert all(
        env[name] not in granted.values()
        or env[name] in (*kept.values(), *(env[n] for n in env if not refusal(n, env)))
        for name in env
        if refusal(name, env)
    )
