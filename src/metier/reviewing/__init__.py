"""The queue of changes that wait for a person: updates of plugins, updates that were held, and drafts of agents."""
