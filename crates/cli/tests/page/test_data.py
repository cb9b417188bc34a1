"""Pages of resources, what is in the data, uploads."""

import time
import urllib.parse

from person import cells, count, equal, open_one, run, test, upload, value


@test
def a_resource_has_a_page(page):
    open_one(page, "/?resource=" + urllib.parse.quote("http://e/bob", safe=""))
    page.wait("document.querySelector('#resource h1')?.textContent === 'Bob'")
    page.wait("document.querySelector('#resource').innerText.includes('Ann')")
    assert "e:Person" in page.text(".chips") or "http://e/Person" in page.text(".chips")
    page.wait("document.querySelectorAll('#resource section')[1].innerText.includes('knows')")
    page.do("[...document.querySelectorAll('#resource a')].find(one => one.textContent === 'Ann').click()")
    page.wait("document.querySelector('#resource h1')?.textContent === 'Ann'")
    page.do("history.back()")
    page.wait("document.querySelector('#resource h1')?.textContent === 'Bob'")


@test
def words_are_searched_for(page):
    page.click("#go-browse")
    page.wait("!!document.querySelector('#browse-iri')")
    # What the list of classes names has its label, and what is typed is looked for.
    page.wait("[...document.querySelectorAll('#resource tbody td')].some(cell => /(Ann|Bob|Eve)$/.test(cell.innerText))")
    equal(count(page, "#resource img, #resource script, #resource svg"), 0)
    type_in = "(() => { const input = document.querySelector('#browse-iri'); input.value = %s; input.dispatchEvent(new InputEvent('input', { inputType: '%s' })); })()"
    page.do(type_in % ("'Ann'", "insertText"))
    page.wait("[...document.querySelectorAll('#browse-iri-terms option')].some(option => option.value === 'http://e/ann')")
    page.do(type_in % ("'http://e/ann'", "insertReplacementText"))
    page.wait("document.querySelector('#resource h1')?.textContent === 'Ann' && location.search.includes('resource=')")
    page.do("(() => { const input = document.querySelector('#browse-iri'); input.value = 'ann OR script'; input.form.requestSubmit(); })()")
    page.wait("document.querySelectorAll('ol.found li').length > 2")
    assert "search=ann%20OR%20script" in page.do("location.search")
    marked = page.do("[...document.querySelectorAll('ol.found mark')].map(mark => mark.textContent)")
    assert "Ann" in marked and "script" in marked, marked
    # Texts are text.
    equal(count(page, "#resource img, #resource script, #resource svg"), 0)
    equal(page.do("typeof window.hacked"), "undefined")
    page.do("[...document.querySelectorAll('ol.found a')].find(one => one.textContent === 'Ann').click()")
    page.wait("document.querySelector('#resource h1')?.textContent === 'Ann' && location.search.includes('resource=')")
    page.do("history.back()")
    page.wait("document.querySelectorAll('ol.found li').length > 2")
    open_one(page, "/?search=nobodyhasthis")
    page.wait("document.querySelector('#resource')?.innerText.includes('No text has these words.')")
    open_one(page, "/?search=" + urllib.parse.quote("(ann"))
    page.wait("document.querySelector('#view-browse-panel [role=status]')?.innerText.includes('query for words, character 1: a `(` without')")


@test
def many_values_come_page_by_page(page):
    open_one(page, "/?resource=" + urllib.parse.quote("http://e/Number", safe=""))
    page.wait("[...document.querySelectorAll('#resource button')].some(one => one.textContent.includes('more of'))")
    before = page.wait("document.querySelectorAll('#resource li').length")
    page.do("[...document.querySelectorAll('#resource button')].find(one => one.textContent.includes('more of')).click()")
    page.wait(f"document.querySelectorAll('#resource li').length === {before + 25}")


@test
def a_picture_is_loaded_when_somebody_wants_it(page):
    page.requests.clear()
    open_one(page, "/?resource=" + urllib.parse.quote("http://e/bob", safe=""))
    page.wait("[...document.querySelectorAll('#resource button')].some(one => one.textContent === 'Show picture')")
    assert not [one for one in page.requests if one["url"].endswith("bob.png")]
    page.do("[...document.querySelectorAll('#resource button')].find(one => one.textContent === 'Show picture').click()")
    page.wait("document.querySelector('#resource img')?.src.endsWith('bob.png')")
    page.errors.clear()


