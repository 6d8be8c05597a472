"""Defaults < organisation < user < project < environment < flags."""
