"""SK adaptation: a kernel and its contract in, SuperKernel-ready source text out."""

from skrules.adapt.adaptation import AdaptedEntry, AdaptedSource, adapt
from skrules.adapt.splice import Fragment

__all__ = ["AdaptedEntry", "AdaptedSource", "Fragment", "adapt"]
