"""A run in words that a person can approve: everything that is granted, everything that is not, and no value of a secret."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.folders import write
from fakes.codeskills import RUN, library_of as code_library
from fakes.scripted import library_of

from metier.catalogue.wire import plain
from metier.run import preview
from metier.run.model import Lent
from metier.run.preview import preview_run

VALUE = "planted-91cd"
FIELDS = """required_environment_variables: [STORM_KEY, OPENAI_API_KEY]
required_credential_files: [token.json]
permissions: [network, banana]
"""
HERE = 'run.in_process = ["trusted"]\n'


def test_every_grant_and_every_refusal_is_in_words_and_no_value_is(tmp_path: Path) -> None:
    write(tmp_path / "home" / "token.json", VALUE)
    out = write(tmp_path / "out" / "x").parent
    library = library_of(
        tmp_path,
        {"scripts/hello.sh": ""},
        FIELDS.replace(", OPENAI_API_KEY", ""),
        env={"STORM_KEY": VALUE},
    )

    lines = preview.describe(
        preview_run(
            library.context,
            "pdf",
            "scripts/hello.sh",
            ["a b"],
            Lent(writes=(str(out),), seconds=90),
        )
    )

    text = "\n".join(lines)
    for wanted in (
        "pdf: scripts/hello.sh",
        "trust      trusted",
        "bin/sh /skill/scripts/hello.sh 'a b'",
        "seen as /skill",
        f"changes: {out}",
        "network: none",
        "variables: STORM_KEY\n",
        "variables of the sandbox itself, none of yours: HOME,",
        "time: 1 minute 30 seconds",
        "memory: 1 GiB",
        "processes: 64",
        "'banana' is no permission that metier knows",
        "It would be given these files of yours, as copies:\n  token.json, seen as /home/skill/token.json",
        "run.network is 'never'",
    ):
        assert wanted in text
    assert VALUE not in text


def test_what_a_skill_declares_and_never_gets_is_said(tmp_path: Path) -> None:
    library = library_of(tmp_path, fields=FIELDS, env={"OPENAI_API_KEY": VALUE})

    text = "\n".join(preview.describe(preview_run(library.context, "pdf", "scripts/hello.py")))

    assert (True, True, False) == (
        "It declares, and is never given:\n  OPENAI_API_KEY" in text,
        "It may not run:" in text,
        VALUE in text,
    )


def test_secrets_that_come_as_files_are_shown_as_files(tmp_path: Path) -> None:
    library = library_of(
        tmp_path,
        fields="required_environment_variables: [STORM_KEY]\n",
        config='run.secrets = "file"\n',
        env={"STORM_KEY": VALUE},
    )

    found = preview_run(library.context, "pdf")

    text, document = "\n".join(preview.describe(found)), preview.as_document(found)
    assert (True, True) == (
        "variables: STORM_KEY_FILE\n" in text,
        "secrets as files: /run/secrets/STORM_KEY\n" in text,
    )
    assert (["STORM_KEY_FILE"], ["/run/secrets/STORM_KEY"]) == (
        document["environment"],
        document["secret_files"],
    )


def test_packages_that_a_script_declares_are_named_before_the_yes(tmp_path: Path) -> None:
    script = '# /// script\n# dependencies = ["attrs==23.1.0"]\n# ///\nprint(1)\n'
    library = library_of(tmp_path, {"scripts/hello.py": script})

    text = "\n".join(preview.describe(preview_run(library.context, "pdf", "scripts/hello.py")))

    assert (
        "It declares packages:\n  attrs==23.1.0\n  after a yes they would be installed from" in text
    )
    assert f"reads: {tmp_path}/state/run/envs/" in text


def test_without_a_sandbox_the_words_promise_none(tmp_path: Path) -> None:
    library = library_of(tmp_path, config="run.allow_unsandboxed = true\n")

    found = preview_run(
        library.context, "pdf", "scripts/hello.py", (), Lent(network=True), bare=True
    )

    text, document = "\n".join(preview.describe(found)), preview.as_document(found)
    assert (True, False, False, False) == (
        "NO SANDBOX: it runs as you" in text,
        "network: none" in text,
        "only folders of its own" in text,
        "Not granted" in text,
    )
    assert (False, True, []) == (document["sandboxed"], document["network"], document["mounts"])


def test_of_a_code_skill_the_one_file_the_task_and_the_word_for_consent_are_named(
    tmp_path: Path,
) -> None:
    library = code_library(
        tmp_path, {"wipe.py": "SKILL_DESTRUCTIVE = True\ndef run(task):\n    return task\n"}
    )

    found = preview_run(library.context, "wipe", "delete all", ["here", "there"])

    text = "\n".join(preview.describe(found))
    for wanted in (
        "wipe: wipe.py",
        "/run/metier/inside.py /skill/wipe.py /run/metier/call.json",
        "is asked: 'delete all'",
        r"with the context: 'here\nthere'",
        "is given the file: /skill/wipe.py",
        "it is destructive: consent has to name the act, 'delete'",
    ):
        assert wanted in text
    assert "seen as /skill" not in text


def test_a_code_skill_that_runs_in_metier_itself_is_said_to_have_everything(tmp_path: Path) -> None:
    library = code_library(tmp_path, {"up.py": RUN}, HERE)

    found = preview_run(library.context, "up", "x", (), Lent(network=True, reads=("/nowhere",)))

    text, document = "\n".join(preview.describe(found)), preview.as_document(found)
    assert (True, True, False, False) == (
        "inside metier's own process" in text,
        "is asked: 'x'" in text,
        "network: none" in text,
        "memory:" in text,
    )
    assert (
        "Lent for nothing, since nothing is kept from it there:\n  /nowhere to read\n  the network"
        in text
    )
    assert (True, False, True, True, {"seconds": 120}) == tuple(
        document[key] for key in ("allowed", "sandboxed", "in_process", "network", "limits")
    )


def test_a_plan_as_data_has_the_same_parts_and_is_a_document(tmp_path: Path) -> None:
    library = library_of(
        tmp_path, fields=FIELDS.replace(", OPENAI_API_KEY", ""), env={"STORM_KEY": VALUE}
    )
    write(tmp_path / "home" / "token.json", VALUE)

    document = preview.as_document(
        preview_run(library.context, "pdf", "scripts/hello.py", ["x"], Lent(reads=("/nowhere",)))
    )

    text = json.dumps(plain(document))
    assert ("pdf", False, False, ["STORM_KEY"], ["token.json"]) == tuple(
        document[key] for key in ("name", "allowed", "asks", "environment", "files")
    )
    assert ("/nowhere to read: it is not there", 120, True, False) == (
        document["not_granted"][0],
        document["limits"]["seconds"],
        document["sandboxed"],
        VALUE in text,
    )
    assert (["/skill/scripts/hello.py", "x"], True) == (
        document["command"][-2:],
        "PATH" in document["fixed_environment"],
    )
