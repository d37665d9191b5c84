"""What is written is read back as it was."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from swapmodel.specfiles import toml

VALUES = st.recursive(
    st.booleans()
    | st.integers(-9, 9)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(codec="utf-8"), max_size=4), inner, max_size=3
        )
    ),
    max_leaves=12,
)
TABLES = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=4), VALUES, max_size=5
)


@given(TABLES)
def test_round_trip(table: dict[str, object]) -> None:
    """Every table of texts, integers, booleans, arrays and tables survives."""
    assert tomllib.loads(toml.document(table)) == table


def test_layout() -> None:
    """Plain keys stand first, tables below the second level on one line."""
    table = {
        "when": [{"do": "view", "fn": {"cast": {"dtype": "float64"}}}],
        "then": {"m.w": [1, 2]},
        "claim": 'so "it" is',
    }

    assert toml.document(table) == (
        'claim = "so \\"it\\" is"\n'
        "\n"
        "[[when]]\n"
        'do = "view"\n'
        'fn = { cast = { dtype = "float64" } }\n'
        "\n"
        "[then]\n"
        '"m.w" = [1, 2]\n'
    )
