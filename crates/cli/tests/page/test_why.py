"""Why something holds that nobody has stated, and what is contradictory."""

import time
import urllib.parse

from person import ONE, SEVERAL, count, equal, open_one, run, test

RULES = SEVERAL + "/rules/"
# Each triple of the window with what stands beside it.
STEPS = "[...document.querySelectorAll('dialog.why .proof .step')].map(one => one.textContent)"
BUTTONS = "[...document.querySelectorAll('#resource button.why')].map(one => one.getAttribute('aria-label'))"


def browse(page, base, iri, rules=None):
    page.go(base + "?resource=" + urllib.parse.quote(iri, safe="") + (f"&reason={rules}" if rules else ""))
    page.wait("!!document.querySelector('#resource .head') && [...document.querySelectorAll('#resource dd')].every(one => one.querySelector('li'))")


@test
def what_follows_can_be_asked_why(page):
    browse(page, RULES, "http://e/tom")
    page.wait(BUTTONS + ".length === 4")
    # Two classes, and who knows Tom because he knows them, of which one is a blank node.
    equal([one for one in sorted(page.do(BUTTONS)) if "_:" not in one], ["Why? e:Animal", "Why? e:Mammal", "Why? e:max"])
    # With the keyboard alone.
    page.do("[...document.querySelectorAll('#resource button.why')].find(one => one.getAttribute('aria-label').endsWith('Animal')).focus()")
    page.key("Enter")
    page.wait(STEPS + ".length > 2")
    steps = page.do(STEPS)
    equal(steps[0], "e:tom rdf:type e:Animal")
    equal(len([step for step in steps if step.endswith("stated")]), 3)
    assert "cax-sco" in page.text("dialog.why"), page.text("dialog.why")
    assert page.text("dialog.why [role=status]") == "It follows:"
    # What a step follows from can be hidden, and shown.
    page.do("document.querySelector('dialog.why .proof [aria-expanded]').focus()")
    page.key("Enter")
    page.wait("document.querySelector('dialog.why .proof [aria-expanded]').ariaExpanded === 'false' && document.querySelector('dialog.why .proof ul').hidden")
    page.key("Enter")
    page.wait("!document.querySelector('dialog.why .proof ul').hidden")
    # Another resource of the proof.
    page.do("[...document.querySelectorAll('dialog.why a')].find(one => one.title === 'http://e/Mammal').click()")
    page.wait("!document.querySelector('dialog.why') && document.querySelector('#browse-iri').value === 'http://e/Mammal'")


@test
def proofs_fit_the_screen(page):
    for width in (390, 1280):
        page.size(width, 844)
        browse(page, RULES, "http://e/tom")
        page.wait(BUTTONS + ".length === 4")
        page.do("[...document.querySelectorAll('#resource button.why')].find(one => one.getAttribute('aria-label').endsWith('Animal')).click()")
        page.wait(STEPS + ".length > 2")
        assert page.do("document.documentElement.scrollWidth <= innerWidth"), width
        assert page.do("(dialog => dialog.scrollWidth <= dialog.clientWidth && dialog.getBoundingClientRect().right <= innerWidth)(document.querySelector('dialog.why'))"), width
        page.key("Escape")
        page.wait("!document.querySelector('dialog.why')")


