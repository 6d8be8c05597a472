"""What shell commands do: each module looks for one family of behaviour in commands that `shellwords` took apart."""
