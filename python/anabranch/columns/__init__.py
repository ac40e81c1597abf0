"""Columns of tables, each declared once: its heading, unit, number format, and which way is better.

:data:`COLUMNS` has them by name; :mod:`anabranch.columns.tables` says which table has which, and what they
mean there. Documents, the terminal, pages, axes, spreadsheets and CSV files take them from here. What a
declaration leaves out is derived from the name, which ends with the unit: ``goodput_mbps`` has the heading
``goodput`` and the unit ``Mbps``.
"""

from anabranch.columns.column import Better, Column
from anabranch.columns.declared import COLUMNS, DROPS, FLOW_DROPS, FULL, column

__all__ = ["COLUMNS", "DROPS", "FLOW_DROPS", "FULL", "Better", "Column", "column"]
