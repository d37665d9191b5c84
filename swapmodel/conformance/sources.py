"""
What are the classes of tensors but the plain one, and the functions of conversions?
"""

from __future__ import annotations

from typing import Any

import torch

from swapmodel.report import snippets


def _made() -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(snippets.IMPORTS, found)
    sources = snippets.CLASSES | snippets.FUNCTIONS
    for source in sources.values():
        exec(source, found)
    own = (torch.nn.Parameter, torch.nn.UninitializedParameter)
    return {
        **{name: found[name] for name in sources},
        **{one.__name__: one for one in own},
    }


CLASSES = _made()
"""Each of them by name."""
