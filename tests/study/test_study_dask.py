"""Studies on a real Dask cluster: a scheduler and two worker processes on this machine."""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from anabranch import Factor, Scenario, Study, StudyError
from anabranch.study.check import design
from anabranch.study.cluster import run_on_cluster
from anabranch.study.local import run_locally

from .conftest import SCENARIO, Anabranch, Write, contents
from .test_study_runs import DEADLY

distributed = pytest.importorskip("distributed", reason="not installed: distributed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each worker that is still to be killed, and the module that does it."""
    folder = tmp_path_factory.mktemp("dask")
    (folder / "lives").mkdir()
    (folder / "deadly.py").write_text(DEADLY)
    return folder / "lives"


@pytest.fixture(scope="module")
def cluster(lives: Path) -> Iterator[str]:
    """The address of a scheduler with two worker processes, which find the module ``deadly``."""
    before = dict(os.environ)
    os.environ["DEADLY"] = str(lives)
    sys.path.insert(0, str(lives.parent))
    try:
        with (
            warnings.catch_warnings(),
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0,
            ) as running,
        ):  # fmt: skip
            yield running.scheduler_address
    finally:
        sys.path.remove(str(lives.parent))
        os.environ.clear()
        os.environ.update(before)


def test_a_cluster_leaves_the_same_bytes_as_this_machine(
    anabranch: Anabranch, write: Write, tmp_path: Path, cluster: str
) -> None:
    study = Study.load(write())
    study.run(jobs=1, out=tmp_path / "here")
    done = anabranch("study", "study.toml", "--dask", cluster, "--out", "there")
    assert done.returncode == 0, done.stderr
    assert "12 runs over 6 cells" in done.stdout
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_worker_killed_in_the_middle_of_a_run_costs_nothing(cluster: str, lives: Path) -> None:
    from deadly import Deadly  # type: ignore[import-not-found]  # noqa: PLC0415 - written above

    factor = Factor(field="run.seed", label="seed", levels=[1, 2, 3])
    plain = design(Study(scenario=Scenario.loads(SCENARIO), factors=[factor], replications=4))
    built = Deadly(**{entry.name: getattr(plain, entry.name) for entry in fields(plain)})
    (lives / "one").touch()
    there = sorted(run_on_cluster(built, range(12), cluster), key=lambda outcome: outcome.run)
    assert not list(lives.iterdir())
    assert [(outcome.run, outcome.reason) for outcome in there] == [(number, None) for number in range(12)]
    here = sorted(run_locally(plain, range(12), 1), key=lambda outcome: outcome.run)
    assert [outcome.values for outcome in there] == [outcome.values for outcome in here]


def test_nobody_at_the_address(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.study.cluster._CONNECT_TIMEOUT_S", 1)
    study = Study.load(write())
    with pytest.raises(StudyError, match=r"dask: no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        study.run(dask="tcp://127.0.0.1:9")
    for wrong in ("nonsense://x", "nonsense"):
        with pytest.raises(StudyError, match=f"dask: no Dask scheduler answers at {wrong}: "):
            study.run(dask=wrong)


def test_without_the_package_the_message_says_what_to_install(write: Write) -> None:
    code = (
        "import sys; sys.modules['distributed'] = None\n"
        "from anabranch import Study, StudyError\n"
        f"try: Study.load({str(write())!r}).run(dask='tcp://127.0.0.1:9')\n"
        "except StudyError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert 'install it with: pip install "distributed>=' in done.stdout


OWN_CONTROL = """
from anabranch.own import CongestionControl

class Still(CongestionControl):
    def on_ack(self, ack):
        self.cwnd_bytes = 5 * self.mss_bytes

    def on_loss(self, episode):
        pass
"""


def test_a_class_of_the_users_own_goes_to_the_cluster(tmp_path: Path, cluster: str) -> None:
    (tmp_path / "mine.py").write_text(OWN_CONTROL)
    text = SCENARIO.replace("size =", 'transport = "mine"\nsize =') + (
        '[transport.mine]\npreset = "cubic"\ncongestion_control = { python = "mine:Still" }\n'
    )
    study = Study(title="", scenario=Scenario.loads(text, base=tmp_path), replications=2)
    here = study.run(jobs=1).runs
    assert here["status"].to_list() == ["ok", "ok"]
    assert study.run(dask=cluster).runs.equals(here)
