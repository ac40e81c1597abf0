"""What stays of a picture when the next one comes: what the reader chose, and elements that suit it."""

from collections.abc import Callable

from running_studio import EXAMPLES, Running
from studio_tabs import Tab

Start = Callable[..., Running]
MARK = "(element) => { element.dataset.marked = 'yes'; }"


def test_a_table_stays_sorted_and_filtered(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    links = tab.page.locator("#link-table")
    heading = links.locator("th", has_text="utilization").first
    heading.get_by_role("button").click()
    links.get_by_role("searchbox").fill("Denver")
    tab.page.wait_for_timeout(300)
    before = links.locator("tbody tr:not(.spacer)").all_inner_texts()
    tab.after(lambda: tab.page.get_by_label("network · links · capacity", exact=True).fill("100"))
    after = links.locator("tbody tr:not(.spacer)").all_inner_texts()
    assert heading.get_attribute("aria-sort") == "descending"
    assert len(after) == len(before)
    assert all("Denver" in line for line in after)
    assert after != before


def test_tables_of_routes_stay_sorted_too(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.after(lambda: tab.page.get_by_label("Routes", exact=True).check())
    heading = tab.page.locator("#plan-table-0 th").nth(2)
    heading.get_by_role("button").click()
    tab.after(lambda: tab.page.get_by_label("network · links · capacity", exact=True).fill("100"))
    assert heading.get_attribute("aria-sort") in ("ascending", "descending")


def test_a_row_is_chosen_where_the_reader_clicks_also_after_a_change(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.after(lambda: tab.page.get_by_label("network · links · capacity", exact=True).fill("100"))
    line = tab.page.locator("#link-table tbody tr:not(.spacer)").nth(2)
    line.locator("td").nth(1).click()
    assert line.get_attribute("class") == "chosen"
    assert tab.page.locator("#link-table tr.chosen").count() == 1
    line.locator("td").nth(1).click()
    assert tab.page.locator("#link-table tr.chosen").count() == 0


def test_the_moment_of_the_map_stays_and_goes_on(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    capacity = tab.page.get_by_label("network · links · capacity", exact=True)
    tab.page.locator("#time").fill("12")
    moment = tab.page.locator("#time-value").inner_text()
    tab.after(lambda: capacity.fill("100"))
    assert tab.page.locator("#time-value").inner_text() == moment
    assert tab.page.input_value("#time") == "12"
    tab.page.click("#play")
    tab.after(lambda: capacity.fill("120"))
    assert tab.page.locator("#play").inner_text() == "Pause"
    tab.after(lambda: tab.page.get_by_label("Routes", exact=True).check())
    told = tab.page.locator("#map-summary").inner_text()
    tab.page.wait_for_timeout(400)
    assert tab.page.locator("#map-summary").inner_text() == told


def test_a_connection_stays_chosen_among_its_own(tabs: Callable[..., Tab], studio: Start) -> None:
    """With each change of a slider its list had had all connections once more."""
    text = (EXAMPLES / "classroom" / "mptcp_failover.toml").read_text()
    running = studio(first="two.toml")
    text = text.replace('transport = "multipath"', 'transport = "multipath"\nflows = 2')
    (running.folder / "two.toml").write_text(text)
    tab = tabs(running)
    choices = tab.page.locator("#connection option")
    names = choices.all_inner_texts()
    assert len(names) == 3
    tab.page.select_option("#connection", index=2)
    chosen = tab.page.input_value("#connection")
    slider = tab.page.locator("#panel-controls input[type=range][aria-label*=capacity]").first
    for value in ("150", "180"):
        tab.after(lambda value=value: slider.fill(value))
    assert choices.all_inner_texts() == names
    assert tab.page.input_value("#connection") == chosen
    assert tab.page.locator("#connection-table tr.chosen").count() == 1


def test_charts_go_on_with_other_data(tabs: Callable[..., Tab]) -> None:
    """A chart of the same lines is the same element; one of other lines is another."""
    tab = tabs()
    charts = "#goodput-chart .canvas, #rtt-chart .canvas"
    for chart in tab.page.locator(charts).all():
        chart.evaluate(MARK)
    said = tab.page.locator("#rtt-chart .canvas").get_attribute("aria-label")
    tab.after(lambda: tab.page.get_by_label("network · links · delay · plus", exact=True).fill("250"))
    assert tab.page.locator("#rtt-chart .canvas").get_attribute("aria-label") != said
    assert tab.page.locator("#rtt-chart canvas").count() == 1
    assert tab.page.locator("#rtt-chart [data-marked=yes]").count() == 1
    transport = tab.page.get_by_label("traffic “cubic” · transport", exact=True)
    tab.after(lambda: transport.select_option("bbr"))
    for place in ("#goodput-chart", "#rtt-chart", "#queue-chart"):
        assert tab.page.locator(f"{place} canvas").count() == 1
