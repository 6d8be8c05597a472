"""The languages of other clients: each module answers one of them, and none of them changes anything."""

from metier.hub.clients import (
    clawhub,
    git_marketplace,
    marketplace,
    mcp_endpoint,
    npm,
    oci,
    well_known,
)

ROUTES = [
    *well_known.ROUTES,
    *clawhub.ROUTES,
    *marketplace.ROUTES,
    *git_marketplace.ROUTES,
    *npm.ROUTES,
    *mcp_endpoint.ROUTES,
    *oci.ROUTES,
]
