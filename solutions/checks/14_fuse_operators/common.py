"""What the checks of lesson 14 share."""

import numpy as np

import hetlab
from hetlab.grading import close

# Wrong kernels run beside the learner's.
hetlab.use_virtual_gpu()

FLOAT32 = close(rtol=1e-4, atol=1e-5)


def ceil_div(a, b):
    return -(-a // b)


def gelu(v):
    """The form with tanh. D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016."""
    return 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))
