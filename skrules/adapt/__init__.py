"""SK adaptation: a kernel and its contract in, SuperKernel-ready source text out."""
