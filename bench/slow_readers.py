#!/usr/bin/env python3
"""Slow readers of sorted, compressed and exported answers; prints the peak of resident memory.
usage: slow_readers.py LODE MEMORY READERS [SECONDS]"""
import os, re, socket, subprocess, sys, tempfile, time
lode, memory, readers = sys.argv[1], sys.argv[2], int(sys.argv[3])
seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 12
folder = tempfile.mkdtemp(dir='/tmp')
with open(f'{folder}/data.nt', 'w') as f:
    for n in range(60000):
        f.write(f'<http://e/{n//10}> <http://e/p> "{n} ' + 'a text that is not short ' * 10 + '" .\n')
subprocess.run([lode, 'load', f'{folder}/db', f'{folder}/data.nt', '--quiet'], check=True)
server = subprocess.Popen([lode, 'serve', f'{folder}/db', '--memory', memory, '--bind', '127.0.0.1:0'], stderr=subprocess.PIPE, text=True)
for line in server.stderr:
    found = re.search(r'http://127.0.0.1:(\d+)/sparql', line)
    if found:
        port = int(found.group(1)); break
def status(key):
    return int(re.search(key + r':\s+(\d+)', open(f'/proc/{server.pid}/status').read()).group(1)) / 1024
def query(text, fields=''):
    return f'POST /sparql HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Type: application/sparql-query\r\nContent-Length: {len(text)}\r\n\r\n{text}'
kinds = [query('SELECT * { ?s ?p ?o } ORDER BY ?o'), query('SELECT * { ?s ?p ?o }', 'Accept-Encoding: gzip\r\n'),
         'GET /data HTTP/1.1\r\nHost: localhost\r\nAccept: application/n-quads\r\n\r\n',
         'GET /data?default HTTP/1.1\r\nHost: localhost\r\nAccept: text/turtle\r\nAccept-Encoding: zstd\r\n\r\n']
print('before', round(status('VmRSS')), 'MiB')
sockets = []
for n in range(readers):
    s = socket.create_connection(('127.0.0.1', port)); s.sendall(kinds[n % len(kinds)].encode()); s.setblocking(False)
    sockets.append([s, 0, b''])
end = time.time() + seconds
while time.time() < end:
    for entry in sockets:
        try:
            got = entry[0].recv(4096)
            if not entry[1]: entry[2] = got[:12]
            entry[1] += len(got)
        except (BlockingIOError, ConnectionError): pass
    time.sleep(0.25)
heads = {}
for entry in sockets: heads[entry[2]] = heads.get(entry[2], 0) + 1
print('answers', heads, 'now', round(status('VmRSS')), 'peak', round(status('VmHWM')), 'MiB of', memory)
server.kill()
subprocess.run(['rm', '-rf', folder])
