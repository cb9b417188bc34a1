"""Answers and their views, and what runs."""

import json
import os
import time

from person import CUBE, FOLDER, ONE, SLOW, ask, cells, count, equal, open_one, run, test, value, write


@test
def rows_are_a_table(page):
    run(page, "PREFIX e: <http://e/> SELECT ?s ?name ?age { ?s e:name ?name ; e:age ?age } ORDER BY ?age")
    equal(cells(page, 1)[0], "e:bob")
    equal(cells(page, 3)[0], "19")
    equal(page.do("document.querySelector('table.rows tbody tr:not(.space) td:nth-child(4)').className"), "number")
    assert "3 rows" in page.text("#status")


@test
def literals_tell_language_and_type(page):
    run(page, "SELECT ?x { VALUES ?x { 'a'@de-at '2020-01-01'^^<http://www.w3.org/2001/XMLSchema#date> 'b'^^<http://e/own> 4 } }")
    equal(cells(page, 1), ["a@de-at", "2020-01-01date", "be:own", "4"])


@test
def columns_are_sorted(page):
    run(page, "SELECT ?n { ?s <http://e/n> ?n }")
    page.click("table.rows .sort")
    equal(page.do("document.querySelectorAll('table.rows th')[1].getAttribute('aria-sort')"), "ascending")
    equal(cells(page, 1)[:3], ["0", "1", "2"])
    page.click("table.rows .sort")
    equal(cells(page, 1)[:3], ["99", "98", "97"])
    page.click("table.rows .sort")
    equal(page.do("document.querySelectorAll('table.rows th')[1].getAttribute('aria-sort')"), "none")


@test
def rows_are_found(page):
    run(page, "SELECT ?s ?n { ?s <http://e/n> ?n }")
    page.click(".view-tools input")
    page.type("/7")
    page.wait("document.querySelector('.view-tools [role=status]').textContent === '11 of 100 rows'")


@test
def columns_change_their_width(page):
    run(page, "SELECT ?s ?n { ?s <http://e/n> ?n }")
    width = "document.querySelectorAll('table.rows th')[1].offsetWidth"
    before = page.do(width)
    page.drag("table.rows .grip", -80, 0)
    equal(page.do(width), before - 80)
    page.do("document.querySelector('table.rows .grip').focus()")
    page.key("ArrowRight")
    equal(page.do(width), before - 64)


@test
def all_of_a_term_is_shown(page):
    run(page, f"SELECT ?x {{ BIND(CONCAT('begin', '{'x' * 5000}', 'end') AS ?x) }}")
    page.do("document.querySelector('td .more').focus()")
    page.key("Enter")
    assert page.wait("document.querySelector('dialog .term-value')?.textContent").endswith("end")
    page.key("Escape")
    page.wait("!document.querySelector('dialog')")


@test
def truth_values(page):
    run(page, "ASK { ?s ?p ?o }")
    equal(page.text(".boolean"), "yes")
    run(page, "ASK { <http://e/no> <http://e/no> 1 }")
    equal(page.text(".boolean"), "no")


@test
def an_answer_in_its_own_words(page):
    run(page, "SELECT ?name { <http://e/bob> <http://e/name> ?name }")
    page.click("#view-raw")
    page.wait("document.querySelector('.raw')?.textContent.trim() === 'name\\r\\nBob'")
    page.do("(() => { const select = document.querySelector('.raw-view select'); select.value = 'xml'; select.dispatchEvent(new Event('change')); })()")
    page.wait("document.querySelector('.raw')?.textContent.includes('<literal>Bob</literal>')")


