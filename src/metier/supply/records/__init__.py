"""Other tools' lock files, one module per format, and the exchange with ours."""
