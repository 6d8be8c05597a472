"""Stage 3 · verdict + provenance + policy + approvals → decision: may this skill be used, and why."""
