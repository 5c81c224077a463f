// Does in end-to-end tests what a user does: accounts and keys are made in the node's store, mail is sent by nodemailer or a plain socket,
// and the API is called by fetch.
import { randomBytes } from 'node:crypto';
import { newApiKey } from '../../../src/actors/directory/api-key.js';
import type { Scope } from '../../../src/store/directory.js';
import { findEmbedded } from '../../../src/store/embedded/embedded.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../../../src/store/postgres/driver/client.js';
import type { TestNode } from '../node.js';

export interface TestAccount {
  readonly id: string;
  readonly email: string;
  readonly key: string;
}

export function port(node: TestNode, listener: string): number {
  return Number(node.ready.listeners[listener]!.replace(/^.*:/, ''));
}

/** Connects to the node's own database, to prepare it and to check it; the caller ends the connection. */
export async function storeOf(node: TestNode): Promise<Sql> {
  const url = node.env['DATABASE_URL'];
  const address = url === undefined ? findEmbedded(node.dataDir) : { url };
  if (address === undefined) throw new Error('the node has no database');
  return connect(address, { max: 2, applicationName: 'test' });
}

/** Creates `name@example.test` in the node's own database. */
export async function accountOn(node: TestNode, name: string): Promise<TestAccount> {
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

export interface ListedEmail {
  readonly id: string;
  readonly subject: string;
  readonly isRead: boolean;
  readonly receivedAt: string;
}

export interface EmailList {
  readonly items: readonly ListedEmail[];
  readonly totalCount: number;
}

export interface EmailView extends ListedEmail {
  readonly textBody: string;
  readonly attachments: readonly { readonly id: string; readonly fileName: string; readonly size: number }[];
}

export class MailboxClient {
  readonly #base: string;
  readonly #key: string;

  constructor(node: TestNode, key: string) {
    this.#base = `http://127.0.0.1:${port(node, 'http')}`;
    this.#key = key;
  }

  request(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(this.#base + path, {
      method,
      ...(signal && { signal }),
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Returns the body of a GET that must succeed. */
  async get<T>(path: string): Promise<T> {
    const response = await this.request('GET', path);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Returns every email of the inbox, the newest first. */
  async inbox(): Promise<ListedEmail[]> {
    const emails: ListedEmail[] = [];
    for (let page = 1; ; page++) {
      const { items, totalCount } = await this.get<EmailList>(`/api/emails?page=${page}&pageSize=100`);
      emails.push(...items);
      if (items.length === 0 || emails.length >= totalCount) return emails;
    }
  }
}
