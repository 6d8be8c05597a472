"""What runs inside the sandbox beside a code skill. It is handed in as bytes, and knows nothing of metier."""
