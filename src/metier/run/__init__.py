"""Run a script or a code skill in its sandbox: what it needs, what it is granted, and what came of
it.
"""
