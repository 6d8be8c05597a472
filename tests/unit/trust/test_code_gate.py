"""The load gate: what it refuses and in which words, and that only judged bytes are compiled."""

from __future__ import annotations
import __future__

import pytest
from hypothesis import given, settings, strategies as st

from metier.errors import RefusedError
from metier.trust.code_gate import (
    MAX_CODE_BYTES,
    Admission,
    GateRefusal,
    admit,
    compile_admitted,
    refusal_of,
)
from metier.trust.code_lists import CodeManifest, parse_manifest, sha256_of

FINE = b"import json\n\n\ndef run(task):\n    return json.dumps({'task': task})\n"
BAD = b"import os\nos.system('x')\n"


def reason(code: str, *, strict: bool = False) -> str:
    refusal = refusal_of(code.encode(), strict=strict)
    return refusal.reason if refusal else ""


# --- the deny lists, word for word (CO-13)


@pytest.mark.parametrize(
    "module",
    ["os", "subprocess", "ctypes", "shutil", "importlib", "signal", "pty", "socket", "builtins"],
)
def test_a_denied_module_is_refused_however_it_is_imported(module: str) -> None:  # CO-13
    assert f"Dangerous import: {module}" == reason(f"import {module}")
    assert f"Dangerous import: {module}" == reason(f"import json, {module} as x")
    assert f"Dangerous import: {module}.sub" == reason(f"import {module}.sub")
    assert f"Dangerous import: from {module}" == reason(f"from {module} import anything")
    assert f"Dangerous import: from {module}" == reason(f"from {module} import *")
    assert f"Dangerous import: {module}" == reason(f"def f():\n    if 1:\n        import {module}")


@pytest.mark.parametrize(
    "name",
    [
        "eval",
        "exec",
        "compile",
        "__import__",
        "globals",
        "locals",
        "getattr",
        "setattr",
        "delattr",
        "vars",
        "dir",
    ],
)
def test_a_denied_call_is_refused(name: str) -> None:  # CO-13
    assert f"Dangerous call: {name}()" == reason(f"x = {name}('a')")
    assert f"Dangerous reflection name: {name}" == reason(f"x = {name}\n")
    assert f"Dangerous reflection name: {name}" == reason(f"@{name}\ndef f(): ...\n")


def test_a_call_is_refused_even_of_a_name_that_the_code_binds() -> None:  # CO-13
    assert "Dangerous call: dir()" == reason("def f(dir):\n    return dir()")


@pytest.mark.parametrize(
    "call",
    [
        "os.system",
        "os.popen",
        "os.execv",
        "os.remove",
        "subprocess.run",
        "subprocess.Popen",
        "shutil.rmtree",
        "socket.socket",
        "os.environ.get",
        "os.path.os.system",
    ],
)
def test_a_call_on_a_denied_module_is_refused_without_its_import(call: str) -> None:  # CO-13
    expected = (
        f"Dangerous call: {call}()"
        if call != "os.path.os.system"
        else "Dangerous reflection attribute: .os"
    )

    assert expected == reason(f"{call}('x')")


ATTRIBUTES = (
    "__class__ __bases__ __base__ __subclasses__ __mro__ __globals__ __dict__ __builtins__ __code__ __closure__ __func__ __self__ "
    "__getattribute__ __subclasshook__ __init_subclass__ __reduce__ __reduce_ex__ __getattr__ __import__ __loader__ __spec__"
)


@pytest.mark.parametrize("name", ATTRIBUTES.split())
def test_a_reflection_attribute_is_refused_on_any_object(name: str) -> None:  # CO-13
    assert f"Dangerous reflection attribute: .{name}" == reason(f"x = ().{name}")
    assert f"Dangerous reflection attribute: .{name}" == reason(f"x = y.z.{name}()")


@pytest.mark.parametrize("name", ["__builtins__", "__loader__", "__spec__"])
def test_a_reflection_name_is_refused(name: str) -> None:  # CO-13
    assert f"Dangerous reflection name: {name}" == reason(f"x = {name}")
    assert f"Dangerous reflection name: {name}" == reason(f"{name}['eval']('1')")


