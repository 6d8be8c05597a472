"""Reads ten more languages with the rules for English: each sentence becomes the English words that
its own words stand for.

A lexicon (`scan/lexicons/de.txt`) is a dictionary: English words, and what means the same there. A
sentence that is not English is glossed by it word for word, and the gloss is cut into concepts as
if somebody had written it in English; so a rule, a concept or a phrase that is added for English
holds in each language whose dictionary has the words. Places stay those of the original.

What differs by language is in `TONGUES`: how it is spotted, whether words are kept apart by spaces,
how far the order of words may differ from the English one, and on which side of a verb its *not*
stands. A lexicon is loaded when the first text needs it; a text in plain English costs one look at
its set of words.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from metier.scan.io.own_source import read_lexicon
from metier.scan.languages.text import odd
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from metier.model import Texts

MIN_SIGNS = 3
"""Different words of a language that a text must hold to be read in it."""
GAPS = {"..": 4, "...": 10}
"""How many words a gap in a phrase stands for at most."""
MAX_GLOSS_WORDS = 60
"""Words after which a sentence ends, whatever the text says."""
MAX_KNOWN_FORMS = 1 << 14
"""Words of a language whose meaning is kept between texts."""

FOLD = "fold"
"""The row of letters that are spelt otherwise: the first of each pair becomes the rest."""
DROP = "-"
"""The row of words that mean nothing by themselves, such as articles."""
FRONTING, FRONTED_BACK = "\u628a", 14
"""The Chinese word that puts an object before its verb, and how far before it then may stand."""
_FREE = word_set("not never no don't without avoid")
"""Glosses that deny the verb beside them. A phrase such as *without asking* denies its own."""


class Tongue(NamedTuple):
    """How one language differs from English."""

    signs: str
    """Frequent words that are not English; nothing where the script tells."""
    stretch: int
    """How many more words may stand between two parts of a shape."""
    back: int
    """How far a part may stand before the one that it follows in English."""
    denied_after: int
    """How many words after a *not* are denied by it."""
    denied_before: int


TONGUES = {
    "ar": Tongue("", 2, 4, 3, 0),
    "de": Tongue(
        "der die das und nicht ist ein eine einen einem einer mit für von dem den zu zum zur ohne "
        "wenn sie dein deine deinen ihre ihren keine keinen wird werden auf aus bei nach oder auch "
        "alle allen jede jeder jedem jeden dann diese dieser dieses vom über benutzer nutzer "
        "nutzers benutzers anweisungen schlüssel datei dateien niemals ab jetzt bevor immer nur "
        "bist hast anschließend sobald lade führe sende lösche schicke unten im seine seinen unsere "
        "unser daten befehl vorher danach sämtliche",
        3, 14, 3, 4,
    ),
    "es": Tongue(
        "el los las una unas del para por sin que como según cuando todos todas todo toda este "
        "esta estos su sus al más pero usuario cada nunca antes después archivo archivos claves "
        "clave contraseña instrucciones ningún nada eres ahora y lo le se tu tus con desde hasta "
        "siempre debes envía ejecuta descarga borra luego la de abajo siguiente comando cuenta saldo "
        "ninguna ni hay porque sobre entre también nuestro nuestra datos aquí solo",
        2, 4, 3, 0,
    ),
    "fr": Tongue(
        "le les des une du pour avec dans sans que qui est sont vous votre vos aux sur ne pas tous "
        "toutes tout toute chaque cette ces ce utilisateur jamais avant après fichier fichiers "
        "clés clé et ou puis tu ton tes ta ses leur rien toujours depuis maintenant mot "
        "précédentes envoie envoyez exécute exécutez télécharge supprime la vers notre nos compte "
        "commande suivante ci-dessous aucun aucune ni données lui elle son sa ici",
        2, 4, 3, 0,
    ),
    "hi": Tongue("", 4, 14, 3, 3),
    "ja": Tongue("", 4, 14, 0, 2),
    "ko": Tongue("", 4, 14, 1, 2),
    "pt": Tongue(
        "os uma umas dos das para por sem que como não você seu sua seus suas ao aos à mais cada "
        "quando todos todas todo toda usuário utilizador nunca antes depois arquivo arquivos "
        "chaves chave senha instruções nada é agora e lhe isso este esta até pelo pela sempre deve "
        "envie baixe apague com em um abaixo comando conta saldo na hora nem nenhum nenhuma dele "
        "nosso nossa dados rode pegue seguinte o aqui só",
        2, 4, 3, 0,
    ),
    "ru": Tongue("", 2, 8, 3, 0),
    "zh": Tongue("", 3, 0, 14, 0),
}  # fmt: skip
"""Each language, by its code."""

_SHOWN_WORDS = word_set(
    "beispiel beispiele beispielsweise ejemplo ejemplos exemple exemples exemplo exemplos unsicher "
    "unsichere verwundbar vulnerable vulnerables vulnérable vulnérables vulnerável vulneráveis "
    "malicioso maliciosa maliciosos maliciosas malveillant malveillante malveillants bösartig "
    "bösartige schädlich schädliche angriff angriffe angreifer ataque ataques atacante atacantes "
    "attaque attaques attaquant attaquants verboten verbotene prohibido prohibida proibido proibida "
    "interdit interdite niemals nunca jamais verdächtig verdächtige sospechoso sospechosa suspeito "
    "suspeita vermeide vermeiden evita evite evitar éviter évitez"
)
_SHOWN = re.compile(
    "пример|уязвим|вредонос|атак|злоумышленник|никогда|нельзя|запрещ|подозрительн|избегай|"
    "示例|例子|例如|范例|样例|攻击|恶意|漏洞|不安全|禁止|切勿|不要|避免|反例|可疑|"
    "例(?!外)|サンプル|攻撃|悪意|脆弱|不正|避け|してはいけ|しないで|"
    "예시|예제|공격|악성|취약|금지|하지 마|의심|"
    "مثال|أمثلة|هجوم|هجمات|خبيث|ثغر|ممنوع|تجنب|مشبوه|"
    "उदाहरण|हमल|दुर्भावना|असुरक्षित|संदिग्ध|कभी न"
)
_ATTACK_WORDS = word_set(
    "angriff angriffe angreifer angreifern angreifers schadsoftware ataque ataques atacante "
    "atacantes attaque attaques attaquant attaquants hameçonnage malicioso maliciosa maliciosos "
    "maliciosas malveillant malveillante malveillants bösartig bösartige bösartigen bösartiger "
    "schwachstelle schwachstellen vulnerabilidad vulnerabilidades vulnerabilidade vulnérabilité "
    "vulnérabilités verdächtig verdächtige sospechoso sospechosa suspeito suspeita"
)
_ATTACK = re.compile(
    "уязвим|вредонос|атак|злоумышленник|фишинг|подозрительн|攻击|恶意|漏洞|注入|钓鱼|可疑|攻撃|悪意|脆弱|"
    "インジェクション|フィッシング|不審|공격|악성|취약|인젝션|피싱|의심|هجوم|هجمات|خبيث|ثغر|تصيد|مشبوه|हमल|"
    "दुर्भावना|इंजेक्शन|फिशिंग|संदिग्ध"
)
_RUN_WORDS = word_set(
    "ausführen führe führen starte starten ejecuta ejecute ejecutar exécute exécutez exécuter lance "
    "lancez lancer executa executar rode instale instala instalar installe installez installiere"
)
_TO_RUN = re.compile("запусти|выполни|установи|运行|执行|安装|実行|起動|실행|설치|شغ|نفذ|चला")
_GUARD = re.compile(
    "(?:检测|防御|防护|防范|扫描|审计|审查|识别)[^\\n。]{0,40}(?:注入|恶意|攻击|威胁|漏洞|越狱)|"
    "(?:インジェクション|悪意|攻撃|脅威|マルウェア|脆弱性)[^\\n。]{0,40}"
    "(?:検出|検知|防御|防止|スキャン|監査|診断|対策)|"
    "(?:인젝션|악성|공격|위협|취약점)[^\\n.]{0,40}(?:탐지|방어|방지|차단|감사|점검|검사|스캔)|"
    "(?:обнаруж|выявл|предотвращ|защит|сканир|аудит|провер)[^\\n.]{0,60}"
    "(?:инъекц|вредонос|атак|угроз|уязвим)|"
    r"\b(?:detect\w*|erkenn\w*|pr[eé]ven\w*|proteg\w*|protég\w*|schütz\w*|prüf\w*|audit\w*|"
    r"anal[iy][sz]\w*)\b[^\n.]{0,80}\b(?:inyecci\w*|injeç\w*|injektion\w*|malicios\w*|"
    r"malveillan\w*|bösartig\w*|ataques?|attaques?|angriff\w*|vulnerabilid\w*|vulnérabilit\w*|"
    r"schwachstell\w*)\b|"
    "(?:كشف|منع|حماية|فحص|تدقيق)[^\\n.]{0,60}(?:حقن|خبيث|هجوم|هجمات|ثغرات|تهديد)|"
    "(?:हमल|दुर्भावना|इंजेक्शन|कमजोरि)[^\\n।]{0,60}(?:पहचान|रोक|जांच|ऑडिट|स्कैन)"
)
_PLAIN_WORD = re.compile(r"[^\W\d_]+")


def says_example(line: str) -> bool:
    """Tell whether a line says, in another language, that what follows is shown and not told."""
    return _says(line, _SHOWN_WORDS, _SHOWN)


def says_attack(sentence: str) -> bool:
    """Tell whether a sentence speaks, in another language, of attacks and of those who attack."""
    return _says(sentence, _ATTACK_WORDS, _ATTACK)


def says_to_run(line: str) -> bool:
    """Tell whether a line says, in another language, to run what stands below or beside it."""
    return _says(line, _RUN_WORDS, _TO_RUN)


def says_to_guard(text: str) -> bool:
    """Tell whether a text says, in another language, that the skill is there to find attacks."""
    low = text.lower()
    return bool(tongues_in(low)) and _GUARD.search(low) is not None


def _says(line: str, words: frozenset[str], others: re.Pattern[str]) -> bool:
    low = line.lower()
    if not words.isdisjoint(_PLAIN_WORD.findall(low)):
        return True
    return not low.isascii() and others.search(low) is not None


_ENGLISH = word_set(
    "the of and to is in for with your this that it you are be or not from on when use if an by as"
)
_SIGNS = {name: word_set(tongue.signs) for name, tongue in TONGUES.items() if tongue.signs}
_ALL_SIGNS = frozenset().union(*_SIGNS.values())
_MARKS = {"de": "äöüß", "es": "áíóúñ¿¡", "fr": "àâçèêëîïôùûœ", "pt": "ãõçâê"}
_SCRIPTS = {
    "ja": "\u3040-\u30ff\u31f0-\u31ff",
    "zh": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005",
    "ko": "\uac00-\ud7a3",
    "ru": "\u0400-\u052f",
    "ar": "\u0620-\u065f\u066e-\u06d3\u0670",
    "hi": "\u0900-\u0963\u0970-\u097f",
}
_SCRIPT = {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS.items()}
_ANY_SCRIPT = re.compile(f"[{''.join(_SCRIPTS.values())}]")
_UNSPACED = ("ja", "zh")
_RUNS = "|".join(f"[{letters}]+" for name, letters in _SCRIPTS.items() if name not in _UNSPACED)
_HAN = _SCRIPTS["ja"] + _SCRIPTS["zh"]
_ELSEWHERE = "".join(_SCRIPTS.values())
_LATIN = rf"[^\W\d{_ELSEWHERE}][^\W{_ELSEWHERE}]*+"
# Groups, the first four as in `prose`: a word, an address, a path or dotted word, the end of a
# sentence; then a run without spaces, and a comma.
_TOKEN = (
    rf"({_LATIN}(?:['\-]{_LATIN}){{0,8}}+(?!://|\.[^\W\d])|{_RUNS})"
    rf"|(https?://[^\s)\]>\"'`{_ELSEWHERE}\u3000-\u303f]{{1,300}})"
    rf"|([~./$@]{{1,3}}{_LATIN}(?:['\-.]{_LATIN}){{0,8}}|{_LATIN}(?:['\-.]{_LATIN}){{0,8}})"
    rf"|([.!?:;](?=\s|$|[{_HAN}])|[\u3002\uff61\u0964\u0965\u061f\u061b\u06d4]|\n[ \t]*(?:\n|[-*+>#|]|\d{{1,3}}[.)])"
    r"|```|~~~|\|)"
    rf"|([{_HAN}]+)"
    r"|([,\u060c\u3001\u2014])"
)
_WORD, _URL, _PATH, _END, _RUN, _COMMA = 1, 2, 3, 4, 5, 6
_JOINTS = re.compile(r"['\-]")
_compiled = cache(re.compile)
"""Compiles a slow pattern when the first text needs it."""


class GlossPlace(NamedTuple):
    """Where a word of a gloss comes from, asked as a match is asked."""

    first: int
    last: int
    lastindex: int

    def start(self) -> int:
        """Give where it begins."""
        return self.first

    def end(self) -> int:
        """Give where it ends."""
        return self.last

    def span(self) -> tuple[int, int]:
        """Give both."""
        return self.first, self.last


class GlossedSentence(NamedTuple):
    """A sentence in English words, each with its place in the original."""

    words: list[str]
    places: Sequence[re.Match[str] | GlossPlace]
    denied: frozenset[int]
    """Which words a *not* denies."""
    stretch: int = 0
    back: int = 0


class LexiconPhrase(NamedTuple):
    """Several words with one meaning: the first is looked up, the rest stand here, with gaps
    among them.
    """

    rest: Texts
    gloss: Texts


class Lexicon:
    """One language's words and what they mean in English."""

    def __init__(self, name: str, text: str) -> None:
        """Read a lexicon as its file writes it."""
        self.name = name
        self.whole: dict[str, Texts] = {}
        self.stems: dict[str, Texts] = {}
        self.phrases: dict[str, list[LexiconPhrase]] = {}
        self.sizes: dict[str, tuple[int, ...]] = {}
        """The lengths of the words that begin with a character, longest first."""
        self._folds: dict[int, str] = {}
        self._known: dict[str, tuple[Texts | None, tuple[LexiconPhrase, ...]]] = {}
        self._spellings: dict[str, Texts] = {}
        rows = list(rows_of(text))
        for gloss, forms in rows:
            if gloss == FOLD:
                self._folds |= {ord(pair[0]): pair[1:] for pair in forms}
        for gloss, forms in rows:
            if gloss != FOLD:
                meaning = () if gloss == DROP else tuple(gloss.split())
                for form in forms:
                    self._add(self.fold(form), meaning)
        sizes: dict[str, set[int]] = {}
        for word in self.whole:
            sizes.setdefault(word[0], set()).add(len(word))
        self.sizes = {first: tuple(sorted(found, reverse=True)) for first, found in sizes.items()}
        for group in self.phrases.values():
            group.sort(key=lambda phrase: (-len(phrase.rest), phrase.rest))

    def _add(self, form: str, gloss: Texts) -> None:
        first, *rest = form.split()
        if rest:
            self.phrases.setdefault(first, []).append(LexiconPhrase(tuple(rest), gloss))
        elif first.endswith("*"):
            self.stems[first[:-1]] = gloss
        else:
            self.whole[first] = gloss

    def fold(self, word: str) -> str:
        """Spell a word as the lexicon does: without accents that writers leave out."""
        return word.translate(self._folds)

    def look_up(self, word: str) -> tuple[Texts | None, tuple[LexiconPhrase, ...]]:
        """Give what a word means (nothing when it is not known) and the phrases it may begin."""
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= MAX_KNOWN_FORMS:
                self._known.clear()
            found = self._known[word] = self._meaning(word), tuple(self._begun(word))
        return found

    def forms(self, word: str) -> Texts:
        """Give the spellings under which a word is looked up."""
        found = self._spellings.get(word)
        if found is None:
            if len(self._spellings) >= MAX_KNOWN_FORMS:
                self._spellings.clear()
            folded = self.fold(word)
            more = _without_clitics(folded) if self.name == "ar" else ()
            found = self._spellings[word] = (folded, *more)
        return found

    def _meaning(self, word: str) -> Texts | None:
        forms = self.forms(word)
        for form in forms:
            if form in self.whole:
                return self.whole[form]
        for form in forms:
            for size in range(len(form), 1, -1):
                if form[:size] in self.stems:
                    return self.stems[form[:size]]
        return None

    def _begun(self, word: str) -> Iterator[LexiconPhrase]:
        found: list[LexiconPhrase] = []
        for form in self.forms(word):
            found += self.phrases.get(form, ())
            for size in range(len(form), 1, -1):
                found += self.phrases.get(form[:size] + "*", ())
        yield from sorted(found, key=lambda phrase: -len(phrase.rest))


