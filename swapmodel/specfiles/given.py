"""
How is a start heap read from tables?
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from swapmodel.semantics.taken import of_modules, of_tensors
from swapmodel.specfiles.schema import (
    BadInput,
    Table,
    Where,
    checked_name,
    checked_variable,
    nearest,
    unknown,
)
from swapmodel.state.build import DEEPEST, Builder
from swapmodel.state.classes import CLASSES, tensor_class
from swapmodel.state.dtypes import DEVICES, DIFFERENTIABLE, DTYPES
from swapmodel.state.heap import Heap
from swapmodel.state.ids import ModuleId, TensorId

KEYS = ("flags", "tensors", "modules")

TENSOR_KEYS = (
    "class",
    "values",
    "dtype",
    "device",
    "requires_grad",
    "grad",
    "attributes",
    "slots",
    "inner",
    "over",
    "view_of",
    "offset",
    "length",
    "parameter",
    "variable",
)

FEWER, OTHER = "write fewer levels", "write another name"

HELD = ("parameters", "buffers", "attributes")
"""The keys of a module's table that name tensors."""

NONE = "None"
"""Registers a name that stands for no tensor; no label, because Python keeps it."""


def heap_from_given(
    table: Mapping[str, object], where: Where | str, beside: tuple[str, ...] = ()
) -> Heap:
    """Read a start heap; *beside* names keys of the table that belong elsewhere."""
    root = Table(table, Where(where) if isinstance(where, str) else where)
    root.only((*KEYS, *beside))
    return _Given(root).heap()