@pytest.mark.parametrize("code", ["def f(:", "x = (", "print 'x'", "\0", "return = 1"])
def test_code_that_does_not_parse_is_refused(code: str) -> None:  # CO-13
    assert reason(code).startswith("Syntax error: ")


@pytest.mark.parametrize(
    "code",
    [
        b"def f(:",
        b"import os",
        b"from os import x",
        b"eval('1')",
        b"os.system('x')",
        b"x = eval",
        b"x = ().__class__",
        b"x = '{0.__class__}'",
        b"x = vars",
        b"match y:\n    case object(__class__=c): ...",
        b"# coding: latin-1",
        b"x = '\xff'\n\n",
    ],
)
def test_every_refusal_names_its_line(code: bytes) -> None:
    found = [refusal_of(start + code) for start in (b"", b"\n")]

    shift = int(code.startswith(b"match"))
    assert [1, 2] == [refusal.line - shift for refusal in found if refusal]


def test_the_first_refusal_of_the_file_is_given_with_its_line() -> None:
    assert GateRefusal("Dangerous call: eval()", 2) == refusal_of(b"x = 1\neval('1')\nimport os\n")


# --- code that no person has written (CO-14)


@pytest.mark.parametrize(
    "module", ["pickle", "marshal", "shelve", "smtplib", "ftplib", "telnetlib"]
)
def test_strict_refuses_more_modules(module: str) -> None:  # CO-14
    assert "" == reason(f"import {module}")
    assert f"Dangerous import: {module}" == reason(f"import {module}", strict=True)
    assert f"Dangerous import: from {module}" == reason(f"from {module} import x", strict=True)


@pytest.mark.parametrize("strict", [False, True])
def test_http_libraries_and_open_are_allowed(strict: bool) -> None:  # CO-14
    code = "import requests, urllib.request, httpx\nopen('a.txt', 'w').write(requests.get('https://a.example').text)\n"

    assert "" == reason(code, strict=strict)