def rows_of(text: str) -> Iterator[tuple[str, Texts]]:
    """Read the rows of a lexicon: an English gloss, and what means the same."""
    for line in normalize("NFKC", text).splitlines():
        gloss, equals, forms = line.partition(" = ")
        if equals and not line.startswith("#"):
            yield gloss, tuple(forms.split(", "))


@cache
def lexicon(name: str) -> Lexicon:
    """Load a language's lexicon, once."""
    return Lexicon(name, read_lexicon(name))


_CLITICS = re.compile("(?:[\u0648\u0641])?(?:[\u0628\u0644\u0643\u0633])?(?:\u0627\u0644|\u0644)?")


def _without_clitics(word: str) -> Iterator[str]:
    """Take conjunctions, prepositions and the article off an Arabic word, one after the other."""
    found = _CLITICS.match(word)
    for size in range(1, found.end() + 1 if found else 1):
        if len(word) - size > 1:
            yield word[size:]


def tongues_in(low: str, tokens: list[str] | None = None) -> tuple[str, ...]:
    """Name the languages other than English that a lowered text is written in, at least in part.
    Whoever has its tokens saves the time to split it: they are cut finer, so that among them no
    sign is missing.
    """
    words = _ALL_SIGNS.intersection(low.split() if tokens is None else tokens)
    plain = low.isascii()
    found = [
        name
        for name, signs in _SIGNS.items()
        if (met := len(signs & words)) >= MIN_SIGNS
        or (met and not plain and met + sum(mark in low for mark in _MARKS[name]) >= MIN_SIGNS)
    ]
    if found and tokens is not None:
        return tongues_in(low)
    rest = "" if plain else odd(low)
    if rest and _ANY_SCRIPT.search(rest):
        found += [name for name, script in _SCRIPT.items() if script.search(rest)]
    return tuple(found)


