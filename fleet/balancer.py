"""A TCP balancer: each connection goes to the next port that accepts one. And a load through it."""

import socket
import threading

from client import Modern


class Balancer:
    def __init__(self, ports):
        self.ports, self.next, self.lock = ports, 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def connect(self):
        """A connection to the next port; one that refuses is passed over."""
        for _ in self.ports:
            with self.lock:
                port = self.ports[self.next % len(self.ports)]
                self.next += 1
            try:
                return socket.create_connection(("127.0.0.1", port), 2)
            except OSError:
                continue
        return None

    def serve(self, client):
        server = self.connect()
        if server is None:
            client.close()
            return
        server.settimeout(None)
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=copy, args=(server, client), daemon=True)
        back.start()
        copy(client, server)
        back.join()
        client.close()
        server.close()

    def load(self, threads):
        return Load(self.port, threads)

    def close(self):
        self.listener.close()


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            pass


class Load:
    """Calls of 2026-07-28, one after the other in each thread, until it is stopped."""

    def __init__(self, port, threads):
        self.port, self.running, self.done, self.failed = port, True, 0, []
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def run(self):
        client = Modern(self.port)
        while self.running:
            try:
                if client.call("echo", {"text": "x"}) != "x":
                    self.failed.append("another answer")
                self.done += 1
            except Exception as error:
                self.failed.append(repr(error))

    def stop(self):
        self.running = False
        for thread in self.threads:
            thread.join(20)
        return self.done, self.failed
