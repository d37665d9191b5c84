"""A wheel holds the package and the specs, and nothing else."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from tests.meta import tree


def expected_names() -> set[str]:
    """Name what a wheel should hold of each file in git."""
    names = set()
    for path in tree.files_in_git():
        name = path.relative_to(tree.ROOT)
        if name.parts[0] == "specs":
            names.add(str(Path("swapmodel") / name))
        elif name.parts[0] == "swapmodel":
            names.add(str(name))
    return names


def test_wheel(tmp_path: Path) -> None:
    """`specs/` is inside the package of a wheel, where an installed one reads it."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*build, str(tmp_path)], cwd=tree.ROOT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}

    assert expected_names() == names
