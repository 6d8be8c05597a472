"""How sources are named: every spelling, the one that is remembered, and what is refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from metier.errors import AmbiguousError, MetierError, UsageError
from metier.supply.model import Origin, Request
from metier.supply.sources import source_name
from metier.trust.model import level_of_source

HERE = {
    "/p/folder": "folder",
    "/p/skill.zip": "file",
    "/p/x.tar.gz": "file",
    "/p/notes.txt": "file",
    "/p/owner/repo": "folder",
    "/h/own": "folder",
    "/p/folder/SKILL.md": "file",
    "/abs": "folder",
    "/p/odd#name": "folder",
    "/p/pipe": "other",
}
HASH = "0123456789abcdef0123456789abcdef01234567"


def parse(said: str, **more: str) -> Request:
    return source_name.parse(
        said,
        cwd="/p",
        home="/h",
        kind_of=HERE.get,
        ref=more.get("ref", ""),
        taps=("team=o/r", "anthropics/skills", "two=a/b", "two=c/d"),
    )


@pytest.mark.parametrize(
    ("said", "kind", "location", "ref", "path"),
    [
        ("o/r", "git", "https://github.com/o/r", "", ""),
        ("  o/r ", "git", "https://github.com/o/r", "", ""),
        ("o/r.git", "git", "https://github.com/o/r", "", ""),
        ("o/r/sub/path", "git", "https://github.com/o/r", "", "sub/path"),
        ("o/r/sub/path/", "git", "https://github.com/o/r", "", "sub/path"),
        ("o/r#v1.2", "git", "https://github.com/o/r", "v1.2", ""),
        ("o/r#feature/x:skills/pdf", "git", "https://github.com/o/r", "feature/x", "skills/pdf"),
        ("o/r#:skills/pdf", "git", "https://github.com/o/r", "", "skills/pdf"),
        (f"o/r#{HASH}", "git", "https://github.com/o/r", HASH, ""),
        ("o/r#pull/12/head", "git", "https://github.com/o/r", "pull/12/head", ""),
        ("github:o/r#main:a", "git", "https://github.com/o/r", "main", "a"),
        ("https://github.com/o/r", "git", "https://github.com/o/r", "", ""),
        ("https://github.com/o/r/tree/main", "git", "https://github.com/o/r", "main", ""),
        (
            "https://github.com/o/r/tree/main/skills/pdf",
            "git",
            "https://github.com/o/r",
            "main",
            "skills/pdf",
        ),
        (
            "https://github.com/o/r/blob/main/skills/pdf/SKILL.md",
            "git",
            "https://github.com/o/r",
            "main",
            "skills/pdf",
        ),
        ("https://github.com/o/r/raw/main/SKILL.md", "git", "https://github.com/o/r", "main", ""),
        (
            "https://gitlab.com/g/sub/r/-/tree/main/a",
            "git",
            "https://gitlab.com/g/sub/r",
            "main",
            "a",
        ),
        ("https://gitlab.com/g/r", "git", "https://gitlab.com/g/r", "", ""),
        ("https://skills.sh/o/r", "git", "https://github.com/o/r", "", ""),
        (
            "https://HOST.example:443/x.git#ref:path",
            "git",
            "https://host.example/x.git",
            "ref",
            "path",
        ),
        ("git+https://host/x", "git", "https://host/x", "", ""),
        ("git+file:///abs", "git", "file:///abs", "", ""),
        ("ssh://git@h/x", "git", "ssh://git@h/x", "", ""),
        ("git@h:x.git#a:b", "git", "git@h:x.git", "a", "b"),
        ("http://127.0.0.1:8080/x.git", "git", "http://127.0.0.1:8080/x.git", "", ""),
        ("file:///abs#main", "git", "file:///abs", "main", ""),
        ("./folder#main:a", "git", "file:///p/folder", "main", "a"),
        ("file:///abs", "folder", "/abs", "", ""),
        ("./folder", "folder", "/p/folder", "", ""),
        ("folder", "folder", "/p/folder", "", ""),
        ("folder/", "folder", "/p/folder", "", ""),
        ("odd#name", "folder", "/p/odd#name", "", ""),
        ("owner/repo", "folder", "/p/owner/repo", "", ""),
        ("~/own", "folder", "/h/own", "", ""),
        ("./folder/SKILL.md", "folder", "/p/folder", "", ""),
        ("skill.zip", "archive", "/p/skill.zip", "", ""),
        ("./x.tar.gz", "archive", "/p/x.tar.gz", "", ""),
        ("https://e.com/a.tar.zst", "archive", "https://e.com/a.tar.zst", "", ""),
        ("https://e.com/a.zip?v=2", "archive", "https://e.com/a.zip?v=2", "", ""),
        ("https://e.com/pdf/SKILL.md", "file", "https://e.com/pdf/SKILL.md", "", ""),
        ("https://example.com", "well-known", "https://example.com", "", ""),
        ("https://example.com/team/", "well-known", "https://example.com/team", "", ""),
        ("marketplace:o/r#v1", "marketplace", "https://github.com/o/r", "v1", ""),
        ("marketplace:./folder", "marketplace", "/p/folder", "", ""),
        ("clawhub:pdf", "clawhub", "https://clawhub.ai/pdf", "", ""),
        ("clawhub:pdf@1.2.0", "clawhub", "https://clawhub.ai/pdf", "1.2.0", ""),
        ("clawhub:https://reg.example/pdf@1", "clawhub", "https://reg.example/pdf", "1", ""),
        ("tap:team", "git", "https://github.com/o/r", "", ""),
        ("tap:skills", "git", "https://github.com/anthropics/skills", "", ""),
    ],
)
def test_a_source_is_taken_apart(said: str, kind: str, location: str, ref: str, path: str) -> None:
    found = parse(said)

    assert (kind, location, ref, path, said) == found


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("", "usage"),
        ("   ", "usage"),
        ("nothing", "unknown-source"),
        ("nope/", "unknown-source"),
        ("a/b\\c", "unknown-source"),
        ("../gone", "usage"),
        ("./gone.zip", "usage"),
        ("notes.txt", "usage"),
        ("pipe", "usage"),
        ("~other/x", "usage"),
        ("-x", "unsafe-option"),
        ("--upload-pack=touch x", "unsafe-option"),
        ("o/r#--upload-pack=x", "unsafe-ref"),
        ("o/r#a..b", "unsafe-ref"),
        ("o/r#x.lock", "unsafe-ref"),
        ("o/r#@{-1}", "unsafe-ref"),
        ("o/r#main:../x", "unsafe-path"),
        ("o/r#main:/etc", "unsafe-path"),
        ("o/r#main:-x", "unsafe-path"),
        ("o/r#main:a\\..\\b", "unsafe-path"),
        ("ext::sh -c touch% x", "unsafe-transport"),
        ("fd::17/foo", "unsafe-transport"),
        ("git+ext::sh", "unsafe-transport"),
        ("git+ftp://h/x", "unsafe-transport"),
        ("git://h/x.git", "unsafe-transport"),
        ("ftp://h/x.zip", "unsafe-transport"),
        ("https://-oProxyCommand=x/y.git", "malformed"),
        ("ssh://-oProxyCommand=x/y", "malformed"),
        ("https:///x.git", "malformed"),
        ("https://h:99999/x.git", "malformed"),
        ("https://h:x/x.git", "malformed"),
        ("https://h%2f/x.git", "malformed"),
        ("https://user:token@h/x.git", "credentials"),
        ("https://token@h/x.git", "credentials"),
        ("ssh://git:pw@h/x", "credentials"),
        ("https://h/x.zip?access_token=abc", "credentials"),
        ("marketplace:https://u:p@h/x.git", "credentials"),
        ("clawhub:https://u:p@h/x", "credentials"),
        ("https://h/a/../b.git", "unsafe-path"),
        ("git@h:../x", "unsafe-path"),
        ("a\nb/c", "unsafe-path"),
        ("o/r\x00", "unsafe-path"),
        ("o/r\u202e", "unsafe-path"),
        ("x" * 3000, "malformed"),
        ("https://github.com/o", "usage"),
        ("git@github.com:o", "usage"),
        ("https://github.com/o/r/x.git", "usage"),
        ("https://skills.sh/o/r/pdf", "usage"),
        ("https://e.com#main", "usage"),
        ("https://e.com/?q=1", "usage"),
        ("marketplace:https://e.com", "usage"),
        ("marketplace:skill.zip", "usage"),
        ("clawhub:", "usage"),
        ("clawhub:../x", "usage"),
        ("tap:nobody", "usage"),
        ("o/r/a#main:b", "usage"),
        ("o/r@v1", "usage"),
    ],
)
def test_what_is_no_source_is_refused_with_a_code(said: str, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(said)

    assert code == caught.value.code
    assert caught.value.hint


@pytest.mark.parametrize(
    "said",
    [
        "https://user:hunter2@h/x.git",
        "https:/user:hunter2@h/x",
        "user:hunter2@h/x",
        "hunter2@h",
        "https//x:hunter2@h/y.git",
        "ftp://u:hunter2@h/",
        "https://h/x.zip?key=hunter2",
    ],
)
def test_a_secret_is_never_repeated(said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(said)

    assert "hunter2" not in f"{caught.value.as_dict()}"


def test_without_a_home_folder_a_tilde_means_nothing() -> None:
    with pytest.raises(UsageError) as caught:
        source_name.parse("~/x", cwd="/p", home=None, kind_of=HERE.get)

    assert "home" in caught.value.message


def test_a_ref_may_be_given_apart() -> None:
    found = [parse("o/r", ref="v2"), parse("o/r#v2", ref="v2"), parse("./folder", ref="main")]

    assert [
        ("https://github.com/o/r", "v2"),
        ("https://github.com/o/r", "v2"),
        ("file:///p/folder", "main"),
    ] == [one[1:3] for one in found]


@pytest.mark.parametrize("ref", ["other", "--upload-pack=x"])
def test_a_second_ref_or_a_bad_one_is_refused(ref: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse("o/r#main" if ref == "other" else "o/r", ref=ref)

    assert caught.value.code in {"usage", "unsafe-ref"}


@pytest.mark.parametrize(
    "said",
    [
        "o/r",
        "o/r.git",
        "o/r#v1",
        "github:o/r",
        "https://github.com/o/r",
        "https://github.com/o/r/",
        "https://github.com/o/r.git",
        "https://www.github.com/o/r",
        "https://GitHub.com/o/r",
        "git@github.com:o/r.git",
        "git@github.com:o/r",
        "ssh://git@github.com/o/r.git",
        "ssh://git@github.com/o/r",
        "git+https://github.com/o/r",
        "https://github.com/o/r/tree/main/a",
        "marketplace:o/r",
        "https://skills.sh/o/r",
    ],
)
def test_every_spelling_of_one_repository_is_one_source(said: str) -> None:
    found = source_name.canonical(parse(said))

    assert "https://github.com/o/r" == found


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("https://host/x.git/", "https://host/x.git"),
        ("git@H.example:x.git", "git@h.example:x.git"),
        ("ssh://git@h:22/x", "ssh://git@h/x"),
        ("ssh://git@h:2222/x", "ssh://git@h:2222/x"),
        ("git+file:///abs/", "file:///abs"),
        ("./folder", "/p/folder"),
        ("clawhub:pdf", "clawhub:https://clawhub.ai/pdf"),
        ("https://example.com/", "https://example.com"),
        (
            "https://github.com/o/r/releases/download/v1/x.zip",
            "archive:https://github.com/o/r/releases/download/v1/x.zip",
        ),
    ],
)
def test_other_sources_have_one_spelling_too_and_it_leads_back(said: str, source: str) -> None:
    request = parse(said)

    found = source_name.canonical(request)

    assert source == found
    again = source_name.request_of(request.kind, found, request.ref, request.path)
    assert (request.kind, found) == (again.kind, source_name.canonical(again))


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("anthropics/skills", "trusted"),
        ("git@github.com:anthropics/skills.git", "trusted"),
        ("https://github.com/openai/skills/tree/main/a", "trusted"),
        ("anthropics/skills-evil", "community"),
        ("evil/skills", "community"),
        ("https://github.com.evil.example/anthropics/skills.git", "community"),
        ("https://evil.example/anthropics/skills.git", "community"),
        ("https://github.com/anthropics/skills/files/1/x.zip", "community"),
        ("https://github.com/anthropics/skills/archive/abc.zip", "community"),
        ("clawhub:anthropics", "community"),
        ("git+file:///anthropics/skills", "community"),
        ("git@evil.example:anthropics/skills", "community"),
    ],
)
def test_only_the_repository_itself_earns_its_trust(said: str, level: str) -> None:
    found = level_of_source(source_name.canonical(parse(said)))

    assert level == found


@pytest.mark.parametrize(
    "source", ["https://github.com/anthropics/skills", "https://git.corp.example/team/skills"]
)
def test_a_commit_that_the_source_did_not_put_there_earns_no_trust_of_it(source: str) -> None:
    found = source_name.unvouched(Origin("git", source, HASH, HASH))

    assert ("trusted", "community") == tuple(
        level_of_source(one, ("anthropics/skills", "https://git.corp.example/team/skills"))
        for one in (source, found.source)
    )


@pytest.mark.parametrize(
    ("kind", "source", "ref", "path"),
    [
        ("git", "--upload-pack=x", "", ""),
        ("git", "ext::sh -c x", "", ""),
        ("git", "https://u:p@h/x.git", "", ""),
        ("git", "https://h/x", "--x", ""),
        ("git", "https://h/x", "", "../../etc"),
        ("git", "ssh://-oProxyCommand=x/y", "", ""),
        ("git", "git@h:-x", "", ""),
        ("file", "https://h/../x.md", "", ""),
        ("clawhub", "clawhub:..", "", ""),
        ("git", "", "", ""),
        ("git", "https://github.com/o/r/pull/1", "", ""),
    ],
)
def test_what_a_lock_says_is_checked_as_well(kind: str, source: str, ref: str, path: str) -> None:
    with pytest.raises(UsageError) as caught:
        source_name.request_of(kind, source, ref, path)  # type: ignore[arg-type]

    assert caught.value.code


@pytest.mark.parametrize(
    ("said", "hosts"),
    [
        ("o/r", ("github.com",)),
        ("https://h:8443/x.git", ("h:8443",)),
        ("git@h:x.git", ("h",)),
        ("./folder", ()),
        ("git+file:///abs", ()),
        ("https://E.com", ("e.com",)),
    ],
)
def test_a_request_tells_its_hosts(said: str, hosts: tuple[str, ...]) -> None:
    found = source_name.hosts_of(parse(said))

    assert hosts == found


def test_a_tap_of_several_repositories_lists_them() -> None:
    with pytest.raises(AmbiguousError) as caught:
        parse("tap:two")

    assert ["a/b", "c/d"] == caught.value.details["candidates"]


@pytest.mark.parametrize(
    ("tap", "source"),
    [("team=o/r", "o/r"), ("o/r", "o/r"), ("https://h/x.git?a=b", "https://h/x.git?a=b")],
)
def test_a_tap_is_a_source_with_or_without_a_name(tap: str, source: str) -> None:
    found = source_name.tap_source(tap)

    assert source == found


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("pdf", True),
        ("office:pdf", True),
        ("o/r", False),
        ("./x", False),
        ("https://x", False),
        ("", False),
    ],
)
def test_a_plain_name_is_told_from_a_source(said: str, plain: bool) -> None:
    found = source_name.is_plain_name(said)

    assert plain is found


@given(
    text=st.one_of(st.text(), st.text("o/r#:@.-~+gith\\ \x00\udcffhttps", max_size=40)),
    ref=st.text(max_size=8),
)
def test_whatever_somebody_writes_is_a_request_or_an_error_of_ours(text: str, ref: str) -> None:
    request = None
    with suppress(MetierError):
        request = source_name.parse(text, cwd="/p", home="/h", ref=ref, kind_of=HERE.get)

    again = (
        source_name.request_of(
            request.kind, source_name.canonical(request), request.ref, request.path
        )
        if request
        else None
    )
    assert (request and source_name.canonical(request)) == (again and source_name.canonical(again))


@pytest.mark.parametrize(
    ("said", "there", "kind", "location"),
    [
        ("file:///r", {"/r": "folder", "/r/.git": "folder"}, "git", "file:///r"),
        ("/r", {"/r": "folder", "/r/.git": "folder"}, "folder", "/r"),
        (
            "/r.git",
            {
                "/r.git": "folder",
                "/r.git/HEAD": "file",
                "/r.git/objects": "folder",
                "/r.git/refs": "folder",
            },
            "git",
            "file:///r.git",
        ),
        ("file:///r", {"/r": "folder"}, "folder", "/r"),
    ],
)
def test_a_folder_is_read_as_files_and_a_repository_through_git(
    said: str, there: dict[str, str], kind: str, location: str
) -> None:
    request = source_name.parse(said, cwd="/p", home=None, kind_of=there.get)

    assert (kind, location) == (request.kind, request.location)


@pytest.mark.parametrize("folder", ["/tmp/c#", "/tmp/c#/skills", "/tmp/what?/x", "/tmp/a b"])
def test_a_folder_may_be_called_anything_and_the_lock_leads_back_to_it(folder: str) -> None:
    request = source_name.parse(
        folder,
        cwd="/",
        home=None,
        ref="main",
        kind_of=lambda path: "folder" if path == folder else None,
    )

    again = source_name.request_of("git", source_name.canonical(request), "main", "")

    assert (f"file://{folder}", f"file://{folder}") == (request.location, again.location)


@pytest.mark.parametrize("kind", ["folder", "archive", "bundled"])
@pytest.mark.parametrize("source", ["anthropics/skills", "metier:shipped", "skills"])
def test_a_lock_cannot_call_a_folder_as_a_trusted_source_is_called(kind: str, source: str) -> None:
    with pytest.raises(UsageError):
        source_name.request_of(kind, source, "", "")  # type: ignore[arg-type]


def test_a_lock_cannot_call_a_folder_by_an_address() -> None:
    with pytest.raises(UsageError):
        source_name.request_of("folder", "https://github.com/anthropics/skills", "", "")
