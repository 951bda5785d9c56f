"""Pages in a real browser: Debian's Chromium through selenium, without network; tests skip where they are missing."""

import io
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs Debian's packages chromium and chromium-driver"
)
ARROW_DOWN, ARROW_UP, TAB = "\ue015", "\ue013", "\ue004"
"""Keys as WebDriver names them."""


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


def open_fresh(browser: Any, page: Path) -> None:
    """Open a page as somebody who never saw it: pages from disk share one store, whatever their names."""
    browser.get(page.as_uri())
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    errors(browser)


def files_asked(browser: Any) -> list[str]:
    """Return the addresses asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def errors(browser: Any) -> list[dict[str, Any]]:
    """Return what the page's script did wrong since the last call."""
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def wait_for(true: Callable[[], bool], limit_s: float = 5.0) -> None:
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)


def hear_the_end(browser: Any, from_end_s: float) -> None:
    """Play the page's first sound from some time before its end to its end."""
    sound = "document.querySelector('audio')"
    browser.execute_script(f"if (!{sound}.readyState) {sound}.load()")
    wait_for(lambda: browser.execute_script(f"return {sound}.readyState > 0"))
    # the page may load the sound anew: then this call of play() ends without having played
    browser.execute_script(
        f"{sound}.currentTime = {sound}.duration - arguments[0]; {sound}.play().catch(() => 0)", from_end_s
    )
    wait_for(lambda: browser.execute_script(f"return {sound}.ended"))


LAST_S = (0.02, 0.25, 0.35, 0.45)
"""Places before the end of a sound; Chromium cannot seek to some of them in a FLAC file."""


def press(browser: Any, *keys: str) -> None:
    """Press keys, one after the other, wherever the focus is."""
    from selenium.webdriver import ActionChains

    for key in keys:
        ActionChains(browser).send_keys(key).perform()


def pixels(element: Any) -> NDArray[np.uint8]:
    """Return how an element looks, shape (height, width, 3)."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(element.screenshot_as_png)).convert("RGB"))


def saved_by(browser: Any, click: Callable[[], None], folder: Path) -> Path:
    """Return the file that a click saves into a folder."""
    folder.mkdir(exist_ok=True)
    before = set(folder.iterdir())
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    click()

    def new() -> list[Path]:
        return [p for p in folder.iterdir() if p not in before and p.suffix == ".json" and p.stat().st_size]

    wait_for(lambda: bool(new()))
    (path,) = new()
    return path
