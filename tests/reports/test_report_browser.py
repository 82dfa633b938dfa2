"""The report in a real browser, from disk: Debian's Chromium, headless. Skipped where there is none."""

import shutil

import pytest

from reports import made_up

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory, full_page):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(full_page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync.sync_playwright() as playwright:
        folder = tmp_path_factory.mktemp("profile")
        context = playwright.chromium.launch_persistent_context(folder, executable_path=CHROMIUM, args=FLAGS)
        yield context
        context.close()


@pytest.fixture
def opened(chromium, report):
    """Opens the report in a window; gives the page with what it said and asked for."""

    def open_at(width, scheme="light"):
        page = chromium.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(report.as_uri())
        return page

    yield open_at
    for page in chromium.pages[1:]:
        page.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_without_errors_or_requests_and_never_scrolls_sideways(opened, report, width, scheme):
    page = opened(width, scheme)
    assert page.said == []
    assert page.asked == [report.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_script_in_a_turn_stays_text(opened):
    page = opened(1280)
    assert page.title() == "Grade 8 and 9 tutors: edufair report"
    assert page.evaluate("document.scripts.length") == 0
    said = page.locator(".turn .said", has_text="document.title").first.inner_text()
    assert made_up.SCRIPT in said and "⟨U+202E⟩txt.exe" in said


def test_pairs_stand_side_by_side_turn_by_turn_and_one_below_the_other_on_a_phone(opened):
    wide = opened(1280)
    pair = wide.locator(".pair").first
    left, right = (pair.locator(".side").nth(i).locator(".turn").nth(2).bounding_box() for i in (0, 1))
    assert left["y"] == right["y"] and left["x"] < right["x"]
    narrow = opened(390)
    a, b = (narrow.locator(".pair").first.locator(".side").nth(i).bounding_box() for i in (0, 1))
    assert a["x"] == b["x"] and a["y"] + a["height"] <= b["y"]


def test_colours_of_figures_follow_the_scheme(opened):
    colours = []
    for scheme in ("light", "dark"):
        page = opened(1280, scheme)
        label = page.locator("figure svg text").first
        colours.append(label.evaluate("e => getComputedStyle(e).fill"))
    assert colours[0] != colours[1]


def test_drawn_labels_do_not_overlap_and_stay_in_their_picture(opened):
    overlaps = """svg => {
        const box = svg.getBoundingClientRect();
        const all = [...svg.querySelectorAll('text')];
        const texts = all.filter(t => t.textContent.trim() && t.getAttribute('opacity') !== '0');
        const boxes = texts.map(t => [t.getBoundingClientRect(), t.textContent]);
        const bad = boxes.filter(([b]) => b.left < box.left - 1 || b.right > box.right + 1).map(([, t]) => t);
        for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
            const [a, b] = [boxes[i][0], boxes[j][0]];
            const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (x > 1 && y > 4) bad.push(boxes[i][1] + ' | ' + boxes[j][1]);
        }
        return bad;
    }"""
    page = opened(1280)
    for picture in page.locator(".panel svg").all():
        assert picture.evaluate(overlaps) == []


def test_the_keyboard_reaches_the_answer_and_opens_a_table(opened):
    page = opened(1280)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    summary = page.locator("figure summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("figure details").first.evaluate("d => d.open")


def test_every_table_can_be_opened_at_once(opened):
    page = opened(1280)
    table = page.locator("figure details table").first
    assert not table.is_visible()
    page.locator("#all").check()
    assert table.is_visible()
