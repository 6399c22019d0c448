"""Print the counters of the classics; names of classics as arguments choose some of them."""

import sys

from hetlab.errors import UnknownName
from tests.vgpu.classics import CLASSICS, table


def main(names: list[str]) -> None:
    for name in names:
        if name not in CLASSICS:
            raise SystemExit(str(UnknownName("classic", name, CLASSICS)))
    chosen = [CLASSICS[name] for name in names or CLASSICS]
    rows = (
        (f"{classic.name} {classic.shown:,}: {variant}", classic.run(variant))
        for classic in chosen
        for variant in classic.variants
    )
    for line in table(rows):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


main(sys.argv[1:])
