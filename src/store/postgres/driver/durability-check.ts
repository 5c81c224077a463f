// Refuses a database that would break Mansio's promises: an answer after the commit means nothing when a commit may not survive a
// crash. The check runs once at start, on the settings in force for Mansio's role and database. Every session sets
// synchronous_commit itself.
import { StartFault } from '../../../concurrency/start-fault.js';
import { type Sql, storeFault } from './client.js';

/** The database cannot be used as it is; the message names every problem and its remedy. */
export class UnsafeDatabase extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('database-unsafe', message, options);
  }
}

/** The settings that a session of Mansio sees. */
export interface DatabaseFacts {
  /** The version as a number, such as 150004. */
  readonly versionNumber: number;
  readonly version: string;
  readonly readOnly: string;
  readonly recovery: boolean;
  readonly encoding: string;
  readonly role: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
}

const OLDEST = 15;

/** @throws UnsafeDatabase, StoreFault */
export async function checkDatabase(sql: Sql, options: { readonly allowUnsafe: boolean }): Promise<void> {
  const facts = await readFacts(sql).catch((error: unknown) => {
    throw storeFault(error);
  });
  const problem = problemOf(facts, options.allowUnsafe);
  if (problem !== undefined) throw new UnsafeDatabase(problem);
}

/** Returns one message with all problems; undefined when there is none. `allowUnsafe` only accepts that commits may be lost. */
export function problemOf(facts: DatabaseFacts, allowUnsafe: boolean): string | undefined {
  const unusable = unusableBecause(facts);
  const unsafe = allowUnsafe ? [] : unsafeBecause(facts);
  if (unusable.length === 0 && unsafe.length === 0) return undefined;
  const advice =
    unsafe.length === 0
      ? ''
      : '; without these a crash loses mail that was acknowledged: turn them on, or set MANSIO_ALLOW_UNSAFE_DATABASE=true to accept that';
  return `the database cannot be used: ${[...unusable, ...unsafe].join(', ')}${advice}`;
}

function unusableBecause(facts: DatabaseFacts): string[] {
  const reasons: string[] = [];
  if (facts.versionNumber < OLDEST * 10_000) {
    reasons.push(`it is PostgreSQL ${facts.version} and Mansio needs ${OLDEST} or later`);
  }
  if (facts.recovery) reasons.push('it is a hot standby and so read-only (connect to the primary)');
  else if (facts.readOnly === 'on') {
    reasons.push(`it is read-only (default_transaction_read_only is on for role "${facts.role}")`);
  }
  if (facts.encoding !== 'UTF8') {
    reasons.push(`its encoding is ${facts.encoding} and not UTF8 (create it with "encoding 'UTF8'")`);
  }
  return reasons;
}

function unsafeBecause(facts: DatabaseFacts): string[] {
  const reasons: string[] = [];
  if (facts.fsync === 'off') reasons.push('fsync is off');
  if (facts.fullPageWrites === 'off') reasons.push('full_page_writes is off');
  return reasons;
}

export async function readFacts(sql: Sql): Promise<DatabaseFacts> {
  const [facts] = await sql<[DatabaseFacts]>`
    select
      current_setting('server_version_num')::integer as "versionNumber",
      current_setting('server_version') as version,
      current_setting('default_transaction_read_only') as "readOnly",
      pg_is_in_recovery() as recovery,
      pg_encoding_to_char(encoding)::text as encoding,
      current_user::text as role,
      current_setting('fsync') as fsync,
      current_setting('full_page_writes') as "fullPageWrites"
    from pg_database where datname = current_database()`;
  return facts;
}
