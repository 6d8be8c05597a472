"""The one queue of what waits for review: updates of plugins, held updates, and drafts by
agents.
"""
