"""Keys of every kind that the scanner knows, made by chance: none is written down anywhere, so that no scanner of this repository finds one."""

# ruff: noqa: S311 - nobody is to be kept from guessing these

from __future__ import annotations

import base64
import json
import random
import string

from metier.scan.rules.keys import checksum62

BASE62 = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + "234567"
URL_SAFE = BASE62 + "_-"


def chance(count: int, letters: str = BASE62, seed: int = 7) -> str:
    """Give letters that look random, the same ones at every call."""
    pick = random.Random(f"{seed}:{count}:{letters}")
    return "".join(pick.choice(letters) for _ in range(count))


def encoded(value: object) -> str:
    """Give a part of a signed token."""
    text = json.dumps(value) if not isinstance(value, str) else value
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def signed_token(body: dict[str, object], head: dict[str, object] | None = None) -> str:
    """Give a token with this content, and a signature by chance."""
    head = {"alg": "HS256", "typ": "JWT"} if head is None else head
    return f"{encoded(head)}.{encoded(body)}.{chance(43, URL_SAFE)}"


def pem(label: str, data: bytes, *, gap: str = "\n") -> str:
    """Give bytes as a key file has them."""
    text = base64.b64encode(data).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    dashes = "-" * 5
    return gap.join([f"{dashes}BEGIN {label}{dashes}", *lines, f"{dashes}END {label}{dashes}"])


def sequence(count: int, seed: int = 3) -> bytes:
    """Give a sequence as DER writes it, with a content by chance."""
    content = random.Random(seed).randbytes(count)
    return b"\x30\x82" + len(content).to_bytes(2, "big") + content


def github_token(start: str = "ghp_") -> str:
    body = chance(30)
    return start + body + checksum62(body)


KEYS: dict[str, str] = {
    "AWS": "AK" + "IA" + chance(16, CAPITALS),
    "AWS, for a while": "AS" + "IA" + chance(16, CAPITALS),
    "GitHub": github_token(),
    "GitHub app": github_token("gh" + "s_"),
    "GitHub without its checksum": "gh" + "o_" + chance(36),
    "GitHub, fine-grained": "github" + "_pat_" + chance(22) + "_" + chance(59),
    "GitLab": "gl" + "pat-" + chance(20, URL_SAFE),
    "Slack bot": f"xo{'xb'}-{chance(12, '123456789')}-{chance(13, '123456789')}-{chance(24)}",
    "Slack app": f"xa{'pp'}-1-A{chance(10, CAPITALS)}-{chance(13, '123456789')}-{chance(64, HEX)}",
    "Stripe": "sk" + "_live_" + chance(24),
    "Stripe, restricted": "rk" + "_live_" + chance(99),
    "Anthropic": "sk" + "-ant-api03-" + chance(93, URL_SAFE) + "AA",
    "OpenAI": "sk" + "-proj-" + chance(120, URL_SAFE) + "A",
    "OpenAI, old": "sk" + "-" + chance(20) + "T3Blbk" + "FJ" + chance(20),
    "DeepSeek": "sk" + "-" + chance(32, HEX),
    "OpenRouter": "sk" + "-or-v1-" + chance(64, HEX),
    "Groq": "gs" + "k_" + chance(52),
    "Hugging Face": "h" + "f_" + chance(34),
    "Google": "AI" + "za" + chance(35, URL_SAFE),
    "Google client": "GOC" + "SPX-" + chance(28, URL_SAFE),
    "npm": "np" + "m_" + chance(30) + checksum62(chance(30)),
    "PyPI": "py" + "pi-AgEIcHlwaS5vcmc" + chance(120, URL_SAFE) + "Q",
    "SendGrid": f"S{'G'}.{chance(22, URL_SAFE)}.{chance(43, URL_SAFE)}",
    "Twilio": "S" + "K" + chance(32, HEX),
    "Telegram": f"{chance(10, '123456789')}:A{'A'}{chance(33, URL_SAFE)}",
    "DigitalOcean": "do" + "p_v1_" + chance(64, HEX),
    "Databricks": "da" + "pi" + chance(32, HEX),
    "Linear": "lin" + "_api_" + chance(40),
    "Notion": "nt" + "n_" + chance(46),
    "Shopify": "shp" + "at_" + chance(32, HEX),
    "Supabase": "sb" + "p_" + chance(40, HEX),
    "Vault": "hv" + "s." + chance(95, URL_SAFE) + "A",
    "Terraform": f"{chance(14)}.atlas{'v1'}.{chance(67, URL_SAFE)}",
    "Airtable": f"pa{'t'}{chance(14)}.{chance(64, HEX)}",
    "age": "AGE-SECRET" + "-KEY-1" + chance(58, CAPITALS),
}
"""Keys that are known by how they begin."""
NAMED = {
    "AWS": ("aws_secret_access" + "_key = {}", chance(40, BASE62 + "/+")),
    "AWS in JSON": ('{{"Secret' + 'AccessKey": "{}"}}', chance(40, BASE62 + "/+")),
    "Twilio": ("TWILIO_AUTH" + '_TOKEN="{}"', chance(32, HEX)),
    "Azure": ("DefaultEndpointsProtocol=https;AccountName=a;Account" + "Key={}", chance(86) + "=="),
    "Discord": (
        "# Discord\nbot.run('{}')",
        f"{base64.b64encode(b'918273645546372819').decode()}.{chance(6)}.{chance(38, URL_SAFE)}",
    ),
}
"""Keys that are known by what stands before them: the line, and the key."""
WEBHOOKS = {
    "Slack": f"https://hooks.slack{'.com'}/services/T{chance(9, CAPITALS)}/B{chance(9, CAPITALS)}/{chance(24)}",
    "Discord": f"https://discord{'.com'}/api/webhooks/{chance(18, '123456789')}/{chance(68, URL_SAFE)}",
}
PRIVATE = {
    "RSA": pem("RSA PRIVATE" + " KEY", sequence(1190)),
    "PKCS 8": pem("PRIVATE" + " KEY", sequence(1210)),
    "in JSON": pem("PRIVATE" + " KEY", sequence(1210), gap="\\n"),
    "EC": pem("EC PRIVATE" + " KEY", b"\x30\x77" + random.Random(1).randbytes(0x77)),
    "Ed25519": pem("PRIVATE" + " KEY", b"\x30\x2e" + random.Random(2).randbytes(0x2E)),
    "OpenSSH": pem(
        "OPENSSH PRIVATE" + " KEY",
        b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none" + random.Random(4).randbytes(300),
    ),
}
