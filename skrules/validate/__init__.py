"""Rules on operators: what compiles and is wrong all the same, told at its place with its public source."""
