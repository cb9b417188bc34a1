// The parts of a line of SPARQL, for colours, brackets and names. It takes whatever is typed, and never fails.

const words = text => new Set(text.split(' '));

export const KEYWORDS = words('SELECT CONSTRUCT DESCRIBE ASK WHERE FROM NAMED PREFIX BASE DISTINCT REDUCED AS ORDER BY GROUP HAVING ASC DESC LIMIT OFFSET VALUES UNDEF OPTIONAL UNION MINUS GRAPH SERVICE SILENT BIND FILTER EXISTS NOT IN LATERAL INSERT DELETE DATA WITH USING LOAD CLEAR DROP CREATE ADD MOVE COPY TO INTO DEFAULT ALL VERSION true false a');
export const FUNCTIONS = words('ABS AVG BNODE BOUND CEIL COALESCE CONCAT CONTAINS COUNT DATATYPE DAY ENCODE_FOR_URI FLOOR GROUP_CONCAT HASLANG HASLANGDIR HOURS IF IRI ISBLANK ISIRI ISLITERAL ISNUMERIC ISTRIPLE ISURI LANG LANGDIR LANGMATCHES LCASE MAX MD5 MIN MINUTES MONTH NOW OBJECT PREDICATE RAND REGEX REPLACE ROUND SAMETERM SAMPLE SECONDS SEPARATOR SHA1 SHA256 SHA384 SHA512 STR STRAFTER STRBEFORE STRDT STRENDS STRLANG STRLANGDIR STRLEN STRSTARTS STRUUID SUBJECT SUBSTR SUM TIMEZONE TRIPLE TZ UCASE URI UUID YEAR');

// One alternative for each kind, in this order: comment, IRI, long strings, strings, variable, language, blank node, prefixed name, number, word,
// bracket, operator.
const PART = /(#.*)|(<[^<>"{}|^`\\\s]*>)|("""|''')|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|([?$][\p{L}\p{N}_]+)|(@[a-zA-Z][a-zA-Z0-9-]*)|(_:[\p{L}\p{N}_.-]*)|((?:[\p{L}][\p{L}\p{N}_.-]*)?:(?:[\p{L}\p{N}_:%.-]|\\.)*)|(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|([\p{L}_][\p{L}\p{N}_]*)|([{}()[\]])|([^\s])/gu;
const KINDS = ['comment', 'iri', 'long', 'string', 'variable', 'language', 'blank', 'name', 'number', 'word', 'bracket', 'operator'];

/** The parts of a line, `{ kind, from, to }`; `state` is what a long string before it waits for, or ''. */
export function partsOf(line, state) {
  const parts = [];
  let at = 0;
  const untilEnd = (quotes, from, searchFrom) => {
    let end = searchFrom;
    while (end < line.length && !line.startsWith(quotes, end)) end += line[end] === '\\' ? 2 : 1;
    const closed = end < line.length;
    at = closed ? end + 3 : line.length;
    parts.push({ kind: 'string', from, to: at });
    return closed ? '' : quotes;
  };
  if (state) {
    state = untilEnd(state, 0, 0);
    if (state) return { parts, state };
  }
  while (at < line.length) {
    PART.lastIndex = at;
    const found = PART.exec(line);
    if (!found) break;
    const which = found.findIndex((group, number) => number > 0 && group !== undefined) - 1;
    const [from, text] = [found.index, found[0]];
    if (KINDS[which] === 'long') {
      state = untilEnd(text, from, from + 3);
      if (state) break;
      continue;
    }
    let kind = KINDS[which];
    let to = from + text.length;
    if (kind === 'name') to -= text.length - text.replace(/\.+$/, '').length;
    if (kind === 'word') {
      if (FUNCTIONS.has(text.toUpperCase())) kind = 'function';
      if (text === 'a' || text !== 'A' && KEYWORDS.has(text.toUpperCase()) || KEYWORDS.has(text)) kind = 'keyword';
    }
    parts.push({ kind, from, to });
    at = to;
  }
  return { parts, state };
}

/** Lines with their parts. Only those that have changed are read again. */
export class Lines {
  constructor() {
    this.lines = [];
  }

  update(text) {
    const old = this.lines;
    const texts = text.split('\n');
    let start = 0;
    while (start < old.length && start < texts.length && old[start].text === texts[start]) start++;
    let same = 0;
    while (same < old.length - start && same < texts.length - start && old[old.length - 1 - same].text === texts[texts.length - 1 - same]) same++;
    const lines = old.slice(0, start);
    let state = start > 0 ? old[start - 1].after : '';
    for (let number = start; number < texts.length; number++) {
      const kept = number >= texts.length - same ? old[old.length - (texts.length - number)] : null;
      if (kept && kept.before === state) {
        lines.push(kept);
        state = kept.after;
        continue;
      }
      const { parts, state: after } = partsOf(texts[number], state);
      lines.push({ text: texts[number], parts, before: state, after });
      state = after;
    }
    let offset = 0;
    for (const line of lines) {
      line.offset = offset;
      offset += line.text.length + 1;
    }
    this.lines = lines;
  }

  /** The line of a position. */
  at(position) {
    let [low, high] = [0, this.lines.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lines[middle].offset <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The part at a position, with whole positions; also where it ends there. */
  partAt(position) {
    const line = this.lines[this.at(position)];
    if (!line) return null;
    const column = position - line.offset;
    const part = line.parts.find(part => part.from <= column && column < part.to) || line.parts.find(part => part.to === column);
    return part ? { ...part, from: part.from + line.offset, to: part.to + line.offset, text: line.text.slice(part.from, part.to) } : null;
  }

  *brackets() {
    for (const line of this.lines) {
      for (const part of line.parts) if (part.kind === 'bracket') yield { at: line.offset + part.from, text: line.text[part.from] };
    }
  }

  /** The two brackets, one of which is at the caret; `other` is none where it has no other. */
  match(position) {
    const open = [];
    const pairs = { ')': '(', ']': '[', '}': '{' };
    const touches = at => at === position || at + 1 === position;
    for (const { at, text } of this.brackets()) {
      if (!pairs[text]) {
        open.push({ at, text });
        continue;
      }
      const last = open[open.length - 1];
      const fits = last && last.text === pairs[text];
      if (fits) open.pop();
      if (touches(at)) return fits ? { at, other: last.at } : { at };
      if (fits && touches(last.at)) return { at: last.at, other: at };
    }
    const alone = open.find(one => touches(one.at));
    return alone ? { at: alone.at } : null;
  }
}

/** Whether a text is a request for a change. */
export function isUpdate(text) {
  return /^(\s|#[^\n]*(\n|$)|(prefix|version)\s+\S*\s*("[^"]*"|<[^>]*>)|base\s*<[^>]*>)*(insert|delete|load|clear|drop|create|copy|move|add|with)\b/i.test(text);
}

/** The names of the variables in a text, each once. */
export function variablesIn(text) {
  const lines = new Lines();
  lines.update(text);
  const names = lines.lines.flatMap(line => line.parts.filter(part => part.kind === 'variable').map(part => '?' + line.text.slice(part.from + 1, part.to)));
  return [...new Set(names)];
}
