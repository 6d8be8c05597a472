"""One place of a change: switched, or put back."""
