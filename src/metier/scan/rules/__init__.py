"""The rules as data: one table per analyzer."""
