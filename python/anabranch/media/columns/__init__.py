"""Columns of tables, each declared once: its heading, unit, number format, and which way is better.

:data:`COLUMNS` has them by name; ``tables.py`` says which table has which, and what they mean there.
Documents, the terminal, pages, axes, spreadsheets and CSV files take them from here. What a declaration
leaves out is derived from the name, which ends with the unit: ``goodput_mbps`` has the heading
``goodput`` and the unit ``Mbps``. A column of which no more is to be said needs no declaration beside its
meaning; it is a count where its name ends with no unit.
"""

from anabranch.media.columns.column import Better, Column, completed
from anabranch.media.columns.declared import DECLARED, DROPS, FLOW_DROPS, FULL
from anabranch.media.columns.tables import AGAINST, CAPTURE, MEASUREMENT, RUN

__all__ = ["COLUMNS", "DROPS", "FLOW_DROPS", "FULL", "Better", "Column", "column"]


def _plain(name: str) -> Column:
    of_name = completed(Column(name))
    return of_name if of_name.unit else completed(Column(name, format=",d"))


COLUMNS = {
    name: _plain(name)
    for tables in (RUN, CAPTURE, MEASUREMENT, AGAINST)
    for meanings in tables.values()
    for names in meanings
    for name in names.split()
} | DECLARED
"""Every column by its name; by ``TABLE.NAME`` one that is another one in this table."""


def column(name: str, table: str = "") -> Column:
    """The declaration of a column.

    Args:
        name: as in the table.
        table: which table, where a column has another heading there.

    Raises:
        KeyError: if no such column is declared.
    """
    return COLUMNS.get(f"{table}.{name}") or COLUMNS[name]
