"""What a file is: its content decides, and a name that promises something else is told."""

from __future__ import annotations

import pytest

from metier.scan.languages.kinds import decoded, kind_of, mismatch

SHELL = b'set -e\nif [ -f x ]; then\n  echo "hi"\nfi\ncurl -s https://host.example/a\n'
PYTHON = b"import os\nfrom sys import argv\n\ndef main():\n    print(argv)\n"
NOISE = bytes((at * 197 + 91) % 256 for at in range(400))


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("SKILL.md", b"---\nname: x\n---\n# Title\n", "markdown"),
        ("SKILL.md", b"# Title\n\nWords.\n\n```python\nimport os\n```\n", "markdown"),
        ("notes.md", b"#!/bin/bash\necho hi\n", "shell"),
        ("logo.png", b"#!/usr/bin/env bash\necho hi\n", "shell"),
        ("logo.png", SHELL, "shell"),
        ("logo.png", b"\x89PNG\r\n\x1a\n" + NOISE, "image"),
        ("a.txt", PYTHON, "python"),
        (
            "a.txt",
            b"const x = require('fs');\nfunction go() {\n  console.log(x);\n}\n",
            "javascript",
        ),
        ("a.txt", b"param(\n  [string]$a\n)\n$x = 1\nWrite-Host $x\n", "powershell"),
        ("a.txt", b"Dear reader,\nimport duties are due.\nFrom here on all is well.\n", "text"),
        ("a.txt", b'{"a": 1}\n', "json"),
        ("a.py", b"x = 1\n", "python"),
        ("a.py", SHELL, "shell"),
        ("a.ts", b"#!/usr/bin/env node\nlet x = 1\n", "typescript"),
        ("a", b"#!/usr/bin/env -S uv run --script\nx = 1\n", "python"),
        ("a", b"#!/usr/bin/env python3.11\nx = 1\n", "python"),
        ("a", b'#!/usr/bin/osascript\ndisplay dialog "x"\n', "applescript"),
        ("a", b"#!/usr/bin/perl -w\n", "perl"),
        ("a.bat", b"@echo off\r\ngoto x\r\n", "batch"),
        ("a", b"<?php echo 1;", "php"),
        ("a.svg", b"<?xml version='1.0'?>\n<svg></svg>", "svg"),
        ("a", b"<!DOCTYPE html><html></html>", "html"),
        ("a.xml", b"<?xml version='1.0'?><a/>", "xml"),
        ("a.json", b"{}", "json"),
        ("a.yml", b'run: |\n  set -e\n  echo "a"\n  echo "b"\n', "yaml"),
        ("a.toml", b"[a]\nb = 1\n", "toml"),
        ("a.css", b".a { color: red }", "css"),
        ("a.csv", b"a,b\n1,2\n", "csv"),
        ("LICENSE", b"Words.\n", "text"),
        ("a.rb", b"puts 'x'\n", "ruby"),
        ("a.lua", b"local x = 1\n", "lua"),
        ("Dockerfile", b"FROM x\nRUN y\n", "shell"),
        ("a", b"\x7fELF" + NOISE, "executable"),
        ("a.jpg", b"MZ\x90\x00" + NOISE, "executable"),
        ("a", b"\x00asm\x01\x00\x00\x00", "executable"),
        ("a", b"\xca\xfe\xba\xbe\x00\x00", "executable"),
        ("a", b"dex\n035\x00", "executable"),
        ("a", b"\xcf\xfa\xed\xfe", "executable"),
        ("a", b"\x1f\x8b\x08\x00", "archive"),
        ("a.png", b"PK\x03\x04" + NOISE, "archive"),
        ("a", bytes(257) + b"ustar\x00", "archive"),
        ("a.docx", b"PK\x03\x04....[Content_Types].xml" + NOISE, "document"),
        ("a", b"%PDF-1.7\n", "pdf"),
        ("a", b"wOF2" + NOISE, "font"),
        ("a", b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image"),
        ("a", b"RIFF\x00\x00\x00\x00WAVEfmt ", "media"),
        ("a", b"\x00\x00\x00\x18ftypmp42", "media"),
        ("a", b"SQLite format 3\x00", "sqlite"),
        ("a.pyc", b"\xa7\r\r\n\x00\x00\x00\x00" + NOISE, "bytecode"),
        ("a", b"\x80\x04\x95\x01\x00.", "bytecode"),
        ("a.bin", NOISE, "unknown"),
        ("a.md", NOISE, "unknown"),
        ("a", b"a\x00b\x00\x00\x00cdef", "unknown"),
        ("a.txt", "words of old: caf\u00e9\n".encode("latin-1"), "text"),
        ("a.ps1", "Write-Host 'x'\r\n".encode("utf-16"), "powershell"),
        ("", b"", "text"),
    ],
)
def test_the_content_says_what_a_file_is(path: str, data: bytes, kind: str) -> None:
    assert kind == kind_of(path, data)


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("logo.png", "shell", True),
        ("a/b.woff2", "archive", True),
        ("notes.txt", "python", True),
        ("SKILL.md", "shell", True),
        ("data.json", "executable", True),
        ("logo.PNG", "image", False),
        ("run.sh", "shell", False),
        ("run.sh", "python", False),
        ("a.docx", "document", False),
        ("a.txt", "json", False),
        ("noname", "python", False),
        ("a.zip", "archive", False),
    ],
)
def test_a_harmless_name_on_code_is_a_mismatch(path: str, kind: str, expected: bool) -> None:
    assert expected == mismatch(path, kind)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"plain", ("plain", "")),
        (b"\xef\xbb\xbfplain", ("plain", "")),
        ("caf\u00e9".encode(), ("caf\u00e9", "")),
        ("wide".encode("utf-16"), ("wide", "")),
        ("wide text".encode("utf-16-le"), ("wide text", "")),
        ("wide text".encode("utf-16-be"), ("wide text", "")),
        (b"caf\xe9", ("caf\u00e9", "not UTF-8")),
        (b"\xff\xfea", ("\ufffd", "not UTF-16-LE")),
        (b"", ("", "")),
    ],
)
def test_text_is_decoded_and_what_is_wrong_with_it_is_told(
    data: bytes, expected: tuple[str, str]
) -> None:
    assert expected == decoded(data)


def test_a_character_that_the_sample_cuts_in_two_is_no_fault() -> None:
    data = b"a" * (16 * 1024 - 1) + "\u00e9".encode() + b" more\n"

    assert "text" == kind_of("a.txt", data)
