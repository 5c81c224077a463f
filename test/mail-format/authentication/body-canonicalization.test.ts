// Compares body canonicalization with RFC 6376's examples and with mailauth's.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import {
  type BodyCanonicalization,
  CanonicalBody,
} from '../../../src/mail-format/authentication/body-canonicalization.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const { dkimBody } = createRequire(import.meta.url)('mailauth/lib/dkim/body/index.js') as {
  dkimBody(kind: string, algorithm: string): { update(octets: Buffer): void; digest(encoding: 'base64'): string };
};

function canonical(kind: BodyCanonicalization, ...pieces: readonly string[]): string {
  const found: Buffer[] = [];
  const body = new CanonicalBody(kind, (octets) => found.push(Buffer.from(octets)));
  for (const piece of pieces) body.write(Buffer.from(piece, 'latin1'));
  body.finish();
  return Buffer.concat(found).toString('latin1');
}

/** RFC 6376 §3.4.5. */
const EXAMPLE = ' C \r\nD \t E\r\n\r\n\r\n';

test('the examples of RFC 6376', (t) => {
  t.is(canonical('relaxed', EXAMPLE), ' C\r\nD E\r\n');
  t.is(canonical('simple', EXAMPLE), ' C \r\nD \t E\r\n');
});

test('empty bodies', (t) => {
  for (const body of ['', '\r\n', '\r\n\r\n\r\n']) {
    t.is(canonical('relaxed', body), '');
    t.is(canonical('simple', body), '\r\n');
  }
  t.is(canonical('relaxed', ' \t\r\n \r\n'), '');
  t.is(canonical('simple', 'x'), 'x\r\n');
  t.is(canonical('relaxed', 'x \t'), 'x\r\n');
});

test('long runs of every kind stay what they are, in constant memory', (t) => {
  const lines = '\r\n'.repeat(100_000);
  t.is(canonical('relaxed', `a${lines}b${lines}`), `a${lines}b\r\n`);
  t.is(canonical('simple', `${lines}b${lines}`), `${lines}b\r\n`);
  t.is(canonical('relaxed', `a${' \t'.repeat(100_000)}b`), 'a b\r\n');
  t.is(canonical('relaxed', 'x'.repeat(100_000)), `${'x'.repeat(100_000)}\r\n`);
});

test('however it is cut, it is what mailauth makes of it', (t) => {
  const lines = 'Zo\xeb and her cat\r\n'.repeat(50);
  const word = fc.constantFrom('a', 'bc', ' ', '  ', '\t', '\r\n', '\r\n\r\n', '.', 'é', '\x01', '\xa0', '=20', lines);
  const body = fc.array(word, { maxLength: 60 }).map((words) => `${words.join('')}x\r\n`);
  fc.assert(
    fc.property(body, fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 400, max: 4_000 })), (text, size) => {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g'))!;
      for (const kind of ['relaxed', 'simple'] as const) {
        const theirs = dkimBody(kind, 'sha256');
        theirs.update(Buffer.from(text, 'latin1'));
        const ours = createHash('sha256')
          .update(canonical(kind, ...pieces), 'latin1')
          .digest('base64');
        t.is(ours, theirs.digest('base64'), JSON.stringify(text));
      }
    }),
    { numRuns: runs(500) },
  );
});
