// Makes a page of emails searchable: reads their texts, cuts them into words and stores these. Texts are read a few at a time,
// and words are stored in batches of a bounded size, so that neither the memory nor the longest piece of work grows with
// the emails of the page.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { textPieces, wordsOf } from '../../mail/search-text.js';
import type { EmailWords, SearchStore, UnindexedEmail } from '../../store/search.js';
import type { EmailTexts, SearchableTexts } from './email-texts.js';

/** Messages read and decoded at a time: each reading costs two statements. Many small ones, sixteen large ones. */
const OCTETS_AT_ONCE = 1024 * 1024;
const LARGE_OCTETS = OCTETS_AT_ONCE / 16;
/** Words of a body that are found. */
const BODY_WORDS = 60_000;
/** Characters that are cut into words in one turn of the event loop: 1 ms of work, 2 ms when few of them are ASCII. */
const PIECE = 32 * 1024;
/** Words that are enough for a statement: of fewer, what a statement costs by itself would count. */
const BATCH_WORDS = 20_000;
/** The same within an account, whose emails of a statement are a segment: of small ones more have to be merged. */
const MOST_WORDS = 80_000;

export interface SearchableEmailsOptions {
  readonly store: Pick<SearchStore, 'put'>;
  readonly texts: Pick<EmailTexts, 'searchable'>;
}

/**
 * Emails account by account. `stored`: after each batch, with the last id of an account in it. Returns the accounts of which
 * the store takes nothing at present: their emails, or the rest of them, are not searchable yet.
 */
export async function makeSearchable(
  { store, texts }: SearchableEmailsOptions,
  emails: readonly UnindexedEmail[],
  signal: AbortSignal,
  stored: (accountId: string, lastId: string) => void = () => {},
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>();
  let batch: EmailWords[] = [];
  let count = 0;
  let characters = 0;
  const storeBatch = async (): Promise<void> => {
    // Emails behind those that were refused would hide these: an account is searchable up to an id.
    const taken = batch.filter(({ accountId }) => !refused.has(accountId));
    batch = [];
    count = 0;
    if (taken.length === 0) return;
    for (const accountId of await store.put(taken)) refused.add(accountId);
    for (const [accountId, lastId] of new Map(taken.map(({ accountId, id }) => [accountId, id])))
      if (!refused.has(accountId)) stored(accountId, lastId);
  };
  for (const page of readAtOnce(emails)) {
    const some = page.filter(({ accountId }) => !refused.has(accountId));
    if (some.length === 0) continue;
    const read = await texts.searchable(some, signal);
    // One after the other, with turns of the event loop between them.
    for (const [n, email] of some.entries()) {
      const found = read[n]!;
      characters += found.body.length;
      if (characters > PIECE) {
        await nextTurn();
        characters = found.body.length;
      }
      if (count >= BATCH_WORDS && batch.at(-1)?.accountId !== email.accountId) await storeBatch();
      const words = await emailWords(email, found);
      batch.push(words);
      count += wordCount(words);
      if (count >= MOST_WORDS) await storeBatch();
    }
  }
  await storeBatch();
  return refused;
}

function* readAtOnce(emails: readonly UnindexedEmail[]): Generator<readonly UnindexedEmail[]> {
  let some: UnindexedEmail[] = [];
  let octets = 0;
  for (const email of emails) {
    some.push(email);
    octets += Math.min(email.size, LARGE_OCTETS);
    if (octets < OCTETS_AT_ONCE) continue;
    yield some;
    some = [];
    octets = 0;
  }
  if (some.length > 0) yield some;
}

/** What is found of an email. */
async function emailWords(
  { accountId, id, subject, fromAddress, fromName }: UnindexedEmail,
  { recipients, attachments, body }: SearchableTexts,
): Promise<EmailWords> {
  return {
    accountId,
    id,
    subject: wordsOf(subject),
    sender: wordsOf(`${fromName} ${fromAddress}`),
    recipients: wordsOf(recipients),
    attachments: wordsOf(attachments),
    body: await bodyWords(body),
  };
}

async function bodyWords(body: string): Promise<readonly string[]> {
  if (body.length <= PIECE) return wordsOf(body, BODY_WORDS);
  const words: string[] = [];
  for (const piece of textPieces(body, PIECE)) {
    await nextTurn();
    for (const word of wordsOf(piece, BODY_WORDS - words.length)) words.push(word);
    if (words.length === BODY_WORDS) break;
  }
  return words;
}

function wordCount({ subject, sender, recipients, attachments, body }: EmailWords): number {
  return subject.length + sender.length + recipients.length + attachments.length + body.length;
}
