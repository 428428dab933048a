"""skrules for an SConstruct: `from skrules.scons import Workspace`."""

from skrules.scons.workspace import Workspace

__all__ = ["Workspace"]
