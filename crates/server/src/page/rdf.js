// Reads N-Triples and N-Quads, line by line, as they come. Terms are those of SPARQL JSON.

const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g;
const CHARS = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' };

function unescape(text) {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, short, long, char) => (char ? CHARS[char] ?? char : String.fromCodePoint(Number.parseInt(short || long, 16))));
}

const TERM = /\s*(?:<((?:[^<>"{}|^`\\\s]|\\.)*)>|_:([^\s<>"]+)|"((?:[^"\\]|\\.)*)"(?:\^\^<([^>]*)>|@([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)(--(?:ltr|rtl))?)?|(<<\()|(\)>>))/y;

class Line {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  term() {
    TERM.lastIndex = this.at;
    const found = TERM.exec(this.text);
    if (!found) return null;
    this.at = TERM.lastIndex;
    const [, iri, blank, literal, datatype, language, direction, open] = found;
    if (iri !== undefined) return { type: 'uri', value: unescape(iri) };
    if (blank !== undefined) return { type: 'bnode', value: blank };
    if (literal !== undefined) {
      const term = { type: 'literal', value: unescape(literal) };
      if (datatype) term.datatype = unescape(datatype);
      if (language) term['xml:lang'] = language + (direction || '');
      return term;
    }
    if (!open) return null;
    const value = { subject: this.term(), predicate: this.term(), object: this.term() };
    this.term();
    return { type: 'triple', value };
  }
}

export class Triples {
  constructor(max = Infinity) {
    this.max = max;
    this.triples = [];
    this.rest = '';
  }

  /** Takes a part; true once there are enough triples. */
  take(part) {
    const lines = (this.rest + part).split('\n');
    this.rest = lines.pop();
    for (const line of lines) {
      if (this.triples.length >= this.max) return true;
      this.read(line);
    }
    return false;
  }

  end() {
    this.read(this.rest);
    this.rest = '';
  }

  read(text) {
    if (!text.trim() || text.startsWith('#')) return;
    const line = new Line(text);
    const [subject, predicate, object] = [line.term(), line.term(), line.term()];
    if (subject && predicate && object) this.triples.push({ subject, predicate, object });
  }
}

/** All triples of a text. */
export function triplesOf(text) {
  const all = new Triples();
  all.take(text);
  all.end();
  return all.triples;
}
