// Tests mail for domains of this store on a real directory: who gets it, who cannot, and what is left to the other transport.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { DeliveryTask, DeliveryTransport } from '../../../src/actors/delivery/delivery-transport.js';
import { hostedDelivery, localDeliveryTransport } from '../../../src/actors/delivery/local-transport.js';
import { messageFacts } from '../../../src/actors/delivery/message-facts.js';
import { createDirectory } from '../../../src/actors/directory/directory.js';
import type { Directory } from '../../../src/actors/directory/protocol.js';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import type { Room } from '../../../src/actors/quotas/room.js';
import { blobOf } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { postgresBlobs } from '../../../src/store/postgres/mailbox/blobs.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';
import { turns } from '../../support/turns.js';
import { answer } from './outbound-world.js';

async function setUp(t: ExecutionContext, unknownRecipients: 'hold' | 'reject' = 'hold') {
  const { address } = await migratedDatabase(t);
  const sql = connect(address, { max: 4, applicationName: 'test' });
  const [accounts, blobs] = [postgresDirectory(sql, 4), postgresBlobs(sql)];
  await accounts.addDomain('here.test');
  const state = { total: 0 };
  const mailboxes = {
    of: () => ({ ask: async () => ({ reply: { isUnclaimed: true, total: state.total } }) }),
  } as unknown as Mailboxes;
  const directory = await createDirectory({ store: accounts, mailboxes, unknownRecipients, log: { info() {} } });
  t.teardown(async () => {
    await directory.close();
    await sql.end();
  });
  const left: DeliveryTask[] = [];
  const remote: DeliveryTransport = {
    async deliver(task) {
      left.push(task);
      return answer(task, 'temporary');
    },
    destinationOf: async () => 'smart host h:587',
  };
  const rooms = new Map<string, Room>();
  const quotas = { roomFor: async (accountId: string) => rooms.get(accountId) ?? ('room' as const) };
  const make = (used: Pick<Directory, 'recipient' | 'openUnclaimed'>) =>
    localDeliveryTransport(
      hostedDelivery({
        directory: used,
        facts: messageFacts(blobs),
        quotas,
        hostname: 'mx.here.test',
        newId: randomUUID,
      }),
      remote,
    );

  async function task(addresses: readonly string[], header = 'Subject: hello\r\n'): Promise<DeliveryTask> {
    const content = blobOf(Buffer.from(`${header}\r\nbody\r\n`));
    await blobs.put(content);
    return {
      accountId: randomUUID(),
      outboundId: randomUUID(),
      sender: 'a@here.test',
      domain: addresses[0]!.slice(addresses[0]!.lastIndexOf('@') + 1),
      recipients: addresses.map((address, i) => ({ id: `r${i}`, address })),
      blob: content.hash,
      size: content.size,
      signal: new AbortController().signal,
      connect: () => undefined,
    };
  }
  const outcomes = async (addresses: readonly string[], header?: string) => {
    const report = await make(directory).deliver(await task(addresses, header));
    return report.outcomes.map(({ kind, statusCode, ...rest }) => [
      kind,
      statusCode,
      'localAccountIds' in rest && rest.localAccountIds?.join(),
    ]);
  };
  return { accounts, directory, outcomes, task, make, left, state, rooms };
}

test('mail goes to the mailbox of its address, whatever tag and case it has', async (t) => {
  const { accounts, directory, make, task, left } = await setUp(t);
  const ann = await accounts.createAccount('ann@here.test', 'Ann');
  await accounts.addAddress(ann.id, 'sales@here.test', true);
  const addresses = ['Ann@here.test', 'ann+list@here.test', 'sales@here.test'];
  const { outcomes, attempts } = await make(directory).deliver(await task(addresses));
  const delivered = {
    kind: 'delivered',
    statusCode: '2.1.5',
    localAccountIds: [ann.id],
    host: 'mx.here.test',
  } as const;
  t.deepEqual(
    outcomes,
    addresses.map((_, i) => ({ ...delivered, recipientId: `r${i}`, text: 'Delivered to the mailbox.' })),
  );
  t.is(attempts.length, 1);
  t.like(attempts[0]!, { domain: 'here.test', host: 'mx.here.test', tls: null, reply: 'Delivered to the mailbox.' });
  t.deepEqual(
    attempts[0]!.recipients.map(({ id, outcome }) => [id, outcome]),
    addresses.map((_, i) => [`r${i}`, 'delivered']),
  );
  t.deepEqual(left, []);
});

