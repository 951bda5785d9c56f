"""The preview page in a real browser, from disk: it loads, plays, moves, filters, and needs no internet."""

import io
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from duplexkit.builders.build import BuildResult
from duplexkit.cards.preview.page import peaks, write_preview
from tests.browser import ARROW_DOWN, LAST_S, errors, files_asked, hear_the_end, needs_chromium, wait_for
from tests.conftest import tone_recipe_text


def test_peaks_are_the_largest_magnitudes() -> None:
    samples = np.zeros(4800, np.float32)
    samples[1201] = -0.5
    flac = io.BytesIO()
    soundfile.write(flac, samples, 24000, format="FLAC", subtype="PCM_16")
    found = peaks(flac.getvalue())
    assert len(found) == 1200 and found[1201 // 4] == 64  # 127 / 2, rounded
    assert sum(found) == 64


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

    for from_end_s in LAST_S:  # each place near the end can be heard
        hear_the_end(browser, from_end_s)

    id_before = text("id")
    body.send_keys(ARROW_DOWN)
    wait_for(lambda: text("id") != id_before)
    browser.execute_script(
        "document.getElementById('event').value = 'side_talk';"
        "document.getElementById('event').dispatchEvent(new Event('change'))"
    )
    wait_for(lambda: text("count") == "4 of 12 samples" and text("id").startswith("talking_to_others/"))
    assert browser.execute_script("return document.querySelectorAll('.lane').length") == 3
    assert errors(browser) == []


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
