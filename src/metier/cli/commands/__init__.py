"""One file per command: its row of the table and its code. Twins share a file; metier.cli.table
says which.
"""
