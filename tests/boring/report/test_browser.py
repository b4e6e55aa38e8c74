"""The page in a real browser, where there is one: nothing is complained of, nothing is fetched."""

import json
import re
import shutil
import subprocess

import pytest

from boring.report import html_report
from boring.study import Study

pytest.importorskip("matplotlib")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr",
)  # fmt: skip
SECONDS = 300

pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(BROWSERS)} is there")


@pytest.fixture(scope="module")
def text():
    study = Study({"gain": (0.0, 1.0), "angle": (-90.0, 90.0)}, direction="minimize", seed=0)
    study.add([{"gain": 0.1 * i, "angle": 9.0 * i, "value": (i - 4.0) ** 2} for i in range(10)])
    return html_report(study, with_subspace=False)


def opened(text, folder):
    """Return the elements after loading, the messages, and the addresses asked for."""
    page, log = folder / "report.html", folder / "net.json"
    page.write_text(text, encoding="utf-8")
    profile, net = f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"
    command = [BROWSER, *FLAGS, profile, net, "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    messages = re.findall(r"CONSOLE.*", done.stderr)
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    jobs = [event["params"] for event in events if "initiator" in event.get("params", {})]
    # What the browser asks for on its own account has no origin.
    asked = {job["url"] for job in jobs if job["initiator"] != "not an origin"}
    return done.stdout, messages, {url for url in asked if url.startswith(("http", "ws", "ftp"))}


def test_the_page_opens_without_complaint_or_request(text, tmp_path):
    elements, messages, asked = opened(text, tmp_path)
    assert messages == []
    assert asked == set()
    assert '<button type="button">gain</button>' in elements, "its script may run"


def test_complaints_and_requests_would_be_seen(text, tmp_path):
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text)[0]
    foreign = '<img src="http://127.0.0.1:9/x.png" alt="nothing"><script>console.error(1)</script>'
    _, messages, asked = opened(text.replace("</main>", f"{foreign}</main>"), tmp_path)
    assert any("Content Security Policy" in message for message in messages)
    assert asked == set()
    freed = text.replace(policy, "").replace("</main>", f"{foreign}</main>")
    (tmp_path / "freed").mkdir()
    _, messages, asked = opened(freed, tmp_path / "freed")
    assert messages
    assert asked == {"http://127.0.0.1:9/x.png"}
