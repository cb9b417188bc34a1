// What keys do to the text: indents, brackets, comments. All of it can be undone.

const INDENT = '  ';
const PAIRS = { '(': ')', '[': ']', '{': '}', '"': '"' };

/** The whole lines of the selection. */
function selectedLines(editor) {
  const { selectionStart, selectionEnd } = editor.area;
  const text = editor.text;
  const from = text.lastIndexOf('\n', selectionStart - 1) + 1;
  const last = selectionEnd > selectionStart && text[selectionEnd - 1] === '\n' ? selectionEnd - 1 : selectionEnd;
  const end = text.indexOf('\n', last);
  const to = end < 0 ? text.length : end;
  return { from, to, lines: text.slice(from, to).split('\n') };
}

function changeLines(editor, change) {
  const { from, to, lines } = selectedLines(editor);
  const text = change(lines).join('\n');
  if (text === editor.text.slice(from, to)) return;
  const { selectionStart, selectionEnd } = editor.area;
  const single = selectionStart === selectionEnd;
  const moved = Math.max(from, selectionStart + text.length - (to - from));
  editor.replace(from, to, text, single ? [moved, moved] : [from, from + text.length]);
}

export function toggleComment(editor) {
  changeLines(editor, lines => {
    const full = lines.filter(line => line.trim());
    if (full.length && full.every(line => /^\s*#/.test(line))) return lines.map(line => line.replace(/^(\s*)# ?/, '$1'));
    const depth = Math.min(...full.map(line => line.match(/^\s*/)[0].length), 40);
    return lines.map(line => (line.trim() || !full.length ? line.slice(0, depth) + '# ' + line.slice(depth) : line));
  });
}

function indent(editor, isBack) {
  const { selectionStart, selectionEnd } = editor.area;
  if (selectionStart === selectionEnd && !isBack) {
    editor.replace(selectionStart, selectionEnd, INDENT);
    return;
  }
  changeLines(editor, lines => lines.map(line => (isBack ? line.replace(/^ {1,2}|^\t/, '') : line ? INDENT + line : line)));
}

function breakLine(editor) {
  const { selectionStart, selectionEnd } = editor.area;
  const text = editor.text;
  const before = text.slice(text.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart);
  const depth = before.match(/^\s*/)[0];
  const opens = /[{([]\s*$/.test(before);
  const closes = /^\s*[})\]]/.test(text.slice(selectionEnd).split('\n')[0]);
  const line = '\n' + depth + (opens ? INDENT : '');
  const caret = selectionStart + line.length;
  const skipped = opens && closes ? text.slice(selectionEnd).match(/^[ \t]*/)[0].length : 0;
  editor.replace(selectionStart, selectionEnd + skipped, opens && closes ? line + '\n' + depth : line, [caret, caret]);
}

/** Tab moves the focus after Escape, as it does elsewhere. */
let tabLeaves = false;

export function onKey(editor, event) {
  const command = event.ctrlKey || event.metaKey;
  const leaves = tabLeaves;
  if (!['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) tabLeaves = event.key === 'Escape';
  if (event.isComposing) return;
  if (event.key === 'Tab' && !command && !event.altKey && !leaves) {
    event.preventDefault();
    indent(editor, event.shiftKey);
  } else if (event.key === 'Enter' && !command && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    breakLine(editor);
  } else if (command && event.key === '/') {
    event.preventDefault();
    toggleComment(editor);
  } else if (event.key === 'Backspace' && !command && isEmptyPair(editor)) {
    event.preventDefault();
    editor.replace(editor.position - 1, editor.position + 1, '');
  }
}

function isEmptyPair(editor) {
  const { selectionStart, selectionEnd } = editor.area;
  const [before, after] = [editor.text[selectionStart - 1], editor.text[selectionStart]];
  return selectionStart === selectionEnd && before !== undefined && PAIRS[before] === after && after !== undefined;
}

/** Brackets and quotes come in pairs; a closing one that is there already is passed. */
export function onText(editor, event) {
  if (event.inputType !== 'insertText' || event.isComposing || editor.own || event.data?.length !== 1) return;
  const { selectionStart, selectionEnd } = editor.area;
  const text = editor.text;
  const [typed, next] = [event.data, text[selectionEnd] ?? ''];
  const within = editor.lines.partAt(selectionStart);
  const inText = within && ['comment', 'string', 'iri'].includes(within.kind) && within.from < selectionStart && (selectionStart < within.to || within.kind === 'comment');
  if (Object.values(PAIRS).includes(typed) && typed === next && selectionStart === selectionEnd && (typed !== '"' || inText)) {
    event.preventDefault();
    editor.area.setSelectionRange(selectionEnd + 1, selectionEnd + 1);
    return;
  }
  if (typed === '}' && /^[ \t]+$/.test(text.slice(text.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart))) {
    event.preventDefault();
    const from = text.lastIndexOf('\n', selectionStart - 1) + 1;
    own(editor, () => editor.replace(from, selectionEnd, text.slice(from, selectionStart).replace(/ {1,2}$/, '') + '}'));
    return;
  }
  if (!PAIRS[typed] || inText || !/^[\s)\]}]?$/.test(next) || typed === '"' && /[\w"]/.test(text[selectionStart - 1] ?? '')) return;
  event.preventDefault();
  const inner = text.slice(selectionStart, selectionEnd);
  own(editor, () => editor.replace(selectionStart, selectionEnd, typed + inner + PAIRS[typed], [selectionStart + 1, selectionStart + 1 + inner.length]));
}

/** What the page types itself is not looked at. */
function own(editor, change) {
  editor.own = true;
  change();
  editor.own = false;
}
