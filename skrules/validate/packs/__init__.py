"""The rules, one file each: every module of a pack has a `RULE`. `skrules.validate.registry` finds them."""
