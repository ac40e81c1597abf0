"""The studio in a real browser: what somebody drags, draws, types and keeps."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright import sync_api as playwright
from running_studio import EXAMPLES, Running
from studio_tabs import SHORT, Tab

Start = Callable[..., Running]
EVIL = "<img src=x onerror=alert(1)>"


def test_a_slider_moves_the_picture_and_the_text(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    before = tab.card("Delivered")
    slider = tab.page.get_by_label("network · links · capacity", exact=True)
    tab.after(lambda: slider.fill("100"))
    assert tab.card("Delivered") != before
    assert tab.data["network"]["links"]["capacity"] == "3.16 Mbps"
    assert "# each packet takes any of them" in tab.text
    transport = tab.page.get_by_label("traffic “cubic” · transport", exact=True)
    tab.after(lambda: transport.select_option("bbr"))
    assert tab.data["traffic"][0]["transport"] == "bbr"
    tab.after(lambda: tab.page.get_by_label("network · links · capacity, typed").press("Control+z"))
    tab.after(lambda: tab.page.keyboard.press("Control+z"))
    assert tab.text == SHORT
    assert tab.card("Delivered") == before
    tab.after(lambda: tab.page.keyboard.press("Control+y"))
    assert tab.data["network"]["links"]["capacity"] == "3.16 Mbps"


def test_a_choice_of_a_kind_of_table_takes_its_place(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.tab("Text")
    text = SHORT.replace('queue = "100 packets"', 'queue = { algorithm = "codel", limit = "64 kB" }  # kept')
    tab.after(lambda: tab.page.fill("#toml", text))
    tab.tab("Controls")
    kind = tab.page.get_by_label("network · links · queue · algorithm", exact=True)
    tab.after(lambda: kind.select_option("pie"))
    assert tab.data["network"]["links"]["queue"] == "pie"
    assert "# kept" in tab.text
    tab.after(lambda: tab.page.get_by_label("network · links · queue", exact=True).select_option("fq-codel"))
    assert tab.data["network"]["links"]["queue"] == "fq-codel"


def test_a_value_is_checked_while_it_is_typed(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    box = tab.page.get_by_label("network · links · capacity, typed")
    box.click()
    box.press("Control+a")
    tab.after(lambda: box.press_sequentially("12 k", delay=10))
    assert tab.page.locator(".control", has=box).locator(".wrong").inner_text()
    tab.after(lambda: box.press_sequentially("bps", delay=10))
    assert box.input_value() == "12 kbps"
    assert tab.data["network"]["links"]["capacity"] == "12 kbps"
    assert tab.page.locator("#picture.is-stale").count() == 0


def test_a_slider_that_is_dragged_shows_pictures_on_the_way(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    before = tab.shown()
    box = tab.page.get_by_label("network · links · capacity", exact=True).bounding_box()
    assert box
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.page.mouse.down()
    for step in range(30):
        tab.page.mouse.move(box["x"] + box["width"] * (0.5 + step / 80), box["y"] + 8)
        tab.page.wait_for_timeout(25)
    on_the_way = tab.shown()
    tab.page.mouse.up()
    tab.page.wait_for_timeout(300)
    assert on_the_way - before >= 2
    # A drag is one step back.
    tab.after(lambda: tab.page.click("#undo"))
    assert tab.text == SHORT


def test_mistakes_stand_at_their_fields_and_the_last_picture_stays(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    box = tab.page.get_by_label("network · links · capacity, typed")
    delivered = tab.card("Delivered")
    tab.after(lambda: box.fill("10 Mbqs"))
    assert "Mbqs" in tab.page.locator(".control", has=box).locator(".wrong").inner_text()
    assert box.get_attribute("aria-invalid") == "true"
    assert tab.page.locator("#picture.is-stale").count() == 1
    assert tab.card("Delivered") == delivered
    tab.page.locator("#problems button").first.click()
    line = SHORT.splitlines().index('capacity = "10 Mbps"') + 1
    assert (
        tab.page.evaluate(
            "document.getElementById('toml').value.slice(0, document.activeElement.selectionStart)"
        ).count("\n")
        == line - 1
    )
    assert tab.page.locator("#gutter .bad").inner_text() == str(line)
    tab.after(lambda: tab.page.fill("#toml", SHORT))
    assert tab.page.locator("#picture.is-stale").count() == 0
    assert tab.page.locator("#gutter .bad").count() == 0


def test_an_empty_folder_begins_with_a_scenario_that_runs(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.page.goto("about:blank")
    (tab.running.folder / "first.toml").unlink()
    tab.running.desk.first = None
    tab.page.goto(tab.running.address)
    tab.page.wait_for_selector("html[data-ready]")
    assert "New or Import begins one" in tab.page.inner_text("#state-words")
    tab.page.click("#new")
    tab.page.fill("#dialog-text", "mine")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("html[data-shown]", state="attached")
    assert tab.card("Delivered").endswith("Mbps")
    tab.save()
    assert (tab.running.folder / "mine.toml").read_text() == tab.text
    assert tab.page.input_value("#file") == "mine.toml"


def test_nothing_is_shown_of_another_file(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    (tab.running.folder / "study.toml").write_text('scenario = "first.toml"\n')
    tab.page.reload()
    tab.page.wait_for_selector("html[data-shown]", state="attached")
    assert tab.page.locator("#cards").is_visible()
    tab.after(lambda: tab.page.select_option("#file", "study.toml"))
    assert "anabranch study study.toml" in tab.page.inner_text("#problems")
    assert tab.page.locator("#cards").is_hidden()
    tab.after(lambda: tab.page.select_option("#file", "first.toml"))
    assert tab.page.locator("#cards").is_visible()


def test_parameters_of_a_generator_are_moved_and_typed(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    parameters = 'topology = "dumbbell"\nparameters = { hosts = 2, bottleneck_capacity = "10 Mbps" }'
    text = SHORT[: SHORT.index("[[event]]")] + SHORT[SHORT.index("[run]") :]
    text = re.sub('from = ".*"', 'from = "left1"', re.sub('to = ".*"', 'to = "right1"', text))
    text = re.sub("delay = .*", 'delay = "1 ms"', text).replace('topology = "zoo/Abilene"', parameters)
    tab.tab("Text")
    tab.after(lambda: tab.page.fill("#toml", text))
    assert tab.page.inner_text("#problems") == ""
    tab.tab("Controls")
    slider = tab.page.get_by_label("network · parameters · bottleneck capacity", exact=True)
    tab.after(lambda: slider.fill("100"))
    assert tab.data["network"]["parameters"]["bottleneck_capacity"] == "3.16 Mbps"
    tab.tab("Form")
    tab.page.locator("summary", has_text=re.compile("^parameters$")).click()
    tab.after(lambda: tab.page.locator("[id='field-network.parameters.hosts']").fill("3"))
    assert tab.data["network"]["parameters"]["hosts"] == 3
    assert tab.page.inner_text("#problems") == ""


def test_the_ends_of_a_slider_are_those_of_its_own_file(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    (tab.running.folder / "other.toml").write_text(SHORT.replace("100 packets", "1000 packets"))
    tab.page.reload()
    tab.page.wait_for_selector("html[data-shown]", state="attached")
    ends = tab.page.locator(".control", has=tab.page.get_by_label("network · links · queue, typed")).locator(
        ".end"
    )
    assert ends.all_inner_texts() == ["10 packets", "1000 packets"]
    tab.after(lambda: tab.page.select_option("#file", "other.toml"))
    assert ends.all_inner_texts() == ["100 packets", "10000 packets"]


def test_the_form_has_every_field_with_its_help(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.tab("Form")
    field = tab.page.locator("[id='field-run.duration']")
    assert field.input_value() == "3 s"
    assert "Simulated time" in tab.page.locator("[id='field-run.duration-help']").inner_text()
    field.press("End")
    tab.after(lambda: field.press_sequentially("x", delay=20))
    assert "3 sx" in tab.page.locator("[id='field-run.duration-wrong']").inner_text()
    assert field.input_value() == "3 sx"
    tab.after(lambda: field.fill("2 s"))
    assert tab.data["run"]["duration"] == "2 s"
    tab.after(lambda: tab.page.locator("[id='add-run']").select_option("until"))
    assert tab.data["run"]["until"] == "duration"
    tab.after(lambda: tab.page.locator("[id='field-run.until']").select_option("done"))
    assert tab.data["run"]["until"] == "done"
    tab.after(lambda: tab.page.get_by_role("button", name="Remove run.until").click())
    assert "until" not in tab.data["run"]
    tab.after(lambda: tab.page.get_by_role("button", name="Add traffic").click())
    assert len(tab.data["traffic"]) == 3
    tab.after(lambda: tab.page.get_by_role("button", name="Remove traffic[2]").click())
    assert len(tab.data["traffic"]) == 2


def click_map(tab: Tab, x: float, y: float) -> None:
    """Clicks on the map, at shares of its width and height."""
    box = tab.page.locator("#map svg").bounding_box()
    assert box
    tab.after(lambda: tab.page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y))


def test_the_form_takes_names_and_new_tables(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.tab("Form")
    tab.page.locator("[id='add-']").select_option("transport")
    tab.page.fill("#dialog-text", "mine")
    tab.after(lambda: tab.page.keyboard.press("Enter"))
    assert tab.data["transport"] == {"mine": {"preset": "linux-cubic"}}
    tab.page.click("[id='name-transport']")
    tab.page.fill("#dialog-text", "a b")
    tab.after(lambda: tab.page.keyboard.press("Enter"))
    assert tab.data["transport"]["a b"] == {"preset": "linux-cubic"}
    tab.after(lambda: tab.page.locator("[id='add-network']").select_option("hosts"))
    assert "[network.hosts]" in tab.text
    # A number that is a name stays one.
    tab.page.locator("#panel-form details", has_text="cubic").last.evaluate("(each) => { each.open = true; }")
    tab.page.locator("summary", has_text=re.compile("^cubic$")).click()
    field = tab.page.locator("[id='field-traffic[0].from']")
    tab.after(lambda: field.fill("5"))
    assert tab.data["traffic"][0]["from"] == "5"


def test_a_network_is_drawn(tabs: Callable[..., Tab], studio: Start) -> None:
    running = studio(first="new.toml")
    tab = tabs(running)
    tab.tab("Text")
    tab.after(
        lambda: tab.page.fill(
            "#toml", '[network.links]\nqueue = "30 packets" # kept\n[run]\nduration = "2 s"\n'
        )
    )
    tab.tab("Network")
    tab.page.wait_for_selector("#map svg.geographic")
    tab.page.get_by_label("Draw nodes").check()
    for x, y in ((0.3, 0.4), (0.6, 0.5)):
        click_map(tab, x, y)
    nodes = tab.data["network"]["node"]
    assert [node["name"] for node in nodes] == ["n1", "n2"]
    assert nodes[0]["longitude"] < nodes[1]["longitude"]
    tab.page.get_by_label("Draw links").check()
    tab.page.locator("[data-node='0']").click()
    tab.after(lambda: tab.page.locator("[data-node='1']").click())
    assert tab.data["network"]["link"] == [
        {"between": ["n1", "n2"], "new": True, "capacity": "10 Mbps", "delay": "5 ms"}
    ]
    tab.page.get_by_label("Move and choose").check()
    tab.page.locator("[data-link='0']").click(force=True)
    tab.after(lambda: (tab.page.fill("#link-capacity", "4 Mbps"), tab.page.press("#link-capacity", "Enter")))
    tab.after(lambda: (tab.page.fill("#link-loss", "0.01"), tab.page.press("#link-loss", "Enter")))
    link = tab.data["network"]["link"][0]
    assert (link["capacity"], link["loss"]) == ("4 Mbps", 0.01)
    tab.page.fill("#down-at", "1 s")
    tab.after(lambda: tab.page.click("#take-down"))
    assert tab.data["event"] == [{"at": "1 s", "link": ["n1", "n2"], "state": "down"}]
    tab.tab("Text")
    tab.after(lambda: tab.page.fill("#toml", tab.text + '\n[[traffic]]\nfrom = "n1"\nto = "n2"\n'))
    assert tab.card("Delivered") != ""
    assert "# kept" in tab.text
    tab.tab("Network")
    place = tab.page.locator("[data-node='0']").bounding_box()
    assert place
    tab.page.mouse.move(place["x"] + 4, place["y"] + 4)
    tab.page.mouse.down()
    tab.page.mouse.move(place["x"] + 30, place["y"] + 60, steps=4)
    tab.after(tab.page.mouse.up)
    assert tab.data["network"]["node"][0]["latitude"] < nodes[0]["latitude"]


def test_a_node_in_a_plane_stays_where_it_was_dragged(tabs: Callable[..., Tab], studio: Start) -> None:
    tab = tabs(studio(first="new.toml"))
    text = tab.text
    tab.tab("Network")
    node = tab.page.locator("[data-node='0']")
    place = node.bounding_box()
    assert place
    tab.page.mouse.move(place["x"] + 4, place["y"] + 4)
    tab.page.mouse.down()
    tab.page.mouse.move(place["x"] + 60, place["y"] + 70, steps=4)
    tab.page.mouse.up()
    moved = node.bounding_box()
    assert moved
    assert moved["y"] > place["y"] + 30
    # No field of a scenario holds it; the next picture keeps it all the same.
    assert tab.text == text
    y = float(node.get_attribute("cy") or 0) - float(
        tab.page.locator("[data-node='1']").get_attribute("cy") or 0
    )
    tab.tab("Controls")
    tab.after(lambda: tab.page.get_by_label("network · links · capacity", exact=True).fill("100"))
    again = float(node.get_attribute("cy") or 0) - float(
        tab.page.locator("[data-node='1']").get_attribute("cy") or 0
    )
    assert abs(again) > 20
    assert again * y > 0


def test_a_long_result_that_is_kept_shows_how_far_it_is_and_stops(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    box = tab.page.get_by_label("run · duration, typed")
    box.fill("30000 s")
    box.press("Enter")
    tab.page.wait_for_selector("#stop:not([hidden])")
    tab.after(lambda: tab.page.click("#stop"))
    tab.page.click("#keep-run")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_function(
        "() => /s simulated/.test(document.querySelector('#dialog .told')?.textContent)"
    )
    # Nothing is begun twice.
    assert tab.page.locator("#dialog .bar button:enabled:visible").all_inner_texts() == ["Stop"]
    assert tab.axe() == []
    tab.page.get_by_role("button", name="Stop").click()
    tab.page.wait_for_selector("#dialog p:has-text('It was stopped')")
    assert (tab.running.folder / "results" / "first-studio" / "report.html").is_file()


def test_a_text_is_selected_where_a_page_has_no_clipboard(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.page.click("#keep-command")
    tab.page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    tab.page.get_by_role("button", name="Copy").click()
    tab.page.wait_for_selector("#dialog .wrong:has-text('Ctrl+C')")
    assert tab.page.evaluate("String(getSelection())") == "anabranch run first.toml"


def test_figures_are_drawn(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.page.click("#keep-png")
    tab.page.wait_for_selector("#dialog a")
    with tab.page.expect_download() as download:
        tab.page.get_by_role("link", name="goodput.png").click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    tab.page.get_by_role("button", name="Close").click()


def test_a_network_is_built_without_a_pointer(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.tab("Network")
    tab.page.fill("#node-name", "Boston")
    tab.page.select_option("#new-kind", "host")
    tab.after(lambda: tab.page.press("#add-node", "Enter"))
    assert tab.data["network"]["node"] == [{"name": "Boston", "kind": "host"}]
    tab.page.select_option("#link-from", "Boston")
    tab.page.select_option("#link-to", "New York")
    tab.after(lambda: tab.page.press("#add-link", "Enter"))
    # The settings of all links hold for the new one.
    assert tab.data["network"]["link"] == [
        {"between": ["Boston", "New York"], "new": True, "delay": "5 ms"}
    ] or (tab.data["network"]["link"] == [{"between": ["Boston", "New York"], "new": True}])


def test_files_are_imported(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.page.click("#import")
    tab.page.set_input_files("#import-files", EXAMPLES / "ring.graphml")
    tab.after(tab.page.get_by_role("button", name="Import").last.click)
    assert "ring.graphml" in tab.page.locator("#dialog pre").inner_text()
    tab.page.get_by_role("button", name="Close").click()
    assert tab.page.locator("#problems button").count() == 0
    assert tab.page.input_value("#file") == "ring.toml"
    tab.save()
    assert (
        tomllib.loads((tab.running.folder / "ring.toml").read_text())["network"]["topology"]
        == "file:ring.graphml"
    )


def test_two_runs_stand_beside_each_other(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.page.click("#pin")
    tab.page.wait_for_selector("#compare:not([hidden])")
    tab.after(lambda: tab.page.get_by_label("network · links · queue", exact=True).fill("50"))
    assert "beside" in tab.page.locator("#compare-flows").inner_text()
    assert tab.page.locator("#series-legend [data-key=beside]").count() == 1
    assert re.search(r"[+-][\d.]+", tab.page.locator("#compare-flows").inner_text())
    tab.page.click("#unpin")
    tab.page.wait_for_selector("#compare", state="hidden")
    tab.page.select_option("#beside", label="traffic “cubic” · transport = bbr")
    tab.page.wait_for_selector("#compare:not([hidden])")
    assert tab.page.inner_text("#compare-name") == "traffic “cubic” · transport = bbr"
    assert tab.data["traffic"][0]["transport"] == "linux-cubic"


def test_latencies_and_queues_stand_beside_each_other_too(tabs: Callable[..., Tab], studio: Start) -> None:
    running = studio(first="bloat.toml")
    text = (EXAMPLES / "classroom" / "bufferbloat.toml").read_text().replace('"15 s"', '"5 s"')
    (running.folder / "bloat.toml").write_text(text)
    tab = tabs(running)
    tab.page.click("#pin")
    queue = tab.page.get_by_label("network · link “provider \N{EN DASH} home-fifo” · queue", exact=True)
    tab.after(lambda: queue.fill("20"))
    assert re.search(r"fifo\.0.*-\d", tab.page.inner_text("#compare-latency-table").replace("\n", " "))
    assert tab.page.locator("#latency-legend [data-key=beside]").count() == 1
    assert "the pinned run" in tab.page.inner_text("#queue-chart .legend")
    tab.page.select_option("#file", "first.toml")
    tab.after(tab.page.get_by_role("button", name="Throw them away").click)
    tab.page.wait_for_selector("#compare", state="hidden")


def test_what_is_seen_is_saved_and_kept(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    folder = tab.running.folder
    tab.after(lambda: tab.page.get_by_label("network · links · capacity", exact=True).fill("300"))
    tab.page.click("#keep-command")
    assert "--set" in tab.page.locator("#dialog pre").inner_text()
    tab.page.get_by_role("button", name="Close").click()
    tab.save()
    assert tomllib.loads((folder / "first.toml").read_text())["network"]["links"]["capacity"] == "31.6 Mbps"
    tab.page.click("#keep-run")
    tab.page.fill("#dialog-text", "seen")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("#dialog pre")
    assert (folder / "results/seen/report.html").is_file()
    tab.page.get_by_role("button", name="Close").click()
    for name in ("capacity", "queue"):
        tab.page.locator(".control", has_text=f"network · links · {name}").get_by_role("checkbox").check()
    tab.page.click("#keep-study")
    tab.page.wait_for_selector("#dialog pre")
    study = tomllib.loads((folder / "first-study.toml").read_text())
    assert [factor["field"] for factor in study["factor"]] == [
        "network.links.capacity",
        "network.links.queue",
    ]
    assert all(len(factor["levels"]) == 5 for factor in study["factor"])
    tab.page.get_by_role("button", name="Close").click()


def test_routes_and_loads_have_their_own_pictures(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    (tab.running.folder / "nsfnet.toml").write_text((EXAMPLES / "robust_nsfnet.toml").read_text())
    tab.after(lambda: tab.page.get_by_label("Routes", exact=True).check())
    assert tab.page.locator("#plan-tables table").count() >= 1
    tab.page.select_option("#route-from", label="Seattle")
    assert tab.page.locator("#map .link.route").count() > 2
    tab.after(lambda: tab.page.get_by_label("network · links · delay · plus", exact=True).fill("100"))
    assert tab.page.locator("#map .link.route").count() > 2
    assert tab.page.locator("#series").is_hidden()
    tab.after(lambda: tab.page.get_by_label("Loads", exact=True).check())
    assert "demand" in tab.page.inner_text("#problems")
    tab.after(lambda: tab.page.get_by_label("Run", exact=True).check())
    assert tab.page.locator("#series").is_visible()


def test_loads_of_two_schemes_stand_beside_each_other(tabs: Callable[..., Tab], studio: Start) -> None:
    running = studio(first="nsfnet.toml")
    text = (EXAMPLES / "robust_nsfnet.toml").read_text()
    scheme = next(line for line in text.splitlines() if line.startswith("scheme"))
    (running.folder / "nsfnet.toml").write_text(text.replace(scheme, 'scheme = "shortest"'))
    tab = tabs(running)
    tab.after(lambda: tab.page.get_by_label("Loads", exact=True).check())
    tab.page.select_option("#beside", label="routing · scheme = ecmp")
    tab.page.wait_for_selector("#compare:not([hidden])")
    assert tab.page.inner_text("#compare-name") == "routing · scheme = ecmp"
    assert "load" in tab.page.inner_text("#compare-links")
    assert tab.page.locator("#compare-flows").is_hidden()
    # The pinned loads are of no run.
    tab.after(lambda: tab.page.get_by_label("Run", exact=True).check())
    assert tab.page.locator("#compare").is_hidden()
    tab.after(lambda: tab.page.get_by_label("Routes", exact=True).check())
    assert tab.page.locator("#beside").is_disabled()


def test_fields_of_every_table_are_offered(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    offered = tab.page.locator("#add-control option", has_text="event").filter(has_text="capacity")
    label = offered.first.inner_text()
    tab.after(lambda: tab.page.select_option("#add-control", label=label))
    assert "capacity" in tab.data["event"][0]
    tab.after(lambda: tab.page.click("#undo"))
    assert tab.text == SHORT


def test_two_tabs_and_an_editor_work_on_one_file(tabs: Callable[..., Tab]) -> None:
    one = tabs()
    two = tabs(one.running)
    file = one.running.folder / "first.toml"
    one.after(lambda: one.page.get_by_label("network · links · queue", exact=True).fill("0"))
    two.after(one.save)
    assert two.data["network"]["links"]["queue"] == "10 packets"
    two.after(lambda: two.page.get_by_label("network · links · queue", exact=True).fill("400"))
    one.after(lambda: file.write_text(SHORT.replace("100 packets", "77 packets")))
    assert one.data["network"]["links"]["queue"] == "77 packets"
    two.page.wait_for_selector("#banner:not([hidden])")
    assert "changed elsewhere" in two.page.inner_text("#banner")
    two.page.get_by_role("button", name="Keep mine").click()
    two.save()
    assert "1000 packets" in file.read_text()
    one.page.wait_for_function("() => document.getElementById('toml').value.includes('1000 packets')")
    file.rename(file.with_suffix(".kept"))
    two.page.wait_for_selector("#banner:not([hidden])")
    file.with_suffix(".kept").rename(file)
    two.page.wait_for_selector("#banner", state="hidden")
    file.unlink()
    one.page.wait_for_selector("#banner:not([hidden])")
    assert "deleted" in one.page.inner_text("#banner")
    one.page.get_by_role("button", name="OK").click()
    one.save()
    assert "1000 packets" in file.read_text()


def test_the_server_goes_and_comes_back(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.expects_gone = True
    tab.running.stop()
    tab.page.get_by_label("network · links · queue", exact=True).fill("0")
    tab.page.wait_for_selector("#banner:not([hidden])")
    assert "does not answer" in tab.page.inner_text("#banner")
    tab.running.start()
    tab.page.wait_for_selector("#banner", state="hidden")
    tab.page.wait_for_function("() => document.getElementById('toml').value.includes('10 packets\"')")
    assert tab.data["network"]["links"]["queue"] == "10 packets"


def test_a_wrong_token_is_told(browser: playwright.Browser, studio: Start) -> None:
    running = studio()
    page = browser.new_page()
    page.goto(running.address.replace("token=", "token=x"))
    page.wait_for_selector("#banner:not([hidden])")
    assert "wrong token" in page.inner_text("#banner")
    page.close()


def test_a_long_run_shows_how_far_it_is_and_stops(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    box = tab.page.get_by_label("run · duration, typed")
    box.fill("30000 s")
    box.press("Enter")
    tab.page.wait_for_selector("#stop:not([hidden])")
    assert tab.page.locator("#progress").is_visible()
    tab.after(lambda: tab.page.click("#stop"))
    assert "stopped before its end" in tab.page.inner_text("#cards")
    assert tab.page.locator("#stop").is_hidden()


def test_hostile_names_are_texts(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    text = f"""
title = "{EVIL}"
[network]
[[network.node]]
name = "{EVIL}"
[[network.node]]
name = "b]].x = '1'"
[[network.link]]
between = ["{EVIL}", "b]].x = '1'"]
new = true
capacity = "10 Mbps"
delay = "5 ms"
[[traffic]]
name = "{EVIL}"
from = "{EVIL}"
to = "b]].x = '1'"
transport = "a.b\\" {EVIL}"
[transport."a.b\\" {EVIL}"]
preset = "bbr"
initial_window_segments = 4
[run]
duration = "1 s"
"""
    (tab.running.folder / f"{EVIL.replace('/', '')}.toml").write_text(text)
    tab.tab("Text")
    tab.after(lambda: tab.page.fill("#toml", text))
    assert tab.page.inner_text("#problems") == ""
    for name in ("Form", "Network", "Controls"):
        tab.tab(name)
    tab.page.locator("[data-link='0']").click(force=True)
    tab.after(lambda: (tab.page.fill("#link-queue", "9 packets"), tab.page.press("#link-queue", "Enter")))
    assert tab.data["network"]["link"][0]["queue"] == "9 packets"
    tab.page.click("#pin")
    tab.tab("Controls")
    slider = tab.page.get_by_label(re.compile("initial window segments$"))
    if slider.count():
        tab.after(lambda: slider.first.fill("10"))
    assert tab.page.locator("img").count() == 0


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 400), ("dark", 400)]
)
def test_every_part_is_usable_in_both_themes_and_on_a_narrow_screen(
    tabs: Callable[..., Tab], scheme: str, width: int, tmp_path: Path
) -> None:
    tab = tabs(color_scheme=scheme, viewport={"width": width, "height": 900})
    for name in ("Controls", "Form", "Network", "Text"):
        tab.tab(name)
        assert tab.axe() == []
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
        tab.page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
    tab.page.click("#pin")
    tab.page.wait_for_selector("#compare:not([hidden])")
    tab.page.click("#import")
    assert tab.axe() == []
    tab.page.keyboard.press("Escape")
    tab.page.locator("[role=tab]").first.focus()
    tab.page.keyboard.press("ArrowRight")
    assert tab.page.locator("#panel-form").is_visible()