@test
def charts_fit_the_columns(page):
    run(page, "PREFIX e: <http://e/> SELECT ?s ?age { ?s e:age ?age }")
    page.click("#view-chart")
    page.wait("document.querySelectorAll('.chart .mark-bar').length === 3")
    run(page, "SELECT ?day ?n { VALUES (?day ?n) { ('2020-01-03'^^<http://www.w3.org/2001/XMLSchema#date> 5) ('2020-01-01'^^<http://www.w3.org/2001/XMLSchema#date> 2) } }")
    page.wait("!!document.querySelector('.chart .mark-line')")
    run(page, "SELECT ?a ?b { VALUES (?a ?b) { (1 5) (2.5 2) (4 4) } }")
    page.wait("document.querySelectorAll('.chart .mark-dot').length === 3")
    page.do("(() => { const select = document.querySelector('#chart-kind'); select.value = 'histogram'; select.dispatchEvent(new Event('change')); })()")
    page.wait("document.querySelectorAll('.chart .mark-bar').length > 1")
    run(page, "SELECT ?s { ?s a <http://e/Person> }")
    page.wait("document.querySelector('.empty-note')?.textContent.includes('numbers')")


@test
def places_are_on_a_map(page):
    run(page, "SELECT * { ?place <http://e/wkt> ?shape }")
    page.click("#view-map")
    page.wait("document.querySelectorAll('.place').length === 3")
    equal([count(page, ".place-dot"), count(page, ".place-line"), count(page, ".place-polygon")], [1, 1, 1])
    page.wait("document.querySelector('.drawing g[transform]') !== null")
    before = page.do("document.querySelector('.drawing g[transform]').getAttribute('transform')")
    page.do("document.querySelector('.drawing svg').focus()")
    page.key("+")
    assert page.do("document.querySelector('.drawing g[transform]').getAttribute('transform')") != before
    run(page, "SELECT ?name ?lat ?long { VALUES (?name ?lat ?long) { ('a' 52.5 13.4) ('b' 48.8 2.3) ('out' 95.0 2.0) } }")
    page.wait("document.querySelectorAll('.place-dot').length === 2")


@test
def many_points_are_gathered(page):
    # 40 by 40 points: one mark for those of a square, and all are counted.
    run(page, """SELECT ?name ?lat ?long { VALUES ?a { 0 1 2 3 4 5 6 7 8 9 } VALUES ?b { 0 1 2 3 } VALUES ?c { 0 1 2 3 4 5 6 7 8 9 } VALUES ?d { 0 1 2 3 }
        BIND(?a + 10 * ?b AS ?lat) BIND(?c + 10 * ?d AS ?long) BIND(CONCAT(STR(?lat), '/', STR(?long)) AS ?name) }""")
    page.click("#view-map")
    page.wait("document.querySelectorAll('.place-many').length > 3")
    assert count(page, ".place") < 600, count(page, ".place")
    numbers = "[...document.querySelectorAll('.place')].reduce((sum, one) => sum + Number(one.querySelector('text')?.textContent || 1), 0)"
    equal(page.do(numbers), 1600)
    # A click on some makes the map larger, until they are apart.
    for _ in range(6):
        page.do("document.querySelector('.place-many')?.dispatchEvent(new MouseEvent('click', { clientX: 10, clientY: 10 }))")
    page.wait("document.querySelectorAll('.place-many').length === 0 && document.querySelectorAll('.place-dot').length > 0")
    page.do("document.querySelector('.place-dot').parentNode.dispatchEvent(new MouseEvent('click', { clientX: 10, clientY: 10 }))")
    page.wait("document.querySelector('.view-tools .bar').textContent.includes('name: ')")
    run(page, """SELECT ?shape { VALUES ?shape { '{"type":"Point","coordinates":[13,52]}'^^<http://www.opengis.net/ont/geosparql#geoJSONLiteral>
        '{"type":"MultiPolygon","coordinates":[[[[0,0],[4,0],[4,4],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]}'^^<http://www.opengis.net/ont/geosparql#geoJSONLiteral>
        '<http://www.opengis.net/def/crs/EPSG/0/3857> POINT(5 5)'^^<http://www.opengis.net/ont/geosparql#wktLiteral> } }""")
    page.wait("document.querySelectorAll('.place').length === 2")
    equal([count(page, ".place-dot"), count(page, ".place-polygon")], [1, 1])
    page.wait("document.querySelector('.view-tools [role=status]').textContent.startsWith('2 places; 1 geometry is not drawn')")
    run(page, """SELECT ?shape { VALUES ?shape { '<gml:Point xmlns:gml="http://www.opengis.net/gml/3.2"><gml:pos>1 2</gml:pos></gml:Point>'^^<http://www.opengis.net/ont/geosparql#gmlLiteral>
        'GEOMETRYCOLLECTION(POINT(1 2))'^^<http://www.opengis.net/ont/geosparql#wktLiteral> 'POINT EMPTY'^^<http://www.opengis.net/ont/geosparql#wktLiteral> } }""")
    page.wait("document.querySelector('.empty-note')?.textContent.startsWith('2 geometries are not drawn')")


