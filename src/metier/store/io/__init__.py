"""The store on disk: blobs, trees, atomic changes, locks."""
