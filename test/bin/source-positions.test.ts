// Compares positions in the source, for positions in the bundle, with those that Node.js finds, line by line.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire, SourceMap } from 'node:module';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import test from '../support/test.js';

interface Position {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

const { SourcePositions } = createRequire(join(process.cwd(), 'bin/'))('./source-positions.js') as {
  SourcePositions: new (map: object) => { at(line: number, column: number): Position | undefined };
};

const BUNDLE = 'dist/program';

test('positions of the bundle are those that Node.js finds', (t) => {
  const files = readdirSync(BUNDLE).filter((name) => name.endsWith('.js.map'));
  const all = files.map((name) => ({ name, map: JSON.parse(readFileSync(join(BUNDLE, name), 'utf8')) }));
  const [largest] = all.toSorted((a, b) => b.map.mappings.length - a.map.mappings.length);
  const { map } = largest!;
  const [positions, expected] = [new SourcePositions(map), new SourceMap(map)];
  const lines = map.mappings.split(';').length;
  t.true(lines > 10_000);
  for (let line = 0; line < lines + 3; line += 11) {
    for (const column of [0, 4, 30, 500]) {
      const entry = expected.findEntry(line, column);
      // Node.js falls back to earlier lines.
      const isHere = 'generatedLine' in entry && entry.generatedLine === line;
      const wanted: Position | undefined = isHere
        ? { source: entry.originalSource, line: entry.originalLine, column: entry.originalColumn }
        : undefined;
      const found = positions.at(line, column);
      // AVA's comparison is slow, so it runs only for differences.
      if (!isDeepStrictEqual(found, wanted)) t.deepEqual(found, wanted, `${largest!.name}:${line}:${column}`);
    }
  }
});

test('segments without a source or with a name, and empty lines', (t) => {
  const sources = ['a.ts', 'b.ts'];
  // In VLQ, A is 0, C 1, D -1, E 2 and gB 16. A segment of one number has no source; the fifth number is a name.
  const positions = new SourcePositions({ sources, mappings: 'A,CAAA,EACCA;;gBCDC,E;A' });
  t.is(positions.at(0, 0), undefined);
  t.deepEqual(positions.at(0, 2), { source: 'a.ts', line: 0, column: 0 });
  t.deepEqual(positions.at(0, 9), { source: 'a.ts', line: 1, column: 1 });
  t.is(positions.at(1, 0), undefined);
  t.is(positions.at(2, 15), undefined);
  t.deepEqual(positions.at(2, 17), { source: 'b.ts', line: 0, column: 2 });
  t.is(positions.at(2, 18), undefined);
  t.is(positions.at(3, 0), undefined);
  t.is(positions.at(4, 0), undefined);
});
