from __future__ import annotations

import json

import pytest

from metier.errors import IntegrityError, MetierError
from metier.settings.tables import Supply
from metier.supply.wellknown import NEW, OLD, Offer, check_digest, commit_of, offers

DIGEST = "sha256:" + "a" * 64


def index(*skills: object) -> bytes:
    return json.dumps({"skills": skills}).encode()


def entry(**others: object) -> dict[str, object]:
    return {"name": "pdf", "type": "archive", "description": "Does.", "url": "pdf.zip", "digest": DIGEST, **others}


def test_an_index_with_digests_is_read() -> None:
    found = offers(index(entry(), entry(name="x", type="skill-md", url="/x.md")), NEW, Supply())

    assert (Offer("pdf", "Does.", "archive", "pdf.zip", "a" * 64), Offer("x", "Does.", "skill-md", "/x.md", "a" * 64)) == found


def test_the_older_index_is_read() -> None:
    found = offers(index({"name": "pdf", "description": "Does.", "files": ["SKILL.md", "./a//b.md"]}), OLD, Supply())

    assert (Offer("pdf", "Does.", "files", "", "", ("SKILL.md", "a/b.md")),) == found


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "malformed"), (b"[]", "malformed"), (b"\xff", "malformed"), (b"[" * 100_000, "malformed"), (b'{"skills": 1}', "malformed"),
        (index(1), "malformed"), (index({}), "malformed"), (index(entry(name=1)), "malformed"), (index(entry(name="Upper")), "malformed"),
        (index(entry(name="../x")), "unsafe-path"), (index(entry(name="a/b")), "unsafe-path"), (index(entry(name="con")), "unsafe-path"),
        (index(entry(name="")), "unsafe-path"), (index(entry(type="exe")), "malformed"), (index(entry(url="")), "malformed"),
        (index(entry(digest="")), "malformed"), (index(entry(digest="md5:00")), "malformed"), (index(entry(digest="sha256:AA")), "malformed"),
        (index(entry(), entry()), "collision"), (index(*[entry()] * 5001), "too-many"), (b'{"skills": [' + b"9" * 5000 + b"]}", "malformed"),
    ],
)  # fmt: skip
def test_an_index_that_cannot_be_believed_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(MetierError) as caught:
        offers(data, NEW, Supply())

    assert code == caught.value.code


@pytest.mark.parametrize(
    ("files", "code"),
    [(None, "malformed"), ([], "malformed"), ([1], "malformed"), (["a.md"], "malformed"), (["SKILL.md", "../x"], "unsafe-path"),
     (["SKILL.md", "/etc/x"], "unsafe-path"), (["SKILL.md", "skill.MD"], "collision"), (["SKILL.md"] + ["f"] * 60_000, "too-many")],
)  # fmt: skip
def test_files_of_the_older_index_are_judged_like_any_path(files: object, code: str) -> None:
    with pytest.raises(MetierError) as caught:
        offers(index({"name": "pdf", "files": files}), OLD, Supply())

    assert code == caught.value.code


def test_a_download_is_held_to_its_digest() -> None:
    offer = Offer("pdf", "", "archive", "u", "a" * 64)

    check_digest(offer, "a" * 64)
    with pytest.raises(IntegrityError) as caught:
        check_digest(offer, "b" * 64)

    assert "digest" == caught.value.code


def test_what_an_index_promises_has_one_digest_in_any_order() -> None:
    one, other = Offer("a", "x", "archive", "u", "1"), Offer("b", "", "archive", "u", "2")

    assert commit_of([one, other]) == commit_of([other, one._replace(description="y")])
    assert commit_of([one, other]) != commit_of([one, other._replace(sha256="3")])
