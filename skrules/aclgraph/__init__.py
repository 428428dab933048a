"""The aclgraph-canonical tree: adapted operators as plain pybind11 sources with a setup.py, to build without skrules."""
