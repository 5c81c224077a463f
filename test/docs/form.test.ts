// Checks that documents are readable as text: no wide lines, and no paragraphs in table cells.
import { readFileSync } from 'node:fs';
import { WIDTH } from '../../dev/docs/markdown.js';
import test from '../support/test.js';
import { PAGES } from './documents.js';

const CELL = 200;

const lines = PAGES.flatMap((page) =>
  readFileSync(page, 'utf8')
    .split('\n')
    .map((text, index) => ({ place: `${page}:${index + 1}`, text, isRow: /^\s*\|/.test(text) })),
);

test(`no line outside of tables has more than ${WIDTH} characters`, (t) => {
  t.true(lines.length > 4_000);
  const wide = lines.filter(({ text, isRow }) => !isRow && text.length > WIDTH);
  t.deepEqual(
    wide.map(({ place, text }) => `${place}: ${text.length}`),
    [],
  );
});

test(`no cell of a table has more than ${CELL} characters`, (t) => {
  const rows = lines.filter(({ isRow }) => isRow);
  t.true(rows.length > 400);
  const long = rows.flatMap(({ place, text }) =>
    text
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().length)
      .filter((length) => length > CELL)
      .map((length) => `${place}: ${length}`),
  );
  t.deepEqual(long, []);
});

test('README and the page of performance are short', (t) => {
  const length = (page: string) => readFileSync(page, 'utf8').trimEnd().split('\n').length;
  t.true(length('README.md') <= 150);
  t.true(length('docs/performance.md') <= 120);
});
