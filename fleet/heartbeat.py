"""The lag of this machine: bounds of time allow for it."""

import bisect
import threading
import time

BEAT = 0.02


class Heartbeat:
    """A thread that sleeps for 20 ms again and again, and notes how much longer it took."""

    def __init__(self):
        self.times, self.sums, self.running = [time.monotonic()], [0.0], True
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        before = time.monotonic()
        while self.running:
            time.sleep(BEAT)
            now = time.monotonic()
            late = max(0.0, now - before - 2 * BEAT)
            self.sums.append(self.sums[-1] + late)
            self.times.append(now)
            before = now

    def lag(self, begin, end):
        """By how much the beats between two times were late, together, and what is always allowed."""
        first = bisect.bisect_left(self.times, begin)
        last = min(bisect.bisect_right(self.times, end), len(self.sums) - 1)
        late = self.sums[last] - self.sums[max(0, first - 1)]
        # A request passes four processes one after the other, each of which may wait as long as the one that measures.
        return 0.3 + 2 * late

    def stop(self):
        self.running = False
