"""checks/benches/htsim_ratio.py with programs that stand in for htsim and for the engine's bench."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[2] / "checks" / "benches"
sys.path.insert(0, str(BENCHES))

# ruff: noqa: E402 - the benches are scripts in a folder, no package
import htsim_ratio
from columns import aligned
from htsim_ratio import SCENARIOS, PeerError, Run, bench_run, compare, compile_peer, peer_run

PEER = '{"cpu_s": 2.0, "setup_s": 0.1, "packet_hops": 8000000, "goodput_gbps": 0.9, "peak_bytes": 4000000}'
ROW = "   1.000       6000000        6.00    1.050     0.950"


def program(folder: Path, name: str, source: str) -> Path:
    file = folder / name
    file.write_text(f"#!{sys.executable}\nimport os, sys\n{source}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def bench(folder: Path) -> Path:
    """Prints its peak memory if asked for it, and a row of six million packet-hops a second otherwise."""
    return program(
        folder,
        "bench",
        f"print('head')\nprint(5000000 if 'REPORT_PEAK' in os.environ else sys.argv[1] + {ROW!r})",
    )


def test_both_outputs_are_read() -> None:
    name = SCENARIOS[0].name
    assert peer_run(PEER) == Run(2.0, 8e6, 0.9, 4e6)
    assert bench_run(f"scenario CPU s\n{name}{ROW}\n", name, 5e6) == Run(1.0, 6e6, 0.95, 5e6)
    assert (peer_run(PEER).speed, bench_run(name + ROW, name, 5e6).speed) == (4.0, 6.0)


@pytest.mark.parametrize("text", ["", "At 3 RTO 250", "[1]", '{"cpu_s": 1}'])
def test_another_output_is_refused(text: str) -> None:
    with pytest.raises(PeerError, match="not its line of JSON"):
        peer_run(text)
    with pytest.raises(PeerError, match="has no scenario"):
        bench_run(text, SCENARIOS[0].name, 1.0)


def test_the_ratio_is_the_median_of_the_ratios_of_pairs() -> None:
    # The medians of the speeds alone would give 2 / 2.
    speeds = [(1e6, 2e6), (2e6, 6e6), (4e6, 2e6)]
    pairs = [(Run(1, theirs, 1, 1e6), Run(1, ours, 1, 3e6)) for theirs, ours in speeds]
    name, *cells = htsim_ratio.table_row(SCENARIOS[0], pairs)
    assert name == SCENARIOS[0].name
    assert cells == ["1.00", "1.00", "2.00", "2.00", "2.00", "1.000", "1.000", "1.0", "3.0"]


def test_the_table_of_two_programs(tmp_path: Path) -> None:
    peer = program(tmp_path, "peer", f"assert sys.argv[1:3] == ['fat-tree', '8']\nprint({PEER!r})")
    lines = compare(peer, bench(tmp_path), "fat tree", 3).splitlines()
    assert len(lines) == 2
    assert lines[1].split()[-9:] == ["2.00", "1.00", "4.00", "6.00", "1.50", "0.900", "0.950", "4.0", "5.0"]


def test_the_engine_has_the_scenarios() -> None:
    source = (BENCHES.parents[1] / "crates" / "engine" / "benches" / "engine.rs").read_text(encoding="utf-8")
    flows = re.search(r"FLOWS: \[usize; 5\] = \[(.*)\]", source)
    assert flows is not None
    counts = flows[1].replace("_", "").split(", ")
    many = {f"dumbbell, {count} CUBIC, 10 Gbps, 10 ms, 2 s" for count in counts}
    assert {each.name for each in SCENARIOS} <= many | set(re.findall(r'measure\("([^"]+)"', source))
    assert 'format!("dumbbell, {flows} CUBIC, 10 Gbps, 10 ms, 2 s")' in source


def test_what_fails_is_said_in_one_line(tmp_path: Path) -> None:
    failing = program(tmp_path, "failing", "sys.stderr.write('first\\nerror: no such thing\\n'); sys.exit(3)")
    with pytest.raises(PeerError, match=r"^\S+failing: error: no such thing$"):
        htsim_ratio.output([str(failing)])
    with pytest.raises(PeerError, match="absent cannot be started"):
        htsim_ratio.output([str(tmp_path / "absent")])
    with pytest.raises(PeerError, match="no scenario's name contains 'ring'"):
        compare(failing, failing, "ring", 1)


def test_a_folder_without_htsim_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match=r"has no eventlist\.h"):
        compile_peer(tmp_path, tmp_path / "peer")
    (tmp_path / "eventlist.h").touch()
    with pytest.raises(PeerError, match=r"has no libhtsim\.a"):
        compile_peer(tmp_path, tmp_path / "peer")
    (tmp_path / "libhtsim.a").touch()
    if shutil.which("g++"):
        with pytest.raises(PeerError, match=r"^g\+\+: .*error: "):
            compile_peer(tmp_path, tmp_path / "peer")


def test_without_htsim_it_is_skipped() -> None:
    done = subprocess.run(  # noqa: S603 - the script under test
        [sys.executable, str(BENCHES / "htsim_ratio.py"), ""], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("skipped: htsim")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert aligned([["a", "bb"], ["ccc", "d"]]) == "  a  bb\nccc   d\n"
