"""Identities: the certificates, keys and kubeconfig files of one cluster, made with openssl."""

import base64
import subprocess
from pathlib import Path

from failure import Failure

VALID_DAYS = 3650
_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

# OpenSSL's own configuration would make every certificate one of an authority.
_OPENSSL_CONFIG = "[req]\ndistinguished_name = name\n[name]\n"

_KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: {user}
clusters:
- name: compute-domain-cluster
  cluster:
    server: {server}
    certificate-authority-data: {ca}
users:
- name: {user}
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: {user}
  context:
    cluster: compute-domain-cluster
    user: {user}
"""


class Identities:
    def __init__(self, directory: Path):
        self._directory = directory
        self.ca = directory / "ca.crt"
        self.service_account_key = directory / "service-account.key"

    def certificate(self, name: str) -> Path:
        return self._directory / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self._directory / f"{name}.key"

    def kubeconfig(self, name: str) -> Path:
        return self._directory / f"{name}.kubeconfig"

    def create_authority(self) -> None:
        """The certificate authority and the key that signs ServiceAccount tokens."""
        self._directory.mkdir()
        self._config().write_text(_OPENSSL_CONFIG)
        self._request("ca", "/CN=compute-domain-cluster", [],
                      ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"])
        _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.service_account_key)

    def create_server(self, name: str, alternative_names: list) -> None:
        self._sign(name, f"/CN={name}", "serverAuth", ["subjectAltName=" + ",".join(alternative_names)])

    def create_client(self, name: str, user: str, group: str = "") -> None:
        subject = (f"/O={group}" if group else "") + f"/CN={user}"
        self._sign(name, subject, "clientAuth", [])

    def write_kubeconfig(self, name: str, server: str) -> None:
        content = _KUBECONFIG.format(user=name, server=server, ca=_base64(self.ca), key=_base64(self.key(name)),
                                     certificate=_base64(self.certificate(name)))
        self.kubeconfig(name).write_text(content)

    def _config(self) -> Path:
        return self._directory / "openssl.cnf"

    def _sign(self, name: str, subject: str, usage: str, extensions: list) -> None:
        authority = ["-CA", self.ca, "-CAkey", self.key("ca")]
        self._request(name, subject, authority,
                      ["basicConstraints=critical,CA:FALSE", f"extendedKeyUsage={usage}", *extensions])

    def _request(self, name: str, subject: str, authority: list, extensions: list) -> None:
        arguments = [argument for extension in extensions for argument in ("-addext", extension)]
        _openssl("req", "-x509", "-config", self._config(), "-days", str(VALID_DAYS), *_NEW_KEY, "-subj", subject,
                 *authority, *arguments, "-keyout", self.key(name), "-out", self.certificate(name))


def _base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def _openssl(*arguments) -> None:
    try:
        result = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        raise Failure("there is no openssl: run tools/setup --cluster") from None
    if result.returncode != 0:
        raise Failure(f"openssl {arguments[0]} failed: {result.stderr.strip()}")
