"""The files that `anabranch routes` and `anabranch load` leave: tables, a spreadsheet, a map and a page.

What writes them stands on matplotlib, for which a command that writes nothing need not wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.errors import Problem, ScenarioError
from anabranch.media.files import check_spreadsheet, save_csv, save_spreadsheet
from anabranch.report.views.brief import brief_tables
from anabranch.report.views.loads import load_tables
from anabranch.report.views.routes import route_tables
from anabranch.results.folders import write_whole
from anabranch.text.suggest import suggest

if TYPE_CHECKING:
    from anabranch.media.pieces import DataTable
    from anabranch.plans.brief import Brief
    from anabranch.plans.routes import Routes
    from anabranch.plans.worst_loads import LoadChanges, WorstLoads


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
            check_spreadsheet()

    def write_tables(
        self, title: str, tables: Sequence[DataTable], as_csv: Sequence[DataTable] | None = None
    ) -> list[str]:
        """Writes tables; returns what was written, in lines for people.

        Args:
            title: of the spreadsheet.
            tables: all of them.
            as_csv: those that become files of CSV; all of them if None.

        Raises:
            ResultError: if a file cannot be written.
        """
        lines = []
        if self.csv is not None:
            save_csv(tables if as_csv is None else as_csv, self.csv)
            lines.append(f"tables in {self.csv}")
        if self.xlsx is not None:
            save_spreadsheet(title, tables, self.xlsx)
            lines.append(f"spreadsheet in {self.xlsx}")
        return lines

    def write_routes(self, title: str, routes: Routes) -> list[str]:
        """Writes routes, as ``routing.paths`` reads them, and tables of them; returns what was written.

        Raises:
            ResultError: if a file cannot be written.
        """
        if self.csv is None and self.xlsx is None:
            return []
        if self.csv is not None:
            for number, one in enumerate((routes, *routes.others)):
                name = f"routes_{number}.csv" if number else "routes.csv"
                write_whole(self.csv / name, one.csv().encode())
        tables = route_tables(routes)
        # The file of routes has the paths.
        beside = [table for table in tables if not table.name.startswith("paths")]
        return self.write_tables(title, tables, beside)

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
        lines = []
        if self.map is not None:
            from anabranch.report.load_map import load_map  # noqa: PLC0415
            from anabranch.report.style import save_figure  # noqa: PLC0415

            save_figure(load_map(loads, link), self.map)
            lines.append(f"map in {self.map}")
        lines += self.write_tables(title, load_tables(loads, link, changes))
        if self.page is not None:
            from anabranch.report.load_page import save_load_page  # noqa: PLC0415

            save_load_page(self.page, loads, changes, warnings=warnings)
            lines.append(f"page in {self.page}")
        return lines

    def write_brief(self, title: str, brief: Brief) -> list[str]:
        """Writes the tables and the page for those who decide; returns what was written.

        Raises:
            ResultError: if a file cannot be written.
        """
        lines = self.write_tables(title, brief_tables(brief))
        if self.page is not None:
            from anabranch.report.brief_page import save_brief_page  # noqa: PLC0415

            save_brief_page(self.page, brief)
            lines.append(f"page in {self.page}")
        return lines


def chosen_link(loads: WorstLoads, link: str | None) -> str:
    """The name of a link between routers; that of the worst one if none is chosen.

    Raises:
        ScenarioError: there is none of this name.
    """
    chosen = loads.worst.link if link is None else link
    names = [entry.link for entry in loads.links]
    if chosen not in names:
        near = suggest(chosen, names)
        hint = f'; nearest: "{near}"' if near else ""
        raise ScenarioError([Problem("--link", f'no link "{chosen}" between routers{hint}')])
    return chosen
