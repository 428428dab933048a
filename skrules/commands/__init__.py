"""The subcommands of `skrules`, one module each: `declare` says what a command takes, `run` does it."""
