"""Pictures of tiled products, of an online softmax and of fusion say the right numbers."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from hetlab.errors import InvalidValue
from hetlab.widgets import figures_fusion, figures_products
from hetlab.widgets.palette import BLUE, GREEN, ORANGE


def words(figure):
    return "\n".join(t.get_text() for ax in figure.axes for t in ax.texts)


def cells(figure, colour):
    import matplotlib.colors

    wanted = matplotlib.colors.to_rgba(colour)
    patches = (p for ax in figure.axes for p in ax.patches if isinstance(p, Rectangle))
    return sum(p.get_facecolor() == wanted for p in patches)


def test_a_tile_of_c_needs_its_rows_and_its_columns():
    """Blue is the present step, green the rest, orange the tile itself."""
    figure = figures_products.product_tiles(m=6, n=8, k=5, tile=(2, 4, 2), step=2)
    assert cells(figure, ORANGE) == 2 * 4
    assert cells(figure, BLUE) == (2 + 4) * 1  # the last step is shorter
    assert cells(figure, BLUE) + cells(figure, GREEN) == (2 + 4) * 5
    assert "30 elements for 40 multiply-adds" in words(figure)
    assert "k = 4 to 4" in words(figure) and "steps in all: 3" in words(figure)


def test_an_order_of_programs_counts_the_bands_of_the_first_ones():
    """Eight programs in one row need one band of A; in a square of tiles fewer in all."""
    in_rows = figures_products.program_order(8, 8, lambda p: divmod(p, 8), together=8)
    assert "1 band of A + 8 bands of B\n= 9 bands" in words(in_rows)
    grouped = figures_products.program_order(8, 8, lambda p: (p % 4, p // 4), together=8)
    assert "4 bands of A + 2 bands of B\n= 6 bands" in words(grouped)
    assert cells(grouped, BLUE) == 8


def test_the_rescaled_sum_ends_at_the_true_one():
    """The kept line's last point is the softmax's denominator; the naive line's is not."""
    scores = np.array([0.5, 1.5, 1, 0.2, 2.8, 2, 4, 3.2, -1])
    _, right = figures_products.online_softmax(scores, block=4).axes
    kept, naive = (line.get_ydata() for line in right.lines)
    truth = np.exp(scores - scores.max()).sum()
    assert kept[-1] == pytest.approx(truth) and naive[-1] > truth
    assert len(kept) == 3


def test_a_plan_counts_the_arrays_that_go_through_memory():
    """Fused, only inputs and the result move; the rest is named inside the kernel."""
    chain = [("s", ["x", "b"]), ("g", ["s"]), ("y", ["g", "m"])]
    assert "8 arrays" in words(figures_fusion.plan([[one] for one in chain], "y"))
    fused = words(figures_fusion.plan([chain], "y"))
    assert "4 arrays" in fused and "s and g stay here" in fused
    assert "g stays here" not in words(figures_fusion.plan([chain[:2], chain[2:]], "y"))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures_products.product_tiles(17, 8, 8, (4, 4, 2)),
        lambda: figures_products.product_tiles(8, 8, 8, (9, 4, 2)),
        lambda: figures_products.product_tiles(8, 8, 8, (4, 4, 2), step=4),
        lambda: figures_products.program_order(13, 2, lambda p: (0, 0)),
        lambda: figures_products.program_order(2, 2, lambda p: divmod(p, 2), together=5),
        lambda: figures_products.online_softmax([1, np.inf], 1),
        lambda: figures_products.online_softmax([1, 2], 3),
        lambda: figures_fusion.plan([], "y"),
        lambda: figures_fusion.plan([[("y", ["x"])]], "z"),
    ],
)
def test_what_cannot_be_drawn_is_an_error_with_its_rule(draw):
    """Never an empty picture."""
    with pytest.raises(InvalidValue, match="must be"):
        draw()