@test
def triples_are_a_graph(page):
    run(page, "CONSTRUCT { ?s ?p ?o } WHERE { VALUES ?s { <http://e/bob> } ?s ?p ?o }")
    nodes = page.wait("document.querySelectorAll('.graph-node').length")
    page.wait("[...document.querySelectorAll('.graph-node text')].some(one => one.textContent === 'Ann')")
    page.do("[...document.querySelectorAll('.graph-node')].find(one => one.textContent === 'Ann').focus()")
    page.key("Enter")
    page.wait(f"document.querySelectorAll('.graph-node').length > {nodes}")
    page.click("#view-table")
    equal(page.do("[...document.querySelectorAll('table.rows th')].slice(1).map(one => one.innerText.trim())"), ["subject", "predicate", "object"])


@test
def a_million_rows_begin_at_once(page):
    write(page, CUBE)
    started = time.monotonic()
    page.click("#run")
    page.wait("document.querySelectorAll('table.rows tbody tr:not(.space)').length > 5")
    first = time.monotonic() - started
    page.wait("document.querySelector('#stop').hidden && document.querySelector('#status').textContent.includes('10,000 rows')")
    assert first < 5, first
    assert "More than 10,000 rows" in page.text("#status")
    assert "The first 10,000 rows" in page.text(".views-bar .note")
    assert count(page, "table.rows tr") < 120
    page.do("document.querySelector('.table-scroll').scrollTop = 1e9")
    page.wait("[...document.querySelectorAll('table.rows td.index')].some(one => one.textContent === '10,000')")
    # The server does not go on with what nobody reads.
    until = time.monotonic() + 10
    while json.loads(ask(ONE, "/admin/queries")[1]) and time.monotonic() < until:
        time.sleep(0.1)
    equal(json.loads(ask(ONE, "/admin/queries")[1]), [])


@test
def all_rows_are_downloaded(page):
    page.browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=FOLDER, browserContextId=page.context)
    run(page, CUBE)
    page.do("(() => { const select = document.querySelector('.views-bar select'); select.value = 'csv'; select.dispatchEvent(new Event('change')); })()")
    path, until = os.path.join(FOLDER, "result.csv"), time.monotonic() + 60
    # The browser takes the name with an empty file, and puts what it has downloaded in its place.
    while (not os.path.exists(path) or os.path.getsize(path) == 0) and time.monotonic() < until:
        time.sleep(0.1)
    with open(path) as file:
        equal(sum(1 for _ in file), 1_000_001)
    os.remove(path)


@test
def a_query_is_stopped(page):
    write(page, SLOW)
    page.click("#run")
    page.wait("document.querySelector('#status').textContent.startsWith('Running… ')")
    page.click("#stop")
    page.wait("document.querySelector('#status').textContent.startsWith('Stopped after')")
    equal(page.do("document.querySelector('#run').disabled"), False)
    equal(page.do("document.querySelector('#error').hidden"), True)


