"""What the SuperKernel programming guide demands of hand-written SK code."""
