"""Code that compiles and runs alone, and hangs, is wrong or slow in a super kernel; and comments that allow such code."""
