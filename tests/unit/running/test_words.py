"""A plan in words that a person can approve: everything that is granted, everything that is not, and no value of a secret."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.folders import write
from fakes.codeskills import library_of as code_library
from fakes.scripted import library_of

from metier.disclose.wire import plain
from metier.running import planning, words
from metier.runs import Lent

VALUE = "planted-91cd"
FIELDS = """required_environment_variables: [STORM_KEY, OPENAI_API_KEY]
required_credential_files: [token.json]
permissions: [network, banana]
"""


def test_every_grant_and_every_refusal_is_in_words_and_no_value_is(tmp_path: Path) -> None:
    write(tmp_path / "home" / "token.json", VALUE)
    out = write(tmp_path / "out" / "x").parent
    library = library_of(tmp_path, {"scripts/hello.sh": ""}, FIELDS.replace(", OPENAI_API_KEY", ""), env={"STORM_KEY": VALUE})

    lines = words.in_words(
        library, planning.planned(library, "pdf", "scripts/hello.sh", ["a b"], Lent(writes=(str(out),), seconds=90))
    )

    text = "\n".join(lines)
    for wanted in ("pdf: scripts/hello.sh", "trust      trusted", "runs: sh scripts/hello.sh 'a b'", "seen as /skill", f"changes: {out}",
                   "network: none", "variables: STORM_KEY", "time: 1 minute 30 seconds", "memory: 1 GiB", "processes: 64",
                   "It would be given these files of yours, as copies:\n  token.json", "'banana' is no permission that metier knows",
                   "the network, which it declares: the setting run.network is 'never'"):  # fmt: skip
        assert wanted in text
    assert VALUE not in text


def test_what_a_skill_declares_and_never_gets_is_said(tmp_path: Path) -> None:
    library = library_of(tmp_path, fields=FIELDS, env={"OPENAI_API_KEY": VALUE})

    text = "\n".join(words.in_words(library, planning.planned(library, "pdf", "scripts/hello.py")))

    assert (True, True, False) == (
        "It declares, and is never given:\n  OPENAI_API_KEY" in text,
        "It may not run:" in text,
        VALUE in text,
    )


def test_packages_that_a_script_declares_are_named_before_the_yes(tmp_path: Path) -> None:
    script = '# /// script\n# dependencies = ["attrs==23.1.0"]\n# ///\nprint(1)\n'
    library = library_of(tmp_path, {"scripts/hello.py": script})

    text = "\n".join(words.in_words(library, planning.planned(library, "pdf", "scripts/hello.py")))

    assert "It declares packages:\n  attrs==23.1.0\n  after a yes they would be installed from" in text


def test_without_a_sandbox_the_words_promise_none(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    planned = planning.planned(library, "pdf", "scripts/hello.py")

    text = "\n".join(words.in_words(library, planned, bare=True))

    assert (True, False, False) == (
        "NO SANDBOX: it runs as you" in text,
        "network: none" in text,
        "only folders of its own" in text,
    )
    assert words.as_document(library, planned, bare=True)["sandboxed"] is False


def test_of_a_code_skill_the_one_file_the_task_and_the_word_for_consent_are_named(tmp_path: Path) -> None:
    library = code_library(tmp_path, {"wipe.py": "SKILL_DESTRUCTIVE = True\ndef run(task):\n    return task\n"})

    text = "\n".join(words.in_words(library, planning.planned(library, "wipe", "", ["delete all"])))

    for wanted in ("wipe: wipe.py", "runs: python3 /skill/wipe.py 'delete all'", "is given the file: /skill/wipe.py",
                   "it is destructive: consent has to name the act, 'delete'"):  # fmt: skip
        assert wanted in text
    assert "seen as /skill" not in text


def test_a_plan_as_data_has_the_same_parts_and_is_a_document(tmp_path: Path) -> None:
    library = library_of(tmp_path, fields=FIELDS.replace(", OPENAI_API_KEY", ""), env={"STORM_KEY": VALUE})
    write(tmp_path / "home" / "token.json", VALUE)

    document = words.as_document(library, planning.planned(library, "pdf", "scripts/hello.py", ["x"], Lent(reads=("/nowhere",))))

    text = json.dumps(plain(document))
    assert ("pdf", False, False, ["STORM_KEY"], ["token.json"]) == tuple(
        document[key] for key in ("name", "allowed", "asks", "environment", "files"))  # fmt: skip
    assert ("/nowhere to read: it is not there", 120, True, False) == (
        document["not_granted"][0], document["limits"]["seconds"], document["sandboxed"], VALUE in text)  # fmt: skip