@test
def rows_that_are_triples_can_be_asked_why(page):
    page.go(RULES)
    page.wait("!!document.querySelector('#query') && document.querySelector('#login').textContent !== null")
    run(page, "CONSTRUCT WHERE { <http://e/max> <http://e/knows> ?o }")
    page.click("#view-table")
    page.wait("!!document.querySelector('td.index button')")
    page.do("document.querySelector('td.index button').focus()")
    page.key("Enter")
    page.wait(STEPS + ".length === 3")
    assert "prp-symp" in page.text("dialog.why")
    page.key("Escape")
    page.wait("!document.querySelector('dialog.why')")
    run(page, "SELECT ?s ?p ?o { VALUES ?s { <http://e/tom> } ?s ?p ?o . ?s <http://www.w3.org/2000/01/rdf-schema#label> ?o }")
    page.do("document.querySelector('td.index button').click()")
    page.wait("(document.querySelector('dialog.why [role=status]')?.textContent || '') === 'It is stated.'")
    page.key("Escape")
    run(page, "SELECT ?s ?p { ?s ?p ?o }")
    equal(count(page, "td.index button"), 0)
    # What is nowhere: what would make it follow is told.
    run(page, "CONSTRUCT { <http://e/Animal> <http://e/knows> <http://e/tom> } {}")
    page.do("document.querySelector('td.index button').click()")
    page.wait("(document.querySelector('dialog.why [role=status]')?.textContent || '').startsWith('This does not hold here')")
    assert "e:tom e:knows e:Animal" in page.text("dialog.why"), page.text("dialog.why")
    page.key("Escape")
    run(page, "CONSTRUCT { <http://e/tom> <http://e/knows> <http://e/nobody> } {}")
    page.do("document.querySelector('td.index button').click()")
    page.wait("(document.querySelector('dialog.why [role=status]')?.textContent || '').includes('<http://e/nobody> is nowhere in the data.')")
    page.key("Escape")


@test
def where_nothing_follows_nothing_is_asked(page):
    open_one(page)
    run(page, "CONSTRUCT WHERE { <http://e/bob> ?p ?o }")
    page.click("#view-table")
    page.wait("!!document.querySelector('td.index')")
    equal(count(page, "td.index button"), 0)
    browse(page, ONE + "/", "http://e/bob")
    time.sleep(0.3)
    equal(count(page, "#resource button.why"), 0)


@test
def browsing_reasons_as_it_is_told(page):
    open_one(page)
    prefix = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    run(page, prefix + "INSERT DATA { <http://e/Reader> rdfs:subClassOf <http://e/Agent2> . <http://e/ada> a <http://e/Reader> ; rdfs:label 'Ada' }")
    browse(page, ONE + "/", "http://e/ada")
    assert "Agent2" not in page.text("#resource"), page.text("#resource")
    page.do("(() => { const select = document.querySelector('#browse-reason'); select.value = 'rdfs'; select.dispatchEvent(new Event('change')); })()")
    page.wait("(document.querySelector('#resource')?.innerText || '').includes('Agent2') && location.search.includes('reason=rdfs')")
    page.wait(BUTTONS + ".includes('Why? e:Agent2')")
    page.do("[...document.querySelectorAll('#resource button.why')].find(one => one.getAttribute('aria-label').endsWith('Agent2')).click()")
    page.wait(STEPS + ".length === 3")
    page.key("Escape")
    # Links and the history keep it.
    page.do("[...document.querySelectorAll('#resource a.resource')].find(one => one.title === 'http://e/Agent2').click()")
    page.wait("document.querySelector('#browse-iri').value === 'http://e/Agent2' && (document.querySelector('#resource')?.innerText || '').includes('Ada')")
    equal(page.do("document.querySelector('#browse-reason').value"), "rdfs")
    page.do("history.go(-2)")
    page.wait("document.querySelector('#browse-iri').value === 'http://e/ada' && document.querySelector('#browse-reason').value === 'none'")
    page.go(ONE + "/")
    page.wait("!!document.querySelector('#query')")
    run(page, "DELETE WHERE { <http://e/ada> ?p ?o } ; DELETE WHERE { <http://e/Reader> ?p ?o }")


@test
def contradictions_are_listed(page):
    page.go(RULES + "#data")
    page.wait("!!document.querySelector('#contradictions')")
    page.do("document.querySelector('#contradictions').focus()")
    page.key("Enter")
    page.wait("(document.querySelector('dialog.why [role=status]')?.textContent || '').startsWith('1 contradiction')")
    assert "cax-dw" in page.text("dialog.why") and "e:Dog" in page.text("dialog.why"), page.text("dialog.why")
    page.key("Escape")
    page.go(ONE + "/#data")
    page.wait("!!document.querySelector('#draw-schema')")
    equal(count(page, "#contradictions"), 0)
