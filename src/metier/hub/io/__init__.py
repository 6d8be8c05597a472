"""What the hub touches: the database, the object store, and other people's addresses."""
