// Tests when the MX listener says that a message is accepted: after its commit, by the mailbox or by the store, and although the mailbox
// fails later or the peer leaves.
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { StoreFault } from '../../../src/store/errors.js';
import type { InlineMessage } from '../../../src/store/inline/inline-message.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';
import { listen, MESSAGE } from './listener.js';

test('faults: nothing committed is a temporary refusal, a mailbox that fails later is not', async (t) => {
  const { address, behave, stored, spool } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const send = async (): Promise<string> => {
    const { code, text } = await client.send('', ['alice@example.test', 'bob@example.test'], MESSAGE);
    return `${code} ${text.split(' ')[0]}`;
  };
  behave.spool = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));
  t.is(await send(), '451 4.3.0');
  const full = Object.assign(new Error('disk full'), { code: '53100' });
  behave.spool = () => Promise.reject(new StoreFault('store-failed', 'full', { temporary: true, cause: full }));
  t.is(await send(), '452 4.3.1');
  delete behave.spool;
  behave.recipient = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));
  await client.command('MAIL FROM:<>');
  t.regex((await client.command('RCPT TO:<alice@example.test>')).text, /^4\.3\.0 /);
  await client.command('RSET');
  delete behave.recipient;
  t.is(stored.length, 0);
  behave.deliver = (accountId) =>
    accountId === 'bob' ? Promise.resolve('e') : Promise.reject(new ActorFault('unreachable', 'no owner'));
  t.is(await send(), '250 2.0.0');
  behave.deliver = () => Promise.reject(new TypeError('bug'));
  t.is(await send(), '250 2.0.0');
  t.is(stored.length, 2);
  behave.spool = () => Promise.reject(new TypeError('bug'));
  t.is(await send(), '421 4.3.0');
  t.deepEqual(await client.rest(), []);
  t.is(spool.memory.used, 0);
});

test('a mailbox that never answers does not keep the peer waiting', async (t) => {
  const { address, behave, stored } = await listen(t);
  behave.deliver = () => new Promise(() => undefined);
  const client = await SmtpClient.greeted(address);
  t.is((await client.send('', ['alice@example.test'], MESSAGE)).code, 250);
  t.is(stored.length, 1);
});

test('a message that a mailbox of this node takes is not stored before; what it does not take is', async (t) => {
  const { address, behave, stored, asked, logged, spool } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const inline: string[] = [];
  const send = async (to: readonly string[] = ['alice'], text = MESSAGE): Promise<string> => {
    const addresses = to.map((name) => `${name}@example.test`);
    const { code, text: reply } = await client.send('', addresses, text);
    return `${code} ${reply.split(' ')[0]}`;
  };
  behave.owns = (accountId) => accountId !== 'bob';
  behave.acceptInline = async (inlineMessage) => {
    inlineMessage.accept();
    inline.push(Buffer.concat([...(inlineMessage.message.content.chunks() as Iterable<Uint8Array>)]).toString());
    inlineMessage.shared?.message.stored();
    inlineMessage.committed({ emailId: 'taken' });
  };
  t.is(await send(), '250 2.0.0');
  t.is(inline.length, 1);
  t.true(inline[0]!.endsWith(`${MESSAGE}\r\n`));
  t.deepEqual([stored.length, asked.length], [0, 0]);
  const line = logged.find((each) => each['msg'] === 'message accepted');
  t.like((line!['recipients'] as unknown[])[0], { accountId: 'alice', emailId: 'taken' });

  t.is(await send(['bob']), '250 2.0.0');
  t.is(await send(['alice'], `${MESSAGE}${'x'.repeat(300_000)}`), '250 2.0.0');
  t.deepEqual([inline.length, stored.length, asked.length], [1, 2, 2]);

  // The first of several mailboxes stores the message; mailboxes of other nodes read it from there.
  t.is(await send(['alice', 'bob', 'carol']), '250 2.0.0');
  t.deepEqual([inline.length, stored.length, asked.length], [3, 2, 3]);
  t.is(asked[2]!.accountId, 'bob');
  const { recipients } = logged.findLast((each) => each['msg'] === 'message accepted')!;
  t.deepEqual(
    (recipients as { emailId: string }[]).map(({ emailId }) => emailId),
    ['taken', 'email-bob', 'taken'],
  );

  behave.acceptInline = () => Promise.reject(new ActorFault('unreachable', 'no owner'));
  t.is(await send(), '250 2.0.0');
  behave.acceptInline = async (inlineMessage) => {
    inlineMessage.accept();
    inlineMessage.released();
  };
  t.is(await send(), '250 2.0.0');
  t.is(await send(['alice', 'carol']), '250 2.0.0');
  t.is(stored.length, 5);
  behave.acceptInline = async (inlineMessage) => {
    inlineMessage.accept();
    // The commit ends after the ask.
    setImmediate(() =>
      inlineMessage.failed(new StoreFault('store-unavailable', 'the answer is lost', { temporary: true })),
    );
  };
  t.is(await send(), '451 4.3.0');
  t.is(await send(['alice', 'carol']), '451 4.3.0');
  t.is(stored.length, 5);
  t.is(spool.memory.used, 0);
});

test('a message is stored when its mailbox does not take it in time', async (t) => {
  const { address, behave, stored } = await listen(t);
  behave.owns = () => true;
  let inlineMessage: InlineMessage | undefined;
  behave.acceptInline = (inline) => {
    inlineMessage = inline;
    return new Promise(() => undefined);
  };
  const client = await SmtpClient.greeted(address);
  t.is((await client.send('', ['alice@example.test'], MESSAGE)).code, 250);
  t.is(stored.length, 1);
  t.false(inlineMessage!.isOpen);
  t.throws(() => inlineMessage!.accept());
});

test('a peer that leaves before the reply: what was committed is delivered', async (t) => {
  const { address, behave, asked, stored } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const left = deferred();
  const asking = deferred();
  behave.spool = () => left.promise;
  behave.deliver = () => {
    asking.resolve();
    return Promise.resolve('e');
  };
  await client.envelope('', 'alice@example.test');
  client.write(`${MESSAGE}\r\n.\r\n`);
  client.destroy();
  left.resolve();
  await asking.promise;
  t.is(stored.length, 1);
  t.is(asked.length, 1);
});

test('a peer that leaves in the middle of DATA: nothing is stored, nothing is kept', async (t) => {
  const { address, stored, spool, listener, logged } = await listen(t);
  const client = await SmtpClient.greeted(address);
  await client.envelope('', 'alice@example.test');
  await client.segments([Buffer.from('Subject: x\r\n\r\n'), Buffer.alloc(300_000, 'x'), Buffer.from('\r\n.\r')]);
  client.destroy();
  await listener.stop(60_000);
  t.is(stored.length, 0);
  t.is(spool.memory.used, 0);
  t.true(logged.some((l) => l['reason'] === 'connectionLost'));
});
