// Tests the scan of JSON in pieces: its limits, and what it takes out and passes on.

import fc from 'fast-check';
import { JsonExcess, JsonScan, parseBounded } from '../../src/net/json-scan.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

const BOUNDS = { depth: 4, values: 10, names: 20 };

function scanned(text: string, cuts: readonly number[] = []) {
  const kept: Buffer[] = [];
  const taken: string[] = [];
  const scan = new JsonScan({
    bounds: { depth: 100, values: 100_000, names: 1_000_000 },
    keep: (octets) => void kept.push(Buffer.from(octets)),
    extraction: {
      list: 'files',
      field: 'content',
      begin() {
        const at = taken.push('') - 1;
        return {
          token: `token ${at}`,
          sink: {
            push: (octets) => {
              taken[at] += Buffer.from(octets).toString('latin1');
            },
            end: () => {
              taken[at] += '.';
            },
          },
        };
      },
    },
  });
  const octets = Buffer.from(text);
  let from = 0;
  for (const cut of [...cuts.map((n) => n % (octets.length + 1)).sort((a, b) => a - b), octets.length]) {
    scan.push(octets.subarray(from, cut));
    from = cut;
  }
  return { rest: Buffer.concat(kept).toString(), taken };
}

for (const [text, message] of [
  ['[[[[[', /nested more than 4 deep/],
  ['{"a":{"a":{"a":{"a":{', /nested/],
  ['[1,2,3,4,5,6,7,8,9,10,11]', /more than 10 values/],
  [`{${'"a":1,'.repeat(11)}`, /values/],
  ['[[],[],[],[],[],[]]', /values/],
  ['{"aaaaaaaaaa":"bbbbbbbbbbbbbbbbbbbbbbbb","cccccccccc":1,"d":1}', /more than 20 octets of names/],
] as const) {
  test(`refused before the parser sees it: ${text}`, (t) => {
    for (const size of [1, 1000]) {
      const scan = new JsonScan({ bounds: BOUNDS });
      t.throws(
        () => {
          for (let at = 0; at < text.length; at += size) scan.push(Buffer.from(text.slice(at, at + size)));
        },
        { instanceOf: JsonExcess, message },
      );
    }
  });
}

test('what stands in strings is no structure', (t) => {
  const texts = ['"[[[[[[[,,,,,,,,,,,,,,"', '["\\"[[[[[[\\\\", "]]]]", "\\\\"]', '{"[[[[{{{{":"\\\\\\"[[[[[["}'];
  for (const text of texts) t.notThrows(() => new JsonScan({ bounds: BOUNDS }).push(Buffer.from(text)), text);
  t.throws(() => new JsonScan({ bounds: BOUNDS }).push(Buffer.from('["\\\\",[[[[')), { instanceOf: JsonExcess });
});

test('strings of the one place are taken out, however their names are written, and no others', (t) => {
  const { rest, taken } = scanned(
    JSON.stringify({
      content: 'a',
      other: [{ content: 'b' }],
      files: [
        { content: 'QUJD', name: 'x', deeper: [{ content: 'c' }] },
        { content: null },
        'content',
        { content: '' },
      ],
      more: { files: [{ content: 'd' }] },
    }),
  );
  t.deepEqual(taken, ['QUJD.', '.']);
  t.deepEqual(JSON.parse(rest), {
    content: 'a',
    other: [{ content: 'b' }],
    files: [
      { content: 'token 0', name: 'x', deeper: [{ content: 'c' }] },
      { content: null },
      'content',
      { content: 'token 1' },
    ],
    more: { files: [{ content: 'd' }] },
  });
  t.deepEqual(scanned('{"\\u0066iles":[{"con\\u0074ent":"x\\"\\\\"}]}').taken, ['x\\"\\\\.']);
  for (const text of [
    '{"files":{"a":{"content":"x"}}}',
    '[{"files":[{"content":"x"}]}]',
    '{"files":[{"a":1},[{"content":"x"}]]}',
    `{"files":[{"${'x'.repeat(200)}content":"x"}]}`,
  ]) {
    t.deepEqual(scanned(text), { rest: text, taken: [] });
  }
});

test('whatever the JSON and wherever it is cut: the rest is the same but for what was taken out', (t) => {
  const entry = fc.record(
    { content: fc.option(fc.string({ unit: 'binary' })), x: fc.jsonValue() },
    { requiredKeys: [] },
  );
  const document = fc.record({ files: fc.oneof(fc.array(entry), fc.jsonValue()), y: fc.jsonValue() });
  fc.assert(
    fc.property(document, fc.array(fc.nat()), fc.boolean(), (value, cuts, isWide) => {
      const text = JSON.stringify(value, null, isWide ? 2 : 0);
      const { rest, taken } = scanned(text, cuts);
      const parsed = JSON.parse(rest);
      const before = JSON.parse(text);
      if (Array.isArray(before.files)) {
        for (const [i, file] of before.files.entries()) {
          if (typeof file?.content !== 'string' || Array.isArray(file)) continue;
          const [, at] = parsed.files[i].content.split(' ');
          const raw = Buffer.from(taken[Number(at)]!.slice(0, -1), 'latin1').toString();
          t.is(JSON.parse(`"${raw}"`), file.content);
          parsed.files[i].content = file.content;
        }
      }
      t.deepEqual(parsed, before);
    }),
    { seed: 10, numRuns: runs(300) },
  );
});

test('text at hand is parsed within the bounds', (t) => {
  t.deepEqual(parseBounded(`{"a":"${'x'.repeat(5000)}"}`), { a: 'x'.repeat(5000) });
  t.throws(() => parseBounded('['.repeat(2000)), { instanceOf: JsonExcess });
  t.throws(() => parseBounded('{'), { instanceOf: SyntaxError });
});
