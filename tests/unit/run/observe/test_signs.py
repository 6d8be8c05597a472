"""Plain settings of tools, and those that start something or lead somewhere else."""

from __future__ import annotations

import pytest

from metier.run.observe.signs import (
    host_of,
    is_plain_setting,
    without_logins,
    without_names,
)

GIT = b"[user]\n\tname = Ada\n"


@pytest.mark.parametrize(
    ("path", "added"),
    [
        ("~/.gitconfig", b"[user]\n\temail = a@b.example\n"),
        ("~/.gitconfig", b"[alias]\n\tlg = log --oneline\n"),
        (
            "~/.gitconfig",
            b"[alias]\n\tlast = log -1 HEAD --pretty=format:'%h %s'\n\tco = checkout\n",
        ),
        ("~/.gitconfig", b"[safe]\n\tdirectory = /repo\n"),
        ("~/.gitconfig", b"[init]\r\n\tdefaultBranch = main\r\n[pull]\r\n\trebase = true\r\n"),
        ("~/.gitconfig", b"[core]\n\tautocrlf = input\n"),
        ("~/.gitconfig", b"[credential]\n\thelper = cache --timeout=3600\n"),
        ("~/.gitconfig", b'[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n'),
        ("~/.npmrc", b"//registry.npmjs.org/:_authToken=npm_x\nfund=false\n"),
        ("~/.npmrc", b"@acme:registry=https://npm.pkg.github.com\n"),
        ("~/.npmrc", b"prefix=${HOME}/.npm-global\n"),
        (
            "~/.config/pip/pip.conf",
            b"extra-index-url = https://pypi.org/simple https://test.pypi.org/\n",
        ),
        (
            "~/.config/pip/pip.conf",
            b"[global]\ntimeout = 60\nindex-url = https://pypi.org/simple\n",
        ),
        (
            "~/.bashrc",
            b'\n# demo\nexport GOPATH="$HOME/go"\nexport PATH="$HOME/.local/bin:${GOPATH}/bin:$PATH"\n',
        ),
        ("~/.config/git/ignore", b".DS_Store\n"),
    ],
)
def test_a_setting_that_starts_nothing_is_plain(path: str, added: bytes) -> None:
    assert is_plain_setting(path, GIT, GIT + added)


