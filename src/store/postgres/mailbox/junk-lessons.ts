// The lessons of the junk filter and what is learnt from them, in PostgreSQL (decision 0106). The row of an account's words is locked while a
// lesson is learnt, so two nodes that work for one account learn one after the other.
import { NOT_JUNK, SEEN } from '../../../mail-format/flags.js';
import {
  type AccountJunkWords,
  type DueLesson,
  type JunkLessonStore,
  type KeptEmail,
  type LearntWords,
  MOST_LESSONS,
  type NewLesson,
} from '../../feedback/junk-lessons.js';
import { guarded, type Sql, type SqlTransaction } from '../driver/client.js';

/** The newest placements of each folder among which examples are looked for. */
const MOST_LOOKED_AT = 200;
const MESSAGE_OCTETS = 16;

export function postgresJunkLessons(sql: Sql): JunkLessonStore {
  return {
    async accountsDue(shards, limit) {
      const rows = await guarded(
        () => sql<{ id: string }[]>`
          select a.id from accounts a
          where a.shard = any(${shards as number[]}::int[]) and a.id in (select account_id from due_junk_lessons)
          limit ${limit}`,
      );
      return rows.map(({ id }) => id);
    },
    async due(accountId, limit) {
      const rows = await guarded(
        () => sql<DueLesson[]>`
          select d.email_id as "emailId", d.is_junk as "isJunk", encode(e.blob, 'hex') as blob
          from due_junk_lessons d left join emails e on e.account_id = d.account_id and e.id = d.email_id
          where d.account_id = ${accountId} order by d.email_id limit ${limit}`,
      );
      return [...rows];
    },
    kept: (accountId, limit) => guarded(() => keptEmails(sql, accountId, limit)),
    async words(accountIds) {
      const rows = await guarded(
        () => sql<(AccountJunkWords & { readonly id: string })[]>`
          select a.id, nullif(w.words, '') as words,
            case when not a.unclaimed then split_part(a.email, '@', 2) end as domain
          from accounts a left join junk_words w on w.account_id = a.id where a.id = any(${accountIds as string[]}::uuid[])`,
      );
      return new Map(rows.map(({ id, ...read }) => [id, read]));
    },
    learn: (accountId, due, kept, change) =>
      guarded(() => sql.begin((tx) => learn(tx, accountId, { due, kept, change }))) as Promise<void>,
    async end(accountId, due) {
      await guarded(() => ended(sql, accountId, due));
    },
  };
}

function keptEmails(sql: Sql, accountId: string, limit: number): Promise<KeptEmail[]> {
  return sql<KeptEmail[]>`
    select e.id as "emailId", encode(e.blob, 'hex') as blob
    from folders f
    cross join lateral (
      select p.email_id from placements p where p.account_id = f.account_id and p.folder_id = f.id and not p.deleted
      order by p.uid desc limit ${MOST_LOOKED_AT}) as p
    join emails e on e.account_id = f.account_id and e.id = p.email_id
    where f.account_id = ${accountId} and f.role in ('inbox', 'archive', 'folder')
      and (e.flags & ${SEEN | NOT_JUNK}) <> 0 and coalesce(e.origin, 'appended') = 'appended'
      and not exists (
        select from junk_lessons l where l.account_id = e.account_id and l.message = substring(e.blob for ${MESSAGE_OCTETS}))
      and not exists (select from due_junk_lessons d where d.account_id = e.account_id and d.email_id = e.id)
    order by e.id desc limit ${limit}`;
}

interface Learning {
  readonly due: readonly DueLesson[];
  readonly kept: readonly KeptEmail[];
  readonly change: (words: Uint8Array | undefined, lessons: readonly NewLesson[]) => LearntWords | undefined;
}

async function learn(tx: SqlTransaction, accountId: string, { due, kept, change }: Learning): Promise<void> {
  // An empty row is locked as well; the account may be deleted meanwhile.
  await tx`
    insert into junk_words (account_id, words) select id, '' from accounts where id = ${accountId}
    on conflict (account_id) do nothing`;
  const [row] = await tx<{ words: Uint8Array }[]>`
    select words from junk_words where account_id = ${accountId} for update`;
  if (row === undefined) return;
  const endedIds = new Set(await ended(tx, accountId, due));
  const asked = [
    ...due.flatMap(({ emailId, blob, isJunk }) => (endedIds.has(emailId) && blob !== null ? { blob, isJunk } : [])),
    ...kept.map(({ blob }) => ({ blob, isJunk: false })),
  ];
  const before = await taught(tx, accountId, asked);
  const lessons = newLessons(asked, before, kept);
  const learnt = change(row.words.length === 0 ? undefined : row.words, lessons);
  if (learnt === undefined) return;
  await tx`update junk_words set words = ${learnt.words as Buffer} where account_id = ${accountId}`;
  const messages = learnt.taught.map(({ blob, isJunk }) => ({ m: blob.slice(0, 2 * MESSAGE_OCTETS), j: isJunk }));
  await tx`
    insert into junk_lessons (account_id, message, is_junk)
    select ${accountId}, decode(m, 'hex'), j from json_to_recordset(${JSON.stringify(messages)}::text::json) as x (m text, j boolean)
    on conflict (account_id, message) do update set is_junk = excluded.is_junk, learnt_at = excluded.learnt_at`;
  await tx`
    delete from junk_lessons where account_id = ${accountId} and learnt_at < (
      select learnt_at from junk_lessons where account_id = ${accountId}
      order by learnt_at desc offset ${MOST_LESSONS} limit 1)`;
}

/** Returns the emails whose lessons it has ended. */
async function ended(sql: Sql | SqlTransaction, accountId: string, due: readonly DueLesson[]): Promise<string[]> {
  const given = JSON.stringify(due.map(({ emailId, isJunk }) => ({ id: emailId, j: isJunk })));
  const rows = await sql<{ id: string }[]>`
    delete from due_junk_lessons t using json_to_recordset(${given}::text::json) as g (id uuid, j boolean)
    where t.account_id = ${accountId} and t.email_id = g.id and t.is_junk = g.j
    returning t.email_id as id`;
  return rows.map(({ id }) => id);
}

async function taught(
  tx: SqlTransaction,
  accountId: string,
  asked: readonly { readonly blob: string }[],
): Promise<Map<string, boolean>> {
  const messages = asked.map(({ blob }) => blob.slice(0, 2 * MESSAGE_OCTETS));
  const rows = await tx<{ message: string; isJunk: boolean }[]>`
    select encode(message, 'hex') as message, is_junk as "isJunk" from junk_lessons
    where account_id = ${accountId} and message in (select decode(m, 'hex') from unnest(${messages}::text[]) as m)`;
  return new Map(rows.map(({ message, isJunk }) => [message, isJunk]));
}

/** Leaves out what is learnt already, and what only serves as an example although the user has judged it. */
function newLessons(
  asked: readonly { readonly blob: string; readonly isJunk: boolean }[],
  before: Map<string, boolean>,
  kept: readonly KeptEmail[],
): NewLesson[] {
  const examples = new Set(kept.map(({ blob }) => blob));
  return asked.flatMap(({ blob, isJunk }, i) => {
    const message = blob.slice(0, 2 * MESSAGE_OCTETS);
    const known = before.get(message);
    const isExample = i >= asked.length - examples.size && examples.has(blob);
    if (known === isJunk || (isExample && known !== undefined)) return [];
    before.set(message, isJunk);
    return { blob, isJunk, before: known };
  });
}
