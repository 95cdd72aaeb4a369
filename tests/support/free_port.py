"""A loopback port for a server that a test starts."""

import random
import socket
from pathlib import Path


def free_port():
    """Returns a port that is free now and lies below the kernel's ephemeral range.

    The kernel may give a port of the ephemeral range to an outgoing connection before the server binds it, or while
    the server restarts.
    """
    limits = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first_ephemeral = int(limits.read_text().split()[0]) if limits.exists() else 32768
    first = min(10000, first_ephemeral - 1000)
    for _ in range(1000):
        port = random.SystemRandom().randrange(first, first_ephemeral) if first >= 1024 else 0
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise RuntimeError("no free port")
