"""``report.html``: a run, a study or captures as one page that opens without a network."""

from anabranch.report.html.page import (
    capture_report,
    run_report,
    save_capture_report,
    save_run_report,
    save_study_report,
    study_report,
)

__all__ = [
    "capture_report",
    "run_report",
    "save_capture_report",
    "save_run_report",
    "save_study_report",
    "study_report",
]
