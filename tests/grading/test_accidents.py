"""Whatever goes wrong in a notebook, its student gets one result with a reason to understand."""

import sys
import textwrap
from dataclasses import dataclass, replace

import pytest
from nbformat.v4 import new_notebook

from hetlab.grading import run_notebook

from .sandbox_tasks import LIMITS, graded, leftovers, tasks

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")

DOUBLE = "def double(x): return 2 * x"
TOTAL = "def total(x): return float(x.sum())"


@dataclass(frozen=True)
class Accident:
    """Cells, what ``double`` (of 2) and ``total`` (of 1) earn, and what the student reads."""

    cells: tuple[str, ...]
    points: tuple[int, int]
    says: str = ""
    reason: str = ""
    seconds: float = 30.0


def A(*cells, points, says="", reason="", seconds=30.0):
    made = tuple(textwrap.dedent(c).strip() for c in cells)
    return Accident(made, points, says, reason, seconds)


GOOD = (DOUBLE, "CHECK double")

ACCIDENTS = {
    "nothing goes wrong": A(DOUBLE, TOTAL, points=(2, 1)),
    "the kernel dies": A(
        *GOOD, "import os\nos._exit(0)", TOTAL, points=(2, 0), reason="the kernel died in cell 5"
    ),
    "the interpreter crashes": A(
        *GOOD,
        "import ctypes\nctypes.string_at(0)",
        TOTAL,
        points=(2, 0),
        reason="the kernel died in cell 5 (Segmentation fault)",
    ),
    "sys.exit": A("import sys\nsys.exit(3)", DOUBLE, TOTAL, points=(2, 1), says="SystemExit: 3"),
    "exit() and quit()": A("exit()", "quit()", DOUBLE, TOTAL, points=(2, 1)),
    "an endless loop": A(
        *GOOD,
        "while True: pass",
        TOTAL,
        points=(2, 1),
        says="cell 5: it did not end within 1 s and was stopped",
        seconds=1,
    ),
    "an endless loop that ignores the interrupt": A(
        *GOOD,
        "import itertools\n1 in itertools.repeat(0)",
        TOTAL,
        points=(2, 0),
        reason="cell 5 ignored the interrupt after 1 s",
        seconds=1,
    ),
    "a function that never returns": A(
        DOUBLE,
        "def total(x):\n    while True: pass",
        points=(2, 0),
        says="did not return within 1 s",
    ),
    "printing without end": A(
        "while True: print('x' * 1000)", *GOOD, TOTAL, points=(2, 1), says="printed without end"
    ),
    "a function that prints without end": A(
        DOUBLE,
        "def total(x):\n    while True: print('x' * 9999)",
        points=(2, 0),
        says="printed without end",
    ),
    "a flood on standard error": A(
        "import sys\nwhile True: sys.stderr.write('x' * 1000)",
        *GOOD,
        TOTAL,
        points=(2, 1),
        says="printed without end",
    ),
    "four gigabytes": A("x = np.ones(1 << 29)", DOUBLE, TOTAL, points=(2, 1), says="cell 3: "),
    "four gigabytes, in a function": A(
        DOUBLE, "def total(x): return np.ones(1 << 29).sum()", points=(2, 0), says="MemoryError"
    ),
    "many small pieces of memory": A(
        *GOOD, "a = []\nwhile True: a.append(bytes(1 << 20))", TOTAL, points=(2, 1), says="cell 5: "
    ),
    "endless recursion": A(
        DOUBLE, "def total(x): return total(x)", points=(2, 0), says="RecursionError"
    ),
    "a deadlock": A(
        DOUBLE,
        "import threading\nlock = threading.Lock()\nlock.acquire()",
        "def total(x):\n    lock.acquire()\n    return 0.0",
        points=(2, 0),
        says="did not return within 1 s",
    ),
    "standard output is closed": A(
        "import sys, os\nsys.stdout.close()\nsys.stderr.close()\nos.close(1)\nprint('still here')",
        DOUBLE,
        TOTAL,
        points=(2, 1),
    ),
    "a warning on standard error": A(
        "import warnings, sys\nwarnings.warn('careful')\nprint('!', file=sys.stderr)",
        DOUBLE,
        TOTAL,
        points=(2, 1),
    ),
    "a shell cell": A("%%bash\necho hello; cd /; exit 3", "!ls -l", DOUBLE, TOTAL, points=(2, 1)),
    "an unknown magic": A("%%cuda\nx", "%nonsense", DOUBLE, TOTAL, points=(2, 1), says="cell 3"),
    "a plot is shown": A(
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        DOUBLE,
        TOTAL,
        points=(2, 1),
    ),
    "a plot wants a window": A(
        "import matplotlib\nmatplotlib.use('TkAgg')\nimport matplotlib.pyplot as plt\nplt.figure()",
        DOUBLE,
        TOTAL,
        points=(2, 1),
        says="cell 3",
    ),
    "the working folder changes and goes": A(
        "import os, shutil\nos.makedirs('a')\nos.chdir('a')\nshutil.rmtree('../a')",
        DOUBLE,
        TOTAL,
        points=(2, 1),
    ),
    "np is another thing": A("np = 3", DOUBLE, TOTAL, points=(2, 1)),
    "print, len and str are other things": A(
        "print = len = str = isinstance = 'mine'", DOUBLE, TOTAL, points=(2, 1)
    ),
    "the function is a number": A(
        DOUBLE, "total = 3", points=(2, 0), says="no function named total"
    ),
    "the function takes other arguments": A(
        DOUBLE, "def total(): return 1", points=(2, 0), says="TypeError"
    ),
    "the function is a generator": A(
        DOUBLE, "def total(x):\n    yield 1.0", points=(2, 0), says="has type generator"
    ),
    "the function is async": A(
        DOUBLE, "async def total(x): return 1.0", points=(2, 0), says="has type coroutine"
    ),
    "a cell awaits": A(
        "import asyncio\nawait asyncio.sleep(0)\ntask = asyncio.create_task(asyncio.sleep(0))",
        DOUBLE,
        TOTAL,
        points=(2, 1),
    ),
    "a cell awaits for ever": A(
        "import asyncio\nawait asyncio.Event().wait()",
        DOUBLE,
        TOTAL,
        points=(2, 1),
        says="did not end within 1 s",
        seconds=1,
    ),
    "null bytes": A("x = 1\x00", DOUBLE, TOTAL, points=(2, 1), says="cell 3"),
    "half a surrogate": A("x = '\ud800'", DOUBLE, TOTAL, points=(2, 1)),
    "a cell that does not compile": A(
        DOUBLE, "def total(x:\n  return", points=(2, 0), says="cell 4: SyntaxError"
    ),
    "tabs and blanks mixed": A(
        DOUBLE, "def total(x):\n\ty = 1\n        return y", points=(2, 0), says="cell 4: "
    ),
    "input()": A("n = input('? ')", DOUBLE, TOTAL, points=(2, 1), says="input() needs somebody"),
    "input() in a function": A(
        DOUBLE, "def total(x): return input()", points=(2, 0), says="input() needs somebody"
    ),
    "another locale": A(
        "import locale, os\nos.environ['LC_ALL'] = 'tr_TR'\nos.environ['LANG'] = 'C'",
        "print('你好, ñ, ✔')\nopen('名字.txt', 'w').write('é')",
        DOUBLE,
        TOTAL,
        points=(2, 1),
    ),
    "names in Chinese": A("def 加倍(x): return 2 * x\ndouble = 加倍", TOTAL, points=(2, 1)),
    "an old cell comes again": A(DOUBLE, DOUBLE, "CHECK double", TOTAL, TOTAL, points=(2, 1)),
    "an empty cell, and one of comments": A("", "# nothing", DOUBLE, TOTAL, points=(2, 1)),
    "interrupts are ignored": A(
        *GOOD,
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        TOTAL,
        points=(2, 0),
        reason="ignored the interrupt",
        seconds=1,
    ),
    "an exception that cannot be printed": A(
        "class E(Exception):\n    def __str__(self): raise self\nraise E",
        DOUBLE,
        TOTAL,
        points=(2, 1),
        says="cell 3: E",
    ),
    "threads go on in the background": A(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()",
        DOUBLE,
        TOTAL,
        points=(2, 1),
    ),
    "the checks are asserted on": A(
        DOUBLE, 'v = hetlab.check("01_x/double", double)\nprint(v)\nassert v', TOTAL, points=(2, 1)
    ),
}


