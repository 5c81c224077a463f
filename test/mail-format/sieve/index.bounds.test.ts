// Tests scripts that would take much time or memory: each run ends within its bounds, and keeps the message.
import { compileSieve } from '../../../src/mail-format/sieve/index.js';
import { MOST_SCRIPT_OCTETS } from '../../../src/mail-format/sieve/limits.js';
import test from '../../support/test.js';
import { compiled, LETTER, outcome, resultOf } from './running.js';

/** The longest run that is accepted, on a machine that does other work too. */
const MOST_MS = 5_000;

function inTime<Result>(t: { true(holds: boolean, text: string): void }, run: () => Result): Result {
  const start = performance.now();
  const result = run();
  const took = performance.now() - start;
  t.true(took < MOST_MS, `${took} ms`);
  return result;
}

test('a variable that doubles is cut, and the variables together are bounded', (t) => {
  const doubling = (name: string) =>
    `set "${name}" "x${'y'.repeat(100)}"; ${`set "${name}" "\${${name}}\${${name}}";`.repeat(40)}`;
  const one = `require ["variables", "fileinto"]; ${doubling('a')} set :length "n" "\${a}"; fileinto "\${n}";`;
  t.deepEqual(
    inTime(t, () => outcome(one)),
    ['fileinto 65536'],
  );
  const many = Array.from({ length: 40 }, (_, i) => doubling(`v${i}`)).join('\n');
  const [fault] = inTime(t, () => outcome(`require "variables"; ${many}`));
  t.regex(fault!, /^fault .*(octets|steps)/);
  const names = Array.from({ length: 200 }, (_, i) => `set "n${i}" "x";`).join(' ');
  t.regex(outcome(`require "variables"; ${names}`)[0]!, /^fault .*variables/);
});

test('scripts that include each other end', (t) => {
  const include = (text: string) => ({
    environment: { include: (_: string, name: string) => compiled(text.replaceAll('NEXT', `${name}x`)) },
  });
  const deep = 'require "include"; include "NEXT";';
  t.regex(inTime(t, () => outcome(deep, include(deep)))[0]!, /^fault .*too deep/);
  const wide = 'require "include"; include "NEXTa"; include "NEXTb"; include "NEXTc";';
  const shallow = { ...include(wide), bounds: { includeDepth: 1_000 } };
  t.regex(inTime(t, () => outcome(wide, shallow))[0]!, /^fault .*too many scripts/);
});

test('wildcards never go back over a long text, and steps end a script of many comparisons', (t) => {
  const letter = LETTER.replace('Subject: ', `X-Long: ${'a'.repeat(60_000)}\nSubject: `);
  const stars = `${'*a'.repeat(400)}*b`;
  const script = `require "fileinto"; if header :matches "x-long" "${stars}" { fileinto "yes"; }`;
  t.regex(inTime(t, () => outcome(script, { letter }))[0]!, /^(keep|fault .*steps)/);
  const keys = Array.from({ length: 4_000 }, (_, i) => `"${i}"`).join(', ');
  const many = `if header :contains ["x-long", "subject", "from", "to"] [${keys}] { keep; }`;
  t.regex(inTime(t, () => outcome(`${many}\n${many}`, { letter }))[0]!, /^(keep|fault .*steps)/);
});

test('what a script says to senders, sends on and tracks is bounded', (t) => {
  const redirects = Array.from({ length: 5 }, (_, i) => `redirect "a${i}@example.org";`).join(' ');
  t.regex(outcome(redirects)[0]!, /^fault .*too often/);
  const files = Array.from({ length: 40 }, (_, i) => `fileinto "f${i}";`).join(' ');
  t.regex(outcome(`require "fileinto"; ${files}`)[0]!, /^fault .*too many actions/);
  const keys = Array.from({ length: 20 }, (_, i) => `if duplicate :uniqueid "${i}" { keep; }`).join(' ');
  t.deepEqual(resultOf(`require "duplicate"; ${keys}`).tracked, []);
  t.regex(outcome(`require "duplicate"; ${keys}`)[0]!, /^fault .*too many keys/);
  t.regex(outcome(`require "vacation"; vacation "${'x'.repeat(16_385)}";`)[0]!, /^fault .*16384 octets/);
});

test('a script of too many rules is refused with its line, and the most rules that compile end within their steps', (t) => {
  const rules = (count: number) => Array.from({ length: count }, (_, i) => `if header "s" "${i}" { stop; }\n`).join('');
  const result = inTime(t, () => compileSieve(rules(10_000)));
  t.deepEqual('faults' in result && result.faults, [
    { line: 3_334, column: 4, message: 'the script has more than 10000 commands and tests' },
  ]);
  // Each rule looks at every field, and at a long one.
  const fields = 'X: y\n'.repeat(10_000);
  const most = rules(2_100);
  t.true(most.length <= MOST_SCRIPT_OCTETS);
  t.deepEqual(
    inTime(t, () => outcome(most, { letter: fields + LETTER })),
    ['keep'],
  );
});

test('tests of one long body read it once, and steps end them', (t) => {
  const letter = `${LETTER}${'b'.repeat(800_000)}`;
  for (const [check, end] of [
    ['body :contains "q"', /^keep/],
    ['body :comparator "i;octet" :contains "q"', /^keep/],
    ['body :matches "*b*c*"', /^fault .*steps/],
  ] as const)
    t.regex(inTime(t, () => outcome(`require "body"; ${`if ${check} { stop; }`.repeat(30)}`, { letter }))[0]!, end);
});

test('the largest scripts compile in time, whatever is in them', (t) => {
  const fill = (text: string) => text.repeat(Math.floor(MOST_SCRIPT_OCTETS / text.length));
  for (const script of [
    fill('/* x */'),
    fill('"'),
    fill('[["'),
    fill('if true{'),
    fill('not '),
    fill('keep;'),
    fill('require "x";'),
    `require "variables"; set "a" "${fill(`\${a}`)}";`,
    `require "fileinto"; fileinto text:\n${fill('..\n')}.\n;`,
  ])
    t.truthy(inTime(t, () => compileSieve(script)));
});