def gloss(low: str, tongues: Texts, known: Container[str]) -> Iterator[GlossedSentence]:
    """Cut a lowered text into sentences, each in English words; `known` are those that stay whole."""
    tokens: list[re.Match[str]] = []
    usual = _usual_tongue(low, tongues)
    for match in _compiled(_TOKEN).finditer(low):
        kind = match.lastindex
        if kind == _END or len(tokens) >= MAX_GLOSS_WORDS:
            if tokens:
                yield _glossed(tokens, tongues, usual, known)
            tokens = []
            if kind == _END:
                continue
        tokens.append(match)
    if tokens:
        yield _glossed(tokens, tongues, usual, known)


def _usual_tongue(low: str, tongues: Texts) -> str:
    """Name the language of sentences that show no other: the Latin one with the most signs."""
    words = set(low.split())
    latin = [name for name in tongues if name in _SIGNS]
    return max(latin, key=lambda name: len(_SIGNS[name] & words), default="")


def _tongue_of(tokens: list[re.Match[str]], tongues: Texts, usual: str) -> str:
    """Name a sentence's language; nothing for English."""
    words = [match.group() for match in tokens if match.lastindex != _COMMA]
    text = " ".join(words)
    if not text.isascii():
        for name, script in _SCRIPT.items():
            if name in tongues and script.search(text):
                # a sentence of Chinese characters alone in a Japanese text is Japanese
                return name
    if not usual:
        return ""
    said = set(words)
    said.update(part for word in words if "'" in word for part in word.split("'"))
    marked = "" if text.isascii() else text
    english = len(_ENGLISH & said)
    best = max(
        (name for name in tongues if name in _SIGNS),
        key=lambda name: (
            len(_SIGNS[name] & said) + sum(map(marked.__contains__, _MARKS[name])),
            name == usual,
        ),
    )
    signs = len(_SIGNS[best] & said)
    return (best if signs else usual) if signs > english or not english else ""