# --- the ways around that were known (CO-15), and their kin


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys\nsys.modules['os']", "Dangerous reflection attribute: .modules"),
        ("import sys as s\ns.modules['os']", "Dangerous reflection attribute: .modules"),
        ("from sys import *", "Dangerous import: from sys"),
        ("import os.path\ndef f():\n    os = 1\nx = os", "Dangerous reflection name: os"),
        ("import sys\ndef f(sys): ...\nx = sys", "Dangerous reflection name: sys"),
        ("def f(vars): ...\nv = vars", "Dangerous reflection name: vars"),
        ("if 0:\n    vars = 1\nv = vars", "Dangerous reflection name: vars"),
        ("class A:\n    locals = locals", "Dangerous reflection name: locals"),
        (
            "def f():\n    global vars\n    vars = 1\n    return vars",
            "Dangerous reflection name: vars",
        ),
        ("from fnmatch import *\nx = os", "Dangerous reflection name: os"),
        ("from tkinter import Tcl", "Dangerous import: from tkinter"),
        (
            "import dataclasses\ndataclasses._create_fn('f', [], ['x'])",
            "Dangerous reflection attribute: ._create_fn",
        ),
        ("from sys import modules", "Dangerous import: from sys"),
        ("import sys\ns = sys\ns.modules", "Dangerous reflection name: sys"),
        ("import posix", "Dangerous import: posix"),
        ("import _posixsubprocess", "Dangerous import: _posixsubprocess"),
        ("import nt", "Dangerous import: nt"),
        ("import multiprocessing", "Dangerous import: multiprocessing"),
        ("from multiprocessing import Process", "Dangerous import: from multiprocessing"),
        ("import runpy", "Dangerous import: runpy"),
        ("import code", "Dangerous import: code"),
        (
            "import asyncio\nasyncio.create_subprocess_shell('x')",
            "Dangerous call: asyncio.create_subprocess_shell()",
        ),
        (
            "import asyncio\nasyncio.create_subprocess_exec('x')",
            "Dangerous call: asyncio.create_subprocess_exec()",
        ),
        ("from asyncio import create_subprocess_shell", "Dangerous import: from asyncio"),
        ("from asyncio import subprocess", "Dangerous import: from asyncio"),
        ("import asyncio\nasyncio.subprocess", "Dangerous reflection attribute: .subprocess"),
        ("from pathlib import Path\nPath('a').unlink()", "Dangerous call: unlink()"),
        ("from pathlib import Path\np = Path('a')\np.rmdir()", "Dangerous call: p.rmdir()"),
        (
            "from pathlib import Path\nf = Path('a').unlink",
            "Dangerous reflection attribute: .unlink",
        ),
        ("breakpoint()", "Dangerous call: breakpoint()"),
        ("b = breakpoint", "Dangerous reflection name: breakpoint"),
        ("help()", "Dangerous call: help()"),
        ("from . import os", "Dangerous import: from ."),
        ("from .. import subprocess as s", "Dangerous import: from .."),
        ("from .os import system", "Dangerous import: from .os"),
        ("import os.path as p\np.os.system('x')", "Dangerous reflection attribute: .os"),
        ("import os.path\nos.system('x')", "Dangerous call: os.system()"),
        ("import os.path\nx = os.environ", "Dangerous reflection name: os"),
        ("import os.path\nx = os", "Dangerous reflection name: os"),
        ("from os.path import os", "Dangerous import: from os.path"),
        ("from glob import os", "Dangerous import: from glob"),
        ("import glob\nglob.os.system('x')", "Dangerous reflection attribute: .os"),
        ("import random\nrandom._os.system('x')", "Dangerous reflection attribute: ._os"),
        ("import logging\nlogging.sys.modules", "Dangerous reflection attribute: .sys"),
        ("object.__getattribute__(a, 'b')", "Dangerous reflection attribute: .__getattribute__"),
        ("'{0.__class__}'.format(x)", "Dangerous reflection attribute: .__class__"),
        ("t = '{0.a[__globals__]}'", "Dangerous reflection attribute: .__globals__"),
        ("f'{x.__class__}'", "Dangerous reflection attribute: .__class__"),
        ("f'{eval(x)}'", "Dangerous call: eval()"),
        ("'{x}'.format_map(d)", "Dangerous reflection attribute: .format_map"),
        (
            "import string\nstring.Formatter().get_field('0', (), {})",
            "Dangerous reflection attribute: .get_field",
        ),
        (
            "import operator\noperator.attrgetter('a')",
            "Dangerous reflection attribute: .attrgetter",
        ),
        ("from operator import attrgetter", "Dangerous import: from operator"),
        ("from operator import methodcaller as m", "Dangerous import: from operator"),
        ("__builtins__['eval']", "Dangerous reflection name: __builtins__"),
        ("@eval\nclass A: ...", "Dangerous reflection name: eval"),
        ("(e := exec)", "Dangerous reflection name: exec"),
        ("f = lambda g=getattr: g", "Dangerous reflection name: getattr"),
        ("def f(g=eval): ...", "Dangerous reflection name: eval"),
        ("sorted(x, key=eval)", "Dangerous reflection name: eval"),
        (
            "match x:\n    case object(__class__=c): ...",
            "Dangerous reflection attribute: .__class__",
        ),
        ("import pdb", "Dangerous import: pdb"),
        ("import timeit", "Dangerous import: timeit"),
        ("import pydoc", "Dangerous import: pydoc"),
        ("import pkgutil", "Dangerous import: pkgutil"),
        ("import gc", "Dangerous import: gc"),
        ("import unittest.mock", "Dangerous import: unittest.mock"),
        ("import logging.config", "Dangerous import: logging.config"),
        ("from logging import config", "Dangerous import: from logging"),
        ("import sys\nsys._getframe()", "Dangerous reflection attribute: ._getframe"),
        ("x = e.tb_frame.f_globals", "Dangerous reflection attribute: .f_globals"),
        (
            "import types\ntypes.FunctionType(c, {})",
            "Dangerous reflection attribute: .FunctionType",
        ),
        ("from typing import get_type_hints", "Dangerous import: from typing"),
        (
            "async def f():\n    await loop.subprocess_shell(p, 'x')",
            "Dangerous call: loop.subprocess_shell()",
        ),
        ("[eval for x in y]", "Dangerous reflection name: eval"),
        ("try:\n    pass\nexcept eval:\n    pass", "Dangerous reflection name: eval"),
    ],
)
def test_the_known_ways_around_are_closed(code: str, expected: str) -> None:  # CO-15
    assert expected == reason(code)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "import inspect\ndef f(a: 'x()'): ...\ninspect.signature(f, eval_str=True)",
            "Dangerous import: inspect",
        ),
        (
            "import functools\n@functools.singledispatch\ndef g(a): ...\n@g.register\ndef _(a: 'x()'): ...",
            "Dangerous reflection attribute: .singledispatch",
        ),
        ("from functools import singledispatch as s", "Dangerous import: from functools"),
        (
            "import functools\nfunctools.singledispatchmethod(f)",
            "Dangerous reflection attribute: .singledispatchmethod",
        ),
        (
            "import typing\ntyping.get_type_hints(f)",
            "Dangerous reflection attribute: .get_type_hints",
        ),
        (
            "import webbrowser\nwebbrowser.get('touch x %s').open('y')",
            "Dangerous import: webbrowser",
        ),
        (
            "import uuid\nuuid._get_command_stdout('touch', 'x')",
            "Dangerous reflection attribute: ._get_command_stdout",
        ),
        (
            "import _osx_support\n_osx_support._read_output('touch x')",
            "Dangerous import: _osx_support",
        ),
        (
            "import _frozen_importlib as f\nf._gcd_import('os').system('x')",
            "Dangerous import: _frozen_importlib",
        ),
        (
            "import _xxsubinterpreters as i\ni.run_string(i.create(), 'x')",
            "Dangerous import: _xxsubinterpreters",
        ),
        (
            "from test.support import script_helper as s\ns.assert_python_ok('-c', 'x')",
            "Dangerous import: from test.support",
        ),
        ("import dis\ntype(lambda: 0)(dis.Bytecode('x').codeobj, {})()", "Dangerous import: dis"),
        (
            "import mailcap\nmailcap.findmatch({'a/b': [{'view': '', 'test': 'touch x'}]}, 'a/b')",
            "Dangerous import: mailcap",
        ),
        ("import pipes\npipes.Template()", "Dangerous import: pipes"),
        (
            "import imaplib\nimaplib.IMAP4_stream('touch x')",
            "Dangerous call: imaplib.IMAP4_stream()",
        ),
        ("import yaml\nyaml.unsafe_load(x)", "Dangerous call: yaml.unsafe_load()"),
        (
            "import logging\nlogging.config.dictConfig(x)",
            "Dangerous call: logging.config.dictConfig()",
        ),
        ("import http.server", "Dangerous import: http.server"),
        ("from http import server", "Dangerous import: from http"),
        ("import xmlrpc.server", "Dangerous import: xmlrpc.server"),
        ("import asyncio.subprocess", "Dangerous import: asyncio.subprocess"),
        ("from asyncio.subprocess import Process", "Dangerous import: from asyncio.subprocess"),
        ("import asyncio\nasyncio.start_server(f, '::')", "Dangerous call: asyncio.start_server()"),
        (
            "from concurrent.futures import ProcessPoolExecutor",
            "Dangerous import: from concurrent.futures",
        ),
        (
            "import concurrent.futures as c\nc.ProcessPoolExecutor()",
            "Dangerous call: c.ProcessPoolExecutor()",
        ),
    ],
)
def test_calls_of_the_standard_library_that_run_text_or_programs_are_refused(
    code: str, expected: str
) -> None:  # CO-15
    assert expected == reason(code)


