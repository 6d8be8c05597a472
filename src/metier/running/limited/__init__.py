"""Other people's code in this very process, with a limit of time."""
