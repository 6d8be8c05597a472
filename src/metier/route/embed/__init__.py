"""Models that see what texts mean, each behind the port `Embedder`."""
