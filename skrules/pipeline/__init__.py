"""The published pipeline over the build: stages, statuses and artefacts of the public tool, work done by SCons and the engine."""
