// Tests nodes of two versions side by side (decision 0013), under load. The test plays the others: a newer node, whose packets and
// events have unknown fields and types, and an older one that owns mailboxes and knows none of the operations.
import { randomUUID } from 'node:crypto';
import { connect } from 'nats';
import { pino } from 'pino';
import { createAccount } from '../../../dev/node-accounts.js';
import { urlsOf } from '../../../dev/servers/nats-server.js';
import { rendezvous } from '../../../src/actors/runtime/ownership/rendezvous.js';
import { encode } from '../../../src/actors/runtime/transport/packet-batch.js';
import {
  eventSubject,
  nodeSubject,
  PLACEMENT_SUBJECT,
  requestSubject,
} from '../../../src/actors/runtime/transport/subjects.js';
import type { Transport } from '../../../src/actors/runtime/transport/transport.js';
import { natsTransport } from '../../../src/actors/runtime/transport/transport-nats.js';
import type { LeaseStore } from '../../../src/store/leases.js';
import { postgresLeases } from '../../../src/store/postgres/leases.js';
import { shardOf } from '../../../src/store/shard.js';
import { askRaw } from '../../support/cluster/raw-request.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';
import { Witness } from './support/witness.js';

/** In ms. The older node renews its leases in this process, which may be busy. */
const TTL_MS = 30_000;

testWith('nats-server')('what a newer node says is passed over, and not what it is about', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 2, accounts: 6, leaseTtlMs: PATIENT_TTL_MS });
  await cluster.settled();
  const followers = await cluster.follow();
  const load = cluster.load();
  await load.more(50);

  const clusterId = await postgresLeases(cluster.sql).clusterId();
  const bus = await connect({ servers: urlsOf(cluster.nats).split(',') });
  t.teardown(() => bus.close());
  const on = (subject: string) => `mansio.${clusterId}.${subject}`;
  const ask = async (accountId: string, packet: object) => {
    const shard = shardOf(accountId, (await cluster.view()).leases.length);
    const request = { v: 1, id: randomUUID(), accountId, deadline: Date.now() + 10_000, ...packet };
    const subject = requestSubject('mailbox', shard);
    return askRaw(bus, on(subject), [subject, request]);
  };
  const witness = await Witness.create(cluster.sql);
  const { id } = witness.account;
  const emailId = await witness.receive(cluster.nodes[0]!, 'read by a newer node');
  const known = { name: 'setRead', payload: { emailIds: [emailId], isRead: true, until: 'tomorrow' } };
  t.is((await ask(id, { ...known, priority: 1 })).kind, 'reply');
  t.like(await ask(id, { name: 'snooze', payload: {} }), { kind: 'fault', code: 'unsupported' });
  t.like(await ask(id, { name: 'toString', payload: {} }), { kind: 'fault', code: 'unsupported' });
  t.like(await ask(id, { ...known, v: 2 }), { kind: 'fault', code: 'unsupported' });
  const named = await askRaw(bus, on(nodeSubject('node-1')), [nodeSubject('node-1'), { v: 2, purpose: 'greeting' }]);
  t.like(named, { kind: 'fault', code: 'unsupported' });

  // Another version has committed and published these events for a followed account.
  const followed = cluster.accounts[0]!;
  for (let i = 0; i < 3; i++) {
    const [row] = await cluster.sql<[{ seq: string }]>`
      with changed as (update accounts set modseq = modseq + 1 where id = ${followed.id} returning id, modseq)
      insert into events (account_id, seq, entries, at)
      select id, modseq, '[{"type":"EmailSnoozed","payload":{"until":"tomorrow"}}]', now() from changed returning seq`;
    const seq = Number(row.seq);
    const event = { seq, n: 0, type: 'EmailSnoozed', at: Date.now(), payload: { until: 'tomorrow' }, by: 'newer' };
    const packet = { v: 1, accountId: followed.id, after: seq - 1, seq, events: [event], shard: 1 };
    bus.publish(on(eventSubject('mailbox', followed.id)), encode(packet));
    for (const strange of [{ ...packet, v: 2, events: 'packed' }, { v: 1 }, [], 'text', null]) {
      bus.publish(on(eventSubject('mailbox', followed.id)), encode(strange));
      bus.publish(on(PLACEMENT_SUBJECT), encode(strange));
    }
    const news = { v: 1, node: 'newer', shards: [0], crashed: false };
    for (const kind of ['rebalanced', 'settled', 'freed', 'gone']) {
      bus.publish(on(PLACEMENT_SUBJECT), encode({ ...news, kind, gone: 'nobody', reason: 'weight' }));
    }
    bus.publish(on(PLACEMENT_SUBJECT), 'no packet');
    await bus.flush();
    await load.more(30);
  }
  await cluster.settled();
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});

