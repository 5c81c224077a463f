// Creates accounts and keys in the store of a node that runs, as `mansio account create` and `mansio key create` do: for tests, benchmarks
// and the IMAP tester.
import { randomBytes } from 'node:crypto';
import { newApiKey } from '../src/actors/directory/api-key.js';
import type { Scope } from '../src/store/directory.js';
import { findEmbedded } from '../src/store/embedded/embedded.js';
import { postgresDirectory } from '../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../src/store/postgres/driver/client.js';
import type { NodeProcess } from './node-process.js';

export interface TestAccount {
  readonly id: string;
  readonly email: string;
  readonly key: string;
}

export function port(node: NodeProcess, listener: string): number {
  return Number(node.ready.listeners[listener]!.replace(/^.*:/, ''));
}

/** Connects to the node's own database, to prepare it and to check it; the caller ends the connection. */
export async function storeOf(node: NodeProcess): Promise<Sql> {
  const url = node.env['DATABASE_URL'];
  const address = url === undefined ? findEmbedded(node.dataDir) : { url };
  if (address === undefined) throw new Error('the node has no database');
  return connect(address, { max: 2, applicationName: 'test' });
}

/** Creates `name@example.test` in the node's own database. */
export async function accountOn(node: NodeProcess, name: string): Promise<TestAccount> {
  const sql = await storeOf(node);
  try {
    return await createAccount(sql, `${name}@example.test`);
  } finally {
    await sql.end();
  }
}

export async function createAccount(sql: Sql, email: string, scopes: readonly Scope[] = ['app']): Promise<TestAccount> {
  const directory = postgresDirectory(sql, 256);
  const { id: accountId } = await directory.createAccount(email, email);
  return { id: accountId, email, key: await createKey(sql, accountId, scopes) };
}

export async function createKey(sql: Sql, accountId: string, scopes: readonly Scope[]): Promise<string> {
  const { apiKey, prefix, hash } = newApiKey(randomBytes);
  await postgresDirectory(sql, 256).createKey({ accountId, name: 'test', scopes, serviceWide: false, prefix, hash });
  return apiKey;
}
