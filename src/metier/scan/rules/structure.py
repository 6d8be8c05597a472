"""What the shape of a skill's folder may say (SC600 to SC639): HE-32 and what hides beside it."""

from __future__ import annotations

from metier.scan.rule import REMOVE, Rule

_READ = "Look at the file, and use the skill only if its task needs it"
_SOURCE = "Ask for the source, and build it yourself"

RULES: tuple[Rule, ...] = (
    Rule("SC600", "low", "structure", "The skill has very many files", "Nobody reads them all", _READ),
    Rule("SC601", "low", "structure", "The skill is very large", "What is too large to read is too large to trust", _READ),
    Rule("SC602", "medium", "structure", "A file is very large", "What is too large to read is too large to trust", _READ),
    Rule("SC603", "critical", "structure", "The skill ships a program for the machine", "Machine code cannot be read", _SOURCE),
    Rule(
        "SC604",
        "medium",
        "structure",
        "A file is marked executable but is no script",
        "The mark lets it be started",
        "Clear the mark",
    ),
    Rule("SC605", "critical", "structure", "A link points outside the skill", "Reading the skill reads someone's files", REMOVE),
    Rule(
        "SC606",
        "medium",
        "structure",
        "A link is absolute or leads nowhere",
        "What it shows depends on the machine",
        "Replace it by a file",
    ),
    Rule(
        "SC607",
        "high",
        "structure",
        "An archive is locked with a password",
        "It is locked so that scanners cannot look inside",
        REMOVE,
    ),
    Rule(
        "SC608",
        "medium",
        "supply",
        "The skill ships an archive",
        "What is packed was not looked at",
        "Unpack it and scan what is inside",
    ),
    Rule("SC609", "high", "supply", "Compiled code comes without its source", "It runs, and cannot be read", _SOURCE),
    Rule(
        "SC610",
        "medium",
        "structure",
        "A skill lies inside the skill",
        "It may be picked up by itself, unseen",
        "Install it by itself, if at all",
    ),
    Rule("SC611", "medium", "structure", "A file is of no known kind", "What cannot be read cannot be judged", _READ),
    Rule("SC612", "high", "evasion", "A file is not what its name says", "A wrong name keeps readers and scanners away", REMOVE),
    Rule("SC613", "medium", "evasion", "A hidden file holds code", "Files that begin with a dot are not listed", _READ),
    Rule(
        "SC614",
        "medium",
        "evasion",
        "The skill ships a list of files not to scan",
        "A skill cannot exempt itself; the list was not honoured",
        "Look at the files that it names",
    ),
    Rule("SC615", "high", "evasion", "The skill carries a mark that it is built in", "Only the system sets such a mark", REMOVE),
    Rule(
        "SC616",
        "medium",
        "structure",
        "A file was not read to its end",
        "The rest may hold anything",
        "Read the rest before you use the skill",
    ),
    Rule(
        "SC617",
        "medium",
        "structure",
        "A file could not be read",
        "What cannot be read cannot be judged",
        "Mend it, or do not use the skill",
    ),
    Rule("SC618", "high", "evasion", "A picture or document has an archive behind it", "Two files in one hide the second", REMOVE),
    Rule("SC619", "high", "evasion", "A text holds NUL bytes", "They make tools stop reading where others go on", REMOVE),
    Rule(
        "SC620",
        "medium",
        "evasion",
        "A file name holds control or direction characters",
        "The name shown is not the name meant",
        REMOVE,
    ),
    Rule(
        "SC621",
        "medium",
        "evasion",
        "Two names differ only by case or by how a letter is written",
        "One may replace the other",
        _READ,
    ),
    Rule("SC622", "info", "structure", "A script is never mentioned", "Nothing says what it is for", _READ),
    Rule("SC623", "medium", "escalation", "The skill does far more than it says", "Nothing in its description calls for it", _READ),
    Rule("SC624", "low", "evasion", "A file named as text holds code", "Its name keeps readers and scanners away", _READ),
)
