"""What stays of a picture when the next one comes: what the reader chose, and elements that suit it."""

from collections.abc import Callable

from studio_tabs import Tab

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


def test_a_row_is_chosen_where_the_reader_clicks_also_after_a_change(tabs: Callable[..., Tab]) -> None:
    tab = tabs()
    tab.after(lambda: tab.page.get_by_label("network · links · capacity", exact=True).fill("100"))
    line = tab.page.locator("#link-table tbody tr:not(.spacer)").nth(2)
    line.locator("td").nth(1).click()
    assert line.get_attribute("class") == "chosen"
    assert tab.page.locator("#link-table tr.chosen").count() == 1
    line.locator("td").nth(1).click()
    assert tab.page.locator("#link-table tr.chosen").count() == 0


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
