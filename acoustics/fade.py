"""Let a signal rise from zero or sink to zero without a click."""

import numpy as np
from numpy.typing import NDArray


def rise(n_samples: int) -> NDArray[np.float32]:
    """Return a raised cosine, shape (n_samples,), from just above 0 to just below 1; its reverse is the fall.

    rise + reversed rise = 1 at every sample.
    """
    phase = (np.arange(n_samples, dtype=np.float64) + 0.5) / max(n_samples, 1)
    return np.square(np.sin(0.5 * np.pi * phase)).astype(np.float32)
