"""What of the publications is reproduced live: a short run, and messages where the machine cannot."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from anabranch.errors import LiveError
from anabranch.live.machine import check_machine
from anabranch.live.switches.run import check_switches
from anabranch.terminal.cli import app
from anabranch_publications.papers import LIVE_PAPERS, Context, live_runs, reproduce
from anabranch_publications.papers.live_runs import check_live
from anabranch_publications.papers.semper.live import two_hosts
from anabranch_publications.papers.tcpbp.live.links import share_of_published
from anabranch_publications.papers.tcpbp.network import LINKS


def test_a_figure_runs_on_real_switches(tmp_path: Path) -> None:
    """Two hosts fill two paths with the kernel's Multipath TCP: nearly all of what headers leave."""
    try:
        check_machine(["cubic"], mptcp=True)
    except LiveError as error:
        pytest.skip(f"not here: live runs of Multipath TCP: {error}")
    try:
        check_switches()
    except LiveError as error:
        pytest.skip(f"not installed: {error}")
    outcome = reproduce(LIVE_PAPERS["semper"], "6", Context(tmp_path, quick=True))
    (figure,) = outcome.figures
    total, opened = figure.findings
    assert total.value == pytest.approx(95.2, abs=15.0)
    assert opened.verdict == "agrees"
    assert "Open vSwitch" in figure.note
    assert "not valid by the self-check" in figure.note
    assert (tmp_path / "figure-6" / "rates.csv").is_file()


@dataclass
class _Said:
    """What a live run says of itself."""

    summary: dict[str, Any]


def test_runs_without_multipath_tcp_are_repeated_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel may make plain TCP of a connection whose first packets are lost."""
    check = {"lateness_p99_us": 40.0, "cpu_share_max": 0.1}
    said = {"load_before": [1.0], "load_after": [1.0], "check": check}
    outcomes = [(True, [0]), (False, [1]), (True, [])]
    runs = [_Said({"live": {**said, "valid": valid, "fallen_back": plain}}) for valid, plain in outcomes]
    pending = iter([*runs, *runs[:1] * 3])
    monkeypatch.setattr("anabranch.live.run", lambda *_args, **_named: next(pending))
    monkeypatch.setattr(live_runs, "switch_version", lambda: "a switch")
    live = live_runs.LiveRuns()
    assert live.run(two_hosts(2, 1)).summary is runs[2].summary
    assert (live.plain, live.repeated) == (1, 1)
    assert "after 1 repetitions and 1 as a connection fell back to plain TCP;" in live.note()
    # After the last try, it counts as it is.
    assert live.run(two_hosts(2, 1)).summary is runs[0].summary
    assert (live.plain, live.repeated) == (3, 1)


def test_only_two_papers_run_live() -> None:
    said = CliRunner().invoke(app, ["reproduce", "mprc", "--live"])
    assert said.exit_code == 2
    assert 'nothing of "mprc" runs live; there are tcpbp, semper' in said.output
    said = CliRunner().invoke(app, ["reproduce", "tcbp", "--live"])
    assert '"tcbp" is not known; nearest: "tcpbp"' in said.output


def test_a_machine_that_cannot_says_so_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*, mptcp: bool = False) -> None:
        raise LiveError(f"--switches ovs needs Open vSwitch ({mptcp})")

    monkeypatch.setattr(live_runs, "check_live", refuse)
    said = CliRunner().invoke(app, ["reproduce", "tcpbp", "--live", "--out", str(tmp_path / "out")])
    assert said.exit_code == 2
    assert "--switches ovs needs Open vSwitch" in said.output
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(LiveError, match="live runs need Linux, and this is darwin; leave --live out"):
        check_live()


def test_estimates_without_noise_choose_the_published_route() -> None:
    links = [*LINKS, *((b, a) for a, b in LINKS)]
    sure = tuple((f"{a}-{b}", 10**8) for a, b in links)
    assert share_of_published(sure) == 1.0
