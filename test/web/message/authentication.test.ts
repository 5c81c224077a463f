import { proofOf } from '../../../web/src/message/authentication.js';
import test from '../../support/test.js';

type Result = Parameters<typeof proofOf>[0]['spf']['result'];
type Check = readonly [result: Result, domain: string];
const NONE: Check = ['none', ''];

const CASES: readonly (readonly [
  name: string,
  spf: Check,
  dkim: Check,
  dmarc: Check,
  kind: string | undefined,
  domain?: string,
])[] = [
  ['mail of this node is not judged', NONE, NONE, NONE, undefined],
  ['its own signature', NONE, ['pass', 'koehler.test'], NONE, 'signed', 'koehler.test'],
  ['the signature of a subdomain', NONE, ['pass', 'mail.koehler.test'], NONE, 'signed', 'mail.koehler.test'],
  ['the signature of another domain', NONE, ['pass', 'other.test'], NONE, 'unproven', 'koehler.test'],
  ['the signature of a name that ends alike', NONE, ['pass', 'ler.test'], NONE, 'unproven', 'koehler.test'],
  ['the signature of a top domain', NONE, ['pass', 'test'], NONE, 'unproven', 'koehler.test'],
  [
    'a policy that is met by a signature',
    NONE,
    ['pass', 'other.test'],
    ['pass', 'koehler.test'],
    'confirmed',
    'koehler.test',
  ],
  [
    'a policy that is met by a server',
    ['pass', 'koehler.test'],
    NONE,
    ['pass', 'koehler.test'],
    'confirmed',
    'koehler.test',
  ],
  ['a server of the domain', ['pass', 'bounce.koehler.test'], NONE, NONE, 'confirmed', 'koehler.test'],
  ['a server of another domain', ['pass', 'other.test'], NONE, NONE, 'unproven', 'koehler.test'],
  [
    'a policy that is not met',
    ['pass', 'other.test'],
    ['pass', 'other.test'],
    ['fail', 'koehler.test'],
    'failed',
    'koehler.test',
  ],
  ['a server that the domain excludes', ['fail', 'koehler.test'], NONE, NONE, 'failed', 'koehler.test'],
  ['a broken signature', ['none', 'koehler.test'], ['fail', 'koehler.test'], NONE, 'unproven', 'koehler.test'],
  ['a check that could not be done', ['temperror', 'koehler.test'], NONE, NONE, 'unproven', 'koehler.test'],
];

for (const [name, spf, dkim, dmarc, kind, domain] of CASES) {
  test(`proof of a sender: ${name}`, (t) => {
    const [a, b, c] = [spf, dkim, dmarc].map(([result, checked]) => ({ result, domain: checked }));
    const proof = proofOf({ spf: a!, dkim: b!, dmarc: c! }, 'Mirjam@Koehler.test');
    t.deepEqual(proof as unknown, kind === undefined ? undefined : { kind, domain });
  });
}
