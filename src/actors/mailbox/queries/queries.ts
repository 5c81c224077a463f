// Queries of a mailbox: order, counts and flags come from memory, texts from the store by primary key.
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import { outboundQueries } from '../outbound/queries.js';
import type { MailboxProtocol } from '../protocol.js';
import { countExported, exportedEmails, folderNamed, foundPage, type MailboxSearch } from '../search/search.js';
import type { MailboxState } from '../state/state.js';
import { Contacts } from './contacts.js';
import { details, listPage } from './email-views.js';
import { foundGroups, foundRows, MOST_FOUND } from './found-groups.js';
import { listFolder } from './lists.js';
import { knownThread, readThread } from './thread-views.js';

/** The most emails of a thread that are shown, the newest ones. */
const MOST_OF_THREAD = 500;
const DEFAULT_PAGE_SIZE = 20;

export function mailboxQueries(store: MailboxStore, search: MailboxSearch) {
  const contacts = new Contacts(store);
  return {
    ...outboundQueries(store),

    async list(state, { folder: name, ...criteria }) {
      const folder = folderNamed(state, name);
      if (folder === undefined) return { refusal: 'noSuchFolder' };
      return { reply: await listFolder(store, state, folder, criteria) };
    },

    async search(state, { page, pageSize, ...criteria }) {
      const found = await foundPage(state, search, criteria, page, pageSize);
      if ('refusal' in found) return found;
      const { slots, totalCount, unreadCount } = found;
      return { reply: { items: await listPage(store, state, slots), totalCount, unreadCount } };
    },

    async foundEmails(state, { groupByThread, rowsOf, ...criteria }) {
      if (groupByThread === true) return foundRows(store, state, criteria, rowsOf);
      const found = await foundPage(state, search, criteria, 1, MOST_FOUND);
      if ('refusal' in found) return found;
      const isCut = found.slots.length < found.totalCount;
      return { reply: foundGroups(state, { ...found, isCut }) };
    },

    async exportCount(state, criteria) {
      if (criteria.folder !== undefined && folderNamed(state, criteria.folder) === undefined)
        return { refusal: 'noSuchFolder' };
      return { reply: { count: await countExported(state, criteria) } };
    },

    async exportPage(state, { place: from, limit, ...criteria }) {
      const { slots, place } = await exportedEmails(state, criteria, from, limit);
      const ids = slots.map((slot) => state.emails.id(slot));
      const rows = new Map((await store.exportRows(state.accountId, ids)).map((row) => [row.id, row]));
      return { reply: { emails: ids.flatMap((id) => rows.get(id) ?? []), place } };
    },

    async detail(state, { emailId }) {
      const slot = state.findShown(emailId);
      const reply = slot < 0 ? undefined : (await details(store, state, [slot]))[0];
      return reply === undefined ? { refusal: 'noSuchEmail' } : { reply };
    },

    async thread(state, { threadId, page, pageSize = DEFAULT_PAGE_SIZE }) {
      const part = page === undefined ? { newest: MOST_OF_THREAD } : { page, pageSize };
      const reply =
        (await knownThread(store, state, threadId, part)) ?? (await readThread(store, state, threadId, part));
      return reply.total === 0 ? { refusal: 'noSuchThread' } : { reply };
    },

    async unreadCount(state) {
      return { reply: { unread: state.folderOf('inbox').shownRow.unread } };
    },

    async sentAddresses(state) {
      return { reply: { addresses: [...(await store.senders(state.accountId, state.folderOf('sent').row.id))] } };
    },

    async contacts(state, { text, limit }) {
      return { reply: { contacts: [...(await contacts.find(state, text, limit))] } };
    },

    async acceptance(state) {
      // Unclaimed mail is bounded, in whichever folder it is.
      const total = state.folderOf('inbox').row.total + (state.isUnclaimed ? state.folderOf('junk').row.total : 0);
      return { reply: { isUnclaimed: state.isUnclaimed, total } };
    },
  } satisfies Partial<QueryHandlers<MailboxProtocol, MailboxState>>;
}
