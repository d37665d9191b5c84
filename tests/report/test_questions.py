"""What can be asked of a tensor, and that torch answers as the model does."""

from typing import Any

import pytest

from swapmodel.actions import Program
from swapmodel.report import questions
from swapmodel.report.questions import QUESTIONS
from swapmodel.report.snippets import CLASSES, IMPORTS
from swapmodel.report.spelling import expression, spelled
from swapmodel.report.start import start_lines
from swapmodel.run import run
from swapmodel.semantics import places
from swapmodel.specfiles.read import load_spec
from tests.report import examples


def test_questions_differ() -> None:
    """No question is asked twice."""
    codes = [one.code for one in QUESTIONS]

    assert len(codes) == len(set(codes))


def test_words_are_the_code_unless_the_code_reads_badly() -> None:
    """People read the expression, or the words that stand for it."""
    dtype = next(one for one in QUESTIONS if one.code == "{t}.dtype")

    assert questions.words(dtype, "p") == questions.code(dtype, "p") == "p.dtype"
    assert questions.words(questions.VALUES, "p") == "p.tolist() modulo 8"


def test_what_cannot_be_read_is_not_asked() -> None:
    """A wrapper has no elements of its own, and its inner tensors are asked."""
    heap = examples.wrapper_heap()
    standing = dict(places.places(heap))
    answers = questions.answers(heap, standing["m.weight"])

    assert questions.VALUES.code not in answers
    assert answers["{t}.dtype"] == "torch.float32"


@pytest.mark.torch
@pytest.mark.parametrize("program", [(), *examples.PROGRAMS])
def test_torch_answers_as_the_model_does(program: Program) -> None:
    """Every question that can be compared has one answer, at every place."""
    start = examples.wrapper_heap()
    heap = run(start, program, load_spec("torch-2.13")).heaps[-1]
    scope: dict[str, Any] = {"fired": []}
    exec("\n".join([IMPORTS, *CLASSES.values(), *start_lines(start)]), scope)
    for action in program:
        try:
            exec(spelled(action), scope)
        except RuntimeError:
            continue
    for place, t in places.places(heap):
        answers = questions.answers(heap, t)
        for one in QUESTIONS:
            if one.comparable and one.code in answers:
                asked = questions.code(one, expression(place))

                assert eval(answers[one.code], scope) == eval(asked, scope), asked
