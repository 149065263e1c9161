import os
import shutil
import sys
import tempfile

import pytest

sys.dont_write_bytecode = True  # nothing beside the sources
sys.path.insert(0, os.path.dirname(__file__))
import world as worlds  # noqa: E402


class Worlds:
    """The world that is alive, and the folders of all."""

    def __init__(self):
        self.living, self.folders = None, []

    def make(self):
        self.folders.append(tempfile.mkdtemp(prefix="smoke-"))
        os.chmod(self.folders[-1], 0o755)  # PostgreSQL, as another user, has to reach its data.
        self.living = worlds.World(self.folders[-1])

    def end(self):
        if self.living:
            self.living.stop()
            self.living = None


@pytest.fixture(scope="session")
def every_world():
    if not os.access(worlds.PROGRAM, os.X_OK):
        pytest.fail(f"no program {worlds.PROGRAM}: `make release` makes it", pytrace=False)
    made = Worlds()
    yield made
    made.end()
    for folder in made.folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def world(every_world):
    """The release program: one for all operations, unless it dies."""
    if every_world.living and every_world.living.death():
        every_world.end()
    if not every_world.living:
        every_world.make()
    return every_world.living
