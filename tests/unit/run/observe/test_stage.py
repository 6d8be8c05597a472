"""The stage: the same for the same seed, lived in, and every secret a canary of its own."""

from __future__ import annotations

from metier.run.io.decoy_table import load_decoys
from metier.run.observe.stage import build_stage, read_decoys

ROWS = load_decoys()


def test_the_same_seed_gives_the_same_stage_and_another_seed_other_secrets() -> None:
    first, again, other = (build_stage(seed, "demo", ROWS) for seed in ("a", "a", "b"))

    assert first == again
    assert not {one.value for one in first.canaries} & {one.value for one in other.canaries}


def test_every_canary_is_where_it_says_and_nowhere_else() -> None:
    stage = build_stage("seed", "demo", ROWS, ["ACME_KEY"])
    texts = {
        one.path.replace(stage.home, "~", 1): one.data.decode("utf-8", "replace")
        for one in stage.decoys
    }
    texts |= {f"${name}": value for name, value in stage.variables}

    for canary in stage.canaries:
        assert [canary.place] == [place for place, text in texts.items() if canary.value in text]


def test_no_placeholder_is_left_in_a_decoy() -> None:
    stage = build_stage("seed", "demo", ROWS)

    for one in stage.decoys:
        assert b"<plain>" not in one.data
        assert b"{user}" not in one.data


def test_a_variable_that_a_skill_asks_for_has_a_value() -> None:
    stage = build_stage("seed", "demo", ROWS, ["ACME_KEY", "GITHUB_TOKEN"])

    assert dict(stage.variables)["ACME_KEY"]
    assert {"asked", "env"} == {
        one.kind for one in stage.canaries if one.place in {"$ACME_KEY", "$GITHUB_TOKEN"}
    }


def test_secrets_are_for_their_owner_alone_and_programs_can_be_run() -> None:
    modes = {one.path.rpartition("/")[2]: one.mode for one in build_stage("s", "d", ROWS).decoys}

    assert (0o600, 0o755, 0o644) == (modes["id_ed25519"], modes["todo"], modes["README.md"])


def test_a_table_is_read_with_its_kinds_and_texts() -> None:
    rows = read_decoys(
        "Words about it.\n\n=== ~/.a | token\nx=<plain>\n=== ./b |\n=== ./c | work\ny\n"
    )

    assert [("~/.a", "token", "x=<plain>\n"), ("./b", "", ""), ("./c", "work", "y\n")] == rows


def test_one_row_of_the_table_can_have_many_names() -> None:
    rows = read_decoys("=== ~/bin/{one two\nthree} | program\nrun\n=== ./d |\n")

    assert ["~/bin/one", "~/bin/two", "~/bin/three", "./d"] == [row.path for row in rows]
    assert ["run\n"] * 3 == [row.text for row in rows[:3]]


def test_no_program_has_two_stand_ins() -> None:
    paths = [row.path for row in ROWS]

    assert [] == [path for path in paths if paths.count(path) > 1]


def test_a_program_of_the_system_gets_no_stand_in() -> None:
    paths = [one.path for one in build_stage("seed", "demo", ROWS, has={"pytest", "jq"}).decoys]

    names = {path.rpartition("/")[2] for path in paths if "/.asdf/shims/" in path}
    assert {"pytest", "jq"}.isdisjoint(names)
    assert {"cargo", "gh", "aws"} <= names


def test_no_decoy_is_laid_over_a_skill_that_is_called_like_a_neighbour() -> None:
    stage = build_stage("seed", "release-notes", load_decoys())

    assert [] == [one.path for one in stage.decoys if one.path.startswith(f"{stage.skill}/")]


def test_the_history_is_as_long_as_that_of_somebody_who_works_there() -> None:
    stage = build_stage("seed", "demo", load_decoys())
    lines = {one.path.rpartition("/")[2]: one.data.count(b"\n") for one in stage.decoys}

    assert lines[".bash_history"] > 300


def test_tables_and_logs_are_as_long_as_real_ones() -> None:
    stage = build_stage("seed", "demo", ROWS)
    lines = {
        one.path.removeprefix(f"{stage.project}/"): one.data.count(b"\n") for one in stage.decoys
    }

    for path in ("data/sales.csv", "logs/app.log", "samples/input.csv", "samples/input.log"):
        assert lines[path] >= 300, path
    assert len([path for path in lines if path.startswith("samples/inbox/")]) > 5


def test_what_a_project_keeps_for_itself_is_for_its_owner_alone() -> None:
    stage = build_stage("seed", "demo", ROWS)
    kinds = {one.place.rpartition("/")[2]: one.kind for one in stage.canaries}
    modes = {one.path.rpartition("/")[2]: one.mode for one in stage.decoys}

    assert ("secret", "secret", "work") == (
        kinds["terraform.tfstate"],
        kinds["terraform.tfvars"],
        kinds["sales.csv"],
    )
    assert (0o600, 0o644) == (modes["terraform.tfvars"], modes["sales.csv"])
