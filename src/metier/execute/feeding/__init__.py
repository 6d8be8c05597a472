"""What a program gets on its standard input."""
