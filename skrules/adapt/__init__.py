"""SK adaptation: a kernel and its contract in, SuperKernel-ready source text out."""

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.adapt.draft import AdaptedEntry
from skrules.adapt.splice import Fragment

__all__ = ["AdaptedEntry", "AdaptedSource", "Fragment", "adapt"]
