// Tests which due DSNs are read: an account whose share is used up hides none of others. Tests of the queue cover the DSNs themselves.
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { SenderDsns, type SenderDsnsOptions } from '../../../src/actors/delivery/sender-dsn.js';
import test from '../../support/test.js';

test('an account with more due DSNs than its share hides none of others', async (t) => {
  const [full, other] = ['full', 'other'];
  const due = [
    ...Array.from({ length: 10_000 }, () => ({ accountId: full, outboundId: randomUUID() })),
    { accountId: other, outboundId: randomUUID() },
  ];
  const asked = new Set<string>();
  const store: SenderDsnsOptions['store'] = {
    dsnsDue: async (_shards, limit, except, exceptAccounts) => {
      const known = new Set(except);
      return due
        .filter(({ accountId, outboundId }) => !known.has(outboundId) && !exceptAccounts.includes(accountId))
        .slice(0, limit);
    },
  };
  const dsns = new SenderDsns({
    log: pino({ level: 'silent' }),
    store,
    // The mailboxes never answer, so the queue stays as it is.
    mailboxes: {
      of: (accountId: string) => ({
        ask: () => {
          asked.add(accountId);
          return new Promise(() => {});
        },
      }),
    },
  } as unknown as SenderDsnsOptions);
  for (let i = 0; i < 60 && !asked.has(other); i++) {
    await dsns.read([0]);
    await new Promise(setImmediate);
  }
  t.deepEqual(asked, new Set([full, other]));
});
