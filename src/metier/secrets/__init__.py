"""Names → values, at run time only: who keeps them, who may have them, and who never does."""
