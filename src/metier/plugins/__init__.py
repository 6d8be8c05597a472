"""Mirrored plugins: found, enabled, compared with upstream, updated only when a person says so."""