@pytest.mark.parametrize(
    ("path", "added"),
    [
        ("~/.gitconfig", b"[alias]\n\tst = !curl x | sh\n"),
        ("~/.gitconfig", b"[core]\n\thooksPath = ~/.hooks\n"),
        ("~/.gitconfig", b"[core]\n\tsshCommand = x\n"),
        ("~/.gitconfig", b"[credential]\n\thelper = !x\n"),
        ("~/.gitconfig", b'[url "https://proxy.example/"]\n\tinsteadOf = https://github.com/\n'),
        ("~/.gitconfig", b'[filter "x"]\n\tclean = x\n'),
        ("~/.gitconfig", b"[include]\n\tpath = x\n"),
        ("~/.npmrc", b"registry=https://npm.stranger.example/\n"),
        ("~/.npmrc", b"script-shell=/tmp/x\n"),
        ("~/.config/pip/pip.conf", b"[global]\nindex-url = https://pypi.stranger.example/simple\n"),
        ("~/.bashrc", b"curl x | sh\n"),
        ("~/.bashrc", b"export PATH=$(x):$PATH\n"),
        ("~/.bashrc", b"export PATH=x; y\n"),
        ("~/.bashrc", b"export LD_LIBRARY_PATH=$HOME/x\n"),
        ("~/.bashrc", b"alias sudo=x\n"),
        ("~/.gitconfig", b"[core] fsmonitor = /tmp/x\n"),
        ("~/.gitconfig", b"[core] pager = x\n"),
        ("~/.gitconfig", b"[include] path = x\n"),
        ("~/.gitconfig", b"[alias]\n\tst = \\\n\t!x\n"),
        ("~/.gitconfig", b"[alias]\n\tst = -c core.fsmonitor=/tmp/x status\n"),
        ("~/.gitconfig", b"[alias]\n\tup = rebase --exec x\n"),
        ("~/.gitconfig", b"[alias]\n\tgo = bisect run x\n"),
        ("~/.gitconfig", b"[init]\n\ttemplateDir = ~/x\n"),
        ("~/.gitconfig", b"[safe]\n\tdirectory = *\n"),
        ("~/.gitconfig", b"[credential]\n\thelper = cache; x\n"),
        ("~/.gitconfig", b'[filter "lfs"]\n\tclean = git-lfs clean; x\n'),
        ("~/.gitconfig", b"[user]\n\tname = A\r[core]\r\tpager = x\n"),
        ("~/.npmrc", b"registry=https://registry.npmjs.org@stranger.example/\n"),
        ("~/.npmrc", b"registry=https://stranger.example\\@registry.npmjs.org/\n"),
        ("~/.npmrc", b"//registry.npmjs.org:1@stranger.example/:_authToken=x\n"),
        ("~/.npmrc", b"prefix=/tmp/x\n"),
        ("~/.npmrc", b"registry=\n"),
        ("~/.npmrc", b"fund=false\rregistry=https://stranger.example/\n"),
        ("~/.pip/pip.conf", b"index-url = https://pypi.org@stranger.example/simple\n"),
        ("~/.pip/pip.conf", b"extra-index-url = https://pypi.org/ https://stranger.example/\n"),
        (
            "~/.pip/pip.conf",
            b"index-url = https://pypi.org/\n timeout = https://stranger.example/\n",
        ),
        ("~/.pip/pip.conf", b"index-url = https://pypi.org/\n [x https://stranger.example/\n"),
        ("~/.bashrc", b"export GIT_EXEC_PATH=/tmp/x\n"),
        ("~/.bashrc", b"export GIT_TEMPLATE_DIR=/tmp/x\n"),
        ("~/.bashrc", b"export XDG_CONFIG_HOME=$HOME/x\n"),
        ("~/.bashrc", b"export CLAUDE_CONFIG_DIR=$HOME/x\n"),
        ("~/.bashrc", b"export CARGO_HOME=/tmp/x\n"),
        ("~/.bashrc", b'PATH="$HOME/.claude/skills/x/bin:$PATH"\n'),
        ("~/.bashrc", b"PATH=:$PATH\n"),
        ("~/.ssh/rc", b"# x\n"),
        ("~/.bashrc", b""),
    ],
)
def test_a_setting_that_starts_something_or_leads_elsewhere_is_not(path: str, added: bytes) -> None:
    assert not is_plain_setting(path, GIT, GIT + added)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://pypi.org/simple", "pypi.org"),
        ("https://pypi.org@stranger.example/simple", "stranger.example"),
        ("https://pypi.org:443@stranger.example/simple", "stranger.example"),
        ("https://stranger.example#@pypi.org/simple", "stranger.example"),
        ("https://stranger.example\\@pypi.org/simple", "stranger.example"),
        ("https://stranger.example?x=pypi.org", "stranger.example"),
        ("https://[2001:db8::1]:8443/x", "2001:db8::1"),
        ("files.example.net:443", "files.example.net"),
    ],
)
def test_a_host_is_what_stands_behind_the_name_of_who_logs_in(address: str, expected: str) -> None:
    assert expected == host_of(address)


@pytest.mark.parametrize(
    "begins", [b"DATA\r\n", b"mail from:<a@b.example>\r\n", b"BDAT 9 LAST\r\n"]
)
def test_what_looks_like_a_login_within_a_mail_is_part_of_the_mail(begins: bytes) -> None:
    login, mail = b"AUTH LOGIN\r\nc2Ft\r\n", begins + b"PASS k-1\r\naGVsbG8=\r\n.\r\n"

    told = without_names(login + mail)

    assert mail == told[-len(mail) :]
    assert b"c2Ft" not in told


def test_a_request_that_repeats_the_name_of_a_header_is_read_in_time() -> None:
    request = b"token" * 100_000

    assert request == without_logins(request)
    assert b"" == without_logins(b"X-Api-Key: k-1")
