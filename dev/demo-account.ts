// The account of `npm run cluster`: demo@example.test with an API key that stays the same over restarts, made in the database as `mansio
// account create` and `mansio key create` do.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { newApiKey } from '../src/actors/directory/api-key.js';
import { postgresDirectory } from '../src/store/postgres/accounts/directory.js';
import { connect } from '../src/store/postgres/driver/client.js';
import { postgresLeases } from '../src/store/postgres/leases.js';

const EMAIL = 'demo@example.test';

export interface DemoAccount {
  readonly email: string;
  readonly apiKey: string;
}

/** The key's text is stored in `keyFile`; `accepted` asks a node whether a key is still valid. */
export async function demoAccount(
  databaseUrl: string,
  keyFile: string,
  accepted: (apiKey: string) => Promise<boolean>,
): Promise<DemoAccount> {
  const kept = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : undefined;
  if (kept !== undefined && (await accepted(kept))) return { email: EMAIL, apiKey: kept };
  const sql = connect({ url: databaseUrl }, { max: 1, applicationName: 'mansio cluster' });
  try {
    // The first node has fixed the number of shards; the number passed here has no effect.
    const directory = postgresDirectory(sql, await postgresLeases(sql).shardCount(1));
    const owner = await directory.ownerOf(EMAIL);
    const accountId = owner?.accountId ?? (await directory.createAccount(EMAIL, 'Demo')).id;
    const { apiKey, prefix, hash } = newApiKey(randomBytes);
    await directory.createKey({ accountId, name: 'demo', scopes: ['app'], serviceWide: false, prefix, hash });
    writeFileSync(keyFile, `${apiKey}\n`, { mode: 0o600 });
    return { email: EMAIL, apiKey };
  } finally {
    await sql.end();
  }
}
