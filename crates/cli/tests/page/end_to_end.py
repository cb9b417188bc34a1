"""The page as a person uses it, in headless Chromium. Arguments: addresses of a server with one database, of one with users, of one with
several databases, and a folder to write to; then names of tests, where only some are wanted."""

import os
import sys
import traceback

import test_answers  # noqa: F401
import test_data  # noqa: F401
import test_editor  # noqa: F401
import test_looks  # noqa: F401
import test_people  # noqa: F401
import test_why  # noqa: F401
from chromium import Chromium, program
from person import FOLDER, TESTS, WANTED, Skipped, open_one


def failed_page(page, name):
    """A picture of what it looked like, where the page still answers."""
    try:
        page.picture(os.path.join(FOLDER, name + ".png"))
    except Exception as failure:
        print(f"no picture: {failure!r}", file=sys.stderr)


def main():
    passed, failed, skipped = 0, 0, 0
    with Chromium() as browser:
        for one in TESTS:
            if WANTED and one.__name__ not in WANTED:
                continue
            page = browser.page()
            try:
                open_one(page)
                one(page)
                # What the server refused is in the list of the browser, too.
                errors = [error for error in page.errors if "Failed to load resource" not in error]
                assert not errors, errors
                passed += 1
            except Skipped as reason:
                skipped += 1
                print(f"skipped {one.__name__}: {reason}", file=sys.stderr)
            except Exception:
                failed += 1
                print(f"--- {one.__name__}\n{traceback.format_exc()}{page.errors}", file=sys.stderr)
                failed_page(page, one.__name__)
            page.close()
    print(f"{passed} passed, {failed} failed, {skipped} skipped", file=sys.stderr)
    if not failed:
        print("ok")


if program() is None:
    sys.exit("there is no Chromium here (LODE_CHROMIUM)")
main()
