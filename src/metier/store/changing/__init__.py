"""A change of several places at once: staged, committed by a journal, switched, and finished after a crash."""
