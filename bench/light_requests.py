#!/usr/bin/env python3
"""Processor time of a server per light request. usage: light_requests.py LODE [ARGS...]"""
import os, re, socket, subprocess, sys, tempfile, time
lode, extra = sys.argv[1], sys.argv[2:]
folder = tempfile.mkdtemp(dir='/tmp')
open(f'{folder}/data.nt', 'w').write(''.join(f'<http://e/{n}> <http://e/p> {n} .\n'.replace(f' {n} .', f' "{n}" .') for n in range(1000)))
subprocess.run([lode, 'load', f'{folder}/db', f'{folder}/data.nt', '--quiet'], check=True)
server = subprocess.Popen([lode, 'serve', f'{folder}/db', '--bind', '127.0.0.1:0'] + [a.replace('FOLDER', folder) for a in extra], stderr=subprocess.PIPE, text=True)
for line in server.stderr:
    found = re.search(r'http://127.0.0.1:(\d+)/sparql', line)
    if found:
        port = int(found.group(1)); break
def cpu():
    fields = open(f'/proc/{server.pid}/stat').read().rsplit(') ', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
s = socket.create_connection(('127.0.0.1', port)); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
query = 'SELECT%20*%20%7B%20%3Chttp://e/7%3E%20?p%20?o%20%7D'
request = f'GET /sparql?query={query} HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\nUser-Agent: light/1.0\r\n\r\n'.encode()
def ask(count):
    for _ in range(count):
        s.sendall(request)
        got = b''
        while b'\r\n\r\n' not in got: got += s.recv(65536)
        head, body = got.split(b'\r\n\r\n', 1)
        length = int(re.search(rb'content-length: (\d+)', head.lower()).group(1))
        while len(body) < length: body += s.recv(65536)
ask(2000)
begin, wall = cpu(), time.time()
N = 20000
ask(N)
print(f'{(cpu() - begin) / N * 1e6:.1f} us of processor, {(time.time() - wall) / N * 1e6:.1f} us of wall a request', extra)
server.terminate(); server.wait()
subprocess.run(['rm', '-rf', folder])
