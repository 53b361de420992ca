"""The time that an image says it was made: SOURCE_DATE_EPOCH, or else the beginning of 1970. Never now.

https://reproducible-builds.org/specs/source-date-epoch/
"""

import os
from datetime import datetime, timezone

from failure import Failure

VARIABLE = "SOURCE_DATE_EPOCH"


def source_date() -> str:
    text = os.environ.get(VARIABLE) or "0"
    try:
        return datetime.fromtimestamp(int(text), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        raise Failure(f"{VARIABLE} is '{text}', and has to be the seconds since 1970") from None
