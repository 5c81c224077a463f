// Tests addresses that clients send: one that deceives a reader, or would reach another domain than the written one, is 400.
import test from '../../support/test.js';
import { startGateway } from './gateway.js';

const SEND = { fromAddress: 'alice@example.test', subject: 'Hi', textBody: 'Hello' };

test('an address with unseen characters, or of a domain that would become another one, is refused', async (t) => {
  const gateway = await startGateway(t);
  for (const address of ['b@ex\u2460mple.test', 'b\u202e@remote.test', 'b\u2066@remote.test', 'b@re\u00admote.test']) {
    const json = { ...SEND, recipients: [{ address, type: 'To' }] };
    const sent = await gateway.fetch('/api/outbound/send', { method: 'POST', json });
    t.is(sent.status, 400, address);
    t.deepEqual(Object.keys(((await sent.json()) as { errors: object }).errors), ['recipients[0].address']);
    const added = await gateway.fetch('/api/profile/addresses', { method: 'POST', json: { address } });
    t.is(added.status, 400, address);
  }
  t.false(gateway.mailboxes.asked.some(({ name }) => name.startsWith('enqueue')));
});
