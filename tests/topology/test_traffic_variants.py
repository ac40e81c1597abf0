"""Tables of traffic as people have them."""

from pathlib import Path

import pytest

from anabranch.topology.traffic import load_traffic
from anabranch.topology.traffic.error import TrafficError


def matrix(folder: Path, text: str) -> tuple[tuple[str, ...], list[float], str | None]:
    (folder / "x.csv").write_bytes(text.encode())
    read = load_traffic("x.csv", folder)
    assert read is not None
    return read.nodes, read.matrices[0].value.tolist(), None if read.unit is None else read.unit.name


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("src,dst,demand_mbps", "Mbps"), ("Source,Destination,Traffic (Gbit/s)", "Gbps"),
        ("# of a day\n\nfrom,to,rate_kbps", "kbps"), ("u,v,volume", None),
        ("\ufefforigin,destination,offered bps", "bps"),
    ],
)  # fmt: skip
def test_tables_of_demands(tmp_path: Path, header: str, unit: str | None) -> None:
    assert matrix(tmp_path, f"{header}\r\na,b,100\r\nb, c ,2.5\r\n\r\n") == (
        ("a", "b", "c"),
        [100.0, 2.5],
        unit,
    )


def test_numbers_with_a_comma_where_semicolons_separate(tmp_path: Path) -> None:
    assert matrix(tmp_path, "from;to;rate_mbps\na;b;1,5\nb;a;2\n") == (("a", "b"), [1.5, 2.0], "Mbps")


def test_flows_of_other_names_of_ends(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,dst,size_kb,start_ms\na,b,2,1\n")
    read = load_traffic("x.csv", tmp_path)
    assert read is not None
    assert (read.format, read.flows.bytes.tolist(), read.flows.start_ps.tolist()) == (
        "CSV of flows", [2000], [10**9],
    )  # fmt: skip


def test_a_row_of_demands_that_is_wrong_has_its_line(tmp_path: Path) -> None:
    with pytest.raises(TrafficError, match="line 3: has 2 cells in place of 3"):
        matrix(tmp_path, "src,dst,demand_mbps\na,b,1\nb,c\n")
    with pytest.raises(TrafficError, match='line 2: "x" is not a rate'):
        matrix(tmp_path, "src,dst,demand_mbps\na,b,x\n")


def test_a_table_of_links_is_no_matrix(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("from,to,capacity_mbps,demand\na,b,1,2\n")
    with pytest.raises(TrafficError):
        load_traffic("x.csv", tmp_path)
