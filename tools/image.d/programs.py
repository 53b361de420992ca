"""The programs that have an image, and what of it is not the same for all."""

import re
from dataclasses import dataclass
from pathlib import Path

from failure import Failure

# What NVIDIA's programs and libraries are linked with and take from the image, as they come from the driver root alone.
# nvidia-imex and nvidia-imex-ctl name libpthread, libdl, libc, librt, libz and libm. Since glibc 2.34 most of it is empty,
# but who names it does not start without.
_DRIVER_NEEDS = ("libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "libresolv.so.2",
                 "librt.so.1", "libstdc++.so.6", "libutil.so.1", "libz.so.1")


@dataclass(frozen=True)
class Program:
    name: str
    description: str
    user: str  # numeric, "user:group"
    host_names: str  # the rule "hosts:" of nsswitch.conf
    more_libraries: tuple = ()  # besides those that it is linked with
    compiled_in: tuple = ("libboost1.74-dev", "nlohmann-json3-dev")  # Debian packages of which it uses headers alone
    speaks_tls: bool = True  # with others, by whose authorities it knows them
    links: tuple = ()  # (path, target)

    @property
    def settings(self) -> dict:
        """How a container runtime starts it (OCI image specification, "config")."""
        return {
            "Entrypoint": [f"/usr/bin/{self.name}"],
            "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
            "User": self.user,
            "WorkingDir": "/",
        }

    def labels(self, version_: str, created: str, revision: str = "") -> dict:
        return {
            "org.opencontainers.image.title": self.name,
            "org.opencontainers.image.description": self.description,
            "org.opencontainers.image.version": version_,
            "org.opencontainers.image.created": created,
            "org.opencontainers.image.licenses": "Apache-2.0",
            **({"org.opencontainers.image.revision": revision} if revision else {}),
        }


PROGRAMS = {
    program.name: program
    for program in (
        Program("compute-domain-controller", "Forms and takes down IMEX domains for ComputeDomains", "65532:65532",
                "files dns"),
        Program("compute-domain-agent", "DRA kubelet plugin for ComputeDomains", "0:0", "files dns", _DRIVER_NEEDS),
        # nvidia-imex runs in this image, and must ask nobody but its hosts file for its peers.
        Program("compute-domain-imex", "Supervisor of a node's nvidia-imex", "0:0", "files", _DRIVER_NEEDS,
                # As in the pods of NVIDIA's DRA driver: nvidia-imex-ctl -c /imexd/imexd.cfg -N. The directory is the supervisor's.
                speaks_tls=False, links=(("usr/bin/nvidia-imex-ctl", "compute-domain-imex"),
                                         ("imexd", "run/compute-domain/imex"))),
    )
}


def version(root: Path) -> str:
    found = re.search(r"^project\(\S+ VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE)
    if not found:
        raise Failure("CMakeLists.txt names no version")
    return found[1]
