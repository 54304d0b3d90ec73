"""All that the judges import: one line there in place of five."""

from specdec_grader.part import part  # noqa: F401
from specdec_grader.question import ROUNDED, Question, pretty, results, tokens_of, told_apart  # noqa: F401
from specdec_lab.course.mistake import Mistake, StillOpen, Wrong  # noqa: F401
from specdec_lab.course.reading import begun, common_start, listed, nothing, number, same, shown, whole  # noqa: F401