class _GlossStream:
    """The gloss of one sentence as it grows."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.places: list[GlossPlace] = []
        self.nots: list[int] = []
        self.breaks: list[int] = []

    def add(self, words: Texts, start: int, end: int, kind: int = _WORD) -> None:
        if len(words) == 1 and words[0] in _FREE:
            self.nots.append(len(self.words))
        self.words += words
        self.places += [GlossPlace(start, end, kind)] * len(words)

    def denied(self, tongue: Tongue) -> Iterator[int]:
        """Give the words beside a *not* of the same clause."""
        for at in self.nots:
            low = max((place for place in self.breaks if place <= at), default=0)
            high = min((place for place in self.breaks if place > at), default=len(self.words))
            yield from range(max(low, at - tongue.denied_before), at)
            yield from range(at + 1, min(high, at + 1 + tongue.denied_after))


def _glossed(
    tokens: list[re.Match[str]], tongues: Texts, usual: str, known: Container[str]
) -> GlossedSentence:
    name = _tongue_of(tokens, tongues, usual)
    if not name:
        places = [match for match in tokens if match.lastindex != _COMMA]
        words = ["http-url" if match.lastindex == _URL else match[0] for match in places]
        return GlossedSentence(words, places, frozenset())
    stream = _GlossStream()
    tongue = TONGUES[name]
    _gloss_words(_pieces(tokens, known, lexicon(name)), lexicon(name), stream)
    denied = frozenset(stream.denied(tongue))
    if 2 * tongue.denied_after <= tongue.denied_before:
        for at in stream.nots:  # it has denied what stands before it, and says nothing of the rest
            stream.words[at] = ""
    return GlossedSentence(
        stream.words,
        stream.places,
        denied,
        tongue.stretch,
        FRONTED_BACK
        if name == "zh" and any(FRONTING in match.group() for match in tokens)
        else tongue.back,
    )


class _WordPiece(NamedTuple):
    word: str
    start: int
    end: int
    kind: int
    gloss: Texts | None
    phrases: tuple[LexiconPhrase, ...]


def _pieces(tokens: list[re.Match[str]], known: Container[str], words: Lexicon) -> list[_WordPiece]:
    """Give the words of a sentence with their meanings."""
    found: list[_WordPiece] = []
    for match in tokens:
        kind, (start, end) = match.lastindex or _WORD, match.span()
        text = match.group()
        if kind == _URL:
            found.append(_WordPiece("http-url", start, end, kind, None, ()))
        elif kind == _RUN:
            found += _run(text, start, words)
        elif kind in (_PATH, _COMMA):
            found.append(_WordPiece(text, start, end, kind, None, ()))
        elif text.isalpha() or text in known or words.look_up(text)[0] is not None:
            found.append(_WordPiece(text, start, end, kind, *words.look_up(text)))
        else:
            for word, first, last in _split(text, start):
                found.append(_WordPiece(word, first, last, kind, *words.look_up(word)))
    return found


def _split(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Cut a word at its hyphens and apostrophes."""
    done = 0
    for joint in [*_JOINTS.finditer(text), None]:
        end = joint.start() if joint else len(text)
        if end > done:
            yield text[done:end], start + done, start + end
        done = joint.end() if joint else end


