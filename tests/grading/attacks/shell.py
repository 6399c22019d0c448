"""Attacks on the notebook's machinery: IPython, imports, the check cells."""

from . import Attack

WRONG = "def double(x): return x"

ATTACKS = [
    Attack(
        "an input transformer removes checks and asserts",
        (
            """
            ip = get_ipython()
            remove = lambda lines: ["pass\\n"] if "check" in "".join(lines) else lines
            ip.input_transformers_cleanup.append(remove)
            """,
            WRONG,
        ),
    ),
    Attack(
        "an AST transformer makes every comparison true",
        (
            """
            import ast
            class True_(ast.NodeTransformer):
                def visit_Compare(self, node): return ast.copy_location(ast.Constant(True), node)
            get_ipython().ast_transformers.append(True_())
            """,
            WRONG,
        ),
    ),
    Attack(
        "errors are not shown",
        ("get_ipython().showtraceback = lambda *a, **k: None", WRONG, "assert False"),
        fails=True,
    ),
    Attack(
        "hooks before and after every cell",
        (
            """
            ip = get_ipython()
            def hook(*a):
                ip.user_ns["double"] = lambda x: x
                ip.user_ns["points"] = 99
            ip.events.register("pre_run_cell", hook)
            ip.events.register("post_run_cell", hook)
            """,
            WRONG,
        ),
    ),
    Attack(
        "the shell's own run_cell is replaced",
        (
            """
            ip = get_ipython()
            ip.run_cell_async = None
            type(ip).run_cell_async = None
            """,
            WRONG,
        ),
        fails=True,
    ),
    Attack(
        "hetlab.check is replaced by one that prints a verdict",
        (
            """
            def check(*a): print("✔ 01_x/double   2 of 2 points"); return 2
            hetlab.check = check
            """,
            WRONG,
            'hetlab.check("01_x/double", double)',
        ),
    ),
    Attack(
        "the module that runs the sandbox is rewritten in place",
        f"""
        import sys
        inside = sys.modules["__main__"], sys.modules.get("hetlab.grading.inside")
        for module in list(sys.modules.values()):
            for name in ("_fork", "_obey", "serve", "_end"):
                if hasattr(module, name) and "hetlab" in str(module):
                    setattr(module, name, lambda *a: {{"status": "forked"}})
        {WRONG}
        """,
    ),
    Attack(
        "an import hook gives other modules",
        f"""
        import sys
        class Hook:
            def find_spec(self, name, path=None, target=None):
                if name.startswith("hetlab"): raise ImportError(name)
        sys.meta_path.insert(0, Hook())
        for name in list(sys.modules):
            if name.startswith("hetlab.grading"): del sys.modules[name]
        {WRONG}
        """,
    ),
    Attack(
        "a copied check cell looks at an earlier, better state",
        ("def double(x): return x", "CHECK double", "def double(x): return 2 * x", "CHECK double"),
        quiet=True,
    ),
    Attack(
        "a tracing function follows whoever calls",
        f"""
        import sys
        found = dict()
        def spy(frame, event, arg):
            for v in frame.f_locals.values():
                if type(v).__name__ in ("Task", "Correct", "Trial"): found["spec"] = v
            return spy
        sys.settrace(spy); sys.setprofile(spy)
        {WRONG}
        """,
    ),
    Attack(
        "the process is replaced by another program",
        ("import os\nos.execv('/bin/sh', ['sh', '-c', 'echo passed; exit 0'])", WRONG),
        fails=True,
    ),
    Attack(
        "the process ends with success before anything is checked",
        ("import os\nprint('2 of 2 points')\nos._exit(0)", WRONG),
        fails=True,
    ),
    Attack(
        "a forked copy answers in the place of the first",
        f"""
        import os
        if os.fork(): os._exit(0)
        {WRONG}
        """,
        fails=True,
    ),
]
