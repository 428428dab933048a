"""SCons tool: `Environment(tools=["skrules"]).SkWorkspace(packages=["ops"])`."""

from skrules.scons.workspace import generate as generate


def exists(_environment):
    return True
