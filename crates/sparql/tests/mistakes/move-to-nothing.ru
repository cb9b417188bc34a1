MOVE <http://example.org/a>
