"""What a run found against what is claimed."""

import json

from attrs import evolve

from swapmodel.report.schema import schemas
from swapmodel.report.verdicts import (
    Row,
    render_table,
    render_verdicts,
    rows,
    stem,
)
from swapmodel.search.explore import Exploration
from swapmodel.specfiles.claims import KnownCause
from swapmodel.specfiles.read import load_spec, paths_of
from tests.report import examples
from tests.report.test_schema import check

SPEC = load_spec("torch-2.13")
HOOK = examples.dead_hook()
SEARCHED = Exploration(
    spec="torch-2.13",
    scope="example",
    counterexamples=(HOOK,),
    heaps=12,
    transitions=34,
    depth=2,
    rules=(),
    paths=("swap", "direct"),
)
LISTED = KnownCause(
    cause=HOOK.cause, specs=("torch-2.13",), scope="example", scenario="found/x.toml"
)


def judged(one: Exploration, known: list[KnownCause]) -> list[Row]:
    """What is said of hooks."""
    return [row for row in rows(SPEC, [one], known) if row.invariant == "hooks"]


def test_a_listed_cause_that_is_found_is_as_claimed() -> None:
    """The row has the program, and where its report and script stand."""
    swap, direct = judged(SEARCHED, [LISTED])

    assert (swap.claim, swap.verdict, swap.as_claimed) == ("violated", "violated", True)
    assert swap.program[:2] == (
        'm.weight.register_hook(lambda *_: fired.append("h"))',
        "m.double()",
    )
    assert swap.script == f"scripts/{stem(HOOK.cause, 'torch-2.13')}.py"
    assert (direct.cause, direct.verdict, direct.as_claimed) == ("", "holds", True)


def test_a_cause_that_is_not_listed_is_not_as_claimed() -> None:
    """What is not listed is claimed to hold."""
    swap, _ = judged(SEARCHED, [])

    assert (swap.claim, swap.verdict, swap.as_claimed) == ("holds", "violated", False)


def test_a_listed_cause_that_is_not_found_is_not_as_claimed() -> None:
    """A violation that disappears is told too."""
    swap, _ = judged(evolve(SEARCHED, counterexamples=()), [LISTED])

    assert (swap.claim, swap.verdict, swap.as_claimed) == ("violated", "holds", False)
    assert swap.cause


def test_a_proposal_is_judged_by_the_claims_of_its_base() -> None:
    """What a proposal says is only how it differs; so is what is told of it."""
    proposal = evolve(SPEC, id="mine", base=SPEC.id)
    found, _ = (
        row for row in rows(proposal, [SEARCHED], [LISTED]) if row.invariant == "hooks"
    )

    assert (found.claim, found.verdict) == ("violated", "violated")


def test_a_search_that_was_stopped_decides_nothing() -> None:
    """What was not found by then may still be there."""
    stopped = evolve(SEARCHED, counterexamples=(), stopped="limit")

    assert {row.verdict for row in rows(SPEC, [stopped], [])} == {"undecided"}


def test_a_path_that_a_spec_has_not_is_absent() -> None:
    """torch 2.1 cannot swap."""
    old = load_spec("torch-2.1")
    searched = evolve(SEARCHED, counterexamples=(), paths=("data", "direct"))
    found = rows(old, [searched], [], ("data", "swap"))

    assert paths_of(old) == ("data", "assign", "replace", "direct")
    assert {row.verdict for row in found if row.path == "swap"} == {"absent"}
    assert {row.verdict for row in found if row.path == "data"} == {"holds"}


def test_a_path_that_no_search_took_is_undecided() -> None:
    """Nothing is claimed to hold that nobody looked at."""
    found = rows(SPEC, [SEARCHED], [], ("assign",))

    assert {row.verdict for row in found} == {"undecided"}


def test_the_shortest_program_is_the_one_that_is_told() -> None:
    """Of two scopes with one cause, the one with the shorter program shows it."""
    longer = evolve(HOOK, program=(*HOOK.program[:1], *HOOK.program))
    first = evolve(SEARCHED, scope="longer", counterexamples=(longer,))
    found = rows(SPEC, [first, SEARCHED], [LISTED])

    assert [row.scope for row in found if row.verdict == "violated"] == ["example"]


def test_the_table() -> None:
    """Invariants stand below, paths beside each other."""
    found = rows(SPEC, [SEARCHED], [], ("data", "swap", "direct"))

    examples.assert_golden("table.txt", render_table(found))


def test_verdicts_follow_their_schema() -> None:
    """What is written as JSON is what the schema promises."""
    written = render_verdicts(rows(SPEC, [SEARCHED], [LISTED]))

    check(json.loads(schemas()["verdicts.schema.json"]), json.loads(written))
