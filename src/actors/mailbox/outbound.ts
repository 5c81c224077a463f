// STUB: replaced by the core of outbound mail.
import type { CommandHandlers, QueryHandlers } from '../runtime/behavior.js';
import type { MailboxDraft } from './draft.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxState } from './state.js';

type CommandNames =
  | 'createDraft'
  | 'updateDraft'
  | 'deleteDraft'
  | 'enqueue'
  | 'startDelivery'
  | 'reportDelivery'
  | 'giveReport'
  | 'manageOutbound';
type QueryNames = 'outbound' | 'outboundPage' | 'outboundTimeline' | 'reportMaterial';

const stub = (): never => {
  throw new Error('not there yet');
};

export const outboundCommands: Pick<CommandHandlers<MailboxProtocol, MailboxDraft>, CommandNames> = {
  createDraft: stub,
  updateDraft: stub,
  deleteDraft: stub,
  enqueue: stub,
  startDelivery: stub,
  reportDelivery: stub,
  giveReport: stub,
  manageOutbound: stub,
};

export const outboundQueries: Pick<QueryHandlers<MailboxProtocol, MailboxState>, QueryNames> = {
  outbound: stub,
  outboundPage: stub,
  outboundTimeline: stub,
  reportMaterial: stub,
};
