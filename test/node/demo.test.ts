import { createHash, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { type DemoParts, demoBanner, prepareDemo } from '../../src/node/demo.js';
import { openDataDirectory } from '../../src/store/local/data-directory.js';
import { postgresDirectory } from '../../src/store/postgres/accounts/directory.js';
import { postgresSessions } from '../../src/store/postgres/accounts/sessions.js';
import { connect } from '../../src/store/postgres/driver/client.js';
import { migratedDatabase } from '../support/database/embedded-database.js';
import test from '../support/test.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('the account is made once and its key stays good, or is replaced', async (t) => {
  const { address } = await migratedDatabase(t);
  const sql = connect(address, { max: 2, applicationName: 'test' });
  const directory = postgresDirectory(sql, 4);
  await directory.addDomain('example.test');
  const dataDirectory = openDataDirectory(temporaryDirectory());
  const parts: DemoParts = {
    dataDirectory,
    directory,
    sessions: postgresSessions(sql),
    random: randomBytes,
    mintKey: () => {
      const apiKey = randomBytes(16).toString('hex');
      return { apiKey, prefix: apiKey.slice(0, 8), hash: sha256(apiKey) };
    },
    authenticate: async (apiKey) => {
      const keys = await directory.keysByPrefixes([apiKey.slice(0, 8)]);
      return keys.find(({ hash }) => hash === sha256(apiKey));
    },
  };
  const first = await prepareDemo(parts);
  const keyOf = async () => {
    const { email, apiKey } = await prepareDemo(parts);
    return { email, apiKey };
  };
  t.is(first.email, 'demo@example.test');
  t.is(statSync(join(dataDirectory.path, 'demo-api-key')).mode & 0o777, 0o600);
  t.like(first, await keyOf());

  const account = await directory.accountByEmail(first.email);
  const [key] = await directory.keys(account!.id);
  await directory.revokeKey(key!.id);
  const second = await prepareDemo(parts);
  t.not(second.apiKey, first.apiKey);
  t.like(second, await keyOf());
  const links = await sql`select account_id from sign_in_links where expires_at is null`;
  t.is(links.length, 4, 'each start makes a link, and earlier ones stay good');
  t.is((await directory.accounts()).length, 1);
  await sql.end();
});

test('the banner shows what is open', (t) => {
  const demo = { email: 'demo@example.test', apiKey: 'KEY', linkToken: 'TOKEN' };
  const all = demoBanner(
    demo,
    {
      http: '127.0.0.1:8080',
      mx: '127.0.0.1:2525',
      submission: '127.0.0.1:2587',
      imap: '127.0.0.1:2143',
    },
    'mansio',
  );
  t.regex(all, /Settings: mansio config\n$/);
  const parts = ['http://127.0.0.1:8080/api/emails', 'smtp://127.0.0.1:2525', 'Bearer KEY', demo.email];
  parts.push('  http://localhost:8080/link/TOKEN\n');
  parts.push("-u 'demo@example.test:KEY' 'imap://127.0.0.1:2143/INBOX");
  for (const part of [...parts, "-u 'demo@example.test:KEY' smtp://127.0.0.1:2587 --mail-from demo@example.test"]) {
    t.true(all.includes(part), part);
  }
  t.false(demoBanner(demo, { mx: '[::1]:2525' }, 'bin/mansio').includes('api/emails'));
});
