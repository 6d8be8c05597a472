"""Looking at folders without reading a file in them."""
