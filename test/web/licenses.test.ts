// Tests that the page serves the licence of every library whose code is in it.
import { readFileSync } from 'node:fs';
import test from '../support/test.js';

const TEXTS = readFileSync('dist/program/web/licenses.txt', 'utf8');

test('the libraries of the page and its icons are named, each with its licence', (t) => {
  for (const name of [
    ...['preact', '@preact/signals', '@preact/signals-core', 'rxjs', '@microsoft/signalr', 'dompurify', 'squire-rte'],
    'ical.js',
  ])
    t.regex(TEXTS, new RegExp(`^${name} \\d[^,]*, .*\\n-+\\n\\n\\S`, 'm'), name);
  t.regex(TEXTS, /^Lucide \(icons\).*\n-+\n\nISC License/m);
  // It is what is in the page, not what the repository uses.
  t.notRegex(TEXTS, /^(?:postgres|vite|playwright-core) \d/m);
});
