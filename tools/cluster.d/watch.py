"""Watch: all objects of a kind as the API server has them, one after the other as they change."""

import json
import time
from dataclasses import dataclass
from typing import Callable

_PAUSE_SECONDS = 0.2
_LASTS_SECONDS = 300


@dataclass(frozen=True)
class ObjectGone:
    key: tuple  # kind, namespace, name


class Watch:
    def __init__(self, administrator, path: str, kind: str):
        self._administrator = administrator
        self._path = path
        self._kind = kind
        self._known = {}  # key -> resource version

    def run(self, tell: Callable) -> None:
        """For ever: `tell` gets each object that is new or has changed, and ObjectGone."""
        while True:
            version = self._list(tell)
            while version is not None:
                version = self._follow(version, tell)
            time.sleep(_PAUSE_SECONDS)

    def _list(self, tell: Callable):
        """Returns the version to go on from; None when nobody answers."""
        listed = self._administrator.get(self._path)
        if listed is None:
            return None
        left = set(self._known)
        for each in listed["items"]:
            left.discard(self._key(each))
            self._see(each, tell)
        for key in left:
            self._forget(key, tell)
        return listed["metadata"]["resourceVersion"]

    def _follow(self, version: str, tell: Callable):
        """Until the server ends the watch, which it does after a while. None: list again."""
        path = f"{self._path}?watch=1&allowWatchBookmarks=true&timeoutSeconds={_LASTS_SECONDS}&resourceVersion={version}"
        for line in self._administrator.lines(path, _LASTS_SECONDS + 30):
            event = json.loads(line)
            each = event["object"]
            if event["type"] == "ERROR":
                return None
            version = each["metadata"]["resourceVersion"]
            if event["type"] in ("ADDED", "MODIFIED"):
                self._see(each, tell)
            elif event["type"] == "DELETED":
                self._forget(self._key(each), tell)
        return None

    def _see(self, each: dict, tell: Callable) -> None:
        key, version = self._key(each), each["metadata"]["resourceVersion"]
        if self._known.get(key) == version:
            return
        self._known[key] = version
        tell({**each, "kind": self._kind})

    def _forget(self, key: tuple, tell: Callable) -> None:
        if self._known.pop(key, None) is not None:
            tell(ObjectGone(key))

    def _key(self, each: dict) -> tuple:
        return self._kind, each["metadata"].get("namespace", ""), each["metadata"]["name"]
