"""The languages of other clients: each module answers one of them, and none of them changes anything."""

from metier.hub.clients import clawhub, oci, well_known

ROUTES = [*well_known.ROUTES, *clawhub.ROUTES, *oci.ROUTES]
