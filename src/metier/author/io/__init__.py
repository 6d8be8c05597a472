"""Where changes to skills touch the disk: the staging folder, the swap into place, the files of
drafts.
"""
