# Written by: hetlab track export --nbgrader
import os
from pathlib import Path

from nbgrader import preprocessors

c = get_config()  # noqa: F821

# hetlab.check finds the checks here, in every kernel that nbgrader starts.
os.environ["HETLAB_TRACK"] = str(Path(__file__).absolute().parent / "{{inside}}")

c.CourseDirectory.course_id = "{{course}}"

# The sources are exercises already: nothing is left to clear, and nbgrader's own stub would
# take the place of whole cells.
c.GenerateAssignment.preprocessors = [
    preprocessors.IncludeHeaderFooter,
    preprocessors.LockCells,
    preprocessors.ClearOutput,
    preprocessors.CheckCellMetadata,
    preprocessors.ComputeChecksums,
    preprocessors.SaveCells,
]

# A check cell that a student deleted is put back, and scored.
c.OverwriteCells.add_missing_cells = True
# Compiling kernels takes longer than nbgrader's 30 seconds.
c.ExecutePreprocessor.timeout = 300
c.Execute.timeout = 300
