"""Sources on the web: single files, archives, well-known indexes, registries."""
