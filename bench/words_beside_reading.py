#!/usr/bin/env python3
"""Searches with an index of words beside the same searches without one, over the reviews of BSBM while transactions change them.

    words_beside_reading.py LODE WITH WITHOUT [--queries N] [--seed N]

WITH and WITHOUT are two copies of a database of BSBM's, the first with an index (lode text). Both are changed.
"""
import argparse, http.client, json, random, subprocess, sys, time

PREFIXES = ('PREFIX text: <urn:lodestore:text:> PREFIX rev: <http://purl.org/stuff/rev#> '
            'PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX dc: <http://purl.org/dc/elements/1.1/> ')
PROPERTIES = ['rev:text', 'dc:title', 'rdfs:label', 'rdfs:comment']


class Server:
    def __init__(self, lode, database, port):
        self.port = port
        # Reading may take long beside other work of the machine.
        self.process = subprocess.Popen([lode, 'serve', database, '--bind', f'127.0.0.1:{port}', '--timeout', '600'],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                self.send('/query', 'ASK {}', 'query')
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f'{database} is not served')

    def send(self, path, text, kind):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=600)
        connection.request('POST', path, text.encode(), {'Content-Type': f'application/sparql-{kind}', 'Accept': 'text/csv'})
        answer = connection.getresponse()
        body = answer.read().decode()
        if answer.status >= 300:
            raise SystemExit(f'{text}\n{body}')
        return sorted(body.split('\r\n'))


def literal(text):
    return json.dumps(text)


def words_query(rng, words):
    def part():
        word = rng.choice(words)
        kind = rng.randrange(9)
        if kind == 0:
            return f'"{word} {rng.choice(words)}"'
        if kind == 1:
            return word[:rng.randint(2, 5)] + '*'
        if kind == 2 and len(word) > 4:
            at = rng.randrange(1, len(word))
            return word[:at] + '?' + word[at + 1:]
        if kind == 3:
            return word + '~1'
        return word
    query = rng.choice(['', '', '+']) + part()
    for _ in range(rng.randrange(4)):
        query += rng.choice([' ', ' AND ', ' OR ', ' +', ' -']) + part()
    return query


def question(rng, words, phrases):
    prop, kind = rng.choice(PROPERTIES), rng.randrange(8)
    if kind == 0:
        return f'SELECT ?sc {{ (?s ?sc) text:query ({prop} {literal(words_query(rng, words))} {rng.randint(1, 20)}) }}'
    if kind == 1:
        return f'SELECT ?s ?p {{ ?s ?p ?t FILTER text:matches(?t, {literal(rng.choice(phrases))}) }}'
    if kind == 2:
        part = rng.choice(phrases).strip('"')
        at = rng.randrange(len(part) - 3)
        return f'SELECT ?s {{ ?s {prop} ?t FILTER CONTAINS(?t, {literal(part[at:at + rng.randint(3, 14)])}) }}'
    if kind == 3:
        word = rng.choice(words)
        return f'SELECT ?s {{ ?s {prop} ?t FILTER REGEX(STR(?t), {literal(word[1:5] + "[a-z]* " + rng.choice("abcdm"))}, "i") }}'
    if kind == 4:
        return f'SELECT ?s {{ ?s text:query ({prop} {literal(rng.choice(phrases))}) }}'
    if kind == 5:
        return f'SELECT ?s ?o {{ ?s text:query ({prop} {literal(words_query(rng, words))}) . ?s a ?o }}'
    return f'SELECT ?s {{ ?s text:query ({prop} {literal(words_query(rng, words))}) }}'


def change(rng, words, number):
    def text():
        return literal(' '.join(rng.choice(words) for _ in range(rng.randint(1, 60)))) + rng.choice(['', '@en', '@de', '@ja'])
    kind = rng.randrange(4)
    if kind == 0:
        some = rng.choice(words)
        return f'DELETE {{ ?s ?p ?t }} WHERE {{ SELECT ?s ?p ?t {{ ?s ?p ?t FILTER text:matches(?t, "{some}") }} ORDER BY ?s ?p ?t LIMIT 7 }}'
    if kind == 1:
        some = rng.choice(words)
        return ('DELETE { ?s rev:text ?t } INSERT { ?s dc:title ?t } WHERE { SELECT ?s ?t '
                f'{{ ?s rev:text ?t FILTER CONTAINS(?t, "{some}") }} ORDER BY ?s ?t LIMIT 5 }}')
    triples = ' . '.join(f'<urn:new:{number}:{i}> {rng.choice(PROPERTIES)} {text()}' for i in range(rng.randint(1, 8)))
    return f'INSERT DATA {{ {triples} }}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('lode')
    parser.add_argument('indexed')
    parser.add_argument('reading')
    parser.add_argument('--queries', type=int, default=10_000)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    servers = []
    try:
        for number, database in enumerate([args.indexed, args.reading]):
            servers.append(Server(args.lode, database, 7871 + number))
        texts = servers[0].send('/query', PREFIXES + 'SELECT ?t { ?s rev:text ?t } LIMIT 3000', 'query')
        runs = [text.replace('"', '').split() for text in rng.sample(texts, 300)]
        runs = [run for run in runs if len(run) > 3 and all(word.isalpha() for word in run)]
        words = sorted({word for run in runs for word in run})
        phrases = []
        for _ in range(2000):
            run = rng.choice(runs)
            at = rng.randrange(len(run) - 2)
            phrases.append('"' + ' '.join(run[at:at + 2]) + '"')
        differ = changes = rows = empty = 0
        for number in range(args.queries):
            if number % 10 == 0:
                update = PREFIXES + change(rng, words, number)
                for server in servers:
                    server.send('/update', update, 'update')
                changes += 1
            query = PREFIXES + question(rng, words, phrases)
            one, other = (server.send('/query', query, 'query') for server in servers)
            rows += len(one) - 2
            empty += len(one) == 2
            if one != other:
                differ += 1
                print('differs:', query, len(one), len(other), flush=True)
            if number % 1000 == 999:
                print(f'{number + 1} queries, {changes} changes, {rows} rows, {empty} without any, {differ} differ', flush=True)
        sys.exit(differ > 0)
    finally:
        for server in servers:
            server.process.terminate()
            server.process.wait()


if __name__ == '__main__':
    main()
