"""Reference of add_custom: the sum in float32, rounded once."""

import numpy as np


def add_custom(x, y):
    return {"z": (x.astype(np.float32) + y.astype(np.float32)).astype(np.float16)}
