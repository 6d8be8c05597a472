"""Stage 5: verdict + provenance + policy + approvals -> decision. May this skill be used, and
why.
"""
