"""Functions of the C library that its headers, and C++'s, declare in the global namespace, often overloaded.

A kernel of such a name is not the only function that the name means, wherever one of these headers is included. The names
are those of ISO C 7 and of POSIX <strings.h> and <unistd.h>; a name too many costs a cast and changes nothing.
"""

from __future__ import annotations

_MATH = """
    abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
    fmax fmin fmod frexp gamma hypot ilogb isfinite isinf isnan isnormal j0 j1 jn ldexp lgamma llrint llround log log10
    log1p log2 logb lrint lround modf nan nearbyint nextafter pow remainder remquo rint round scalbn signbit sin sinh
    sqrt tan tanh tgamma trunc y0 y1 yn
"""
_GENERAL = """
    abort atexit atof atoi atol bcmp bcopy bsearch bzero calloc div exit ffs free getenv index labs ldiv malloc memchr
    memcmp memcpy memmove memset qsort rand random realloc rindex srand strcat strchr strcmp strcpy strlen strtod strtol
    system
"""
_SYSTEM = """
    access clock close connect difftime dup fclose fopen fork fread fseek fwrite gets kill link mktime pause pipe printf
    puts read remove rename select send signal sleep sync time truncate unlink wait write
"""
_NAMES = frozenset((*_MATH.split(), *_GENERAL.split(), *_SYSTEM.split()))


def is_library_function(name: str) -> bool:
    """Tell whether the C library has a function of this name too."""
    return name in _NAMES
