"""A token bucket in front of a line, as the kernel's tbf, is told from a queue, and a small one is none."""

from __future__ import annotations

import pytest

import anabranch
from anabranch.fitting.exchange import read_exchanges
from anabranch.fitting.features import Features
from anabranch.fitting.path import PathModel
from anabranch.fitting.writing import scenario_text

from .conftest import Captured

TRUTH = PathModel(10.0, 30.0, 60_000, bucket_bytes=60_000, line_mbps=100.0)


def test_what_a_bucket_saved_is_seen(captured: Captured) -> None:
    """The first window that fills it has all that it held, less what it gets back meanwhile."""
    features = Features(read_exchanges(captured(TRUTH))[0][0], 6.0)
    saved_bytes, _ = features.first_saving
    assert saved_bytes * 1500 / 1448 == pytest.approx(60_000, rel=0.1)
    plain = Features(read_exchanges(captured(PathModel(10.0, 30.0, 60_000), name="b"))[0][0], 6.0)
    # Two segments come with one acknowledgment.
    assert plain.first_saving[0] < 3 * 1448


def test_a_bucket_is_no_queue(captured: Captured) -> None:
    path_fit = anabranch.fit(captured(TRUTH), budget=40)
    assert (path_fit.kind, path_fit.is_explained) == ("token-bucket", True)
    ranges = {one.name: one for one in path_fit.ranges}
    for name in ("rate_mbps", "rtt_ms", "buffer_bytes", "bucket_bytes"):
        one, true = ranges[name], TRUTH.value(name)
        assert one.high is not None
        assert one.low <= true <= one.high, (name, true, one)
    assert path_fit.model.rate_mbps == pytest.approx(10.0, rel=0.005)
    queue = next(one for one in path_fit.rivals if one.name == "drop-tail")
    assert queue.score > 2 * path_fit.rivals[0].score
    assert any("the line behind the token bucket" in sentence for sentence in path_fit.unknown)


def test_a_bucket_of_three_packets(captured: Captured) -> None:
    """The whole difference is that three packets do not wait."""
    small = PathModel(10.0, 30.0, 60_000, bucket_bytes=5000, line_mbps=100.0)
    path_fit = anabranch.fit(captured(small), budget=40)
    assert (path_fit.kind, path_fit.is_explained) == ("token-bucket", True)
    assert path_fit.model.rate_mbps == pytest.approx(10.0, rel=0.005)
    assert path_fit.model.bucket_bytes == pytest.approx(5000, rel=0.3)
    bucket = next(one for one in path_fit.ranges if one.name == "bucket_bytes")
    assert bucket.high is not None
    assert bucket.low <= 5000 <= bucket.high


def test_a_queue_alone_is_no_bucket(captured: Captured) -> None:
    path_fit = anabranch.fit(captured(PathModel(10.0, 30.0, 60_000)), budget=20)
    assert (path_fit.kind, path_fit.is_explained) == ("drop-tail", True)


def test_the_scenario_has_the_bucket_with_its_comment(captured: Captured) -> None:
    path_fit = anabranch.fit(captured(TRUTH), budget=20)
    text = scenario_text(path_fit)
    assert "# burst of the token bucket: " in text
    assert "# capacity: " in text
    assert "shaper = { rate = " in text
