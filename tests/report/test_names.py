"""Names of variables, which scripts keep apart from their own."""

import builtins
from collections.abc import Callable
from itertools import combinations
from symtable import symtable

import pytest

from swapmodel.actions import (
    Action,
    Convert,
    Forward,
    NameTensor,
    RegisterHook,
    SetAttribute,
    SwapTensors,
    TakeWeakref,
    Tie,
    Unregister,
)
from swapmodel.conversions import ByRole, Other
from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.probes import OUTPUT
from swapmodel.invariants.violation import Step
from swapmodel.outcomes import Done, Refused
from swapmodel.report.names import OF_SCRIPTS, RESERVED, expression, variable
from swapmodel.report.script import script
from swapmodel.report.snippets import CLASSES, FUNCTIONS
from swapmodel.report.spelling import spelled
from swapmodel.report.start import start_lines
from swapmodel.run import Counterexample, find_cause, run
from swapmodel.state.build import Builder
from tests.heaps import NEW, spec
from tests.report import examples

TAKEN = (*OF_SCRIPTS, "TwoTensor", "RaiseAt", "tree_map", "id", "type", "print", "None")

FREE = ("t", "x", "self", "cls", "one", "k", "v", "m", "weight", "module", "_")


def test_no_two_names_become_one() -> None:
    """An underscore more is never another variable's name, or one of the script's."""
    names = [*TAKEN, *FREE]
    names += [f"{one}{'_' * many}" for one in names for many in (1, 2)]
    written = {one: variable(one) for one in names if one.strip("_")}

    assert len({*written.values()}) == len(written)
    assert all(variable(one) == one for one in FREE if one != "_")
    assert not {*written.values()} & {*TAKEN, *CLASSES, *FUNCTIONS, *dir(builtins)}


def global_names(text: str) -> set[str]:
    """Every name that Python looks up among the globals and builtins of a program."""
    found, todo = set[str](), [symtable(text, "program", "exec")]
    while todo:
        table = todo.pop()
        outermost = table.get_type() == "module"
        symbols = table.get_symbols()
        found |= {one.get_name() for one in symbols if outermost or one.is_global()}
        todo += table.get_children()
    return found


@pytest.mark.parametrize("example", examples.CONFIRMED, ids=lambda one: one.__name__)
def test_every_name_of_a_script_is_reserved(
    example: Callable[[], Counterexample],
) -> None:
    """What a script defines or reads, its program's variables left out."""
    one = example()
    program = "\n".join([*start_lines(one.heap), *map(spelled, one.program)])
    names = global_names(script(one, spec(one.spec))) - global_names(program)
    names -= {OUTPUT}

    assert {name for name in names if name.rstrip("_") not in RESERVED} == set()


def named(module: str, free: str, *actions: Action) -> Counterexample:
    """A counterexample whose variables have these names."""
    build = Builder()
    weight = build.parameter(cls="TwoTensor", attributes={"tag": 1})
    build.name(module, "module", build.module({"weight": weight}))
    build.name(free, "tensor", build.parameter((3, 4)))
    start = build.heap()
    trace = run(start, actions, spec(NEW))
    last = trace.outcomes[-1]
    assert isinstance(last, Done | Refused)
    step = Step(trace.heaps[len(actions) - 1], actions[-1], last, spec(NEW))
    for known in INVARIANTS:
        for violation in known.check(step):
            cause = find_cause(step, violation, known)
            return Counterexample(
                NEW, "example", "start", start, actions, violation, cause
            )
    raise AssertionError("nothing is broken")


def reproduced(text: str, capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether a script that runs in this process shows what it predicts."""
    with pytest.raises(SystemExit) as ended:
        exec(compile(text, "script.py", "exec"), {"__name__": "__main__"})
    out = capsys.readouterr().out
    assert "DIFFERENT" not in out
    return ended.value.code == 0


@pytest.mark.torch
@pytest.mark.parametrize("name", [*TAKEN[:-1], "t", "x", "y_", "torch_"])
def test_a_script_with_such_a_name(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It runs on torch and shows what is predicted, whatever its variables are."""
    pytest.importorskip("torch")
    other = "q" if name != "q" else "p"
    for module, free in ((name, other), (other, name)):
        actions = (
            RegisterHook(f"{module}.weight", "h"),
            NameTensor(free, f"{name}_"),
            TakeWeakref("callback", f"{module}.weight.a", "r"),
            SwapTensors(f"{module}.weight", free),
        )
        text = script(named(module, free, *actions), spec(NEW))

        assert reproduced(text, capsys)


@pytest.mark.torch
@pytest.mark.parametrize("names", [*combinations("txy", 2)])
def test_a_function_that_reads_such_a_variable(
    names: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The parameter of a lambda is no variable that it reads."""
    pytest.importorskip("torch")
    module, free = names
    fn = ByRole(Other(free), Other(f"{module}.weight"))
    text = script(named(module, free, Convert(module, fn)), spec(NEW))

    assert reproduced(text, capsys)


def test_keywords_behind_a_dot() -> None:
    """What Python's grammar has no attribute for is written with a function."""
    assert expression("torch.if.grad") == 'getattr(torch_, "if").grad'
    assert spelled(SetAttribute("w", "class", 2)) == 'setattr(w, "class", 2)'
    assert spelled(Tie("m", "0", "w")) == 'setattr(m, "0", w)'
    assert spelled(Unregister("m", "for")) == 'delattr(m, "for")'
    assert spelled(Forward("relu", "m.if", "id")) == 'id_ = getattr(m, "if").relu()'


def test_nothing_is_named_as_itself() -> None:
    """A base that is made before its part is a variable by then."""
    build = Builder()
    whole = build.tensor()
    part = build.share(build.tensor((0,)), whole, offset=1, length=1)
    build.name("a", "tensor", build.view(part, whole))
    build.name("w", "tensor", whole)
    build.name("z", "tensor", whole)
    lines = start_lines(build.heap())

    assert lines == (
        "w = torch.tensor([1.0, 2.0])",
        "a = w[1:2]",
        "z = w",
    )
