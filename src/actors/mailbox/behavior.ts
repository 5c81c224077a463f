// The mailbox actor: its commands and queries put together, and the commit between plan and evolve.
import type { MailboxStore } from '../../store/mailboxes.js';
import type { Behavior, CommandHandlers } from '../runtime/behavior.js';
import { deliver } from './deliver.js';
import { MailboxDraft } from './draft.js';
import { type MailboxProtocol, mailboxProtocol } from './protocol.js';
import { mailboxQueries } from './queries.js';
import { setRead } from './read-state.js';
import { expire, remove } from './removal.js';
import type { MailboxSearch } from './search.js';
import { loadMailbox, type MailboxState } from './state.js';

const commands: CommandHandlers<MailboxProtocol, MailboxDraft> = { deliver, setRead, remove, expire };

export function mailboxBehavior(
  store: MailboxStore,
  search: MailboxSearch,
): Behavior<MailboxProtocol, MailboxState, MailboxDraft> {
  return {
    protocol: mailboxProtocol,
    async load(accountId, epoch) {
      const loaded = await loadMailbox(store, accountId, epoch);
      if (loaded.kind === 'loaded') {
        const { emails } = loaded.state;
        if (emails.size > 0) search.indexing.note(accountId, emails.id(emails.size - 1));
      }
      return loaded;
    },
    draft: (state, context) => new MailboxDraft(state, context),
    commands,
    queries: mailboxQueries(store, search),
    position: (state) => state.modseq,
    octets: (state) => state.octets,
    isWorn: (state) => state.isWorn,

    recall: (state, id) => state.recall(id),

    async commit(state, draft, remembered) {
      const change = draft.change(remembered);
      if (change === undefined) return { kind: 'unchanged' };
      const result = await store.commit(change);
      if (result.kind === 'fenced') return result;
      if (result.kind === 'consumed') {
        state.rememberDelivered(result.inbound);
        return { kind: 'again' };
      }
      state.evolve(change);
      const newest = change.emailsAdded.at(-1);
      if (newest !== undefined) search.indexing.note(change.accountId, newest.id);
      const { modseqBefore, modseqAfter, events } = change;
      return { kind: 'committed', events: { after: modseqBefore, seq: modseqAfter, events } };
    },
  };
}