def test_there_are_at_least_30_of_them():
    assert len(ACCIDENTS) >= 30


@pytest.mark.parametrize("name", ACCIDENTS)
def test_an_accident_gives_each_task_its_row_and_says_why(name):
    accident = ACCIDENTS[name]
    limits = replace(LIMITS, cell=accident.seconds)
    got = graded(accident.cells, ("double", "total"), limits=limits)
    text = "\n".join([got.reason, *got.notes, *map(repr, got.verdicts)])
    assert tuple(v.points for v in got.verdicts) == accident.points, text
    assert accident.says in " ".join(text.split()), text
    assert accident.reason in got.reason and bool(accident.reason) == bool(got.reason), text
    assert not leftovers()


def test_a_notebook_without_cells_gives_each_task_its_row():
    known = tasks()
    got = run_notebook(new_notebook(), [("01_x", known["double"])], limits=LIMITS)
    assert got.points == 0 and "no function named double" in repr(got.verdicts[0])


def test_a_notebook_that_takes_too_long_keeps_what_it_earned():
    cells = [*GOOD, *["import time; time.sleep(0.6)"] * 3, TOTAL]
    got = graded(cells, ("double", "total"), limits=replace(LIMITS, notebook=1.0))
    assert [v.points for v in got.verdicts] == [2, 0]
    assert "the notebook took more than 1 s" in got.reason
