"""Every operation of openapi.yaml, of the program as it is released: one call that succeeds and one that is refused, each fifty
times, on several threads at once.

An optimised build can trap where a debug build minds nothing. So each call must be answered as the document says, and the
processes that were started first must still be there after each operation. What died is started again for the next one.

usage: IDENTITY_PROGRAM=PATH .venv/bin/pytest Tests/Release/smoke    SMOKE_TIMES=N instead of ten
"""

import concurrent.futures
import os

import pytest

import document
from calls import refuse, succeed
from refusals import REFUSALS
from successes import SUCCESSES

TIMES = int(os.environ.get("SMOKE_TIMES", "10"))
# Operations that do otherwise than the document promises, and how.
KNOWN = {}


@pytest.mark.parametrize("rows", [SUCCESSES, REFUSALS], ids=["successes", "refusals"])
def test_tables(rows):
    """No table has an operation that the document does not have."""
    assert set(rows) == set(document.OPERATIONS)
    assert all(rows.values())


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=KNOWN[name])) if name in KNOWN else name
    for name in document.OPERATIONS
])
def test_operation(name, world):
    """An operation answers as the document says, again and again, and nothing ends of it."""
    calls = [part for turn in range(TIMES) for part in ((succeed, turn), (refuse, turn))]
    done = [world.pool.submit(call, name, world, turn) for call, turn in calls]
    concurrent.futures.wait(done)
    failures = [job.exception() for job in done if job.exception()]
    kinds = {str(error)[:60]: f"{type(error).__name__}: {error}" for error in failures}
    death = world.death()
    if failures or death:
        found = [death or "", f"{len(failures)} of {len(calls)} calls failed, such as", *list(kinds.values())[:20]]
        pytest.fail("\n".join(found), pytrace=False)
    if document.gives_tokens(name):
        assert any(job.result() for job in done), "no answer had tokens"
