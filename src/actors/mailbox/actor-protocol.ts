// All operations of the mailbox actor: those that users ask for and those that the delivery queue asks for. Only the actor's host uses
// this; callers hold `Mailboxes` or `DeliveryMailboxes`, each of which shows its own half.
import { protocol } from '../runtime/protocol.js';
import type { Refs } from '../runtime/ref.js';
import { deliveryProtocol } from './outbound/delivery-protocol.js';
import { mailboxProtocol } from './protocol.js';

export const mailboxActorProtocol = protocol(mailboxProtocol.name, {
  operations: { ...mailboxProtocol.operations, ...deliveryProtocol.operations },
  events: mailboxProtocol.events,
});

export type MailboxActorProtocol = typeof mailboxActorProtocol;
export type MailboxActors = Refs<MailboxActorProtocol>;
