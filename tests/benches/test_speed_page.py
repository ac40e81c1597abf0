"""checks/benches/speed_page.py with programs that stand in for the engine's bench and for htsim."""

import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[2] / "checks" / "benches"
sys.path.insert(0, str(BENCHES))

# ruff: noqa: E402 - the benches are scripts in a folder, no package
import speed_page
from htsim_ratio import SCENARIOS, PeerError, Run
from profiled_bench import TRAINED
from speed_page import BEGIN, END, Programs, Row, columns, measured, replaced, section

ROOT = BENCHES.parents[1]


def _program(folder: Path, name: str, source: str) -> Path:
    file = folder / name
    file.write_text(f"#!{sys.executable}\nimport os, sys\n{source}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def test_scenarios_are_run_in_turn(tmp_path: Path) -> None:
    log = tmp_path / "log"
    bench = _program(
        tmp_path,
        "bench",
        f"open({str(log)!r}, 'a').write(sys.argv[1] + '\\n')\n"
        "print(5000000 if 'REPORT_PEAK' in os.environ else sys.argv[1] + '  2.000 6000000 3.00 1.050 0.950')",
    )
    rows = measured(Programs(bench), SCENARIOS[:2], 2)
    names = [scenario.name for scenario in SCENARIOS[:2]]
    assert log.read_text(encoding="utf-8").splitlines() == names * 3  # once for the memory
    assert rows == [Row(each, [Run(2.0, 6e6, 0.95, 5e6)] * 2) for each in SCENARIOS[:2]]


def test_a_row_has_medians_and_what_they_lie_between() -> None:
    ours = [Run(seconds, 6e6, 1, 5e6) for seconds in (1.0, 3.0, 2.0)]
    theirs = [Run(2.0, 6e6, 1, 2e6)] * 3
    name = SCENARIOS[0].name
    alone = list(columns(Row(SCENARIOS[0], ours)).values())
    assert alone == [name, "2.00 (1.00 to 3.00)", "3.00 (2.00 to 6.00)", "5.0"]
    assert list(columns(Row(SCENARIOS[0], ours, theirs)).values())[-2:] == ["1.00 (0.67 to 2.00)", "2.50"]


def test_the_bench_as_wheels_are_built_stands_beside(tmp_path: Path) -> None:
    name = SCENARIOS[0].name
    programs = [
        _program(tmp_path, f"bench{seconds}", f"print('{name} {seconds} 6000000 3.00 1.050 0.950')")
        for seconds in (2.0, 1.0)
    ]
    for program in programs:
        text = program.read_text(encoding="utf-8")
        program.write_text(text + "if 'REPORT_PEAK' in os.environ: print(5000000)\n", encoding="utf-8")
    (row,) = measured(Programs(programs[0], profiled=programs[1]), SCENARIOS[:1], 1)
    assert (row.ours[0].cpu_s, row.as_wheels[0].cpu_s) == (2.0, 1.0)
    row.theirs.append(Run(3.0, 6e6, 1, 2e6))
    assert columns(row)["speed over htsim's"] == "1.50 (1.50 to 1.50)"
    assert columns(row)["as wheels are built"] == "3.00 (3.00 to 3.00)"


def test_what_makes_the_profile_is_in_the_table() -> None:
    """A name that no scenario has would run nothing, and the profile would lack it."""
    assert all(any(name in scenario.name for scenario in SCENARIOS) for name in TRAINED)


def test_the_section_says_when_and_where() -> None:
    lines = list(section([Row(SCENARIOS[0], [Run(1.0, 6e6, 1, 5e6)])], (0.5, 1.25)))
    assert "load 0.5 before and 1.2 after. 1 runs of each" in lines[0]
    assert f"commit {speed_page.commit()}, {speed_page.machine()};" in lines[0]
    assert lines[-1].startswith("htsim was not there")


def test_the_page_keeps_the_rest() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert replaced(page, ["new"]) == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    assert replaced(replaced(page, ["x"]), ["new"]) == replaced(page, ["new"])
    assert replaced((ROOT / "docs" / "speed.md").read_text(encoding="utf-8"), ["new"])


@pytest.mark.parametrize("page", ["", BEGIN, f"{END}\n{BEGIN}\n", f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n"])
def test_a_page_without_the_section_is_refused(page: str) -> None:
    with pytest.raises(PeerError, match="in this order and once"):
        replaced(page, [])
