"""Measures the build graph at many operators, beside a plain SCons graph and ninja. Not part of the default test run."""
