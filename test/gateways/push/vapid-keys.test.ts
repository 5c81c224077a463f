// Tests the key pair of Web Push: it is created once for the cluster, or configured.

import { vapidKeys } from '../../../src/gateways/push/vapid-keys.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { postgresSettings } from '../../../src/store/postgres/settings.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';

test('all nodes have one pair, made by the first', async (t) => {
  const { address, drop } = await migratedDatabase();
  const sql = connect(address, { max: 4, applicationName: 'test' });
  t.teardown(async () => {
    await sql.end();
    await drop();
  });
  const settings = postgresSettings(sql);
  const pairs = await Promise.all(Array.from({ length: 4 }, () => vapidKeys(undefined, settings)));
  t.is(new Set(pairs.map(({ publicKey }) => publicKey)).size, 1);
  t.is(Buffer.from(pairs[0]!.publicKey, 'base64url').length, 65);
  t.is(Buffer.from(pairs[0]!.privateKey, 'base64url').length, 32);
  const own = { publicKey: 'a', privateKey: 'b' };
  t.is(await vapidKeys(own, settings), own);
});
