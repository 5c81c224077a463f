// Answers whom an account has written to, from the newest emails in Sent. The list of an account is made at its first question and cached;
// later questions read only what came into Sent since. When an email has left Sent, the list is made again.
import { type BudgetedCache, CacheBudget } from '../../../concurrency/cache-budget.js';
import { uuidTime } from '../../../mail-format/ids.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { FolderColumns } from '../state/folder-columns.js';
import type { MailboxState } from '../state/state.js';
import { type Contact, ContactList } from './contact-list.js';

/** The newest emails of Sent that count. */
const MOST_EMAILS = 5_000;
/** The recipients of one email that count: those after them got it as one of many. */
const MOST_RECIPIENTS = 100;
/** The emails that one statement reads. */
const PAGE = 500;
const NODE_OCTETS = 32 * 1024 * 1024;

interface SentEmail {
  readonly id: string;
  readonly at: number;
}

/** The contacts of one account, and which emails of Sent they come from. */
class AccountContacts implements BudgetedCache {
  readonly name: string;
  readonly list = new ContactList();
  readonly uidValidity: number;
  /** The first UID that has not been read, and the emails of Sent before it. */
  nextUid = 1;
  count = 0;
  isDropped = false;
  /** The reading under way; questions that come meanwhile wait for it. */
  reading: Promise<void> = Promise.resolve();

  constructor(accountId: string, uidValidity: number) {
    this.name = accountId;
    this.uidValidity = uidValidity;
  }

  get octets(): number {
    return this.isDropped ? 0 : this.list.octets + 1;
  }

  clear(): void {
    this.isDropped = true;
  }
}

export class Contacts {
  readonly #store: Pick<MailboxStore, 'recipientsOf' | 'blindRecipients'>;
  readonly #budget = new CacheBudget<AccountContacts>(NODE_OCTETS);

  constructor(store: Pick<MailboxStore, 'recipientsOf' | 'blindRecipients'>) {
    this.#store = store;
  }

  /** @throws StoreFault */
  async find(state: MailboxState, text: string, limit: number): Promise<readonly Contact[]> {
    const contacts = this.#contactsOf(state);
    await contacts.reading;
    return contacts.list.find(text, limit);
  }

  /** The contacts with everything that is in Sent now, as soon as their reading is done. */
  #contactsOf(state: MailboxState): AccountContacts {
    const { accountId } = state;
    const sent = state.folderOf('sent');
    const known = this.#budget.cache(accountId);
    const from = known === undefined ? 0 : sent.indexOfUid(known.nextUid);
    const isCurrent = known?.uidValidity === sent.row.uidValidity && known.count === from;
    const contacts = known !== undefined && isCurrent ? known : new AccountContacts(accountId, sent.row.uidValidity);
    const first = Math.max(isCurrent ? from : 0, sent.count - MOST_EMAILS);
    const emails = sentFrom(state, sent, first);
    contacts.nextUid = sent.row.uidNext;
    contacts.count = sent.count;
    contacts.reading = this.#read(contacts, emails);
    this.#budget.use(contacts);
    return contacts;
  }

  /** Waits for the reading before. After a fault the next question begins anew. */
  async #read(contacts: AccountContacts, emails: readonly SentEmail[]): Promise<void> {
    const before = contacts.reading;
    try {
      await before;
      for (let at = 0; at < emails.length; at += PAGE) {
        await this.#readPage(contacts, emails.slice(at, at + PAGE));
      }
    } catch (error) {
      contacts.clear();
      throw error;
    } finally {
      if (this.#budget.cache(contacts.name) === contacts) this.#budget.use(contacts);
    }
  }

  async #readPage({ name: accountId, list }: AccountContacts, emails: readonly SentEmail[]): Promise<void> {
    const ids = emails.map(({ id }) => id);
    const [named, blind] = await Promise.all([
      this.#store.recipientsOf(accountId, ids, MOST_RECIPIENTS, ['to', 'cc', 'bcc']),
      this.#store.blindRecipients(accountId, ids),
    ]);
    for (const { id, at } of emails) {
      const people = new Map<string, Contact>();
      for (const { address, name } of named.get(id) ?? []) people.set(address, { address, displayName: name });
      for (const { address, displayName } of blind.get(id)?.slice(0, MOST_RECIPIENTS) ?? []) {
        if (!people.has(address)) people.set(address, { address, displayName: displayName ?? '' });
      }
      list.add(at, people.values());
    }
  }
}

/** Emails from a position in UID order on. One that claims to be received later than it came counts as received then. */
function sentFrom(state: MailboxState, sent: FolderColumns, first: number): SentEmail[] {
  const emails: SentEmail[] = [];
  for (let i = first; i < sent.count; i++) {
    const slot = sent.slotAt(i);
    if (!sent.shows(slot)) continue;
    const id = state.emails.id(slot);
    emails.push({ id, at: Math.min(state.emails.receivedAt(slot), uuidTime(id)) });
  }
  return emails;
}
