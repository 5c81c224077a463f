// Creates an account that the load does not use, to observe single messages and changes.

import { createAccount, type TestAccount } from '../../../../dev/node-accounts.js';
import type { Scope } from '../../../../src/store/directory.js';
import type { Sql } from '../../../../src/store/postgres/driver/client.js';
import { SmtpClient } from '../../../support/clients/smtp-client.js';
import { eventually } from './eventually.js';
import type { Target } from './load.js';

/** In ms. It ends a hang alone: a statement waits up to 15 s on a dead connection, and a busy machine adds to that. */
const ANSWER_MS = 180_000;

export class Witness {
  readonly account: TestAccount;
  readonly #sql: Sql;

  private constructor(account: TestAccount, sql: Sql) {
    this.account = account;
    this.#sql = sql;
  }

  static async create(sql: Sql, name = 'witness', scopes: readonly Scope[] = ['app']): Promise<Witness> {
    return new Witness(await createAccount(sql, `${name}@example.test`, scopes), sql);
  }

  /** Returns the reply to the message, or to the first refused command. */
  async send({ mx }: Target, subject: string, also: readonly Pick<TestAccount, 'email'>[] = []): Promise<number> {
    const client = await SmtpClient.connect(mx);
    try {
      for (const line of [
        undefined,
        'EHLO witness.test',
        'MAIL FROM:<load@remote.test>',
        ...[this.account, ...also].map(({ email }) => `RCPT TO:<${email}>`),
        'DATA',
      ]) {
        const { code } = line === undefined ? await client.reply() : await client.command(line);
        if (code >= 400) return code;
      }
      return (await client.command(`From: load@remote.test\r\nSubject: ${subject}\r\n\r\nA witness.\r\n.`)).code;
    } finally {
      client.destroy();
    }
  }

  /** Sends again after a temporary refusal, as senders do. Returns the id of the email that the message became. */
  async receive(at: Target, subject: string): Promise<string> {
    await eventually(`${at.name} to take ${subject}`, async () => {
      const code = await this.send(at, subject);
      if (code >= 500) throw new Error(`${at.name} has answered ${code}`);
      return code === 250;
    });
    return this.placed(subject);
  }

  placed(subject: string): Promise<string> {
    return eventually(`${subject} to be placed`, async () => {
      const rows = await this.#sql<{ id: string }[]>`
        select id from emails where account_id = ${this.account.id} and subject = ${subject}`;
      return rows[0]?.id ?? '';
    });
  }

  /** Returns the status of the answer. */
  mark(at: Target, emailId: string, isRead: boolean): Promise<number> {
    return this.#call(at, 'PATCH', `/api/emails/${emailId}`, { isRead });
  }

  /** Retries a 503 as clients do: a mailbox may have no owner for a while, and a node waits on dead connections. */
  async marked(at: Target, emailId: string, isRead: boolean): Promise<void> {
    await eventually(`${at.name} to take a change`, async () => {
      const status = await this.mark(at, emailId, isRead);
      if (status !== 204 && status !== 503) throw new Error(`${at.name} has answered ${status}`);
      return status === 204;
    });
  }

  async row(): Promise<{ readonly epoch: number; readonly modseq: number; readonly unread: number }> {
    const [row] = await this.#sql<[{ epoch: number; modseq: number; unread: number }]>`
      select a.epoch::float8 as epoch, a.modseq::float8 as modseq, f.unread
      from accounts a join folders f on f.account_id = a.id and f.role = 'inbox' where a.id = ${this.account.id}`;
    return row;
  }

  /** Returns the database's time, in µs. */
  async clock(): Promise<number> {
    const [row] = await this.#sql<
      [{ now: number }]
    >`select (extract(epoch from clock_timestamp()) * 1e6)::float8 as now`;
    return row.now;
  }

  /** Says whether a connection of this name has started a statement since then, and has finished it. */
  async hasExecuted(applicationName: string, since: number): Promise<boolean> {
    const rows = await this.#sql`
      select 1 from pg_stat_activity where application_name = ${applicationName} and state = 'idle'
        and extract(epoch from query_start) * 1e6 > ${since}::float8`;
    return rows.length > 0;
  }

  async #call({ http }: Target, method: string, path: string, body?: unknown): Promise<number> {
    const reply = await fetch(http + path, {
      method,
      headers: { authorization: `Bearer ${this.account.key}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await reply.text();
    return reply.status;
  }
}
