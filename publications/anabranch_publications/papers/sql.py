"""SQL over a study in DuckDB's dialect, whose aggregates and orders the papers' queries use."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import duckdb
import polars as pl

from anabranch.study.result import MetricInfo, StudyResult


def query(result: StudyResult, sql: str) -> pl.DataFrame:
    """The answer to a query over ``runs``, ``cells`` and the tables that the study kept.

    Raises:
        duckdb.Error: if DuckDB refuses the query.
    """
    with (
        tempfile.TemporaryDirectory(prefix="anabranch-query-") as folder,
        duckdb.connect() as connection,
    ):
        for name, source in {**result.tables, "runs": result.runs, "cells": result.cells}.items():
            if isinstance(source, pl.DataFrame):
                file = Path(folder) / f"{name}.parquet"
                source.write_parquet(file)
            else:
                file = source / "*.parquet"
            connection.read_parquet(str(file)).create_view(name)
        # Through a file: DuckDB hands over frames only where pyarrow is installed.
        answer = Path(folder) / "answer.parquet"
        connection.sql(sql).write_parquet(str(answer))
        return pl.read_parquet(answer)


def with_metrics(result: StudyResult, metrics: Mapping[MetricInfo, str]) -> StudyResult:
    """The result with further metrics, each from a query that gives run and value."""
    return result.with_metrics({metric: query(result, sql) for metric, sql in metrics.items()})
