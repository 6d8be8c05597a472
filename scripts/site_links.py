"""Adapts links for the site: files outside docs/ are read in the repository, and pictures in HTML
are found from where the page ends up.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

REPOSITORY = "https://github.com/metier-dev/metier/blob/main/"
_LINK = re.compile(r"\]\(((?:\.\./)+[^)\s]+)\)")
_PICTURE = re.compile(r'\b(src|srcset)="((?:\.\./)*img/[^"]+)"')


def on_page_markdown(markdown: str, page: Any, **_named: Any) -> str:
    """Rewrite the links of a page that lead out of docs/, and the addresses of its pictures."""
    folder = posixpath.dirname("docs/" + page.file.src_uri)

    def lead(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found.group(1)))
        return found.group() if target.startswith("docs/") else f"]({REPOSITORY}{target})"

    def place(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found.group(2)))
        return f'{found.group(1)}="{posixpath.relpath(target, posixpath.join("docs", page.url))}"'

    return _PICTURE.sub(place, _LINK.sub(lead, markdown))
