"""Log-in, and several databases."""

import json
import os
import urllib.parse

from person import FOLDER, SEVERAL, USERS, cells, equal, run, test, upload, value


def log_in(page, name=None, secret=""):
    page.click("#login")
    page.wait("!!document.querySelector('dialog.login')")
    if name is None:
        page.do("document.querySelector('dialog [value=token]').click()")
        page.do(f"document.querySelector('#login-token').value = {json.dumps(secret)}")
    else:
        page.do(f"document.querySelector('#login-name').value = {json.dumps(name)}")
        page.do(f"document.querySelector('#login-password').value = {json.dumps(secret)}")
    page.click("dialog.login button.primary")


@test
def people_log_in_and_out(page):
    page.go(USERS + "/")
    page.wait("document.querySelector('#login').textContent.includes('Log in')")
    run(page, "ASK {}")
    page.wait("document.querySelector('#error').textContent.includes('log in')")
    page.click("#go-upload")
    page.wait("document.querySelector('#view-upload-panel .message')?.innerText.includes('log in')")
    upload(page, "refused.nt", "")
    page.wait("document.querySelector('#uploads')?.innerText.includes('log in')")
    page.click("#go-query")
    log_in(page, "ann", "wrong")
    page.wait("(document.querySelector('dialog .error')?.innerText || '').includes('not the name')")
    page.do("document.querySelector('#login-password').value = 'a long password, é'")
    page.click("dialog.login button.primary")
    page.wait("document.querySelector('#login').innerText.includes('ann')")
    assert "updates" in page.text("#login")
    # What was refused to somebody else is not said any more.
    page.wait("document.querySelector('#error').hidden && !document.querySelector('#status').textContent")
    run(page, "INSERT DATA { <http://e/x> <http://e/x> 1 }")
    assert "inserted" in page.text("#status")
    assert "password" not in page.do("JSON.stringify(localStorage)") and "Basic" not in page.do("JSON.stringify(localStorage)")
    page.go(USERS + "/")
    page.wait("document.querySelector('#login').innerText.includes('ann')")
    page.click("#login")
    page.do("[...document.querySelectorAll('dialog button')].find(one => one.textContent === 'Log out').click()")
    page.wait("document.querySelector('#login').innerText.includes('Log in')")
    equal(page.do("sessionStorage.length"), 0)
    page.errors.clear()


@test
def tokens_log_in(page):
    with open(os.path.join(FOLDER, "token")) as file:
        token = file.read().strip()
    page.go(USERS + "/")
    page.wait("document.querySelector('#login').textContent.includes('Log in')")
    log_in(page, None, token)
    page.wait("document.querySelector('#login').innerText.includes('reads')")
    run(page, "SELECT * { ?s ?p ?o } LIMIT 1")
    assert "row" in page.text("#status")
    run(page, "CLEAR ALL")
    page.wait("document.querySelector('#error').textContent.includes('role update')")
    page.errors.clear()


@test
def the_root_lists_the_databases(page):
    page.go(SEVERAL + "/")
    page.wait("document.querySelectorAll('tbody tr').length === 3")
    equal(page.do("[...document.querySelectorAll('tbody td.n')].slice(0, 2).map(cell => cell.textContent)"), ["1", "0"])
    page.click("tbody a")
    page.wait("document.querySelector('#database')?.innerText.includes('d')")


@test
def each_of_several_databases_has_its_page(page):
    page.go(SEVERAL + "/d/")
    page.wait("document.querySelector('#database').innerText.includes('d')")
    run(page, "SELECT ?o { <http://e/s> ?p ?o }")
    equal(cells(page, 1), ["1"])
    page.go(SEVERAL + "/d/?resource=" + urllib.parse.quote("http://e/s", safe=""))
    page.wait("document.querySelector('#resource').innerText.includes('1')")
    page.go(SEVERAL + "/other/")
    page.wait("document.querySelector('#database select')?.value === 'other'")
    run(page, "ASK { ?s ?p ?o }")
    equal(page.text(".boolean"), "no")