@test
def hostile_data_is_text(page):
    run(page, "SELECT ?p ?o { <http://e/hostile> ?p ?o }")
    page.wait("document.querySelector('table.rows')?.innerText.includes('<img src=x onerror')")
    for view in ("raw", "chart", "map"):
        page.click("#view-" + view)
        time.sleep(0.2)
    run(page, "DESCRIBE <http://e/hostile>")
    page.click("#view-graph")
    page.wait("document.querySelectorAll('.graph-node').length > 2")
    open_one(page, "/?resource=" + urllib.parse.quote("http://e/hostile", safe=""))
    page.wait("document.querySelector('#resource').innerText.includes('onerror')")
    page.click("#go-data")
    page.wait("document.querySelectorAll('#view-data-panel .card').length > 2")
    equal(page.do("typeof window.hacked"), "undefined")
    equal(page.do("[...document.querySelectorAll('a[href]')].filter(one => !['http:', 'https:'].includes(one.protocol)).length"), 0)
    equal(count(page, "main img, main script, main iframe"), 0)
    open_one(page, "/?resource=" + urllib.parse.quote("javascript:window.hacked=1", safe=""))
    page.wait("!!document.querySelector('#resource .head')")
    assert not page.do("[...document.querySelectorAll('#resource a')].some(one => one.textContent === 'Open')")
    open_one(page, "/#query=" + urllib.parse.quote("</textarea><script>window.hacked=1</script>"))
    page.wait("document.querySelector('#query').value.includes('hacked')")
    equal(page.do("typeof window.hacked"), "undefined")


@test
def the_data_has_a_picture(page):
    page.click("#go-data")
    page.wait("document.querySelectorAll('.figure').length === 6")
    page.wait("document.querySelector('[aria-label=Classes]')?.innerText.includes('Number')")
    assert "e:graph" in page.text("[aria-label=Graphs]"), page.text("[aria-label=Graphs]")
    page.click("#draw-schema")
    page.wait("document.querySelectorAll('#view-data-panel .graph-node').length >= 1")
    page.click("[aria-label=Predicates] button")
    page.wait("!document.querySelector('#view-query-panel').hidden && document.querySelector('#status').textContent.includes('row')")


@test
def files_are_uploaded_into_a_graph(page):
    page.click("#go-upload")
    page.wait("!!document.querySelector('#upload-target')")
    page.do("(() => { const select = document.querySelector('#upload-target'); select.value = 'graph'; select.dispatchEvent(new Event('change')); document.querySelector('#upload-graph').value = 'http://e/uploaded'; })()")
    upload(page, "some.ttl", "@prefix e: <http://e/> . e:a e:b 1, 2, 3 .")
    page.wait("document.querySelector('#uploads')?.innerText.includes('3 quads')")
    upload(page, "some.ttl", "@prefix e: <http://e/> . e:a e:b 1, 2, 3 .")
    page.wait("document.querySelector('#uploads')?.innerText.includes('0 new quads; 3 were there already')")
    page.click("#go-query")
    run(page, "SELECT ?o { GRAPH <http://e/uploaded> { ?s ?p ?o } }")
    equal(cells(page, 1), ["1", "2", "3"])
    run(page, "DROP GRAPH <http://e/uploaded>")


@test
def broken_files_are_told_of(page):
    page.click("#go-upload")
    page.wait("!!document.querySelector('#upload-target')")
    upload(page, "broken.ttl", "<http://e/a> <http://e/b> .\n")
    page.wait("/broken.ttl:1:/.test(document.querySelector('#uploads')?.innerText)")
    upload(page, "picture.xyz", "x")
    page.wait("document.querySelector('#uploads')?.innerText.includes('no format')")


@test
def files_are_dropped(page):
    page.click("#go-upload")
    page.wait("!!document.querySelector('.drop')")
    page.do("""(() => { const data = new DataTransfer(); data.items.add(new File(['<http://e/d> <http://e/d> "1" .'], 'dropped.nt'));
        document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })); })()""")
    page.wait("document.querySelector('#uploads')?.innerText.includes('1 quad inserted')")
    page.click("#go-query")
    run(page, "DELETE WHERE { <http://e/d> ?p ?o }")
