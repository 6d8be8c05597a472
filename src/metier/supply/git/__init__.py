"""Repositories, fetched by the git that is installed here, and never checked out."""
