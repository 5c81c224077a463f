// Runs hub clients of every account on every node, most of them not on the account's owner, and checks that each of them has
// heard everything.
import type { ExecutionContext } from 'ava';
import type { TestAccount } from '../../../../dev/node-accounts.js';
import type { Sql } from '../../../../src/store/postgres/driver/client.js';
import { eventually } from './eventually.js';
import { Follower } from './follower.js';
import type { Target } from './load.js';

export interface FollowersOptions {
  readonly accounts: readonly TestAccount[];
  /** Read again at each connection. */
  readonly targets: () => readonly Target[];
  readonly sql: Sql;
}

export class Followers {
  readonly all: readonly Follower[];
  readonly #sql: Sql;

  private constructor(all: readonly Follower[], sql: Sql) {
    this.all = all;
    this.#sql = sql;
  }

  /** Starts two clients per account, one of which resumes; resolves when they are connected. */
  static async start({ accounts, targets, sql }: FollowersOptions): Promise<Followers> {
    const shifted = (by: number) => () => {
      const all = targets();
      return all.map((_, i) => all[(i + by) % all.length]!);
    };
    const all = accounts.flatMap((account, i) => [
      new Follower({ account, targets: shifted(i), resumes: true }),
      new Follower({ account, targets: shifted(i + 1), resumes: false }),
    ]);
    await Promise.all(all.map((follower) => follower.start()));
    return new Followers(all, sql);
  }

  /** Resolves when all of them are connected. */
  async connected(): Promise<void> {
    await eventually('hub clients to connect', () => this.all.every(({ isConnected }) => isConnected));
  }

  /** Call it when nothing changes any more: clients that resume have every email once and in order, and all counts are true. */
  async verify(t: ExecutionContext): Promise<void> {
    for (const follower of this.all) {
      const { account, resumes } = follower;
      const unread = await this.#unread(account);
      const placed = resumes ? await this.#placed(account) : [];
      const heard = () => follower.unread === unread && (!resumes || follower.newEmails.length >= placed.length);
      const in_time = await eventually(`${account.email} on ${follower.at}`, heard).then(
        () => true,
        () => false,
      );
      const what = `${account.email}, ${resumes ? 'resuming' : 'plain'}, last on ${follower.at}`;
      t.true(in_time || follower.unread === unread, `${what}: shows ${follower.unread} unread, there are ${unread}`);
      if (resumes) t.deepEqual(follower.newEmails, placed, `${what}: heard of other emails than there are`);
      t.is(follower.incomplete, 0, `${what}: could not resume`);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((follower) => follower.stop()));
  }

  async #unread({ id }: TestAccount): Promise<number> {
    const [row] = await this.#sql<[{ unread: number }]>`
      select unread from folders where account_id = ${id} and role = 'inbox'`;
    return Number(row.unread);
  }

  /** Returns the email ids in the order of delivery. */
  async #placed({ id }: TestAccount): Promise<string[]> {
    const rows = await this.#sql<{ email_id: string }[]>`
      select p.email_id from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      where p.account_id = ${id} and f.role = 'inbox' order by p.uid`;
    return rows.map(({ email_id }) => email_id);
  }
}
