"""What changes the disk where skills lie."""