DOORS = (
    "test webbrowser inspect pydoc timeit trace bdb pdb cProfile profile doctest unittest codeop imp pkgutil zipimport venv ensurepip "
    "site distutils setuptools pip cffi mmap fcntl resource socketserver antigravity rlcompleter py_compile lib2to3"
)


@pytest.mark.parametrize("module", DOORS.split())
def test_a_module_that_runs_installs_or_listens_is_refused(module: str) -> None:  # CO-15
    assert f"Dangerous import: {module}" == reason(f"import {module}")
    assert f"Dangerous import: from {module}" == reason(f"from {module} import x")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import _thread", "Dangerous import: _thread"),
        ("import email._policybase as p", "Dangerous import: email._policybase"),
        ("import __main__", "Dangerous import: __main__"),
        ("from _thread import allocate_lock", "Dangerous import: from _thread"),
        ("from email._policybase import x", "Dangerous import: from email._policybase"),
        ("from uuid import _hidden", "Dangerous import: from uuid"),
        ("from . import _hidden", "Dangerous import: from ."),
        ("from uuid import __hidden", "Dangerous import: from uuid"),
        ("from uuid import hidden, _X", "Dangerous import: from uuid"),
        ("from uuid import _hidden__", "Dangerous import: from uuid"),
        ("from http.client import socket as s", "Dangerous import: from http.client"),
        ("from json import __main__", "Dangerous import: from json"),
        ("import uuid\nx = uuid._hidden", "Dangerous reflection attribute: ._hidden"),
        (
            "import uuid\ndef _hidden(): ...\nx = uuid._hidden",
            "Dangerous reflection attribute: ._hidden",
        ),
        (
            "import uuid\ndef _hidden(): ...\nu = uuid\nv = u\nx = v._hidden",
            "Dangerous reflection attribute: ._hidden",
        ),
        ("import uuid as u\nx = [u][0]._hidden", "Dangerous reflection attribute: ._hidden"),
        (
            "import uuid\nmatch uuid:\n    case object(_hidden=x): ...",
            "Dangerous reflection attribute: ._hidden",
        ),
        (
            "import dataclasses\ndataclasses.inspect.signature(f)",
            "Dangerous reflection attribute: .inspect",
        ),
        (
            "import asyncio\nt = asyncio.tasks\nt.inspect",
            "Dangerous reflection attribute: .inspect",
        ),
        ("from asyncio import tasks\ntasks.inspect", "Dangerous reflection attribute: .inspect"),
        ("from asyncio import tasks as t\nt.inspect", "Dangerous reflection attribute: .inspect"),
        ("from email.mime import base\nbase.inspect", "Dangerous reflection attribute: .inspect"),
        ("from dataclasses import inspect", "Dangerous import: from dataclasses"),
        (
            "import http.client\nhttp.client.socket.create_connection(x)",
            "Dangerous reflection attribute: .socket",
        ),
        ("from fnmatch import *\nx = inspect", "Dangerous reflection name: inspect"),
    ],
)
def test_the_inside_of_another_module_is_refused(code: str, expected: str) -> None:  # CO-15
    assert expected == reason(code)


