"""Every cited id is explained and every explained id is cited."""

from tests.meta import citations, tree


def citations_in_tree(*, of_invariants: bool) -> list[tuple[str, str]]:
    """Name each cited id with the module that cites it."""
    return [
        (source.module, name)
        for source in tree.sources("swapmodel")
        for name in citations.cited(source.text)
        if name.startswith(citations.INVARIANT) == of_invariants
    ]


def test_rules() -> None:
    """Rules cited in the code and the entries of `specs/rules` are the same."""
    entries = [
        entry
        for path in sorted((tree.ROOT / "specs" / "rules").glob("*.toml"))
        for entry in citations.rules(path.read_text(encoding="utf-8"))
    ]
    cited = citations_in_tree(of_invariants=False)

    assert list(citations.open_ends(cited, entries)) == []


def test_invariants() -> None:
    """Invariants cited in the code and `specs/invariants.toml` are the same."""
    path = tree.ROOT / "specs" / "invariants.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    cited = citations_in_tree(of_invariants=True)

    assert list(citations.open_ends(cited, citations.invariants(text))) == []


def test_a_citation_is_a_comment_of_its_own() -> None:
    """Docstrings and comments after code cite nothing; a reason may follow."""
    text = '''
def f():
    """
    # [swap/in-a-docstring]
    """
    # [swap/poison] At once.
    x = 1  # [swap/after-code]
    # [swap/a], [swap/b]
    # see [swap/elsewhere]
    # [invariant/ties]
'''
    expected = ["swap/poison", "swap/a", "swap/b", "invariant/ties"]

    assert list(citations.cited(text)) == expected


def test_entries_are_read() -> None:
    """A rule is cited unless its entry says otherwise; an invariant always."""
    rules = '[[rule]]\nid = "swap/a"\n[[rule]]\nid = "swap/b"\ncited = false\n'
    invariants = '[[invariant]]\nid = "ties"\n'

    assert list(citations.rules(rules)) == [("swap/a", True), ("swap/b", False)]
    assert list(citations.invariants(invariants)) == [("invariant/ties", True)]


def test_an_open_end_is_noticed() -> None:
    """An id without an entry, without a citation or with two entries is reported."""
    cite = [("m", "swap/a")]

    assert list(citations.open_ends(cite, [("swap/a", True)])) == []
    assert list(citations.open_ends([], [("swap/a", False)])) == []
    assert len(list(citations.open_ends(cite, []))) == 1
    assert len(list(citations.open_ends([], [("swap/a", True)]))) == 1
    assert len(list(citations.open_ends(cite, [("swap/a", True)] * 2))) == 1
