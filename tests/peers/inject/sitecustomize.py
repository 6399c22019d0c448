"""On PYTHONPATH, this lets every Python that a test starts use the virtual GPU."""

import os

if os.environ.get("HETLAB_PEER") == "virtual":
    import hetlab

    hetlab.use_virtual_gpu()
