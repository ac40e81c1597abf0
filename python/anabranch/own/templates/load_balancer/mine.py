"""Mine: a load balancer of your own. docs/own.md of Anabranch explains the paths that it sees."""

from dataclasses import dataclass

from anabranch.own import LoadBalancer


@dataclass
class MineBalancer(LoadBalancer):
    """A load balancer: write down what it does, and after which paper."""

    gap_ms: float = 5.0
    """A flow that was silent for so long may take another path. Fields are parameters."""

    def start(self) -> None:
        """The paths are known: make here what the balancer keeps."""
        self.last: dict[int, tuple[float, int]] = {}

    def choose(self, now_s: float, flow: int) -> int:
        """The place in paths for a packet of a flow."""
        before_s, place = self.last.get(flow, (float("-inf"), 0))
        if now_s - before_s > self.gap_ms / 1e3:
            weights = [path.weight for path in self.paths]
            place = self.random.choices(range(len(self.paths)), weights)[0]
        self.last[flow] = (now_s, place)
        return place
