"""Reference of row_sum_custom, in float64."""

import numpy as np


def row_sum_custom(x):
    return {"y": x.astype(np.float64).sum(axis=1).astype(np.float32)}
