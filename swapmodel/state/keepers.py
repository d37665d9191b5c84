"""
Which types of weak references are there, and who keeps them for what?
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

WeakrefType: TypeAlias = Literal[
    "ReferenceType",
    "ProxyType",
    "WeakIdRef",
    "KeyedRef",
    "InternalRef",
    "_WeakTensorRef",
]
"""What a guard can see of a weak reference: `type(r).__name__`."""

Keeper: TypeAlias = Literal[
    "ReferenceType",
    "_WeakTensorRef",
    "ProxyType",
    "WeakIdRef",
    "KeyedRef",
    "InternalRef",
    "callback",
    "finalize",
    "TensorWeakRef",
    "WeakSet",
    "WeakKeyDictionary",
    "WeakValueDictionary",
    "WeakIdKeyDictionary",
    "WeakTensorKeyDictionary",
    "id-table",
    "guard",
]
"""
Who keeps a weak reference: nobody but a variable, for the first six, or this.

Listed for the type checker, which cannot read the keys of `KEEPERS`; a test compares.
"""


@frozen(kw_only=True)
class Promise:
    """What a keeper takes of a tensor, and what it promises its owner."""

    type: WeakrefType = "ReferenceType"
    """The type of the reference that it takes."""

    shared: bool = False
    """Whether Python gives out the reference that is there: no callback, plain type."""

    calls_back: bool = False
    """Whether the user learns of the death of the tensor."""

    registered: bool = False
    """Whether a registry keeps it until the tensor is dead: `weakref.finalize`."""

    asked: Literal["", "identity", "equality"] = ""
    """How a look-up by a tensor finds the entry; by equality for Python's own."""

    notes: bool = False
    """Whether it notes the tensor's metadata: an entry's content, or what it guards."""


KEEPERS: dict[Keeper, Promise] = {
    "ReferenceType": Promise(shared=True),
    "_WeakTensorRef": Promise(type="_WeakTensorRef"),
    "ProxyType": Promise(type="ProxyType", shared=True),
    "WeakIdRef": Promise(type="WeakIdRef"),
    "KeyedRef": Promise(type="KeyedRef"),
    "InternalRef": Promise(type="InternalRef"),
    "callback": Promise(calls_back=True),
    "finalize": Promise(calls_back=True, registered=True),
    "TensorWeakRef": Promise(shared=True),
    "WeakSet": Promise(asked="equality"),
    "WeakKeyDictionary": Promise(asked="equality"),
    "WeakValueDictionary": Promise(type="KeyedRef"),
    "WeakIdKeyDictionary": Promise(type="WeakIdRef", asked="identity"),
    "WeakTensorKeyDictionary": Promise(type="WeakIdRef", asked="identity"),
    "id-table": Promise(shared=True, asked="identity", notes=True),
    "guard": Promise(shared=True, notes=True),
}
"""Every keeper: a bare reference of each type, then what holds one inside it."""

PYTHON_TYPES: tuple[WeakrefType, ...] = (
    "ReferenceType",
    "ProxyType",
    "WeakIdRef",
    "KeyedRef",
    "InternalRef",
)
"""Types that `weakref.getweakrefs` lists; the others count on the impl."""
