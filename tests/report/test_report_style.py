"""Looks and files: told apart by everybody, the same everywhere, complete or not there."""

import itertools
import re
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from anabranch import _core
from anabranch.errors import ResultError
from anabranch.media.palette import LOOKS, PALETTE, look_at
from anabranch.report.looks import is_transport, look, looks, wants_logarithm
from anabranch.report.style import STYLE, plain, save_figure, styled
from anabranch.report.views.over_time import flow_looks

PRESETS = ("newreno", "cubic", "bbr", "linux-reno", "linux-cubic", "linux-bbr")
SCHEMES = ("sdn-paced", "mprc", "tcp-pr", "rr-tcp", "window-clamp", "mptcp")

# Machado, Oliveira, Fernandes (2009), "A physiologically-based model for simulation of color vision
# deficiency", severity 1.0: matrices for linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanomaly": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                             [-0.003882, -0.048116, 1.051998]]),
    "deuteranomaly": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                               [-0.011820, 0.042940, 0.968881]]),
    "tritanomaly": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                             [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color: str) -> np.ndarray:
    """Linear RGB (IEC 61966-2-1)."""
    values = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* under D65."""
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_are_told_apart_by_everybody(deficiency: str) -> None:
    seen = [lab(DEFICIENCIES[deficiency] @ linear(color)) for color in PALETTE]
    pairs = list(itertools.combinations(seen, 2))
    assert len(pairs) == 28
    # A difference of 2.3 is just noticeable; six times that is plain even for thin lines.
    assert min(float(np.linalg.norm(a - b)) for a, b in pairs) > 6 * 2.3


def test_two_equal_colours_would_be_found() -> None:
    green, grey = (lab(DEFICIENCIES["deuteranomaly"] @ linear(color)) for color in ("#009E73", "#8C8C8C"))
    assert float(np.linalg.norm(green - grey)) < 6 * 2.3


def test_each_transport_has_one_look_wherever_it_stands() -> None:
    names = [*PRESETS, *SCHEMES]
    alone = [look(name) for name in names]
    assert len(set(alone)) == len(names) == 12
    assert looks(names) == alone
    for several in itertools.permutations(("bbr", "mprc", "newreno")):
        assert looks(several) == [look(name) for name in several]


def test_every_preset_has_a_look_of_its_own() -> None:
    presets = _core.transport_preset_names()
    assert len(presets) >= 6
    assert [name for name in presets if not is_transport(name)] == []


@pytest.mark.parametrize(("name", "relative"), [("cubic", "linux-cubic"), ("tcp-pr", "rr-tcp")])
def test_relatives_share_colour_and_shape_and_one_is_hollow(name: str, relative: str) -> None:
    full, hollow = look(name), look(relative)
    assert (full.color, full.marker) == (hollow.color, hollow.marker)
    assert (full.hollow, hollow.hollow) == (False, True)
    assert full.line != hollow.line
    assert full.dash != hollow.dash


def test_other_names_beside_transports_take_looks_that_are_free() -> None:
    names = [*PRESETS, *SCHEMES, "my-tcp", "quic", "dctcp"]
    chosen_looks = looks(names)
    assert len(set(chosen_looks)) == len(names)
    assert looks(["cubic", "my-tcp"])[1] == looks(["my-tcp", "bbr"])[0] == look("my-tcp")


def test_names_that_are_no_transports_go_by_position() -> None:
    assert [each.color for each in looks([f"{n} ms" for n in range(8)])] == list(PALETTE)
    assert len(set(looks([str(n) for n in range(16)]))) == 16
    assert len(looks([str(n) for n in range(40)])) == 40


def test_the_user_s_own_settings_change_nothing() -> None:
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "axes.titlesize": 40}), styled():
        assert matplotlib.rcParams["axes.facecolor"] == "white"
        assert matplotlib.rcParams["font.size"] == STYLE["font.size"]


@pytest.mark.parametrize(
    ("levels", "logarithmic"),
    [((1e-4, 1e-3, 1e-2, 1e-1), True), ((1, 10, 100), True), ((0, 1e-3, 1e-1), False), ((1, 50, 100), False),
     ((1, 100), False), ((1, 2, 4, 8), False), ((), False)],
)  # fmt: skip
def test_an_axis_is_logarithmic_where_levels_are_even_by_factor(
    levels: tuple[float, ...], logarithmic: bool
) -> None:
    assert wants_logarithm(levels) is logarithmic


def test_text_is_shown_as_it_is() -> None:
    assert plain("$x^2$\nfor_all\t\x07") == "\\$x^2\\$ for_all \N{REPLACEMENT CHARACTER}"
    with styled():
        figure = Figure()
        axes = figure.subplots()
        axes.plot([1], [1], label=plain("_hidden"))
    assert [label.strip("\u200b") for label in axes.get_legend_handles_labels()[1]] == ["_hidden"]


# --- files


def drawing() -> Figure:
    with styled():
        figure = Figure(figsize=(2, 2))
        figure.subplots().plot([0, 1], [1, 2], label="a")
    return figure


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_figures_say_no_date_and_have_the_same_bytes(tmp_path: Path, ending: str, start: bytes) -> None:
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    for file in (first, second):
        save_figure(drawing(), file)
    content = first.read_bytes()
    assert content == second.read_bytes()
    assert content.startswith(start)
    assert not re.search(rb"CreationDate|dc:date|tIME", content)


def test_letters_in_a_pdf_are_truetype(tmp_path: Path) -> None:
    save_figure(drawing(), tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in content or b"/CIDFontType2" in content
    assert b"/Type3" not in content


def test_another_ending_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"a\.bmp: .*\.png, \.pdf, \.svg"):
        save_figure(drawing(), tmp_path / "a.bmp")


@pytest.mark.parametrize("own", ["nimble", "zed", "mine", "gentle", "x"])
def test_a_transport_of_ones_own_has_a_colour_of_its_own_and_is_filled(own: str) -> None:
    """Hollow means the relative of another: a newcomer's control would look like CUBIC."""
    chosen_looks = looks(["newreno", "cubic", "linux-cubic", "bbr", own])
    assert chosen_looks[-1].color not in {each.color for each in chosen_looks[:-1]}
    assert not chosen_looks[-1].hollow
    assert not look(own).hollow
    # Also where every colour is taken, no two are drawn alike.
    names = [
        "newreno",
        "cubic",
        "bbr",
        "mprc",
        "tcp-pr",
        "mptcp",
        "sdn-paced",
        "window-clamp",
        own,
        f"{own}2",
    ]
    assert len(set(looks(names))) == len(names)


def test_each_flow_has_a_look_of_its_own() -> None:
    names = ["cubic", "linux-cubic", "bbr"]
    of = {name: replace(look(name), dash=look(name).line) for name in names}
    transports = [*names * 4, *["cubic"] * 20]
    seen = flow_looks(transports, of)
    assert len({(each.color, each.dash) for each in seen}) == len(transports)
    # The first of a transport has its look, and flows have its colour as long as there are dashes.
    assert [(each.color, each.dash) for each in seen[:3]] == [
        (of[name].color, of[name].dash) for name in names
    ]
    assert all(each.color == of["bbr"].color for each in seen[2:12:3])
    assert all((each.marker, each.hollow) == (of["cubic"].marker, False) for each in seen[12:])
    # So many are told apart; those beyond have the colour of their transport again.
    many = flow_looks([*names, *["bbr"] * 60], of)
    assert len({(each.color, each.dash) for each in many}) == LOOKS
    assert many[-1].color == of["bbr"].color


def test_flows_of_one_transport_go_by_place() -> None:
    assert flow_looks(["cubic"] * 20, {"cubic": look("cubic")}) == [look_at(place) for place in range(20)]
