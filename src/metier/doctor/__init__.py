"""What `metier doctor` says: what is configured, what is missing, what is wrong and what is
slow.
"""
