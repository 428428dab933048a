"""What of a machine a build can use, what each missing thing means, and the one command that gets it."""
