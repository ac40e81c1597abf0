"""Studies as a user has them: what is written down, and how it is run."""

from __future__ import annotations

from pathlib import Path

from anabranch.study import description
from anabranch.study.description import Factor, Level, Metric, Output, Progress, Range
from anabranch.study.result import StudyResult

__all__ = ["Factor", "Level", "Metric", "Output", "Progress", "Range", "Study"]


class Study(description.Study):
    """Runs of one scenario over all combinations of the levels of its factors, each several times."""

    def run(
        self,
        jobs: int | None = None,
        dask: str | None = None,
        out: Path | str | None = None,
        progress: Progress | None = None,
        *,
        replace: bool = False,
        live: bool = False,
        against_simulation: bool = False,
        trust: bool = False,
    ) -> StudyResult:
        """Runs the study; with ``out``, every run is kept in that folder, and a second call goes on there.

        Args:
            jobs: processes on this machine; every core that this process may use, where it is left out.
            dask: address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, in place of processes here.
            out: the folder.
            progress: called now and then with the runs done, the failed ones among them, and all runs.
            replace: go on though the folder has files that Anabranch did not write; they stay.
            live: make live runs, one at a time; a run that is not valid is repeated, and counts as failed at
                the third time.
            against_simulation: simulate each live run as well, as a factor ``hosts`` of two levels.
            trust: let code in Python run that the scenario or a level names, whoever has written it
                (docs/security.md).

        Raises:
            ConsentError: if nobody has agreed to code that would run.
            LiveError: if the machine cannot make live runs.
            StudyError: if the study cannot be run, or the folder is not this study's, has other files, is
                being written to, or cannot be written.
        """
        from anabranch.study.execute import Execution, run_study  # noqa: PLC0415 - few ask, and it imports all

        execution = Execution(live=live, against_simulation=against_simulation, jobs=jobs, dask=dask)
        study = self.trusted() if trust else self
        return run_study(study, execution, out=out, progress=progress, replace=replace)
