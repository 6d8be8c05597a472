"""Says which extra of metier brings a package that isn't installed."""

from __future__ import annotations

from metier.errors import UsageError

EXTRAS = {
    "cryptography": "sign",
    "re2": "rules",
    "keyring": "keyring",
    "watchfiles": "watch",
    "metier_weights": "embed",
    "onnxruntime": "embed",
    "zstandard": "zstd",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "jinja2": "web",
    "markdown_it": "web",
    "pygments": "web",
    "starlette": "web",
    "uvicorn": "web",
    "joserfc": "hub",
    "obstore": "hub",
    "psycopg": "hub",
    "psycopg_pool": "hub",
}
"""The packages that the plain installation may lack, and the extra that brings each."""


def missing_extra(module: str) -> UsageError | None:
    """Say how to install what could not be imported; nothing where no extra brings it."""
    name = module.partition(".")[0]
    extra = EXTRAS.get(name)
    if extra is None:
        return None
    return UsageError(
        f"{name} is not installed", code="extra-missing", hint=f"pip install 'metier[{extra}]'"
    )
