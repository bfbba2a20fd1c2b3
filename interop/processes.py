"""Servers that live as long as a block."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path


def free_address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@contextmanager
def serving(command: list[str], address: str, log: Path, **environment: str):
    """Starts a server that listens at the address, and ends it."""
    with log.open("w") as output:
        environment = os.environ | environment
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
        try:
            listens(address, server, log)
            yield
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def listens(address: str, server: subprocess.Popen, log: Path) -> None:
    host, _, port = address.rpartition(":")
    while server.poll() is None:
        try:
            socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"{server.args} does not listen: see {log}")
