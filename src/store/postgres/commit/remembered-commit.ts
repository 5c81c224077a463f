// Commands and deliveries in the mailbox commit that may be carried out only once. The commit adds their ids to the remembered
// replies. An account for which one of them is there already writes nothing, and gets the replies of before.
import type { RememberedReply } from '../../mailboxes.js';
import type { Pieces, StatementPiece } from '../driver/statement-pieces.js';
import { PASSED, type Part, type TablePart } from './commit-parts.js';

export const lookForRepeated: TablePart = (sql, rows, table) => sql`
    , remembering as materialized (
      select * from ${table(rows, 'x (a uuid, id uuid, reply json)')}
    ), repeated as materialized (
      select c.account_id as a, c.id, c.reply
      from remembering r join recent_commands c on c.account_id = r.a and c.id = r.id
    )`;

/** A further condition on the account `t` that passes the fence. */
export const hasNoRepeated: Part = (sql) => sql`and not exists (select from repeated r where r.a = t.id)`;

export const remember: Part = (sql) => sql`
    , remembered as (
      insert into recent_commands (account_id, id, reply)
      select a, id, reply from remembering where a = any (${sql.unsafe(PASSED)})
    )`;

/** What the answer tells of a repeated command. */
export interface RepeatedRow {
  readonly account_id: string | null;
  /** Absent when the statement remembers nothing. */
  readonly repeated?: string | null;
  readonly reply?: unknown;
}

/** The answer: `rows`, and one row for each repeated command. `columns`: null for those that `rows` has besides `account_id`. */
export const withRepeated = (sql: Pieces, rows: StatementPiece, columns: StatementPiece) => sql`
    select w.*, null::uuid as repeated, null::json as reply from (${rows}) w
    union all select a, ${columns}, id, reply from repeated`;

export function repliesOf(rows: readonly RepeatedRow[]): readonly RememberedReply[] {
  return rows.flatMap(({ repeated, reply }) => (repeated == null ? [] : [{ id: repeated, reply }]));
}
