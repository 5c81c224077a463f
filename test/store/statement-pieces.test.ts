import type { Sql } from '../../src/store/postgres/client.js';
import { execute, pieces, type StatementPiece } from '../../src/store/postgres/statement-pieces.js';
import test from '../support/test.js';

/** Returns what the driver gets. */
function given(statement: StatementPiece): readonly [string, readonly unknown[]] {
  const taken: [string, readonly unknown[]][] = [];
  const unsafe = (text: string, parameters: readonly unknown[], { prepare }: { readonly prepare: boolean }) => {
    if (!prepare) throw new Error('the statement is not prepared');
    taken.push([text, parameters]);
  };
  execute({ unsafe } as unknown as Sql, statement);
  return taken[0]!;
}

const inBoth = (value: string) => pieces`b = ${value} and c = ${value}`;

test('parameters are numbered in the order of the text, through all pieces', (t) => {
  const statement = pieces`select ${pieces.unsafe('a, b')} where a = ${1} and ${inBoth('x')} and d = ${null}`;
  t.deepEqual(given(statement), ['select a, b where a = $1 and b = $2 and c = $3 and d = $4', [1, 'x', 'x', null]]);
});

test('the same pieces give the same text with other parameters', (t) => {
  const statement = (value: string) => pieces`select where ${inBoth(value)} or d = ${value}`;
  const [text] = given(statement('x'));
  t.deepEqual(given(statement('y')), [text, ['y', 'y', 'y']]);
});

test('the places of pieces and parameters, and texts as they are, tell statements apart', (t) => {
  const nothing = pieces``;
  const two = (first: StatementPiece | string, second: StatementPiece | string) => pieces`select ${first}, ${second}`;
  t.deepEqual(given(two('x', nothing)), ['select $1, ', ['x']]);
  t.deepEqual(given(two(nothing, 'x')), ['select , $1', ['x']]);
  t.deepEqual(given(two(nothing, nothing)), ['select , ', []]);
  t.deepEqual(given(two(pieces.unsafe('x'), 'x')), ['select x, $1', ['x']]);
  t.deepEqual(given(two(pieces.unsafe('y'), 'x')), ['select y, $1', ['x']]);
  t.deepEqual(given(two(inBoth('x'), nothing)), ['select b = $1 and c = $2, ', ['x', 'x']]);
});

test('a backslash stays what it is in the text of a template', (t) => {
  t.deepEqual(given(pieces`select '\\x' || ${'y'}`), ["select '\\x' || $1", ['y']]);
});

test('a statement is one line, without comments', (t) => {
  const statement = pieces`
    select a -- the first
      -- all others are none of ours
    from b
    where a = ${'--\n  y'} and ${pieces`c
      -- of these
      = 1`}`;
  t.deepEqual(given(statement), [' select a  from b where a = $1 and c = 1', ['--\n  y']]);
});