@pytest.mark.parametrize(
    "code",
    [
        "import marshal\ntype(lambda: 0)(marshal.loads(b''), {})()",
        "import pickle\npickle.loads(b'')",
        "from pickle import loads",
        "import logging.handlers\nlogging.handlers.pickle",
    ],
)
def test_code_that_comes_out_of_data_passes_the_plain_gate_but_is_not_admitted(
    code: str,
) -> None:  # CO-14
    assert "" == reason(code)
    assert admit("a.py", code.encode(), CodeManifest({})).code is None


@pytest.mark.parametrize(
    "code",
    [
        "import os.path\nos.path.join('a', 'b')",
        "import os.path as p\np.join('a', 'b')",
        "from os.path import join",
        "import sys\nprint('x', file=sys.stderr)",
        "import json as j\nx = j",
        "socket = 1\nprint(socket)",
        "dir = 'a'\nprint(dir)",
        "def f(dir, vars):\n    return dir + vars",
        "def f():\n    vars = {}\n    return [vars for _ in vars]",
        "def f(help):\n    def g():\n        return help\n    return g",
        "code = 'a'\ncode.strip()",
        "profile = {}\nprofile.get('a')",
        "import re\nre.compile('a')",
        "model.eval()",
        "for code in codes:\n    print(code, response.code)",
        "from scipy import signal",
        "import numpy as np\nnp.trace(m)",
        "from sqlalchemy import inspect",
        "from __future__ import annotations",
        "from gettext import gettext as _\nprint(_('a'))",
        "from words import _\nprint(_('a'))",
        "from .asyncio import tasks\nprint(tasks.inspect)",
        "def f(_b, other):\n    return other._b",
        "import json\nprint(json.__doc__, json.__name__)",
        "class A:\n    _b = 1\n    def _c(self):\n        self._d = self._b\n        return self._c() + self._d",
        "from collections import namedtuple\nP = namedtuple('P', 'a')\np = P(1)\np._replace(a=2)._asdict()",
        "import xmlrpc.client, http.client, wsgiref.util",
        "import atexit\natexit.register(f)",
        "from math import *\ntest = 1\nprint(test, profile_of(test))",
        "for m in model.modules(): ...",
        "'{0.name}'.format(x)",
        "x = '__class__ is a word here'",
        "import asyncio\nasyncio.run(main())",
        "text.replace('a', 'b')",
        "class A:\n    def __init__(self): ...\n    def __repr__(self): return ''",
        "",
    ],
)
def test_plain_code_passes(code: str) -> None:
    assert "" == reason(code)