testWith('nats-server')('what an older owner does not know is answered 503 until the next owner', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 1, accounts: 3 });
  await cluster.settled();
  const leases = postgresLeases(cluster.sql);
  const transport = await natsTransport({
    servers: urlsOf(cluster.nats).split(','),
    clusterId: await leases.clusterId(),
    nodeId: 'older',
    log: pino({ level: 'silent' }),
  });
  t.teardown(() => transport.close());
  const older = await OlderNode.join(leases, transport);
  t.teardown(() => older.leave());

  const [node] = cluster.nodes;
  let account = await createAccount(cluster.sql, 'old@example.test');
  for (let i = 0; !older.owns(account.id); i++) account = await createAccount(cluster.sql, `old${i}@example.test`);
  const status = async (path: string) => {
    const reply = await fetch(`${node!.http}${path}`, { headers: { authorization: `Bearer ${account.key}` } });
    return `${reply.status} ${reply.headers.get('content-type')}`;
  };
  t.is(await status('/api/emails'), '503 application/problem+json');
  await older.leave();
  await eventually('the next owner to answer', async () => (await status('/api/emails')).startsWith('200'));
  await cluster.settled();
  t.true(node!.running);
});

/** Owns the shards that placement gives it, and knows no operation. */
class OlderNode {
  readonly #leases: LeaseStore;
  readonly #entry = {
    id: 'older',
    incarnation: randomUUID(),
    version: '0.2.0',
    roles: ['mailbox'],
    bus: 'nats',
  } as const;
  readonly #owned = new Set<number>();
  #shards = 0;
  #beating: NodeJS.Timeout | undefined;
  #left: Promise<void> | undefined;

  private constructor(leases: LeaseStore) {
    this.#leases = leases;
  }

  /** Resolves when the node has its shards. */
  static async join(leases: LeaseStore, transport: Transport): Promise<OlderNode> {
    const node = new OlderNode(leases);
    transport.respond(nodeSubject(node.#entry.id), async () => ({ kind: 'reply', reply: null }));
    await leases.join(node.#entry, TTL_MS);
    await eventually('the older node to get its share', async () => {
      const view = await leases.heartbeat(node.#entry, 'serving', TTL_MS);
      const names = view!.nodes.map(({ id }) => id);
      node.#shards = view!.leases.length;
      const due = view!.leases.filter(({ shard }) => rendezvous(shard, names) === node.#entry.id);
      // It takes shards that were handed to it like free ones, because it does not know the notice of a handover.
      const open = due.filter(
        ({ shard, nodeId }) => !node.#owned.has(shard) && (nodeId === null || nodeId === 'older'),
      );
      for (const { shard } of await leases.take(node.#entry.id, open, TTL_MS)) {
        node.#owned.add(shard);
        const message = 'this node does not know the operation';
        const reply = { kind: 'fault', code: 'unsupported', message } as const;
        await transport.respond(requestSubject('mailbox', shard), async () => reply).ready;
      }
      return node.#owned.size === due.length;
    });
    node.#beating = setInterval(
      () => void leases.heartbeat(node.#entry, 'serving', TTL_MS).catch(() => {}),
      TTL_MS / 3,
    );
    return node;
  }

  owns(accountId: string): boolean {
    return this.#owned.has(shardOf(accountId, this.#shards));
  }

  leave(): Promise<void> {
    clearInterval(this.#beating);
    this.#left ??= this.#leases.leave(this.#entry);
    return this.#left;
  }
}
