"""What `anabranch routes` and `anabranch load` leave: tables, spreadsheets, maps and pages.

What writes them stands on matplotlib, for which a command that writes nothing need not wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.errors import Problem, ScenarioError
from anabranch.suggest import suggest

if TYPE_CHECKING:
    from anabranch.report.table_files import NamedTable
    from anabranch.routes import Routes
    from anabranch.worst_loads import LoadChanges, WorstLoads


@dataclass(frozen=True, slots=True)
class PlanFiles:
    """The files that are wanted; None for none.

    Raises:
        ResultError: a spreadsheet is wanted, and the package that writes it is not there.
    """

    csv: Path | None = None
    """Folder of the tables."""
    xlsx: Path | None = None
    page: Path | None = None
    map: Path | None = None

    def __post_init__(self) -> None:
        if self.xlsx is not None:
            from anabranch.report.table_files import check_spreadsheet  # noqa: PLC0415

            check_spreadsheet()

    def write_routes(self, title: str, routes: Routes) -> list[str]:
        """Writes the routes; returns what was written, in lines for people.

        Raises:
            ResultError: if a file cannot be written.
        """
        if not (self.csv or self.xlsx):
            return []
        from anabranch.report.load_tables import route_tables  # noqa: PLC0415

        return self._write_tables(title, route_tables(routes))

    def write_loads(
        self,
        title: str,
        loads: WorstLoads,
        link: str,
        changes: LoadChanges | None,
        warnings: Sequence[str],
    ) -> list[str]:
        """Writes the worst cases, and the traffic behind a link; returns what was written.

        Raises:
            ResultError: if a file cannot be written.
        """
        told = []
        if self.map is not None:
            from anabranch.report.load_map import load_map  # noqa: PLC0415
            from anabranch.report.style import save_figure  # noqa: PLC0415

            save_figure(load_map(loads, link), self.map)
            told.append(f"map in {self.map}")
        if self.csv or self.xlsx:
            from anabranch.report.load_tables import load_tables  # noqa: PLC0415

            told += self._write_tables(title, load_tables(loads, link, changes))
        if self.page is not None:
            from anabranch.report.load_page import save_load_page  # noqa: PLC0415

            save_load_page(self.page, loads, changes, warnings=warnings)
            told.append(f"page in {self.page}")
        return told

    def _write_tables(self, title: str, tables: Sequence[NamedTable]) -> list[str]:
        from anabranch.report.table_files import save_csv, save_tables  # noqa: PLC0415

        told = []
        if self.csv is not None:
            save_csv(tables, self.csv)
            told.append(f"tables in {self.csv}")
        if self.xlsx is not None:
            save_tables(title, tables, self.xlsx)
            told.append(f"spreadsheet in {self.xlsx}")
        return told


def chosen_link(loads: WorstLoads, link: str | None) -> str:
    """The name of a link between routers; that of the worst one if none is chosen.

    Raises:
        ScenarioError: there is none of this name.
    """
    chosen = loads.worst.link if link is None else link
    names = [known.link for known in loads.links]
    if chosen not in names:
        near = suggest(chosen, names)
        hint = f'; nearest: "{near}"' if near else ""
        raise ScenarioError([Problem("--link", f'no link "{chosen}" between routers{hint}')])
    return chosen
