// Makes a page of emails searchable: reads their texts and stores their words. A few texts are read at a time, while the store handles the
// previous ones, and they are stored in batches of bounded size. So neither the memory nor the longest piece of work grows with the page.
import type { IndexedEmail, IndexedTexts, SearchStore, UnindexedEmail } from '../../../store/search.js';
import type { EmailTexts, SearchableTexts } from './email-texts.js';

/**
 * The octets of messages that are read and decoded at a time, because each read costs two statements: many small messages or sixteen large
 * ones.
 */
const OCTETS_AT_ONCE = 1024 * 1024;
const LARGE_OCTETS = OCTETS_AT_ONCE / 16;
/** A batch of this many characters is stored when the account changes: with fewer, the fixed cost of a statement would count. */
const BATCH_CHARACTERS = 128 * 1024;
/** The limit within one account, whose emails of a statement form one segment: small segments must be merged more often. */
const MOST_CHARACTERS = 512 * 1024;
/** Texts that are already in the batch for another account count as 1/8: they are only stored again. */
const SHARED = 8;

export interface SearchableEmailsOptions {
  readonly store: Pick<SearchStore, 'put'>;
  readonly texts: Pick<EmailTexts, 'searchable'>;
}

/**
 * Stores emails account by account. `stored`: called after each batch with the last id of each account. Returns the accounts that the store
 * refuses at present: their remaining emails are not searchable yet.
 */
export async function makeSearchable(
  { store, texts }: SearchableEmailsOptions,
  emails: readonly UnindexedEmail[],
  signal: AbortSignal,
  stored: (accountId: string, lastId: string) => void = () => {},
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>();
  let batch: IndexedEmail[] = [];
  let inBatch = new Set<IndexedTexts>();
  let characters = 0;
  /** Characters of the last account in the batch; an email that it has several times is tokenized each time. */
  let ofAccount = 0;
  const storeBatch = async (): Promise<void> => {
    // An account is searchable up to an id, so emails behind refused ones must not be stored.
    const taken = batch.filter(({ accountId }) => !refused.has(accountId));
    batch = [];
    inBatch = new Set();
    characters = 0;
    ofAccount = 0;
    if (taken.length === 0) return;
    for (const accountId of await store.put(taken)) refused.add(accountId);
    for (const [accountId, lastId] of new Map(taken.map(({ accountId, id }) => [accountId, id])))
      if (!refused.has(accountId)) stored(accountId, lastId);
  };
  for await (const found of readAhead(readAtOnce(emails), refused, { texts }, signal)) {
    for (const email of found) {
      if (batch.at(-1)?.accountId !== email.accountId) {
        if (characters >= BATCH_CHARACTERS) await storeBatch();
        ofAccount = 0;
      }
      batch.push(email);
      const length = lengthOf(email.texts);
      characters += inBatch.has(email.texts) ? length / SHARED : length;
      ofAccount += length;
      inBatch.add(email.texts);
      if (Math.max(characters, ofAccount) >= MOST_CHARACTERS) await storeBatch();
    }
  }
  await storeBatch();
  return refused;
}

/** Yields texts of emails, without refused accounts; the next texts are read while these are processed. */
async function* readAhead(
  groups: Iterable<readonly UnindexedEmail[]>,
  refused: ReadonlySet<string>,
  { texts }: Pick<SearchableEmailsOptions, 'texts'>,
  signal: AbortSignal,
): AsyncGenerator<readonly IndexedEmail[]> {
  const read = async (group: readonly UnindexedEmail[]): Promise<readonly IndexedEmail[]> => {
    const some = group.filter(({ accountId }) => !refused.has(accountId));
    return some.length === 0 ? [] : indexedEmails(some, await texts.searchable(some, signal));
  };
  let before: ReturnType<typeof read> | undefined;
  for (const group of groups) {
    const reading = read(group);
    // An error is thrown by the later `await`.
    reading.catch(() => {});
    if (before !== undefined) yield await before;
    before = reading;
  }
  if (before !== undefined) yield await before;
}

function* readAtOnce(emails: readonly UnindexedEmail[]): Generator<readonly UnindexedEmail[]> {
  let some: UnindexedEmail[] = [];
  let blobs = new Set<string>();
  let octets = 0;
  for (const email of emails) {
    some.push(email);
    if (!blobs.has(email.blob)) octets += Math.min(email.size, LARGE_OCTETS);
    blobs.add(email.blob);
    if (octets < OCTETS_AT_ONCE) continue;
    yield some;
    some = [];
    blobs = new Set();
    octets = 0;
  }
  if (some.length > 0) yield some;
}

/** `found`: the texts of each email; emails with the same message share the object, and then their texts. */
function indexedEmails(emails: readonly UnindexedEmail[], found: readonly SearchableTexts[]): readonly IndexedEmail[] {
  const known = new Map<SearchableTexts, IndexedTexts>();
  return emails.map(({ accountId, id, subject, fromAddress, fromName }, n) => {
    const sender = `${fromName} ${fromAddress}`;
    const others = found[n]!;
    const before = known.get(others);
    if (before?.subject === subject && before.sender === sender) return { accountId, id, texts: before };
    const { recipients, attachments, body } = others;
    const texts = { subject, sender, recipients, attachments, body };
    if (before === undefined) known.set(others, texts);
    return { accountId, id, texts };
  });
}

const lengthOf = ({ subject, sender, recipients, attachments, body }: IndexedTexts): number =>
  subject.length + sender.length + recipients.length + attachments.length + body.length;
