"""Delay-bounded spraying: packets in turn over the paths that are not much longer than the shortest."""

from dataclasses import dataclass

from anabranch.own import LoadBalancer


@dataclass
class DelayBounded(LoadBalancer):
    extra_ms: float = 1.0
    """How much longer than the shortest a path may be, in propagation delay."""

    def __post_init__(self) -> None:
        if self.extra_ms < 0:
            raise ValueError("extra_ms must be at least 0")

    def start(self) -> None:
        least_s = min(path.delay_s for path in self.paths)
        # Far below what matters, and above what sums of delays are off by.
        bound_s = least_s + self.extra_ms / 1e3 + 1e-12
        self.near = [place for place, path in enumerate(self.paths) if path.delay_s <= bound_s]
        self.next = 0

    def choose(self, now_s: float, flow: int) -> int:
        self.next = (self.next + 1) % len(self.near)
        return self.near[self.next]
