"""
How does a person show a counterexample in torch?  One file that imports torch alone.

It exits 0 when torch does what the model says, 1 when not, and 77 when the release is
another one or something that it needs is absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from swapmodel.actions import Action
from swapmodel.outcomes import Outcome, OutOfScope, Refusal, Refused, Undefined
from swapmodel.report import spelling
from swapmodel.report.evidence import (
    Evidence,
    compared_before,
    evidence,
    whole_program,
)
from swapmodel.report.names import BEFORE
from swapmodel.report.snippets import CLASSES, FUNCTIONS, IMPORTS
from swapmodel.report.start import start_lines
from swapmodel.run import Counterexample, run
from swapmodel.semantics.spec import Spec

EXPECT = '''\
failed = False


def compare(what, predicted, actual):
    """Print and keep whether torch gives what the model predicts."""
    global failed
    verdict = "as predicted" if predicted == actual else "DIFFERENT"
    print(f"  {verdict:12}  {what}: predicted {predicted!r}, actual {actual!r}")
    failed = failed or predicted != actual


def expect(what, predicted):
    """Ask torch for the value of an expression, and compare."""
    compare(what, predicted, eval(what))
'''

REFUSED = '''\
def expect_refusal(error, texts):
    """Compare a chain of exceptions, outermost first; `...` stands for any text."""
    said = []
    while error is not None:
        said.append(str(error))
        error = error.__cause__ or error.__context__
    for number, text in enumerate(texts):
        pattern = ".*".join(map(re.escape, text.split("...")))
        if number < len(said) and re.fullmatch(pattern, said[number], re.DOTALL):
            said[number] = text
    compare("what torch says", texts, said)
'''

CHILD = """\
# The last line ends the process, so that it runs in a child of its own.
if sys.argv[1:] == ["--fatal"]:
    {line}
    sys.exit(0)
ended = subprocess.run([sys.executable, __file__, "--fatal"], capture_output=True)
compare("the child has died", True, ended.returncode not in (0, 1, 77))
"""

LAST = """\
print(("reproduced" if not failed else "NOT reproduced") + f" on torch {VERSION}")
sys.exit(1 if failed else 0)
"""


def script(
    counterexample: Counterexample, spec: Spec, *, releases: tuple[str, ...] = ()
) -> str:
    """
    Write a counterexample as a script for the releases of its spec.

    *releases* are further ones in which the operations that it uses are the same.
    """
    trace = run(counterexample.heap, whole_program(counterexample), spec)
    begin = start_lines(counterexample.heap)
    steps = list(_steps(counterexample, trace.outcomes, spec))
    found: tuple[Evidence, ...] = ()
    if not isinstance(trace.outcomes[-1], Undefined):
        found = evidence(counterexample, trace)
    body = [*begin, "", *steps]
    parts = [
        _docstring(counterexample, spec),
        _head(counterexample, spec, releases, "\n".join(body)),
        EXPECT,
    ]
    if any(isinstance(one, Refused) for one in trace.outcomes):
        parts.append(REFUSED)
    parts += [CLASSES[one] for one in _classes("\n".join(body))]
    parts += [FUNCTIONS[one] for one in FUNCTIONS if f"{one}(" in "\n".join(body)]
    parts.append("\n".join([*_told(counterexample), "", *body]) + "\n")
    parts.append("\n".join(_compared(found)) + "\n")
    parts.append(LAST)
    return "\n\n".join(part.rstrip("\n") + "\n" for part in parts if part.strip())


def releases_of(spec: Spec) -> tuple[str, ...]:
    """The releases of a spec, by major and minor number, oldest first."""
    minors = {_minor(one) for one in (*spec.measured, *spec.placed)}
    return tuple(sorted(minors, key=_number))


def _minor(release: str) -> str:
    return ".".join(release.split(".")[:2])


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(one) for one in release.split("."))


# -- The head ----------------------------------------------------------------------


def _docstring(one: Counterexample, spec: Spec) -> str:
    violation = one.violation
    where = f"{violation.place or 'the heap'} ({violation.kind})"
    return f'''\
"""
The invariant {violation.invariant} is false in {spec.id}, on the path {one.cause.path}.

