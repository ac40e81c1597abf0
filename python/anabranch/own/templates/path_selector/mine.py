"""Mine: a path selector of your own. docs/fabric.md of Anabranch explains what it is asked and told."""

from collections import deque
from dataclasses import dataclass

from anabranch.own import PathSelector


@dataclass
class MineSelector(PathSelector):
    """A path selector: write down what it does, and after which paper."""

    values: int = 64
    """Entropy values to draw from. Fields are parameters."""

    def start(self) -> None:
        """The flow is about to begin: make here what the selector keeps."""
        self.good: deque[int] = deque(maxlen=8)

    def next(self, now_s: float) -> int:
        """The entropy value of the next packet."""
        return self.good.popleft() if self.good else self.random.randrange(self.values)

    def on_feedback(self, now_s: float, value: int, feedback: str) -> None:
        """Hears what became of a packet with this value."""
        if feedback == "clean":
            self.good.append(value)
