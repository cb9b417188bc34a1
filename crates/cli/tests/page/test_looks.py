"""Colours, widths, keys and names."""

import time

from person import SLOW, count, equal, open_one, run, test, upload, write


@test
def dark_and_light(page):
    shade = "(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number); return r + g + b; })()"
    page.colours(True)
    page.wait(shade + " < 200")
    page.colours(False)
    page.wait(shade + " > 600")
    page.click("#theme")
    page.wait(shade + " < 200")
    open_one(page)
    page.wait(shade + " < 200")


@test
def nothing_is_wider_than_the_screen(page):
    for width in (390, 768, 2560):
        page.size(width, 844)
        open_one(page)
        for view in ("query", "browse", "data", "upload", "running"):
            page.click("#go-" + view)
            time.sleep(0.4)
            assert page.do("document.documentElement.scrollWidth <= innerWidth"), (width, view)
            if view == "data":
                page.wait("!!document.querySelector('[aria-label=Graphs] td button')")
                assert page.do("[...document.querySelectorAll('[aria-label=Graphs] td button')].every(one => one.getBoundingClientRect().right <= one.closest('.card').getBoundingClientRect().right)"), width
        page.click("#go-query")
        run(page, "SELECT * { ?s ?p ?o } LIMIT 50")
        for view in ("chart", "map", "raw", "table"):
            page.click("#view-" + view)
            time.sleep(0.2)
            assert page.do("document.documentElement.scrollWidth <= innerWidth"), (width, view)


@test
def nothing_moves_while_a_query_runs(page):
    for width in (390, 1280, 2560):
        page.size(width, 900)
        open_one(page)
        places = "['explain', 'profile', 'reason', 'format', 'share', 'results'].map(id => Math.round(document.getElementById(id).getBoundingClientRect().x)).join()"
        tops = "['explain', 'profile', 'reason', 'format', 'share'].map(id => Math.round(document.getElementById(id).getBoundingClientRect().top)).join()"
        write(page, SLOW)
        before = page.do(places), page.do(tops)
        page.click("#run")
        page.wait("document.querySelector('#status').textContent.startsWith('Running… ')")
        equal((page.do(places), page.do(tops)), before)
        if width > 940:
            equal(len(set(page.do(tops).split(","))), 1)
        page.click("#stop")
        page.wait("document.querySelector('#status').textContent.startsWith('Stopped after')")
        equal((page.do(places), page.do(tops)), before)


@test
def columns_have_the_width_of_what_is_in_them(page):
    query = "SELECT ?thing ?n { ?thing <http://e/n> ?n } ORDER BY ?n"
    widths = "[...document.querySelectorAll('table.rows th')].map(one => one.offsetWidth)"
    page.size(390, 844)
    open_one(page)
    run(page, query)
    # Numbers are in sight.
    number = "(() => { const [, , number] = document.querySelectorAll('table.rows th'); return number.getBoundingClientRect().right <= innerWidth; })()"
    assert page.do(number), page.do(widths)
    page.size(2560, 1200)
    open_one(page)
    run(page, query)
    assert max(page.do(widths)) < 500, page.do(widths)


@test
def graphs_fit_into_sight(page):
    for width in (390, 1280, 2560):
        page.size(width, 900)
        open_one(page)
        run(page, "CONSTRUCT WHERE { ?s <http://e/knows> ?o }")
        page.wait("document.querySelectorAll('.graph-node').length > 1")
        time.sleep(0.6)
        outside = """(() => { const box = document.querySelector('.drawing').getBoundingClientRect();
            return [...document.querySelectorAll('.graph-node')].map(one => one.getBoundingClientRect()).filter(one =>
                one.left < box.left || one.right > box.right || one.top < box.top || one.bottom > box.bottom).length; })()"""
        equal(page.do(outside), 0)


@test
def everything_is_reached_by_keys(page):
    open_one(page)
    seen = []
    for _ in range(30):
        page.key("Tab")
        seen.append(page.do("document.activeElement.id || document.activeElement.className"))
        if seen[-1] == "query":
            page.key("Escape")
        if seen[-1] == "share":
            break
    for wanted in ("skip", "go-data", "help", "theme", "login", "new-tab", "query", "editor-grip", "run", "explain", "share"):
        assert wanted in seen, (wanted, seen)
    page.do("document.querySelector('.skip').focus()")
    page.key("Enter")
    page.wait("document.activeElement.id === 'query'")
    equal(count(page, "#query-tabs .tab"), 1)
    page.key("F1")
    page.wait("document.querySelector('dialog')?.innerText.includes('Ctrl+Enter')")


@test
def everything_has_a_name(page):
    run(page, "SELECT ?s ?age { ?s <http://e/age> ?age }")
    for view in ("chart", "map", "raw", "table"):
        page.click("#view-" + view)
        time.sleep(0.1)
    for view in ("browse", "data", "upload", "running"):
        page.click("#go-" + view)
        time.sleep(0.5)
    nameless = page.do("""[...document.querySelectorAll('button, a, input, select, textarea, [role=region], [role=separator], svg[role]')].filter(one =>
        !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length)).map(one => one.outerHTML)""")
    equal(nameless, [])
    doubled = page.do("(() => { const ids = [...document.querySelectorAll('[id]')].map(one => one.id); return ids.filter((id, at) => ids.indexOf(id) !== at); })()")
    equal(doubled, [])
