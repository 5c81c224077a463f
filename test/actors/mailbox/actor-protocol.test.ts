// Tests the two halves of the protocol of a mailbox actor: users and gateways see one, the delivery queue the other.

import { mailboxActorProtocol } from '../../../src/actors/mailbox/actor-protocol.js';
import { type DeliveryMailboxes, deliveryProtocol } from '../../../src/actors/mailbox/outbound/delivery-protocol.js';
import { type Mailboxes, mailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import test from '../../support/test.js';

test('the two halves share no operation, and the actor takes both', (t) => {
  const [users, queue] = [Object.keys(mailboxProtocol.operations), Object.keys(deliveryProtocol.operations)];
  t.deepEqual(
    users.filter((name) => queue.includes(name)),
    [],
  );
  t.deepEqual(Object.keys(mailboxActorProtocol.operations).toSorted(), [...users, ...queue].toSorted());
  t.is(deliveryProtocol.name, mailboxProtocol.name);
});

test('neither half can ask for what the other has: this file compiles', (t) => {
  function gateway(mailboxes: Mailboxes): void {
    // @ts-expect-error: the delivery queue alone starts deliveries
    void mailboxes.of('').ask('startDelivery', { outboundId: '', attempt: { id: '', by: '' }, supersedes: null });
    // @ts-expect-error: the delivery queue alone places notifications
    void mailboxes.of('').ask('giveDsn', { outboundId: '', kind: 'failed', report: null });
  }
  function queue(mailboxes: DeliveryMailboxes): void {
    // @ts-expect-error: users alone delete drafts
    void mailboxes.of('').ask('deleteDraft', { outboundId: '' });
    // @ts-expect-error: users alone delete mail
    void mailboxes.of('').ask('remove', { emailIds: [] });
  }
  t.is(typeof gateway, typeof queue);
});
