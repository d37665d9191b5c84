"""A run for a build server."""

from xml.etree import ElementTree

from swapmodel.report.junit import render_junit
from swapmodel.report.verdicts import rows
from tests.report.test_verdicts import LISTED, SEARCHED, SPEC


def test_what_is_not_as_claimed_fails() -> None:
    """A cause that is not listed is a failure, with the program that shows it."""
    root = ElementTree.fromstring(render_junit(rows(SPEC, [SEARCHED], [])))
    (failure,) = root.iter("failure")

    assert failure.get("message") == "claimed holds, found violated"
    assert "m.double()" in (failure.text or "")


def test_what_is_as_claimed_passes() -> None:
    """A listed cause that is found is what was to be expected."""
    root = ElementTree.fromstring(render_junit(rows(SPEC, [SEARCHED], [LISTED])))
    suite = root.find("testsuite")
    assert suite is not None

    assert suite.get("failures") == "0"
    assert suite.get("tests") == str(len(list(suite.iter("testcase"))))


def test_what_is_undecided_is_skipped() -> None:
    """Neither a failure nor a success."""
    text = render_junit(rows(SPEC, [SEARCHED], [], ("assign",)))
    root = ElementTree.fromstring(text)

    assert {one.get("message") for one in root.iter("skipped")} == {"undecided"}
