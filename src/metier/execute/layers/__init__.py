"""What the sandbox is made of here."""
