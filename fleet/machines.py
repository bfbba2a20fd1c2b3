"""Processes on loopback: the store and the servers."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(tempfile.mkdtemp(prefix="mcp-fleet-"))
PROGRAM = str(Path(__file__).parent.resolve() / "target/debug/fleet")


def built():
    subprocess.run(["cargo", "build", "--quiet", "--locked"], cwd=Path(__file__).parent, check=True)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Process:
    def __init__(self, name):
        self.name, self.port, self.process = name, free_port(), None

    def command(self):
        raise NotImplementedError

    def start(self):
        with (FOLDER / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(1000):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.02)
        sys.exit(f"{self.command()} does not listen: see {FOLDER}/{self.name}.log")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def end(self):
        """Asks it to end, and waits for that."""
        self.process.terminate()
        self.process.wait(15)

    def pause(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def wake(self):
        os.kill(self.process.pid, signal.SIGCONT)


class Server(Process):
    """A process of the server, with options of its command line by their names."""

    def __init__(self, name, **options):
        super().__init__(name)
        self.options = options

    def command(self):
        options = [part for name, value in self.options.items() for part in (f"--{name}", str(value))]
        return [PROGRAM, f"127.0.0.1:{self.port}", *options]


class Store(Process):
    """Valkey, or Redis; what it has survives its end."""

    def __init__(self, name="store"):
        super().__init__(name)
        self.folder = FOLDER / name
        self.program = shutil.which("valkey-server") or shutil.which("redis-server")
        if not self.program:
            sys.exit("`apt-get install redis-server` provides the store of this demonstration")
        self.url = f"redis://127.0.0.1:{self.port}"

    def command(self):
        self.folder.mkdir(exist_ok=True)
        options = {"bind": "127.0.0.1", "port": self.port, "dir": self.folder, "save": "", "appendonly": "yes"}
        options["appendfsync"] = "always"
        return [self.program, *(part for name, value in options.items() for part in (f"--{name}", str(value)))]

    stop = Process.kill

    def empty(self):
        """What is not running forgets all."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words):
        """A command whose answer is one line."""
        with socket.create_connection(("127.0.0.1", self.port), 2) as connection:
            connection.sendall(" ".join(words).encode() + b"\r\n")
            answer = connection.recv(65536).decode()
        if not answer.startswith(("+", ":")):
            raise OSError(answer)
        return answer[1:].strip()

    def info(self, name):
        with socket.create_connection(("127.0.0.1", self.port), 2) as connection:
            connection.sendall(b"INFO everything\r\n")
            text = b""
            while f"\r\n{name}:".encode() not in text or not text.endswith(b"\r\n"):
                text += connection.recv(65536)
        line = next(line for line in text.decode().splitlines() if line.startswith(f"{name}:"))
        return int(line.split(":")[1])

    def commands(self):
        return self.info("total_commands_processed")

    def memory(self):
        return self.info("used_memory")
