"""The preview page in a real browser, from disk: it loads, plays, moves, filters, and needs no internet."""

import io
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from duplexkit.builders.build import BuildResult
from duplexkit.cards.preview.page import peaks, write_preview
from tests.conftest import tone_recipe_text

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs Debian's packages chromium and chromium-driver"
)


def test_peaks_are_the_largest_magnitudes() -> None:
    samples = np.zeros(4800, np.float32)
    samples[1201] = -0.5
    flac = io.BytesIO()
    soundfile.write(flac, samples, 24000, format="FLAC", subtype="PCM_16")
    found = peaks(flac.getvalue())
    assert len(found) == 1200 and found[1201 // 4] == 64  # 127 / 2, rounded
    assert sum(found) == 64


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs the package selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--autoplay-policy=no-user-gesture-required",
        "--window-size=1280,1000",
        "--host-resolver-rules=MAP * ~NOTFOUND",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def files_asked(browser: Any) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def wait_for(true: Callable[[], bool], limit_s: float = 5.0) -> None:
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)


@needs_chromium
def test_the_page_in_a_browser(tone_build: Callable[..., BuildResult], browser: Any, tmp_path: Path) -> None:
    folder = tone_build(tone_recipe_text("mt_qa", "talking_to_others", "pause_handling")).folder
    page = write_preview(folder)
    moved = tmp_path / "elsewhere"
    page.parent.rename(moved)  # the folder is self-contained
    browser.get((moved / "index.html").as_uri())

    def text(id_: str) -> str:
        return str(browser.find_element("id", id_).text)

    wait_for(lambda: text("id") != "")
    assert text("count") == "12 of 12 samples"
    asked = files_asked(browser)
    assert all(url.startswith(("file:", "data:")) for url in asked)
    assert not any(url.endswith(".flac") for url in asked), "audio must wait until it is played"
    assert browser.execute_script("return document.querySelectorAll('.lane').length") == 2

    before = browser.execute_script("return document.getElementById('cursor').offsetLeft")
    browser.find_element("id", "play").click()
    wait_for(lambda: browser.execute_script("return audio.currentTime") > 0.3)
    assert browser.execute_script("return document.getElementById('cursor').offsetLeft") > before
    assert any(url.endswith(".flac") for url in files_asked(browser))
    body = browser.find_element("tag name", "body")
    body.send_keys(" ")
    wait_for(lambda: browser.execute_script("return audio.paused"))

    # e goes to the next event: the cursor stands at its onset
    browser.execute_script("seek(0)")
    body.send_keys("e")
    first = browser.execute_script(
        "return Math.min(...state.sample.events.map(e => e.onset_s).filter(t => t > 0.05))"
    )
    assert browser.execute_script("return audio.currentTime") == pytest.approx(first, abs=0.01)
    share = browser.execute_script(
        "return document.getElementById('cursor').offsetLeft / document.getElementById('lanes').clientWidth"
    )
    length = browser.execute_script("return state.sample.duration_s")
    assert share == pytest.approx(first / length, abs=0.005)

    id_before = text("id")
    body.send_keys("\ue015")  # arrow down
    wait_for(lambda: text("id") != id_before)
    browser.execute_script(
        "document.getElementById('event').value = 'side_talk';"
        "document.getElementById('event').dispatchEvent(new Event('change'))"
    )
    wait_for(lambda: text("count") == "4 of 12 samples" and text("id").startswith("talking_to_others/"))
    assert browser.execute_script("return document.querySelectorAll('.lane').length") == 3
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []


@needs_chromium
def test_two_hundred_samples_open_in_three_seconds(
    tone_build: Callable[..., BuildResult], browser: Any
) -> None:
    folder = tone_build(tone_recipe_text("pause_handling")).folder
    page = write_preview(folder)
    html = page.read_text(encoding="utf-8")
    entries = json.loads(re.search(r"const ENTRIES = (\[.*\]);</script>", html)[1])
    many = json.dumps((entries * 50)[:200])
    page.write_text(html.replace(json.dumps(entries, ensure_ascii=False), many), encoding="utf-8")
    begin = time.monotonic()
    browser.get(page.as_uri())
    wait_for(lambda: browser.find_element("id", "id").text != "")
    assert time.monotonic() - begin < 3.0
    assert browser.find_element("id", "count").text == "200 of 200 samples"
