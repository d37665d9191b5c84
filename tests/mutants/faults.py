"""Which faults are put into the code, and does each still fit it?"""

import tomllib
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("faults.toml")


@frozen
class Fault:
    """One fault of the code, as data."""

    says: str
    """What goes wrong, in a sentence."""

    file: str
    """Where, below `swapmodel/`."""

    old: str
    """A text that stands there exactly once."""

    new: str
    """What stands there instead."""

    def put_into(self, text: str) -> str:
        """The text of the file with the fault; `ValueError` if it does not fit."""
        found = text.count(self.old)
        if found != 1:
            what = f"its old text stands {found} times in swapmodel/{self.file}"
            raise ValueError(f"{self.says} {what}, not once")
        faulty = text.replace(self.old, self.new)
        if faulty == text:
            raise ValueError(f"{self.says} Its new text is its old one")
        compile(faulty, self.file, "exec")
        return faulty

    def mirror(self) -> list[str]:
        """The test files of the file, by their names below the root."""
        path = Path("tests", self.file)
        names = (ROOT / path.parent).glob(f"test_{path.stem}*.py")
        return sorted(str(one.relative_to(ROOT)) for one in names)


def faults() -> list[Fault]:
    """Read every fault, in the order of the table."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["fault"]
    return [Fault(**row) for row in rows]


def stale(every: list[Fault]) -> list[str]:
    """What is wrong with faults that do not fit the code any more."""
    found = []
    for one in every:
        try:
            one.put_into((ROOT / "swapmodel" / one.file).read_text(encoding="utf-8"))
        except (ValueError, SyntaxError, OSError) as error:
            found.append(str(error))
    return found
