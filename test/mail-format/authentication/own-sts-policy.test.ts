// Tests the MTA-STS policy of hosted domains: what other servers read in it, and an id that changes with it.
import fc from 'fast-check';
import { ownStsPolicy, type StsMode } from '../../../src/mail-format/authentication/own-sts-policy.js';
import { parseStsPolicy } from '../../../src/net/smtp-client/sts-policy.js';
import test from '../../support/test.js';

const MAX_AGE = { testing: 86_400, enforce: 604_800 } as const;
const mode = fc.constantFrom<StsMode>('testing', 'enforce');
const hosts = fc.array(fc.domain(), { minLength: 1, maxLength: 5 });

test('a sender reads back what was written', (t) => {
  fc.assert(
    fc.property(mode, hosts, (chosen, names) => {
      const { text, id } = ownStsPolicy(chosen, names);
      const read = parseStsPolicy(text)!;
      t.is(read.mode, chosen);
      t.is(read.maxAge, MAX_AGE[chosen] * 1000);
      t.deepEqual([...read.mx], [...new Set(names)].sort());
      t.regex(id, /^[a-z0-9]{1,32}$/);
    }),
  );
});

test('the id is that of the policy: the order of the hosts does not matter, anything else does', (t) => {
  const { id } = ownStsPolicy('testing', ['a.test', 'b.test']);
  t.is(ownStsPolicy('testing', ['b.test', 'a.test', 'b.test']).id, id);
  t.not(ownStsPolicy('enforce', ['a.test', 'b.test']).id, id);
  t.not(ownStsPolicy('testing', ['a.test']).id, id);
});