# --- bytes


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"x = '\xff'", "Not UTF-8: byte 5"),
        (b"# -*- coding: latin-1 -*-\nx = 1", "Not UTF-8: declares latin-1"),
        (b"#!/usr/bin/env python\n# coding=utf-7\nx = 1", "Not UTF-8: declares utf-7"),
        (b"#!x\r# vim: set fileencoding=rot13 :\rx = 1", "Not UTF-8: declares rot13"),
        (b"\xef\xbb\xbf# coding: cp1252\nx = 1", "Not UTF-8: declares cp1252"),
        (b"x = 1\n" * (MAX_CODE_BYTES // 6 + 1), f"Too large: more than {MAX_CODE_BYTES} bytes"),
    ],
)
def test_bytes_that_are_not_plain_utf8_are_refused(data: bytes, expected: str) -> None:  # CO-10
    refusal = refusal_of(data)

    assert refusal is not None
    assert expected == refusal.reason


def test_code_may_be_as_long_as_the_limit() -> None:
    assert refusal_of(b"x = 1\n".ljust(MAX_CODE_BYTES)) is None


def test_the_gate_is_plain_unless_it_is_told_to_be_strict() -> None:  # CO-14
    assert refusal_of(b"import pickle\n") is None


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: utf-8\nx = 1",
        b"# -*- coding: UTF-8 -*-\n",
        b"\xef\xbb\xbfx = 1",
        "x = 'ä'".encode(),
        b"\n\n# coding: latin-1\n",
    ],
)
def test_utf8_passes_also_when_it_says_so(data: bytes) -> None:  # CO-10
    assert refusal_of(data) is None


@pytest.mark.parametrize(
    "code",
    [
        "-" * 100_000 + "1",
        "(" * 1000,
        "x" + ".a" * 50_000,
        "x = " + "9" * 10_000,
        "if a: pass\n" + "elif b: pass\n" * 20_000,
    ],
)
def test_code_that_breaks_the_parser_is_refused(code: str) -> None:  # CO-10
    assert reason(code).startswith("Syntax error: ")


# --- admission


def test_content_that_is_trusted_under_its_name_skips_the_gate() -> None:  # CO-7, CO-10
    admission = admit("a.py", BAD, CodeManifest({"a.py": sha256_of(BAD)}))

    assert Admission("a.py", sha256_of(BAD), BAD, "trusted") == admission


def test_trusted_content_under_another_name_is_not_trusted() -> None:  # CO-7
    admission = admit("b.py", BAD, CodeManifest({"a.py": sha256_of(BAD)}))

    assert admission.code is None
    assert "Dangerous import: os" == admission.reason
    assert (1, sha256_of(BAD)) == (admission.line, admission.sha256)


