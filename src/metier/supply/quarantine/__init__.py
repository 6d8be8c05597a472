"""Where the bytes of strangers lie until somebody has decided about them."""