test('an alias hands the message to each of its mailboxes, or fails for all', async (t) => {
  const { accounts, outcomes, rooms } = await setUp(t);
  const [ann, bob] = [
    await accounts.createAccount('ann@here.test', 'A'),
    await accounts.createAccount('bob@here.test', 'B'),
  ];
  const alias = (name: string, ...targets: string[]) =>
    accounts.addAlias({ address: `${name}@here.test`, targets: targets.map((to) => `${to}@here.test`), sendAs: false });
  await alias('team', 'ann', 'bob');
  await alias('one', 'bob');
  const both = ['delivered', '2.1.5', [ann.id, bob.id].join()];
  t.deepEqual(await outcomes(['team@here.test', 'one@here.test']), [both, ['delivered', '2.1.5', bob.id]]);
  // A full mailbox keeps no mail from the others.
  rooms.set(ann.id, 'fullForLong');
  t.deepEqual(await outcomes(['team@here.test']), [both]);
  rooms.set(bob.id, 'full');
  t.deepEqual(await outcomes(['team@here.test']), [['temporary', '4.2.2', false]]);
});

test('a mailbox without room is tried again, until it has been full for days', async (t) => {
  const { accounts, outcomes, rooms } = await setUp(t);
  const [ann, bob] = [
    await accounts.createAccount('ann@here.test', 'A'),
    await accounts.createAccount('bob@here.test', 'B'),
  ];
  rooms.set(ann.id, 'full');
  t.deepEqual(await outcomes(['ann@here.test', 'bob@here.test']), [
    ['temporary', '4.2.2', false],
    ['delivered', '2.1.5', bob.id],
  ]);
  rooms.set(ann.id, 'fullForLong');
  t.deepEqual(await outcomes(['ann@here.test']), [['permanent', '5.2.2', false]]);
});

test('a domain of elsewhere is the other transport’s', async (t) => {
  const { outcomes, left } = await setUp(t);
  t.deepEqual(await outcomes(['bob@there.test']), [['temporary', '2.0.0', false]]);
  t.is(left[0]!.domain, 'there.test');
});

test('unknown addresses get an unclaimed mailbox each, or are rejected', async (t) => {
  const { outcomes, accounts } = await setUp(t);
  const [first, second, again] = await outcomes(['new@here.test', 'other@here.test', 'new+x@here.test']);
  t.is(first![0], 'delivered');
  t.is(first![2], again![2]);
  t.not(first![2], second![2]);
  t.is((await accounts.ownerOf('new@here.test'))!.accountId, first![2] as string);
  const rejecting = await setUp(t, 'reject');
  const ann = await rejecting.accounts.createAccount('ann@here.test', 'Ann');
  t.deepEqual(await rejecting.outcomes(['new@here.test', 'ann@here.test']), [
    ['permanent', '5.1.1', false],
    ['delivered', '2.1.5', ann.id],
  ]);
});

test('an unclaimed mailbox that is full takes nothing for now, others do', async (t) => {
  const { outcomes, accounts, state } = await setUp(t);
  await accounts.openUnclaimed('held@here.test', 10);
  const ann = await accounts.createAccount('ann@here.test', 'Ann');
  state.total = 100;
  t.deepEqual(await outcomes(['held@here.test', 'ann@here.test']), [
    ['temporary', '4.2.1', false],
    ['delivered', '2.1.5', ann.id],
  ]);
});

