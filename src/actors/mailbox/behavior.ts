// The mailbox actor: its commands and queries put together, and the commit between plan and evolve.
import type { MailboxStore } from '../../store/mailboxes.js';
import type { Behavior, CommandHandlers } from '../runtime/behavior.js';
import { deliver } from './deliver.js';
import { MailboxDraft } from './draft.js';
import { type MailboxProtocol, mailboxProtocol } from './protocol.js';
import { mailboxQueries } from './queries.js';
import { setRead } from './read-state.js';
import { expire, remove } from './removal.js';
import { loadMailbox, type MailboxState } from './state.js';

const commands: CommandHandlers<MailboxProtocol, MailboxDraft> = { deliver, setRead, remove, expire };

export function mailboxBehavior(store: MailboxStore): Behavior<MailboxProtocol, MailboxState, MailboxDraft> {
  return {
    protocol: mailboxProtocol,
    load: (accountId, epoch) => loadMailbox(store, accountId, epoch),
    draft: (state, context) => new MailboxDraft(state, context),
    commands,
    queries: mailboxQueries(store),
    position: (state) => state.modseq,
    octets: (state) => state.octets,
    isWorn: (state) => state.isWorn,

    recall: (state, id) => state.recall(id),

    async commit(state, draft, remembered) {
      const change = draft.change(remembered);
      if (change === undefined) {
        // What changes nothing, refusals as well, was decided on this state: a later owner may have another.
        const isNewest = await store.isNewest(state.accountId, draft.epoch, state.modseq);
        return { kind: isNewest ? 'unchanged' : 'fenced' };
      }
      const result = await store.commit(change);
      if (result.kind === 'fenced') return result;
      if (result.kind === 'consumed') {
        state.rememberDelivered(result.inbound);
        return { kind: 'again' };
      }
      state.evolve(change);
      const { modseqBefore, modseqAfter, events } = change;
      return { kind: 'committed', events: { after: modseqBefore, seq: modseqAfter, events } };
    },
  };
}
