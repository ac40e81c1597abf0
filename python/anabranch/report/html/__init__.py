"""``report.html``: a run or a study as one page that opens without a network."""

from anabranch.report.html.page import run_report, save_run_report, save_study_report, study_report

__all__ = ["run_report", "save_run_report", "save_study_report", "study_report"]