def _run(text: str, start: int, words: Lexicon) -> Iterator[_WordPiece]:
    """Cut a run without spaces into the longest words of the lexicon; what lies between counts one
    word for every two characters.
    """
    folded = words.fold(text)  # of the same length: it folds one character into one
    at = gap = 0
    while at < len(folded):
        gloss = None
        form = ""
        for size in words.sizes.get(folded[at], ()):
            form = folded[at : at + size]
            gloss = words.whole.get(form)
            if gloss is not None:
                break
        if gloss is None:
            gap += 1
            at += 1
            if gap % 2 == 0:
                yield _WordPiece("", start + at - 2, start + at, _WORD, None, ())
            continue
        if gloss:
            phrases = tuple(words.phrases.get(form, ()))
            yield _WordPiece(form, start + at, start + at + len(form), _WORD, gloss, phrases)
        gap = 0
        at += len(form)


def _gloss_words(pieces: list[_WordPiece], words: Lexicon, stream: _GlossStream) -> None:
    """Say the pieces in English: the longest phrase that begins at each, or the word itself."""
    at = 0
    taken: set[int] = set()
    while at < len(pieces):
        piece = pieces[at]
        if piece.kind == _COMMA:
            if piece.word != "\u3001" or words.name != "zh":  # there it stands between nouns
                stream.breaks.append(len(stream.words))
        elif at not in taken:
            for phrase in piece.phrases:
                places = _matched(phrase.rest, pieces, at + 1, words)
                if places is not None and taken.isdisjoint(places):
                    taken.update(places)
                    stream.add(phrase.gloss, piece.start, pieces[places[-1]].end)
                    break
            else:
                said = (piece.word,) if piece.gloss is None else piece.gloss
                stream.add(said, piece.start, piece.end, piece.kind)
        at += 1


def _matched(rest: Texts, pieces: list[_WordPiece], at: int, words: Lexicon) -> list[int] | None:
    """Give the places of a phrase's further words; nothing when it does not stand here."""
    found = []
    gap = 0
    for pattern in rest:
        if pattern in GAPS:
            gap = GAPS[pattern]
            continue
        while at < len(pieces) and not _is_form(pieces[at], pattern, words):
            if pieces[at].gloss != ():  # an article or the like may stand anywhere
                gap -= 1
            if gap < 0:
                return None
            at += 1
        if at == len(pieces):
            return None
        found.append(at)
        at += 1
        gap = 0
    return found


def _is_form(piece: _WordPiece, pattern: str, words: Lexicon) -> bool:
    if piece.kind != _WORD:
        return False
    forms = words.forms(piece.word)
    if pattern[-1] == "*":
        stem = pattern[:-1]
        for form in forms:  # noqa: SIM110 - asked for every word that may go on with a phrase
            if form.startswith(stem):
                return True
        return False
    return pattern in forms
