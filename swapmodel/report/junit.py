"""
How does a run read for a build server?  As JUnit XML.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from swapmodel.report.verdicts import Row


def render_junit(judged: Iterable[Row]) -> str:
    """
    One suite per spec, one case per row of the verdicts.

    A verdict other than the claim fails its case; what is absent or undecided is
    skipped.
    """
    root = ElementTree.Element("testsuites", name="swapmodel check")
    suites: dict[str, list[Row]] = {}
    for row in judged:
        suites.setdefault(row.spec, []).append(row)
    for spec, found in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", name=spec)
        failures = skipped = 0
        for row in found:
            case = _case(suite, row)
            failures += case.find("failure") is not None
            skipped += case.find("skipped") is not None
        suite.set("tests", str(len(found)))
        suite.set("failures", str(failures))
        suite.set("skipped", str(skipped))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, row: Row) -> ElementTree.Element:
    name = " ".join(one for one in (row.invariant, row.path, row.cause) if one)
    case = ElementTree.SubElement(suite, "testcase", classname=row.spec, name=name)
    if row.verdict in ("absent", "undecided"):
        ElementTree.SubElement(case, "skipped", message=row.verdict)
    elif not row.as_claimed:
        message = f"claimed {row.claim}, found {row.verdict}"
        failure = ElementTree.SubElement(case, "failure", message=message)
        failure.text = "\n".join([*row.program, row.report])
    return case
