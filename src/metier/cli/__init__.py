"""The command line: parse, call the library, print. It decides nothing itself."""
