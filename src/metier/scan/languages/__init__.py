"""One reader or analyzer per language: text in, rule hits out."""