At {where}, since the phase {one.cause.phase}.
Exits 0 when torch does what is predicted here, 1 when it does not, and 77 when this
is another release of torch or something that is needed is absent.
"""
'''


def _head(one: Counterexample, spec: Spec, releases: tuple[str, ...], body: str) -> str:
    known = {*releases_of(spec), *map(_minor, releases)}
    minors = [*sorted(known, key=_number)]
    needed = [name for name in _NEEDS if name in body]
    needs = "".join(f" or not hasattr({_split(name)})" for name in needed)
    used = {
        "copy": "copy.",
        "re": "expect_refusal",
        "subprocess": "subprocess.",
        "weakref": "weakref.",
    }
    extra = [f"import {name}" for name, mark in used.items() if mark in body]
    classes = IMPORTS.splitlines()[1:] if _classes(body) else []
    imports = sorted(["import gc", "import sys", *extra])
    return "\n".join(
        [
            *imports,
            "",
            "try:",
            "    import torch",
            "except ImportError:",
            '    print("there is no torch")',
            "    sys.exit(77)",
            *classes,
            "",
            f"RELEASES = {minors!r}",
            'VERSION = torch.__version__.split("+")[0]',
            f'if ".".join(VERSION.split(".")[:2]) not in RELEASES{needs}:',
            f'    print(f"this is for {spec.id}, and here is torch {{VERSION}}")',
            "    sys.exit(77)",
            "",
        ]
    )


_NEEDS = ("torch.utils.swap_tensors", "torch._C._WeakTensorRef")


def _split(name: str) -> str:
    holder, _, last = name.rpartition(".")
    return f'{holder}, "{last}"'


def _classes(body: str) -> list[str]:
    return [name for name in CLASSES if re.search(rf"\b{name}\b", body)]


def _told(one: Counterexample) -> Iterator[str]:
    yield f"print({f'{one.violation.invariant} at {one.violation.place}'!r})"
    yield f"print({f'  promised  {one.violation.was}'!r})"
    yield f"print({f'  predicted {one.violation.now}'!r})"


# -- The program -------------------------------------------------------------------


def _steps(
    one: Counterexample, outcomes: tuple[Outcome, ...], spec: Spec
) -> Iterator[str]:
    whole = whole_program(one)
    heap = one.heap
    if "fired.append" in "\n".join(map(spelling.spelled, whole)):
        yield "fired = []"
    for number, (action, outcome) in enumerate(zip(whole, outcomes, strict=False), 1):
        if number == len(one.program):
            yield f"{BEFORE} = {{"
            for place in compared_before(one, heap):
                yield f'    "{place}": id({spelling.expression(place)}),'
            yield "}"
        if number == len(one.program) + 1:
            yield "# What comes of it:"
        yield from _step(action, outcome, spec)
        assert not isinstance(outcome, OutOfScope), outcome.why
        heap = outcome.heap


def _step(action: Action, outcome: Outcome, spec: Spec) -> Iterator[str]:
    line = spelling.spelled(action)
    match outcome:
        case Refused(refusal=refusal):
            yield from _refused(line, refusal, spec)
        case Undefined(why=why):
            yield f"# {why}"
            yield CHILD.format(line=line)
        case _:
            yield line


def _refused(line: str, refusal: Refusal, spec: Spec) -> Iterator[str]:
    chain = spelling.chain(refusal)
    texts = [spelling.text(spec, one) for one in chain]
    yield f"# Refused by {', after '.join(one.rule for one in chain)}."
    yield "try:"
    yield f"    {line}"
    yield f"except {spelling.exception(refusal)} as error:"
    yield "    expect_refusal(error, ["
    yield from (f"        {one!r}," for one in texts)
    yield "    ])"
    yield "else:"
    yield f'    compare("what torch says", {texts!r}, [])'


# -- The comparison ----------------------------------------------------------------


def _compared(found: tuple[Evidence, ...]) -> Iterator[str]:
    if found:
        yield "gc.collect()"
    for one in found:
        line = f"expect({one.code!r}, {one.predicted})"
        if one.needs:
            yield f'if hasattr(torch.Tensor, "{one.needs}"):'
            line = f"    {line}"
        yield line
