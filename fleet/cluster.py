"""Three processes, a store, and a proxy for each link between them."""

import socket
import threading
import time

from balancer import Balancer
from history import History
from machines import FOLDER, Server, Store, free_port
from proxy import CUT, PASS, Proxy

PROCESSES = 3
LEASE = 3
# The third event of each stream, and each fifth one after it.
LOSS = """
local lost = 0
for _, key in ipairs(redis.call('KEYS', '*session:*')) do
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local number = string.match(field, '^%d+:(%d+)$')
    if number and number % 5 == 3 then lost = lost + redis.call('HDEL', key, field) end
  end
end
return lost
""".replace("\n", " ")


class Cluster:
    def __init__(self, name, heartbeat, plant=None):
        self.plant = plant
        self.history = History(heartbeat)
        self.effects = FOLDER / f"{name}.effects"
        self.store = Store(f"{name}-store")
        self.machines = [self.store]
        self.links, self.peers, self.servers = [], [], []
        self.balancer = None
        try:
            self.start(name)
        except BaseException:
            self.close()
            raise

    def start(self, name):
        self.store.start()
        for number in range(PROCESSES):
            store = self.store
            if self.plant == "two-stores" and number == 2:
                store = Store(f"{name}-other")
                self.machines.append(store)
                store.start()
            link = Proxy(store.port)
            self.links.append(link)
            port = free_port()
            peer = Proxy(port)
            self.peers.append(peer)
            lease = LEASE
            if self.plant == "no-fence" and number == 0:
                # The process believes in a lease that is a hundred times longer than the one that the store has.
                lease, link.rewrite = 100 * LEASE, (bulk(100_000 * LEASE), bulk(1000 * LEASE))
            server = Server(
                f"{name}-{number}",
                store=f"redis://127.0.0.1:{link.port}",
                lease=lease,
                effects=self.effects,
                peers=f"127.0.0.1:{port}",
            )
            server.options["peers-url"] = f"http://127.0.0.1:{peer.port}"
            self.servers.append(server)
            self.machines.append(server)
            self.run(number)
        self.ports = [server.port for server in self.servers]
        self.task_ports = self.ports
        if self.plant == "tasks":
            apart = [Server(f"{name}-apart-{number}", effects=self.effects) for number in range(PROCESSES)]
            self.machines += apart
            for server in apart:
                server.start()
                self.history.pids[server.process.pid] = -1
            self.task_ports = [server.port for server in apart]
        if self.plant == "entry":
            threading.Thread(target=lose_entries, args=(self.store,), daemon=True).start()
        self.balancer = (Repeating if self.plant == "repeat" else Balancer)(self.ports)

    def run(self, number):
        self.servers[number].start()
        self.history.pids[self.servers[number].process.pid] = number

    def cut(self, number, mode=CUT):
        fault = self.history.fault("cut", number)
        self.links[number].set(mode)
        return fault

    def heal(self, number, fault):
        self.links[number].set(PASS)
        self.history.over(fault)

    def close(self):
        for machine in self.machines:
            machine.kill()
        for proxy in self.links + self.peers:
            proxy.close()
        if self.balancer:
            self.balancer.close()


def lose_entries(store):
    """Some events of all streams disappear from a store, until it ends."""
    try:
        while store.run("EVAL", f'"{LOSS}"', "0"):
            time.sleep(0.2)
    except OSError:
        return


def bulk(number):
    """A number as an argument of a command."""
    text = str(number).encode()
    return b"$%d\r\n%s\r\n" % (len(text), text)


class Repeating(Balancer):
    """A balancer that sends the first bytes of a connection to a second process afterwards."""

    def serve(self, client):
        try:
            client.recv(65536, socket.MSG_PEEK)
            time.sleep(0.01)
            first = client.recv(65536, socket.MSG_PEEK)
        except OSError:
            first = b""
        super().serve(client)
        second = self.connect() if first else None
        if second:
            second.sendall(first)
            time.sleep(0.5)
            second.close()