test('what is in a mail loop is refused for good', async (t) => {
  const { outcomes, accounts } = await setUp(t);
  const ann = await accounts.createAccount('ann@here.test', 'Ann');
  await accounts.createAccount('bob@here.test', 'Bob');
  t.deepEqual(await outcomes(['ann@here.test', 'bob+x@here.test'], 'Delivered-To: BOB@here.test\r\n'), [
    ['delivered', '2.1.5', ann.id],
    ['permanent', '5.4.6', false],
  ]);
  // The limit is fifty fields, and one more of our own.
  const received = (times: number) => 'Received: from a by b\r\n'.repeat(times);
  t.deepEqual(await outcomes(['ann@here.test'], received(52)), [['permanent', '5.4.6', false]]);
  t.deepEqual(await outcomes(['ann@here.test'], received(51)), [['delivered', '2.1.5', ann.id]]);
});

test('a directory that cannot be read is temporary, a message that cannot be read is a fault', async (t) => {
  const { directory, make, task } = await setUp(t);
  let reads = 0;
  const broken = {
    openUnclaimed: (...opened: Parameters<typeof directory.openUnclaimed>) => directory.openUnclaimed(...opened),
    recipient: async (address: string) => {
      // The first read decides whether the domain is hosted.
      if (reads++ === 0) return directory.recipient(address);
      throw new StoreFault('store-unavailable', 'away', { temporary: true });
    },
  };
  const { outcomes } = await make(broken).deliver(await task(['x@here.test']));
  t.like(outcomes[0]!, { kind: 'temporary', statusCode: '4.3.0', host: 'mx.here.test' });
  const unread = { ...(await task(['x@here.test'])), blob: '0'.repeat(64) };
  await t.throwsAsync(make(directory).deliver(unread), { instanceOf: StoreFault });
});

test('a domain that is taken away meanwhile is tried again, by the other way then', async (t) => {
  const { directory, make, task } = await setUp(t);
  let reads = 0;
  const moving = {
    openUnclaimed: (...opened: Parameters<typeof directory.openUnclaimed>) => directory.openUnclaimed(...opened),
    recipient: async (address: string) =>
      reads++ === 0 ? directory.recipient(address) : ({ kind: 'notHosted' } as const),
  };
  const { outcomes } = await make(moving).deliver(await task(['x@here.test']));
  t.like(outcomes[0]!, { kind: 'temporary', statusCode: '4.4.4' });
});

test('mail to a hosted domain shares nothing with a smart host', async (t) => {
  const { directory, make, task } = await setUp(t);
  const transport = make(directory);
  t.is(await transport.destinationOf!(await task(['x@here.test'])), 'here.test');
  t.is(await transport.destinationOf!(await task(['x@elsewhere.test'])), 'smart host h:587');
});

test('recipients are looked up together; a message goes to a thousand mailboxes at a time, or to those of one recipient', async (t) => {
  const { directory, make, task } = await setUp(t);
  const under = { way: 0, most: 0 };
  const transport = make({
    openUnclaimed: (...asked) => directory.openUnclaimed(...asked),
    async recipient(address) {
      under.most = Math.max(under.most, ++under.way);
      await turns(2);
      under.way--;
      const mailboxes = Array.from({ length: Number(address.split('@')[0]) }, (_, i) => {
        return { kind: 'mailbox' as const, accountId: `${address} ${i}` };
      });
      const [first, second, ...others] = mailboxes;
      return second === undefined ? first! : { kind: 'several', mailboxes: [first!, second, ...others] };
    },
  });
  const delivered = async (...counts: number[]) => {
    const { outcomes } = await transport.deliver(await task(counts.map((count) => `${count}@here.test`)));
    t.true(outcomes.every(({ kind }) => kind === 'delivered'));
    return outcomes.map(({ recipientId }) => counts[Number(recipientId.slice(1))]);
  };
  t.deepEqual(await delivered(600, 500, 400, 1), [600, 400], 'the others stay due, without a failed attempt');
  t.deepEqual(await delivered(600, 600, 400), [600, 600, 400], 'each mailbox counts once');
  t.is(under.most, 4);
  t.deepEqual(await delivered(1_200, 1), [1_200]);
});
