// The type of the handlers of a mailbox's commands: a handler plans on a transaction, and declares beside its plan what it reads before.
import type { CommandHandlers } from '../../runtime/behavior.js';
import type { Protocol } from '../../runtime/protocol.js';
import type { MailboxState } from '../state/state.js';
import type { MailboxTransaction } from '../state/transaction.js';
import type { CommandReads } from './prefetch.js';

export type MailboxHandlers<P extends Protocol> = CommandHandlers<P, MailboxTransaction, MailboxState, CommandReads>;
