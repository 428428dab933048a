"""The documents that other tools hand over beside an operator."""
