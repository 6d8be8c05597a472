"""Plain settings of tools, and those that start something or lead somewhere else."""

from __future__ import annotations

import pytest

from metier.run.observe.signs import is_plain_setting

GIT = b"[user]\n\tname = Ada\n"


@pytest.mark.parametrize(
    ("path", "added"),
    [
        ("~/.gitconfig", b"[user]\n\temail = a@b.example\n"),
        ("~/.gitconfig", b"[alias]\n\tlg = log --oneline\n"),
        ("~/.gitconfig", b"[safe]\n\tdirectory = /repo\n"),
        ("~/.gitconfig", b"[core]\n\tautocrlf = input\n"),
        ("~/.gitconfig", b"[credential]\n\thelper = cache --timeout=3600\n"),
        ("~/.gitconfig", b'[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n'),
        ("~/.npmrc", b"//registry.npmjs.org/:_authToken=npm_x\nfund=false\n"),
        ("~/.npmrc", b"@acme:registry=https://npm.pkg.github.com\n"),
        (
            "~/.config/pip/pip.conf",
            b"[global]\ntimeout = 60\nindex-url = https://pypi.org/simple\n",
        ),
        (
            "~/.bashrc",
            b'\n# demo\nexport DEMO_HOME="$HOME/.demo"\nexport PATH="$HOME/.demo/bin:$PATH"\n',
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
        ("~/.ssh/rc", b"# x\n"),
        ("~/.bashrc", b""),
    ],
)
def test_a_setting_that_starts_something_or_leads_elsewhere_is_not(path: str, added: bytes) -> None:
    assert not is_plain_setting(path, GIT, GIT + added)
