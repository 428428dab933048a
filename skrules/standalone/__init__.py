"""The standalone comparison: a CMake project that compares adapted kernels on a device, without skrules."""
