"""What a study does: the same bytes on one process and on two, failures as rows, lost workers, full disks."""

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

from anabranch import Factor, Metric, Scenario, Study, StudyError, StudyResult, run
from anabranch.process.cores import available_cores
from anabranch.study import local
from anabranch.study.check import design
from anabranch.study.design import Design
from anabranch.study.journal import runs_done
from anabranch.study.local import MOST_ATTEMPTS, run_locally
from anabranch.study.store import Store
from anabranch.study.work import RunWorker

from .conftest import ENVIRONMENT, SCENARIO, STUDY, Anabranch, Write, command, contents

THREE = STUDY.replace("replications = 2", "replications = 3")
MANY = STUDY.replace("replications = 2", "replications = 7")
"""42 runs, of some milliseconds each."""
LARGER = SCENARIO.replace("30 kB", "2 MB").replace('"1 s"', '"8 s"')


def journal(folder: Path) -> list[int]:
    """The runs in a study's journal."""
    return [json.loads(line)["run"] for line in (folder / "journal.jsonl").read_text().splitlines()]


def test_one_process_and_two_leave_the_same_bytes(write: Write, tmp_path: Path) -> None:
    study = Study.load(write('keep = "tables"\n' + STUDY))
    for jobs in (1, 2):
        study.run(jobs=jobs, out=tmp_path / str(jobs))
    one, two = (contents(tmp_path / name) for name in ("1", "2"))
    assert {
        "study.toml",
        "study.json",
        "runs.parquet",
        "runs.csv",
        "cells.parquet",
        "cells.csv",
    } <= one.keys()
    assert "tables/flow_series/000011.parquet" in one
    assert one == two
    assert sorted(journal(tmp_path / "2")) == list(range(12))


