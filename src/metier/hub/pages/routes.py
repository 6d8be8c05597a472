"""All addresses of the hub's pages."""

from __future__ import annotations

from metier.hub.pages import browse, enter, manage, queue, skill_page

PAGES = [
    *enter.ROUTES,
    *browse.ROUTES,
    *queue.ROUTES,
    *skill_page.ROUTES,
    *manage.ROUTES,
]
