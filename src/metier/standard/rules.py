"""Every rule code in one table: what it says, how grave it is, why it matters, how to put it right.

The documentation pages are generated from here, and a diagnostic takes its severity and hint from
here, so the two cannot drift apart. SK: the standard. WK: the walk over folders. TR: the
configuration of trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.model import Diagnostic, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping


class StandardRule(NamedTuple):
    """One rule of the standard, or one thing that can go wrong on the way to a skill."""

    slug: str
    severity: Severity
    summary: str
    why: str
    fix: str


_ROWS: tuple[tuple[str, str, Severity, str, str, str], ...] = (
    # --- the file
    ("SK001", "no-skill-file", "error", "There is no SKILL.md here.",
     "A skill is a folder with a file named exactly SKILL.md; without it no agent sees a skill.",
     "Create SKILL.md, or give the folder that holds it."),
    ("SK002", "file-name-case", "error", "The file is not named SKILL.md in capitals.",
     "Most agents look for the exact name, so on Linux they never find skill.md or Skill.md.",
     "Rename the file to SKILL.md."),
    ("SK003", "not-a-regular-file", "error", "SKILL.md is not a regular file.",
     "A link, pipe, socket or device in place of the file could hang a reader or lead it anywhere.",
     "Put a regular file in its place."),
    ("SK004", "unreadable", "error", "The file cannot be read.",
     "What cannot be read cannot be checked or used.",
     "Give yourself permission to read it, or remove it."),
    ("SK005", "not-utf-8", "error", "The file is not valid UTF-8.",
     "Agents read skills as UTF-8; other bytes turn into noise in a prompt.",
     "Save the file as UTF-8."),
    ("SK006", "nul-bytes", "error", "The file holds NUL bytes: it is not text.",
     "A binary file in place of the instructions is a mistake or an attempt to hide something.",
     "Replace it with a text file."),
    ("SK007", "too-large", "error", "The file is larger than any reader should load.",
     "Instructions of megabytes never fit a model's context and slow every agent that meets them.",
     "Move the material to files under references/ and keep SKILL.md short."),
    ("SK008", "byte-order-mark", "warning", "The file begins with a byte-order mark.",
     "Several agents then do not recognise the frontmatter and drop the skill.",
     "Save the file as UTF-8 without a byte-order mark."),
    ("SK009", "reached-by-link", "info", ("The skill is reached through a link and lies outside "
                                         "its root."),
     ("What the folder shows is kept somewhere else, so editing or removing it there changes this "
     "one."),
     "Nothing to do if the link is yours."),
    # --- the fences
    ("SK010", "no-frontmatter", "error", "There is no frontmatter.",
     "Name and description live there; without them an agent cannot tell when to use the skill.",
     "Begin the file with '---', the name and the description, and '---'."),
    ("SK011", "frontmatter-not-closed", "error", "The frontmatter is never closed.",
     "Without the closing fence the whole file reads as frontmatter.",
     "Put '---' alone on a line after the last field."),
    ("SK012", "malformed-fence", "error", ("A fence must be '---' alone on its line, at the very "
                                          "left."),
     "Agents disagree about indented fences and fences with text behind them.",
     "Write '---' at column 1 with nothing after it."),
    ("SK013", "empty-frontmatter", "error", "The frontmatter is empty.",
     "Name and description are missing.",
     "Add name and description between the fences."),
    ("SK014", "blank-before-frontmatter", "warning", ("There are blank lines before the "
                                                     "frontmatter."),
     "Most agents want the fence on the first line and else drop the skill.",
     "Remove the blank lines."),
    # --- the YAML
    ("SK020", "invalid-yaml", "error", "The frontmatter is not valid YAML.",
     "No agent can read the skill's name and description.",
     "Correct the line that the message points at; quote its value if it holds punctuation."),
    ("SK021", "unquoted-value", "error", "A value needs quotes; it was read as if it had them.",
     ("A ': ' in an unquoted value, or one that begins with [ { @ or a backtick, is not valid "
     "YAML: many agents drop it unsaid."),
     "Put the value in quotes."),
    ("SK022", "repeated-key", "error", "A key is given twice.",
     "Readers disagree whether the first or the last value counts.",
     "Keep one of them."),
    ("SK023", "alias", "error", "The frontmatter uses a YAML alias.",
     ("Aliases can make a few lines stand for gigabytes; metier never expands one that stands for "
     "a list or a map."),
     "Write the value out."),
    ("SK024", "tag", "error", "The frontmatter uses a YAML tag.",
     "Tags make some readers build objects; here the value is kept as text.",
     "Remove the tag."),
    ("SK025", "key-is-not-text", "error", "A key is not text.",
     "YAML readers turn such keys into booleans, numbers or lists, and then do not find them.",
     "Quote the key or rename it."),
    ("SK026", "too-complex", "error", ("The frontmatter is nested too deeply or has too many "
                                      "values."),
     "Deep nesting crashes common YAML readers.",
     "Flatten it."),
    ("SK027", "not-a-mapping", "error", "The frontmatter is not a list of 'key: value' fields.",
     "Name and description cannot be found in it.",
     "Write one 'key: value' per line."),
    # --- the fields
    ("SK030", "name-missing", "error", "There is no name.",
     "The standard requires one; the folder's name is used instead.",
     "Add 'name:' with the folder's name."),
    ("SK031", "name-not-text", "error", "The name is not text.",
     "A list or a map cannot be typed, mentioned or looked up.",
     "Write the name as one word."),
    ("SK032", "name-too-long", "error", "The name is longer than 64 characters.",
     "Agents cut it or refuse the skill.",
     "Shorten the name and the folder's name."),
    ("SK033", "name-characters", "error", ("The name may hold only lower-case letters, digits and "
                                          "hyphens."),
     "Other characters break slash commands and file names on some systems.",
     "Use lower case and hyphens."),
    ("SK034", "name-hyphens", "error", ("The name may not begin or end with a hyphen, nor hold two "
                                       "in a row."),
     "Agents that build commands from names reject it.",
     "Remove the extra hyphens."),
    ("SK035", "name-differs-from-folder", "error", "The name is not the folder's name.",
     ("The standard requires them equal; some agents know the skill by one, some by the other, "
     "some drop it."),
     "Rename the folder or change the name."),
    ("SK040", "description-missing", "error", "There is no description.",
     "It is all a model sees before it chooses a skill; without it several agents drop the skill.",
     "Say what the skill does and when to use it."),
    ("SK041", "description-too-long", "error", "The description is longer than 1,024 characters.",
     "Agents cut it or refuse the skill, and it costs tokens in every prompt.",
     "Shorten it; move the rest into the body."),
    ("SK042", "description-not-text", "error", "The description is not text.",
     "A list or a map cannot be shown to a model.",
     "Write it as one text."),
    ("SK043", "short-description-too-long", "warning", ("metadata.short-description is longer than "
                                                       "1,024 characters."),
     "Some versions of Codex refuse a skill whose short description is that long.",
     "Shorten it to one sentence."),
    ("SK044", "description-placeholder", "warning", "The description is still a placeholder.",
     "It is all a model sees before it chooses a skill, and this one says nothing about yours.",
     "Say what the skill does and when to use it."),
    ("SK050", "compatibility", "error", "Compatibility must be text of 1 to 500 characters.",
     "The standard limits it.",
     "Shorten it, or write it as one text."),
    ("SK051", "licence-not-text", "error", "The license must be a short text.",
     "Tools that report licences read one line.",
     "Name the licence or the file that holds it."),
    ("SK052", "metadata-not-text-map", "warning", "Metadata should map text to text.",
     "The standard allows no lists and no nesting there; strict readers refuse it.",
     "Flatten it to 'key: text' lines."),
    ("SK053", "allowed-tools", "error", "The allowed-tools field cannot be read.",
     "It restricts what the skill may do, so what cannot be read allows nothing.",
     "Write the tools in one line, separated by spaces."),
    ("SK054", "category", "warning", ("The category must be 1 to 32 lower-case letters, digits and "
                                      "hyphens."),
     "A longer one is left out of the list, and other agents drop what has other characters.",
     "Write one short word, or put the skill into a folder of that name."),
    ("SK060", "field-not-in-the-standard", "warning", ("This field is not one of the standard's "
                                                      "six."),
     "Agents other than the one it was written for ignore it, and strict validators refuse it.",
     "Move it under metadata, or keep it if you publish for one agent only."),
    ("SK061", "restriction-unreadable", "warning", ("A field that restricts the skill cannot be "
                                                   "read."),
     ("It is taken at its most restrictive value, so that a typing error never widens what a skill "
     "may do."),
     "Put the field right."),
    ("SK062", "dependency-unreadable", "warning", "An entry does not name a skill.",
     "What a skill needs is fetched and checked by its name or source; what is neither is left out.",
     "Write the skill's name, as in 'pdf' or 'pdf@^1.2', or its source, as in 'owner/repo/pdf'."),
    ("SK063", "dependency-range", "warning", "The versions that a skill needs cannot be read.",
     "Nobody can tell which version of the other skill would do, so the entry is left out.",
     "Write a range such as '^1.2', '~1.2' or '>=1,<2'."),
    ("SK064", "too-many-dependencies", "warning", "A skill names too many others.",
     "Each of them would be fetched, scanned and decided about; such a skill is not installed.",
     "Name only the skills that it uses itself."),
    # --- the body
    ("SK070", "empty-body", "warning", "There are no instructions after the frontmatter.",
     "A skill without a body teaches nothing.",
     "Write what the agent should do."),
    ("SK071", "long-body", "warning", "The body is longer than 500 lines or 20,000 bytes.",
     "The whole body enters the context whenever the skill is used; the standard recommends less.",
     "Move details to files under references/."),
    ("SK072", "broken-reference", "warning", "The body names a file that is not in the skill.",
     "The agent will look for it and fail.",
     "Add the file or correct the path."),
    ("SK073", "reference-outside", "warning", "The body names a file outside the skill.",
     ("A skill is moved and copied as one folder; a path that leaves it breaks or reads what it "
     "should not."),
     "Copy the file into the skill."),
    # --- the sidecar
    ("SK080", "sidecar-unreadable", "warning", "agents/openai.yaml cannot be read.",
     ("What it adds is left out, and because its policy cannot be read the skill is not offered by "
     "itself."),
     "Correct the YAML."),
    ("SK081", "sidecar-field", "warning", "A field of agents/openai.yaml is left out.",
     "It is empty, too long or not text; the other fields are kept.",
     "Correct the field."),
    ("SK082", "icon-path", "warning", "An icon must be a file under assets/.",
     "A path that leaves the skill could show any file of the machine.",
     "Put the icon under assets/ of the skill, or of its plugin, and give a relative path."),
    ("SK083", "brand-colour", "warning", "The brand colour is not #RRGGBB.",
     "Hosts cannot show it.",
     "Write six hexadecimal digits after '#'."),
    ("SK084", "dependency-dropped", "warning", "A tool dependency has no type or no value.",
     "It cannot be checked or offered for installation.",
     "Give both."),
    ("SK085", "policy-unreadable", "warning", "The policy in agents/openai.yaml cannot be read.",
     "It restricts who sees the skill, so it is taken at its most restrictive.",
     "Correct the policy."),
    # --- code skills and plugins
    ("SK090", "code-does-not-parse", "error", "The code skill is not valid Python.",
     "Its metadata is read without running it, which needs code that parses.",
     "Correct the syntax error."),
    ("SK091", "no-run-function", "error", "The code skill has no top-level run function.",
     "That function is the skill.",
     "Define 'def run(task):' at the top level."),
    ("SK092", "metadata-not-literal", "warning", "A SKILL_ value is computed, not written out.",
     "It is read without running the code, so only literals count.",
     "Write the value out."),
    ("SK093", "metadata-type", "warning", "A SKILL_ value has the wrong type.",
     "The default is used instead.",
     "Correct the type."),
    ("SK094", "code-restriction-unreadable", "warning", ("A SKILL_ value that restricts cannot be "
                                                        "read."),
     "It is taken at its most restrictive.",
     "Write True or False."),
    ("SK095", "manifest-unreadable", "warning", "The plugin manifest cannot be read.",
     "Its skills then have no namespace.",
     "Correct the JSON."),
    # --- the walk
    ("WK001", "folder-unreadable", "error", "A folder cannot be read.",
     "Skills in it are not listed.", "Give yourself permission to read it."),
    ("WK002", "root-is-not-a-folder", "error", "A root is not a folder.",
     "Skills are looked for in folders.", "Give the folder that holds the skills."),
    ("WK003", "link-not-followed", "info", "A linked folder was not followed.",
     ("In this scope links are followed only within bounds, so that a checked-out project cannot "
     "pull in other folders."),
     "Name the target folder in external_dirs if you want its skills."),
    ("WK004", "link-broken", "info", "A link leads nowhere.",
     "What it once named is gone.", "Remove the link."),
    ("WK005", "name-not-utf-8", "warning", "A file name is not valid UTF-8.",
     "It cannot be shown, typed or written to JSON, so it is not read.", "Rename it."),
    ("WK006", "depth-limit", "warning", "Folders below the depth limit were not searched.",
     "A bounded walk keeps a listing fast; what it leaves out is always said.", "Raise limits.depth."),
    ("WK007", "folder-limit", "warning", "The folder limit was reached; the rest was not searched.",
     "A bounded walk keeps a listing fast; what it leaves out is always said.", "Raise limits.folders."),
    ("WK008", "entry-limit", "warning", "The entry limit was reached; the rest was not searched.",
     "A bounded walk keeps a listing fast; what it leaves out is always said.", "Raise limits.entries."),
    ("WK009", "root-missing", "error", "A root does not exist.",
     "It was named by hand, so its absence is worth a word.", ("Create the folder or correct the "
                                                              "path.")),
    ("WK010", "variable-unset", "warning", "A configured folder names a variable that is not set.",
     "The folder cannot be found.", "Set the variable or write the path out."),
    ("WK011", "home-unknown", "warning", "The home folder is not known.",
     "Folders that begin with ~ are left out.", "Set HOME."),
    ("WK012", "project-setting-ignored", "warning", ("A project's configuration asks for more than "
                                                    "a project may."),
     "A project may only narrow what its user allows.", ("Move the setting to your own "
                                                        "configuration.")),
    ("WK013", "agent-config-unreadable", "warning", "An agent's own configuration cannot be read.",
     "What it says about skills, such as which are switched off, is then not known.",
     "Correct the file; the agent itself will want that too."),
    ("WK014", "own-folders-left-out", "info", "Folders of metier's own are left out for this agent.",
     "external_dirs is metier's setting: no agent reads these folders by itself.",
     "Leave --agent out to see them, or serve them to the agent with 'metier mcp'."),
    # --- trust
    ("TR001", "trust-setting-too-soft", "warning", "A setting of [trust] is softer than it may be.",
     ("Some limits hold for everybody, and an organisation may set more; what is softer is left as "
     "it was."),
     "Take the setting out, or ask whoever keeps the organisation's file."),
    ("TR002", "waiver-not-in-force", "warning", "A waiver does not apply.",
     ("A waiver needs a reason and a last day, and ends with that day: a finding is not forgotten "
     "for ever by accident."),
     "Look at the finding again, and renew the waiver with a reason and a date, or take it out."),
)  # fmt: skip

RULES: dict[str, StandardRule] = {row[0]: StandardRule(*row[1:]) for row in _ROWS}

FATAL = frozenset(
    {"SK003", "SK004", "SK006", "SK011", "SK012", "SK020", "SK026", "SK027", "SK090", "SK091"}
)
"""With one of these the skill cannot be read at all: its state is `invalid`."""
BARE = frozenset({"SK010", "SK013"})
"""Without frontmatter a skill is readable but hidden unless the user allows it (MT-27)."""


def diagnose(
    code: str, message: str = "", *, path: str = "SKILL.md", line: int = 1, column: int = 1
) -> Diagnostic:
    """Build the diagnostic of a rule at a place; severity and hint come from the table."""
    rule = RULES[code]
    return Diagnostic(
        code, rule.severity, message or rule.summary, path, line, column, hint=rule.fix
    )


def in_words(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Give how many skills break each rule, and the rule in words."""
    return [
        (f"{count:,}", f"{RULES[code].summary} ({code})" if code in RULES else code)
        for code, count in counts.items()
    ]


_NOWHERE: Mapping[str, tuple[int, int]] = {}


class FileNotes(list[Diagnostic]):
    """The diagnostics of one file, gathered while it is read."""

    __slots__ = ("file", "spans")

    def __init__(self, file: str, spans: Mapping[str, tuple[int, int]] = _NOWHERE) -> None:
        """Begin with none; `spans` are the places of the file's fields."""
        self.file = file
        self.spans = spans

    def add(self, code: str, message: str = "", line: int = 1, column: int = 1) -> None:
        """Add the diagnostic of a rule at a place."""
        self.append(diagnose(code, message, path=self.file, line=line, column=column))

    def add_at(self, field: str, code: str, message: str = "") -> None:
        """Add the diagnostic of a rule at the place of a field."""
        self.add(code, message, *self.spans.get(field, (1, 1)))
