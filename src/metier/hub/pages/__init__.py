"""The hub's pages, for people with a browser: all their addresses."""

from metier.hub.pages import browse, enter, manage, queue, skill_page

ROUTES = [
    *enter.ROUTES,
    *browse.ROUTES,
    *queue.ROUTES,
    *skill_page.ROUTES,
    *manage.ROUTES,
]
