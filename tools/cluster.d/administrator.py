"""Administrator: the API server of one cluster, as its administrator asks it."""

import http.client
import json
import ssl
from typing import Iterator, Optional

from identity import Identities

_TIMEOUT_SECONDS = 5


class Administrator:
    def __init__(self, identities: Identities, address: str, port: int):
        self._address = address
        self._port = port
        self._context = ssl.create_default_context(cafile=identities.ca)
        self._context.load_cert_chain(identities.certificate("admin"), identities.key("admin"))

    def get(self, path: str) -> Optional[dict]:
        """None: no answer, or no good one. So it is with post()."""
        return self._ask("GET", path)

    def post(self, path: str, body: dict) -> Optional[dict]:
        return self._ask("POST", path, json.dumps(body))

    def lines(self, path: str, timeout: float) -> Iterator[bytes]:
        """Of an answer that goes on, until it ends; none where there is no good one. `timeout` is of its silence."""
        connection = self._connection(timeout)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            if response.status == http.client.OK:
                yield from iter(response.readline, b"")
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()

    def _ask(self, method: str, path: str, body: Optional[str] = None) -> Optional[dict]:
        connection = self._connection(_TIMEOUT_SECONDS)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            content = response.read()
            return json.loads(content) if response.status < http.client.MULTIPLE_CHOICES else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def _connection(self, timeout: float) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._address, self._port, timeout=timeout, context=self._context)
