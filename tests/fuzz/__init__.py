"""Whatever people or tools hand in: an error that says so or a right result, and no file but the one that is meant."""
