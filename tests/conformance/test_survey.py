"""A walk numbers what it meets, whatever the world is made of."""

from collections.abc import Iterable
from typing import Any

from attrs import define

from swapmodel.conformance.survey import survey


@define
class Toy:
    """A world of names: `w` leads to its gradient, and `y` to a graph behind it."""

    tensors: dict[str, dict[str, str]]
    graphs: dict[str, str]
    nodes: dict[str, tuple[str, str | None, list[str]]]

    def variables(self) -> list[tuple[str, str, Any]]:
        """One module, one output, one weak reference."""
        return [("m", "module", "m"), ("r", "weakref", None), ("y", "tensor", "y")]

    def registered(self, module: str) -> Iterable[tuple[str, Any]]:
        """The module registers `w` twice."""
        return [("weight", "w"), ("tied", "w")] if module == "m" else []

    def children(self, module: str) -> Iterable[tuple[str, Any]]:
        """The module has an empty child."""
        return [("child", "c")] if module == "m" else []

    def key(self, thing: str) -> str:
        """A name is its own key."""
        return thing

    def leads(self, t: str) -> Iterable[tuple[str, str]]:
        """What is written down for the tensor."""
        return self.tensors.get(t, {}).items()

    def grad_fn(self, t: str) -> str | None:
        """The node that is written down for the tensor."""
        return self.graphs.get(t)

    def node(self, n: str) -> tuple[str, str | None, list[str]]:
        """What is written down for the node."""
        return self.nodes[n]


def test_the_order_of_the_walk() -> None:
    """Places in order, ties once, and the graph with what only it keeps alive."""
    toy = Toy(
        tensors={"w": {"grad": "g"}},
        graphs={"y": "mul"},
        nodes={
            "mul": ("MulBackward0", None, ["acc", "other"]),
            "acc": ("AccumulateGrad", "w", []),
            "other": ("AccumulateGrad", "lost", []),
        },
    )
    found = survey(toy)

    assert found.places == [
        ("m.weight", "w"),
        ("m.weight.grad", "g"),
        ("m.tied", "w"),
        ("y", "y"),
        ("node1.variable", "w"),
        ("node2.variable", "lost"),
    ]
    assert found.nodes == [
        ("MulBackward0", -1, (1, 2)),
        ("AccumulateGrad", 0, ()),
        ("AccumulateGrad", 5, ()),
    ]
