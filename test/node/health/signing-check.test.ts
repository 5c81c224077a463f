// Tests the warning of a node while mail of hosted domains leaves unsigned, and when there is none.

import { readConfig } from '../../../src/node/config/config.js';
import { signingCheck, signingKeysOf, warnOfUnsigned } from '../../../src/node/health/signing-check.js';
import { FakeLog } from '../../gateways/http/fakes.js';
import { defaultSigningKey } from '../../support/default-signing-key.js';
import test from '../../support/test.js';

const keys = (...domains: string[]) => ({ domainsWithoutKey: async () => domains });

test('health is Degraded while hosted domains have no key; it counts domains and names none', async (t) => {
  const check = signingCheck(keys('a.test', 'b.test'));
  t.deepEqual([check.name, check.tags], ['signing', ['infrastructure']]);
  t.deepEqual(await check.run(), {
    status: 'Degraded',
    description:
      '2 hosted domains have no DKIM key; their mail leaves unsigned. The command "mansio domain add DOMAIN" makes keys.',
    data: { unsigned: 2 },
  });
  const { description } = await signingCheck(keys('a.test')).run();
  t.regex(description ?? '', /^1 hosted domain has no DKIM key; its mail leaves unsigned\. /);
  t.like(await signingCheck(keys()).run(), { status: 'Healthy', data: { unsigned: 0 } });
});

test('the log names domains at the start, a part of many', async (t) => {
  const log = new FakeLog();
  await warnOfUnsigned(keys(), log as never);
  t.deepEqual(log.lines, []);
  await warnOfUnsigned(keys(...Array.from({ length: 30 }, (_, i) => `d${i}.test`)), log as never);
  t.is(log.lines.length, 1);
  const { level, fields, text } = log.lines[0]!;
  t.is(level, 'warn');
  t.is((fields['domains'] as readonly string[]).length, 20);
  t.is(fields['count'], 30);
  t.regex(text, /mansio domain add/);
});

test('the demo, a node that does not deliver, and one with a default key have nothing to warn of', async (t) => {
  const store = keys('a.test');
  const hosted = { MANSIO_HOSTED_DOMAINS: 'a.test' };
  t.is(signingKeysOf(readConfig({}), store), undefined);
  t.is(signingKeysOf(readConfig({ ...hosted, MANSIO_ROLES: 'mx,mailbox' }), store), undefined);
  t.is(signingKeysOf(readConfig(hosted), store), store);
  const withDefault = signingKeysOf(readConfig({ ...hosted, ...defaultSigningKey().settings }), store);
  t.is((await signingCheck(withDefault!).run()).status, 'Healthy');
});
