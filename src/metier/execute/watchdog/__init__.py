"""What a run takes of the machine, counted from outside."""
