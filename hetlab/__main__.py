"""``python -m hetlab`` is the ``hetlab`` command."""

from .cli import main

main(prog_name="hetlab")
