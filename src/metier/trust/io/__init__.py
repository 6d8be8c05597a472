"""The files of trust below METIER_HOME: decisions, keys and signatures."""