def test_other_content_under_a_trusted_name_is_refused_even_when_harmless() -> None:  # CO-7
    admission = admit("a.py", FINE, CodeManifest({"a.py": sha256_of(BAD)}))

    assert (
        Admission("a.py", sha256_of(FINE), None, "hash_mismatch", advice="quarantine") == admission
    )


def test_what_is_not_in_the_manifest_passes_by_the_gate() -> None:  # CO-10
    assert Admission("a.py", sha256_of(FINE), FINE, "gate_passed") == admit(
        "a.py", FINE, CodeManifest({})
    )


def test_a_broken_manifest_sends_everything_to_the_gate() -> None:  # CO-7
    manifest = parse_manifest(b"{")

    assert "gate_passed" == admit("a.py", FINE, manifest).reason
    assert "Dangerous import: os" == admit("b.py", BAD, manifest).reason


def test_what_nobody_vouches_for_is_held_to_more() -> None:  # CO-14
    code = b"import pickle\n"

    assert "Dangerous import: pickle" == admit("a.py", code, CodeManifest({})).reason
    assert "trusted" == admit("a.py", code, CodeManifest({"a.py": sha256_of(code)})).reason


def test_strictness_reaches_the_gate() -> None:  # CO-14
    code = b"import pickle\n"

    assert "gate_passed" == admit("a.py", code, CodeManifest({}), strict=False).reason
    assert "Dangerous import: pickle" == admit("a.py", code, CodeManifest({}), strict=True).reason


def test_the_judged_bytes_are_the_compiled_bytes() -> None:  # CO-10
    admission = admit("a.py", b"answer = 42\n", CodeManifest({}))
    space: dict[str, object] = {}

    exec(compile_admitted(admission, "/skills/a.py"), space)  # noqa: S102  # the very thing that is tested

    assert 42 == space["answer"]
    assert "/skills/a.py" == compile_admitted(admission, "/skills/a.py").co_filename


def test_code_is_compiled_under_its_own_future_and_not_under_metier_s() -> None:
    code = compile_admitted(admit("a.py", b"x: int = 1\n", CodeManifest({})), "a.py")

    assert 0 == code.co_flags & __future__.annotations.compiler_flag


@pytest.mark.parametrize("name", ["a.py", "b.py"])
def test_refused_code_cannot_be_compiled(name: str) -> None:  # CO-10
    admission = admit(name, BAD, CodeManifest({"b.py": sha256_of(FINE)}))

    with pytest.raises(RefusedError) as caught:
        compile_admitted(admission, name)

    assert f"{name} can't be loaded: {admission.reason}" == caught.value.message
    assert "skill-load-blocked" == caught.value.code
    assert "Approve its content, or remove it." == caught.value.hint


def test_bytes_that_were_swapped_after_the_decision_cannot_be_compiled() -> None:  # CO-10
    admission = admit("a.py", FINE, CodeManifest({}))._replace(code=BAD)

    with pytest.raises(RefusedError):
        compile_admitted(admission, "a.py")


def test_trusted_code_that_does_not_compile_is_a_refusal_and_no_crash() -> None:
    code = b"def f(:"
    admission = admit("a.py", code, CodeManifest({"a.py": sha256_of(code)}))

    with pytest.raises(RefusedError) as caught:
        compile_admitted(admission, "a.py")

    assert "skill-load-blocked" == caught.value.code
    assert caught.value.message.startswith("a.py cannot be compiled: ")


PIECES = st.sampled_from(
    [
        "import os",
        "import json",
        "\n",
        "eval",
        "(",
        ")",
        "x",
        "=",
        "1",
        ".__class__",
        "'",
        "\\",
        "\0",
        "\ud800",
        "# coding: utf-7\n",
        "ä",
        " ",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_the_gate_never_raises_and_what_passes_compiles(code: str) -> None:
    data = code.encode("utf-8", "surrogatepass")

    admission = admit("a.py", data, CodeManifest({}))

    assert (admission.code is None) == (refusal_of(data, strict=True) is not None)
