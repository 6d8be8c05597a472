"""The rules as data: one table for each analyzer."""
