// Tests `mansio quota`: what is set, what is listed, and what is refused.
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { mansioJson as json, mansio } from '../support/command-line.js';
import test from '../support/test.js';
import { programDatabase } from './program-database.js';

let sql: Sql;
let close: () => Promise<void>;

test.before(async () => {
  ({ sql, close } = await programDatabase());
});

test.after.always(() => close?.());

const NONE = { used: 0, limit: null };

test.serial('quota set and list', async (t) => {
  const account = { name: 'taken@example.test', kind: 'account' };
  t.deepEqual(await json('quota', 'list'), [
    { name: 'example.test', kind: 'domain', bytes: NONE, messages: NONE },
    { ...account, bytes: NONE, messages: NONE },
  ]);
  t.deepEqual(await json('quota', 'set', 'Taken@example.test', '--bytes', '1000', '--messages', '5'), {
    ...account,
    bytes: { used: 0, limit: 1000 },
    messages: { used: 0, limit: 5 },
  });
  t.deepEqual(await json('quota', 'set', 'example.test', '--messages', '7'), {
    name: 'example.test',
    kind: 'domain',
    bytes: NONE,
    messages: { used: 0, limit: 7 },
  });
  process.env['MANSIO_QUOTA_BYTES'] = '300';
  t.teardown(() => void delete process.env['MANSIO_QUOTA_BYTES']);
  t.like(await json('quota', 'set', 'taken@example.test', '--bytes', 'none'), { bytes: NONE, messages: { limit: 5 } });
  t.like(await json('quota', 'set', 'taken@example.test', '--bytes', 'default'), { bytes: { limit: 300 } });
  const { out } = await mansio('quota', 'list');
  t.regex(out, /taken@example\.test +0 of 300 +0 of 5/);
  t.is((await sql`select from accounts where quota_messages = 5`).count, 1);
});

for (const [args, error] of [
  [['taken@example.test'], /^error: name a limit: --bytes or --messages$/m],
  [['taken@example.test', '--bytes', '1G'], /^error: --bytes takes a whole number, none or default: 1G$/m],
  [['taken@example.test', '--messages', '-1'], /^error: --messages takes a whole number, none or default: -1$/m],
  [['nobody@example.test', '--bytes', '1'], /^error: no such account: nobody@example\.test$/m],
  [['elsewhere.test', '--bytes', '1'], /^error: not a hosted domain: elsewhere\.test$/m],
] as const) {
  test.serial(`quota set ${args.join(' ')} is refused`, async (t) => {
    const { code, err } = await mansio('quota', 'set', ...args);
    t.is(code, 1);
    t.regex(err, error);
  });
}
