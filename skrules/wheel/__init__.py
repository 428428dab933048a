"""Wheels of operators: what is installed with pip and called from PyTorch. Records in, bytes out, and what is wrong with them.

`packaging`, of the Python Packaging Authority, decides over names, versions, tags and requirements. The archive itself is
written with `zipfile`: no maintained library offers that as an interface (`wheel` is a command line tool by its own
words, the API planned for `packaging` is not there), and every byte of it must be decided here for two builds to be equal.
"""