@test
def a_running_query_shows_what_it_does(page):
    write(page, SLOW)
    page.click("#run")
    assert "running" in page.wait("document.querySelector('#live').hidden ? '' : document.querySelector('#live').innerText")
    page.wait("!!document.querySelector('#live .tree .node')")
    page.click("#stop")
    page.wait("document.querySelector('#live').hidden")


@test
def what_runs_is_listed_and_cancelled(page):
    write(page, SLOW)
    page.click("#run")
    page.click("#go-running")
    page.wait("(document.querySelector('#view-running-panel').innerText || '').includes('COUNT(*)')")
    page.click("#view-running-panel .stop")
    page.wait("document.querySelector('#view-running-panel').innerText.includes('Nothing runs.')")
    page.click("#go-query")
    page.wait("!document.querySelector('#error').hidden")
    assert "cancelled" in page.text("#error"), page.text("#error")


@test
def plans_are_trees(page):
    run(page, "SELECT * { ?s <http://e/knows> ?o . ?o <http://e/name> ?n }", "#explain")
    page.wait("document.querySelectorAll('.plan .node').length > 1")
    assert "expected" in page.text(".plan")
    run(page, "SELECT * { ?s <http://e/knows> ?o . ?o <http://e/name> ?n }", "#profile")
    page.wait("document.querySelector('.plan')?.innerText.includes('shares of the time')")


@test
def warnings_are_shown(page):
    run(page, "SELECT ?x { ?s <http://e/name> ?n BIND(<http://e/nofunction>(?n) AS ?x) }")
    # Beside the text, or below the buttons: never both.
    said = "['#warnings', '#problems'].filter(id => !document.querySelector(id).hidden && document.querySelector(id).innerText.includes('http://e/nofunction')).join()"
    equal(page.wait(said) in ("#warnings", "#problems"), True)
    equal(page.wait(said + " === '#problems' && " + said), "#problems")


@test
def queries_reason(page):
    run(page, "INSERT DATA { <http://e/Person> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/Agent> }")
    rules = "document.querySelector('#reason').value"
    run(page, "SELECT ?x { ?x a <http://e/Agent> }")
    assert "0 rows" in page.text("#status"), page.text("#status")
    # What would be found is a button away.
    button = "[...document.querySelectorAll('#problems button')].find(one => one.textContent === 'Reason with hierarchies')"
    page.wait(f"!!{button}")
    page.do(f"{button}.click()")
    equal(page.do(rules), "hierarchies")
    # The query runs again by itself.
    page.wait("document.querySelector('#status').textContent.includes('3 rows')")
    page.wait("document.querySelector('#problems').hidden")
    page.click("#view-raw")
    page.wait("document.querySelector('.raw')?.textContent.includes('http://e/ann')")
    # It is of the tab, and stays.
    page.click("#new-tab")
    equal(page.do(rules), "none")
    time.sleep(0.5)
    open_one(page)
    page.click("#query-tabs .tab")
    equal(page.do(rules), "hierarchies")
    page.go("about:blank")
    open_one(page, "/#query=ASK%20%7B%20%3Fx%20a%20%3Chttp%3A%2F%2Fe%2FAgent%3E%20%7D&reason=rdfs")
    page.wait(rules + " === 'rdfs'")
    page.click("#run")
    page.wait("document.querySelector('.boolean')?.innerText === 'yes'")
    page.do("(() => { const select = document.querySelector('#reason'); select.value = 'none'; select.dispatchEvent(new Event('change')); })()")
    page.click("#run")
    page.wait("document.querySelector('.boolean')?.innerText === 'no'")
    run(page, "DELETE DATA { <http://e/Person> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/Agent> }")


@test
def updates_are_done(page):
    run(page, "INSERT DATA { <http://e/new> <http://e/p> 1, 2 }")
    assert "2 quads inserted" in page.text("#status"), page.text("#status")
    run(page, "# a change\nPREFIX e: <http://e/>\nDELETE WHERE { e:new ?p ?o }")
    equal(page.do("[...document.querySelectorAll('.change dd')].map(one => one.textContent)"), ["0", "2", "1"])