def test_few_runs_share_the_cores_and_leave_the_same_bytes(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    give = local._Worker.give

    def noted(worker: local._Worker, number: int, cores: int) -> None:
        given.append(cores)
        give(worker, number, cores)

    monkeypatch.setattr(local._Worker, "give", noted)
    monkeypatch.setattr(local, "_LONG_RUN_S", 0)
    two = Study.load(write('keep = "tables"\n' + STUDY.replace("replications = 2", "replications = 1")))
    six = two.run(jobs=1, out=tmp_path / "one").runs.height
    assert given == [1] * six
    given.clear()
    two.run(jobs=2 * six, out=tmp_path / "many")
    assert len(given) == six
    assert min(given) == 2
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_a_run_of_a_study_is_a_run_of_its_scenario(write: Write, tmp_path: Path) -> None:
    result = Study.load(write('keep = "tables"\n' + STUDY)).run(jobs=1)
    settings = {"network.links.queue": "50 packets", "traffic[0].transport": "cubic", "run.replication": "1"}
    alone = run(Scenario.load(tmp_path / "two.toml", settings))
    row = result.runs.row(9, named=True)
    assert (row["run"], row["cell"], row["replication"]) == (9, 4, 1)
    assert (row["queue_packets"], row["transport"], row["status"], row["reason"]) == (
        50.0,
        "cubic",
        "ok",
        None,
    )
    assert row["fct_us"] == pytest.approx(alone.flows["completion_s"].mean() * 1e6, rel=1e-12)  # type: ignore[operator]
    # What a study keeps of a run is what was measured, not the network and its first routes.
    measured = alone.tables.keys() - {"nodes", "routes", "next_hops"}
    assert measured == result.tables.keys()
    for name in measured:
        kept = result.query(f"select * exclude run from {name} where run = 9")  # noqa: S608 - our own names
        assert kept.equals(alone.tables[name].cast(dict(kept.schema)))  # type: ignore[arg-type]


def test_replications_differ_and_give_an_interval(write: Write) -> None:
    result = Study.load(write(THREE)).run(jobs=1)
    assert result.runs.group_by("cell").agg(pl.col("fct_us").n_unique())["fct_us"].to_list() == [3] * 6
    cell = result.cells.row(0, named=True)
    values = result.runs["fct_us"][:3].to_list()
    assert cell["fct_us"] == pytest.approx(statistics.mean(values))
    # t(0.975, 2) is 4.303.
    assert cell["fct_us_ci"] == pytest.approx(4.3027 * statistics.stdev(values) / 3**0.5, rel=1e-4)
    assert (cell["fct_us_min"], cell["fct_us_max"]) == (min(values), max(values))


def test_sampling_changes_no_other_table(write: Write) -> None:
    sampled = Study.load(write())
    metrics = [
        Metric(name="fct_us", column="completion_s"),
        Metric(name="queue", table="links", column="queue_mean_packets"),
    ]
    kept, plain = (
        sampled.model_copy(update={"keep": keep, "metrics": metrics}) for keep in ("tables", "metrics")
    )
    a, b = (RunWorker(design(study)) for study in (kept, plain))
    assert [a.run(n).values for n in range(4)] == [b.run(n).values for n in range(4)]
    assert not b.run(0).tables


def test_a_study_is_saved_and_loaded(write: Write, tmp_path: Path) -> None:
    saved = Study.load(write()).run(jobs=1, out=tmp_path / "out")
    loaded = StudyResult.load(tmp_path / "out")
    assert loaded.runs.equals(saved.runs)
    assert loaded.cells.equals(saved.cells)
    assert (loaded.factors, loaded.metrics) == (saved.factors, saved.metrics)
    assert (loaded.title, loaded.confidence, loaded.replications) == ("queue and transport", 0.95, 2)
    assert pl.read_csv(tmp_path / "out" / "cells.csv")["fct_us"].to_list() == saved.cells["fct_us"].to_list()


def test_a_failed_run_is_a_row_with_its_reason(write: Write) -> None:
    # Each level is right by itself; together the senders of the first entry are not there.
    text = 'scenario = "two.toml"\nreplications = 2\n'
    text += '[[factor]]\nfield = "network.parameters.hosts"\nlevels = [3, 2]\n'
    text += '[[factor]]\nfield = "traffic[0].from"\nlevels = [["left1", "left2"], ["left1", "left3"]]\n'
    result = Study.load(write(text)).run(jobs=2)
    assert result.runs["status"].to_list() == ["ok"] * 6 + ["failed"] * 2
    assert (
        result.runs["reason"][6]
        == 'two.toml: traffic[0].from[1]: no node "left3" in dumbbell(hosts=2); nearest: "left2"'
    )
    assert result.cells["failed"].to_list() == [0, 0, 0, 2]
    assert result.cells["delivered_mbps"][3] is None
    assert result.runs["delivered_mbps"].null_count() == 2


def test_default_metrics_cover_time_rate_fairness_and_loss(write: Write) -> None:
    result = Study.load(write(STUDY[: STUDY.index("[[metric]]")])).run(jobs=1)
    names = [metric.name for metric in result.metrics]
    assert names[:4] == ["delivered_mbps", "completion_s", "completion_p95_s", "jain_index"]
    assert names[4:] == ["retransmissions", "queue_mean_packets", "queue_max_packets", "drops"]
    assert result.runs.select(names).null_count().sum_horizontal().item() == 0
    # No queue holds more than it may.
    assert (result.runs["queue_max_packets"] <= result.runs["queue_packets"]).all()
    assert (result.runs["jain_index"] <= 1).all()


def test_another_study_is_refused_with_what_differs(write: Write, tmp_path: Path) -> None:
    out = tmp_path / "out"
    Study.load(write()).run(jobs=1, out=out)
    before = contents(out)
    others = {
        "replications = 2 in place of 3": STUDY.replace("replications = 2", "replications = 3"),
        "other factors": STUDY.replace('"50 packets"', '"60 packets"'),
        "other metrics": STUDY.replace("scale = 1e6", "scale = 1e3"),
        "another scenario": STUDY.replace('"two.toml"', '"four.toml"'),
        "keep = metrics in place of tables": 'keep = "tables"\n' + STUDY,
    }
    (tmp_path / "four.toml").write_text(SCENARIO.replace("30 kB", "40 kB"))
    for differs, text in others.items():
        with pytest.raises(StudyError) as caught:
            Study.load(write(text)).run(jobs=1, out=out)
        assert str(caught.value) == f"{out}: holds another study, with {differs}; choose another folder"
    assert contents(out) == before


def test_what_is_no_study_is_not_touched(write: Write, tmp_path: Path) -> None:
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter1.tex").write_text("years of work")
    with pytest.raises(
        StudyError, match=r"has what Anabranch did not write there: chapter1\.tex; .*--replace"
    ):
        Study.load(write()).run(jobs=1, out=out)
    assert [file.name for file in out.iterdir()] == ["chapter1.tex"]
    with pytest.raises(StudyError, match="not a study folder"):
        StudyResult.load(out)
    Study.load(write()).run(jobs=1, out=out, replace=True)
    assert (out / "chapter1.tex").read_text() == "years of work"
    # The folder is the study's now: it goes on there, and the user's file is in nobody's way.
    Study.load(write()).run(jobs=1, out=out)


def test_files_with_names_of_a_study_refuse_before_it_runs(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with Store(out, design(Study.load(write()))):
        pass
    (out / "report.html").write_text("mine")
    (out / "figures").mkdir()
    (out / "figures" / "fct_us.png").write_text("mine, too")
    with monkeypatch.context() as patch:
        patch.setattr("anabranch.study.execute.run_locally", lambda *_: pytest.fail("it runs"))
        with pytest.raises(StudyError, match=r"did not write there: figures/, report\.html; "):
            Study.load(write()).run(jobs=1, out=out)
    Study.load(write()).run(jobs=1, out=out, replace=True)
    assert (out / "report.html.~1~").read_text() == "mine"
    assert (out / "figures" / "fct_us.png.~1~").read_text() == "mine, too"
    assert (out / "figures" / "fct_us.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "line", ["mine", "[1]", '{"run": 12, "reason": null, "metrics": {}}', "{}", "\0\0", '{"run": "1"}']
)
def test_a_line_that_is_of_no_run_is_said_with_its_place(write: Write, tmp_path: Path, line: str) -> None:
    study = Study.load(write())
    study.run(jobs=1, out=tmp_path / "out")
    file = tmp_path / "out" / "journal.jsonl"
    whole = file.read_text()
    first, rest = whole.split("\n", 1)
    file.write_text(f"{first}\n{line}\n{rest}")
    with pytest.raises(StudyError, match=r"out/journal\.jsonl: line 2: is of no run of this study; remove"):
        study.run(jobs=1, out=tmp_path / "out")
    file.write_text(whole)
    assert study.run(jobs=1, out=tmp_path / "out").runs.height == 12


def test_a_folder_of_an_older_form_is_left_alone(write: Write, tmp_path: Path) -> None:
    out = tmp_path / "out"
    Study.load(write()).run(jobs=1, out=out)
    manifest = (out / "study.json").read_text()
    assert '"format_version": 4' in manifest
    (out / "study.json").write_text(manifest.replace('"format_version": 4', '"format_version": 1'))
    before = contents(out)
    with pytest.raises(StudyError, match=r"in format 1, .* format 4 only; choose another folder"):
        Study.load(write()).run(jobs=1, out=out)
    assert contents(out) == before
    assert StudyResult.load(out).runs.height == 12


def test_a_finished_study_runs_nothing_again(write: Write, tmp_path: Path) -> None:
    study = Study.load(write(THREE))
    study.run(jobs=1, out=tmp_path / "out")
    before = contents(tmp_path / "out")
    calls: list[tuple[int, int, int]] = []
    study.run(jobs=1, out=tmp_path / "out", progress=lambda *at: calls.append(at))
    assert calls == [(18, 0, 18)]
    assert contents(tmp_path / "out") == before
    assert len(journal(tmp_path / "out")) == 18
    # Another confidence tells of the same runs.
    wider = study.model_copy(update={"confidence": 0.99}).run(jobs=1, out=tmp_path / "out")
    assert len(journal(tmp_path / "out")) == 18
    assert StudyResult.load(tmp_path / "out").cells.equals(wider.cells)
    # t(0.995, 2) = 9.925 and t(0.975, 2) = 4.303.
    ratio = wider.cells["fct_us_ci"][0] / pl.read_parquet(before["cells.parquet"])["fct_us_ci"][0]
    assert ratio == pytest.approx(9.9248 / 4.3027, rel=1e-4)


def _begin(folder: Path, out: str, runs: int) -> subprocess.Popen[str]:
    """Starts a study in a process group of its own, and waits until it has done some runs."""
    process = subprocess.Popen(  # noqa: S603 - our own program
        command("study", "study.toml", "--jobs", "2", "--out", out), cwd=folder, env=ENVIRONMENT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while runs_done(folder / out) < runs:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.002)
    return process


STOPPING = """
import os, sys
from anabranch.__main__ import main
from anabranch.study.store import Store

keep, left = Store.keep, int(sys.argv.pop(1))

def counted(store, outcome):
    global left
    keep(store, outcome)
    left -= 1
    if left == 0:
        os.killpg(0, number)

number, Store.keep = int(sys.argv.pop(1)), counted
main()
"""


def _stopped(folder: Path, out: str, runs: int, number: int) -> subprocess.CompletedProcess[str]:
    """A study that sends itself and its workers a signal when it has kept some runs."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", STOPPING, f"{runs}", f"{number:d}", "study", "study.toml", "--out", out],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, start_new_session=True, timeout=120,
        check=False,
    )  # fmt: skip


def test_a_killed_study_goes_on_and_ends_with_the_same_bytes(
    anabranch: Anabranch, write: Write, tmp_path: Path
) -> None:
    write('keep = "tables"\n' + MANY, LARGER + "link_series = false\nflow_series = false\n")
    assert anabranch("study", "study.toml", "--out", "whole").returncode == 0
    assert _stopped(tmp_path, "killed", 20, signal.SIGKILL).returncode == -signal.SIGKILL
    done = journal(tmp_path / "killed")
    assert len(set(done)) == 20
    with pytest.raises(StudyError, match=r"has 20 of 42 runs; start the study again"):
        StudyResult.load(tmp_path / "killed")
    # What a kill in the middle of writing leaves.
    with (tmp_path / "killed" / "journal.jsonl").open("a") as file:
        file.write('{"run": 1')
    again = anabranch("study", "study.toml", "--out", "killed")
    assert again.returncode == 0, again.stderr
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert journal(tmp_path / "killed")[:20] == done
    assert sorted(journal(tmp_path / "killed")) == list(range(42))


def test_ctrl_c_keeps_what_is_done(anabranch: Anabranch, write: Write, tmp_path: Path) -> None:
    write(MANY, LARGER)
    done = _stopped(tmp_path, "out", 10, signal.SIGINT)
    assert (done.returncode, done.stdout) == (130, "")
    assert (
        done.stderr == "interrupted; what is done is kept in out, and the same command goes on from there\n"
    )
    assert len(journal(tmp_path / "out")) == 10
    assert not list((tmp_path / "out").rglob(".*"))
    assert anabranch("study", "study.toml", "--out", "out").returncode == 0
    assert sorted(journal(tmp_path / "out")) == list(range(42))


def test_a_full_disk_is_a_message_and_loses_nothing(
    anabranch: Anabranch, write: Write, tmp_path: Path
) -> None:
    write(MANY)
    assert anabranch("study", "study.toml", "--out", "whole").returncode == 0
    # No file may be larger: the journal is the first to grow that far.
    limit = 1024 * 4
    done = anabranch(
        "study", "study.toml", "--out", "full",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("full: cannot be written: ")
    assert done.stderr.endswith("are kept, and the same command goes on from there\n")
    assert done.stderr.count("\n") == 1
    kept = runs_done(tmp_path / "full")
    assert 10 < kept < 42
    assert anabranch("study", "study.toml", "--out", "full").returncode == 0
    assert contents(tmp_path / "full") == contents(tmp_path / "whole")


def test_two_processes_do_not_work_on_one_folder(write: Write, anabranch: Anabranch, tmp_path: Path) -> None:
    built = design(Study.load(write()))
    with Store(tmp_path / "out", built):
        second = anabranch("study", "study.toml", "--out", "out")
        assert second.returncode == 2
        assert second.stderr.startswith("out: another process is writing to it; wait for it")
        assert runs_done(tmp_path / "out") == 0
    assert anabranch("study", "study.toml", "--out", "out").returncode == 0


DEADLY = """
import os, signal
from pathlib import Path
from anabranch.study.design import Design

class Deadly(Design):
    '''A design whose cell 1 kills the process that makes it, as often as there are files left to remove.'''

    def scenario(self, levels, base):
        if levels == (1,):
            for file in Path(os.environ["DEADLY"]).iterdir():
                try:
                    file.unlink()
                except FileNotFoundError:
                    # Another process has just taken it.
                    continue
                os.kill(os.getpid(), signal.SIGKILL)
        return super().scenario(levels, base)
"""


@pytest.fixture
def deadly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Design:
    """A design of six runs, of which the third kills its worker; DEADLY holds a file for each time."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "deadly.py").write_text(DEADLY)
    (tmp_path / "lives").mkdir()
    monkeypatch.setenv("DEADLY", str(tmp_path / "lives"))
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    from deadly import Deadly  # type: ignore[import-not-found]  # noqa: PLC0415 - written above

    factor = Factor(field="run.seed", label="seed", levels=[1, 2, 3])
    plain = design(Study(scenario=Scenario.loads(SCENARIO), factors=[factor], replications=2))
    return Deadly(**{entry.name: getattr(plain, entry.name) for entry in fields(plain)})


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_whose_worker_is_killed_is_repeated(deadly: Design, tmp_path: Path, jobs: int) -> None:
    (tmp_path / "lives" / "one").touch()
    outcomes = sorted(run_locally(deadly, range(6), jobs), key=lambda outcome: outcome.run)
    assert [(outcome.run, outcome.reason) for outcome in outcomes] == [(number, None) for number in range(6)]
    assert not list((tmp_path / "lives").iterdir())
    calm = list(run_locally(deadly, range(6), 1))
    assert [outcome.values for outcome in outcomes] == [outcome.values for outcome in calm]


def test_a_run_that_always_kills_its_worker_fails(deadly: Design, tmp_path: Path) -> None:
    for life in range(MOST_ATTEMPTS):
        (tmp_path / "lives" / str(life)).touch()
    outcomes = {outcome.run: outcome.reason for outcome in run_locally(deadly, range(6), 2)}
    lost = "its process was lost 3 times, the last time by signal 9 (SIGKILL)"
    assert sorted(outcomes) == list(range(6))
    # Run 3 is of the same cell; by then there is no life left to take, or one less for run 2.
    assert [reason for reason in outcomes.values() if reason is not None] in ([lost], [])
    assert outcomes[0] is outcomes[1] is outcomes[4] is outcomes[5] is None
    assert not list((tmp_path / "lives").iterdir())


def test_no_process_outlives_its_study(write: Write) -> None:
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    before = set(listed.read_text().split())
    built = design(Study.load(write(MANY, LARGER)))
    outcomes = run_locally(built, range(built.runs), 2)
    next(outcomes)
    workers = set(listed.read_text().split()) - before
    assert len(workers) == 2
    outcomes.close()  # type: ignore[attr-defined]
    assert not workers & set(listed.read_text().split())


def test_workers_end_with_the_process_that_started_them(write: Write, tmp_path: Path) -> None:
    write(MANY, LARGER)
    process = _begin(tmp_path, "out", 1)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(workers) == 2
    process.kill()
    process.communicate()
    end = time.monotonic() + 20
    while any(Path(f"/proc/{worker}/exe").exists() for worker in workers):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_only_cores_that_this_process_may_use_are_counted() -> None:
    allowed = os.sched_getaffinity(0)
    assert available_cores() == len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert available_cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_the_table_of_cells_is_printed(anabranch: Anabranch, write: Write, tmp_path: Path) -> None:
    done = anabranch("study", write(THREE))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "queue and transport"
    assert sum(" ± " in line for line in lines) == 6
    assert lines[-2:] == [
        "18 runs over 6 cells; intervals hold the mean with probability 0.95",
        "results in results/study",
    ]
    again = anabranch("study", "study.toml", "--json", "--jobs", "1")
    document = json.loads(again.stdout)
    assert document["folder"] == "results/study"
    assert [row["transport"] for row in document["cells"]] == ["newreno", "cubic", "bbr"] * 2
    assert StudyResult.load(tmp_path / "results" / "study").cells.height == 6
