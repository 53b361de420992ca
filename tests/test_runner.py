"""Runs the test functions of one script, as every script of tests/ that counts them does.

Each test is a function that raises what is wrong; its name is the sentence that is shown. With names on the command line only
those run.
"""

import sys
import traceback
from collections.abc import Callable, Sequence


def run(tests: Sequence[Callable], *arguments, names: Sequence[str] = ()) -> int:
    """Calls each test with `arguments`, and says of each how it went; the last line is "N passed, M failed". The exit code."""
    unknown = set(names) - {test.__name__ for test in tests}
    if unknown:
        print(f"there is no test {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    wanted = [test for test in tests if not names or test.__name__ in names]
    failed = 0
    for test in wanted:
        try:
            test(*arguments)
            print(f"ok      {test.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {test.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0
