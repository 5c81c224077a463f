// Tests the key pair of Web Push: it is created once for the cluster, or configured.

import { vapidKeys } from '../../../src/gateways/push/vapid-keys.js';
import { postgresSettings } from '../../../src/store/postgres/settings.js';
import { migratedSql } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';

test('all nodes have one pair, made by the first', async (t) => {
  const sql = await migratedSql(t, { max: 4 });
  const settings = postgresSettings(sql);
  const pairs = await Promise.all(Array.from({ length: 4 }, () => vapidKeys(undefined, settings)));
  t.is(new Set(pairs.map(({ publicKey }) => publicKey)).size, 1);
  t.is(Buffer.from(pairs[0]!.publicKey, 'base64url').length, 65);
  t.is(Buffer.from(pairs[0]!.privateKey, 'base64url').length, 32);
  const own = { publicKey: 'a', privateKey: 'b' };
  t.is(await vapidKeys(own, settings), own);
});
