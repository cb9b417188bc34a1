COPY <http://example.org/a> <http://example.org/b>
