"""How often each skill is used and what it costs: counted on this machine, for its user alone."""
