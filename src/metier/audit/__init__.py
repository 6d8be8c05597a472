"""Who decided what and when: one line for each event, chained by hashes, with secrets taken out."""
