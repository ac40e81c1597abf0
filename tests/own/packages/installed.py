"""A congestion control in a package, as an installed one would have it."""

from anabranch.own import Ack, CongestionControl, LossEpisode


class Still(CongestionControl):
    """Keeps its first window."""

    def on_ack(self, ack: Ack) -> None:
        """Nothing."""

    def on_loss(self, episode: LossEpisode) -> None:
        """Nothing."""