class _Given:
    """What was read so far, by label."""

    def __init__(self, root: Table) -> None:
        flags = root.table("flags", required=False)
        flags.only(["swap", "overwrite"])
        self.builder = Builder(
            swap=flags.flag("swap", False), overwrite=flags.flag("overwrite", False)
        )
        self.tables = dict(root.table("tensors", required=False).items())
        self.module_tables = dict(root.table("modules", required=False).items())
        self.tensors: dict[str, TensorId] = {}
        self.modules: dict[str, ModuleId] = {}
        for label, one in (*self.tables.items(), *self.module_tables.items()):
            checked_variable(label, one.where)
        for label in self.tables.keys() & self.module_tables.keys():
            where = self.module_tables[label].where
            raise BadInput(f"{label!r} is a tensor too", where, "write another label")

    def heap(self) -> Heap:
        """Make what the tables say, in their order."""
        registered = {
            label
            for module in self.module_tables.values()
            for label in _labels(module, "parameters")
        }
        for label in self.tables:
            self._tensor(label, registered, ())
        held = self._gradients() | self._inner_labels()
        for label in self.module_tables:
            self._module(label, ())
        for module in self.module_tables.values():
            held |= {one for key in HELD for one in _labels(module, key)}
        for label, table in self.tables.items():
            if table.flag("variable", label not in held):
                self.builder.name(label, "tensor", self.tensors[label])
        inside = {
            label
            for module in self.module_tables.values()
            for label in _labels(module, "children")
        }
        for label, m in self.modules.items():
            if label not in inside:
                self.builder.name(label, "module", m)
        return self.builder.heap()

    def _tensor(
        self, label: str, registered: set[str], inside: tuple[str, ...]
    ) -> TensorId:
        """Make a tensor, and those that it stands on before it."""
        table = self.tables[label]
        if label in inside:
            raise BadInput("a tensor over itself", table.where, "name another tensor")
        if len(inside) >= DEEPEST:
            what = f"more than {DEEPEST} tensors within each other"
            raise BadInput(what, table.where, FEWER)
        if label in self.tensors:
            return self.tensors[label]
        table.only(TENSOR_KEYS)
        below = {
            key: self._tensor(
                table.one_of(key, self.tables, "tensor"), registered, (*inside, label)
            )
            for key in ("over", "view_of")
            if key in table
        }
        named = self._named(table, "inner", self.tables)
        inner = {
            name: self._tensor(one, registered, (*inside, label))
            for name, one in named.items()
        }
        t = self.tensors[label] = self._made(table, label in registered, inner)
        over = below.get("over", below.get("view_of"))
        if over is not None:
            offset = table.number("offset", 0)
            length = table.number("length", self.builder.length(over) - offset)
            with _told(table, "cover elements of a plain tensor that are there"):
                self.builder.share(t, over, offset=offset, length=length)
        if "view_of" in below:
            self.builder.view(t, below["view_of"])
        return t

    def _made(
        self, table: Table, registered: bool, inner: dict[str, TensorId]
    ) -> TensorId:
        """Make a tensor as if it stood on nothing."""
        cls = table.one_of("class", CLASSES, "class", "Tensor")
        known = tensor_class(cls)
        if inner and set(inner) != set(known.inner):
            instead = f"name {', '.join(known.inner) or 'none'}"
            raise table.bad("inner", f"not the inner tensors of a {cls}", instead)
        by_default = known.parameter or (registered and not known.plain)
        is_parameter = table.flag("parameter", by_default)
        make = self.builder.parameter if is_parameter else self.builder.tensor
        dtype = _modelled(table, "dtype", table.dtype("dtype", "float32"), DTYPES)
        device = _modelled(table, "device", table.device("device", "cpu"), DEVICES)
        requires_grad = table.flag("requires_grad", is_parameter)
        if requires_grad and dtype not in DIFFERENTIABLE:
            what = f"a tensor of {dtype} cannot require a gradient"
            raise table.bad("dtype", what, "write requires_grad = false")
        with _told(table):
            return make(
                _values(table, 0 if known.uninitialized else 2),
                cls=cls,
                dtype=dtype,
                device=device,
                requires_grad=requires_grad,
                attributes=_attributes(table.table("attributes", required=False)),
                slots=_attributes(table.table("slots", required=False)),
                inner=inner,
            )

    def _inner_labels(self) -> set[str]:
        """What is an inner tensor of another one, by label."""
        return {
            label for one in self.tables.values() for label in _labels(one, "inner")
        }

    def _gradients(self) -> set[str]:
        """Attach every gradient, and name what is one."""
        found = set()
        for label, table in self.tables.items():
            if "grad" in table:
                grad = table.one_of("grad", self.tensors, "tensor")
                if grad == label:
                    raise table.bad("grad", "its own gradient", "name another tensor")
                self.builder.gradient(self.tensors[label], self.tensors[grad])
                found.add(grad)
        return found

    def _module(self, label: str, inside: tuple[str, ...]) -> ModuleId:
        table = self.module_tables[label]
        if label in inside:
            raise BadInput("a module inside itself", table.where, "leave it out")
        if len(inside) >= DEEPEST:
            what = f"more than {DEEPEST} modules within each other"
            raise BadInput(what, table.where, FEWER)
        if label in self.modules:
            return self.modules[label]
        table.only(("class", *HELD, "children"))
        inner = self._named(table, "children", self.module_tables)
        children = {
            name: self._module(child, (*inside, label)) for name, child in inner.items()
        }
        tensors = (*self.tensors, NONE)
        parameters = self._named(table, "parameters", tensors)
        buffers = self._named(table, "buffers", tensors)
        attributes = self._named(table, "attributes", self.tensors)
        listed = (*parameters.items(), *buffers.items())
        # By hand, a name that stands for nothing can be a parameter's and a buffer's.
        nothing = {name for name, one in listed if one == NONE}
        held = [name for name, one in listed if one != NONE]
        names = [*held, *nothing, *attributes, *children]
        for name in names:
            if names.count(name) > 1:
                raise BadInput(f"{name!r} is named twice", table.where, "name it once")
        with _told(table):
            m = self.builder.module(
                {name: self.tensors.get(one) for name, one in parameters.items()},
                buffers={name: self.tensors.get(one) for name, one in buffers.items()},
                attributes={k: self.tensors[one] for k, one in attributes.items()},
                children=children,
                cls=table.name("class") if "class" in table else "Module",
            )
        self.modules[label] = m
        return m

    def _named(self, table: Table, key: str, known: Collection[str]) -> dict[str, str]:
        inner = table.table(key, required=False)
        found = {}
        for name in inner.rows:
            checked_name(name, inner.where.key(name))
            if key != "inner" and of_modules(name):
                raise inner.bad(name, f"every module has its own {name}", OTHER)
            found[name] = inner.text(name)
            if found[name] not in known:
                raise unknown("label", found[name], known, inner.where.key(name))
        return found


@contextmanager
def _told(table: Table, instead: str = FEWER) -> Iterator[None]:
    """Tell in one line what cannot be made."""
    try:
        yield
    except ValueError as error:
        raise BadInput(str(error), table.where, instead) from None


def _modelled(table: Table, key: str, one: str, known: Sequence[str]) -> str:
    """Refuse what torch has and no heap can hold."""
    if one not in known:
        what = f"a tensor with the {key} {one} is not modelled"
        raise table.bad(key, what, nearest(one, known))
    return one


def _labels(module: Table, key: str) -> set[str]:
    inner = module.table(key, required=False)
    return {inner.text(name) for name in inner.rows}


def _values(table: Table, by_default: int) -> tuple[int, ...] | None:
    if table.rows.get("values") == "undefined":
        return None
    values = table.numbers("values", (1, 2)[:by_default])
    if len(values) > 2 or not all(0 <= one < 8 for one in values):
        instead = 'write at most two integers from 0 to 7, or "undefined"'
        raise table.bad("values", f"{list(values)} are no values", instead)
    return values


def _attributes(table: Table) -> dict[str, int]:
    for key in table.rows:
        checked_name(key, table.where.key(key))
        if of_tensors(key):
            raise table.bad(key, f"every tensor has its own {key}", OTHER)
    return {key: table.number(key) for key in table.rows}
