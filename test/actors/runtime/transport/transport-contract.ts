// Defines what every transport must do, whatever carries the packets. Each implementation has a test file that runs it, and runs
// it again for two nodes where there can be two.
import type { TestFn } from 'ava';
import { firstValueFrom } from 'rxjs';
import type { EventPacket, ReplyPacket, RequestPacket } from '../../../../src/actors/runtime/transport/packet.js';
import {
  Disconnected,
  NoResponders,
  RequestTimeout,
  type Transport,
} from '../../../../src/actors/runtime/transport/transport.js';
import { deferred } from '../../../support/deferred.js';

/** The ends of a conversation; on one node they are the same transport. */
export interface Ends {
  readonly asker: Transport;
  readonly owner: Transport;
}

export const request = (name: string, payload: unknown = {}): RequestPacket => ({
  v: 1,
  id: 'b7c0f6f2-7f1e-4d3c-9a53-2f6f6a0f8d11',
  accountId: '00000000-0000-7000-8000-000000000001',
  name,
  payload,
  deadline: Date.now() + 60_000,
});

export const events = (seq: number, payload: unknown = { seq }): EventPacket => ({
  v: 1,
  accountId: '00000000-0000-7000-8000-000000000001',
  after: seq - 1,
  seq,
  events: [{ seq, n: 0, type: 'Tested', at: 0, payload }],
});

export const echo = async (packet: RequestPacket): Promise<ReplyPacket> => ({ kind: 'reply', reply: packet.payload });

/** `all` resolves with the packets so far when `count` of them have arrived. */
export function collected(transport: Transport, subject: string, count: number) {
  const packets: EventPacket[] = [];
  const { promise: all, resolve: done } = deferred();
  const registration = transport.subscribe<EventPacket>(subject, (packet) => {
    packets.push(packet);
    if (packets.length === count) done();
  });
  return { registration, all: all.then(() => packets) };
}

const MEGABYTE = 1_000_000;

export function transportContract(test: TestFn, name: string, create: () => Promise<Ends>): void {
  async function close({ asker, owner }: Ends): Promise<void> {
    await asker.close();
    await owner.close();
  }

  test(`${name}: a request reaches the responder of its subject and brings the reply back`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    await owner.respond('a.1', echo).ready;
    await owner.respond('a.2', async () => ({ kind: 'refusal', refusal: 'no' })).ready;
    t.deepEqual(await asker.request('a.1', request('echo', { x: ['ü', null, 1.5] }), 60_000), {
      kind: 'reply',
      reply: { x: ['ü', null, 1.5] },
    });
    t.deepEqual(await asker.request('a.2', request('echo'), 60_000), { kind: 'refusal', refusal: 'no' });
    await close(ends);
  });

  test(`${name}: nobody on the subject is told at once`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    await t.throwsAsync(asker.request('a.1', request('echo'), 60_000), { instanceOf: NoResponders });
    const responder = owner.respond('a.1', async () => ({ kind: 'notOwner' }));
    await responder.ready;
    t.deepEqual(await asker.request('a.1', request('echo'), 60_000), { kind: 'notOwner' });
    responder.end();
    await owner.respond('a.2', echo).ready;
    await t.throwsAsync(asker.request('a.1', request('echo'), 60_000), { instanceOf: NoResponders });
    await close(ends);
  });

  test(`${name}: requests around the end of a responder come to something, and nobody waits`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const responder = owner.respond('a.1', echo);
    await responder.ready;
    const outcomes: Promise<string>[] = [];
    for (let i = 0; i < 200; i++) {
      const outcome = asker.request('a.1', request('echo'), 60_000).then(({ kind }) => kind);
      outcomes.push(outcome.catch((error: Error) => error.name));
      if (i % 10 === 0) await outcomes[Math.max(0, i - 50)];
      if (i === 100) responder.end();
    }
    const kinds = await Promise.all(outcomes);
    t.true(kinds.slice(0, 50).every((kind) => kind === 'reply'));
    t.deepEqual(
      [...new Set(kinds)].filter((kind) => !['reply', 'notOwner', 'NoResponders'].includes(kind)),
      [],
    );
    await close(ends);
  });

  test(`${name}: who answers on a subject can change, there and back`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    for (const reply of [1, 2, 3]) {
      const responder = owner.respond('a.1', async () => ({ kind: 'reply', reply }));
      await responder.ready;
      t.deepEqual(await asker.request('a.1', request('echo'), 60_000), { kind: 'reply', reply });
      responder.end();
    }
    await close(ends);
  });

  test(`${name}: a responder that does not answer runs into the time-out`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    await owner.respond('a.1', () => new Promise(() => {})).ready;
    await t.throwsAsync(asker.request('a.1', request('echo'), 20), { instanceOf: RequestTimeout });
    await close(ends);
  });

  test(`${name}: a responder that fails answers with a fault, and answers the next`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const responder = owner.respond('a.1', (packet) => {
      if (packet.name === 'throw') throw new Error('thrown');
      return packet.name === 'reject' ? Promise.reject(new Error('rejected')) : echo(packet);
    });
    await responder.ready;
    const thrown = await asker.request('a.1', request('throw'), 60_000);
    t.deepEqual(thrown, { kind: 'fault', code: 'failed', message: 'thrown' });
    const rejected = await asker.request('a.1', request('reject'), 60_000);
    t.deepEqual(rejected, { kind: 'fault', code: 'failed', message: 'rejected' });
    t.deepEqual(await asker.request('a.1', request('echo', 1), 60_000), { kind: 'reply', reply: 1 });
    await close(ends);
  });

  test(`${name}: what a responder took before it ended is answered, also when the transport closes`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const { promise: taken, resolve: took } = deferred();
    const { promise: gate, resolve: open } = deferred();
    const responder = owner.respond('a.1', async (packet) => {
      took();
      await gate;
      return echo(packet);
    });
    await responder.ready;
    const reply = asker.request('a.1', request('echo', 'late'), 60_000);
    await taken;
    responder.end();
    const closing = asker === owner ? undefined : owner.close();
    open();
    t.deepEqual(await reply, { kind: 'reply', reply: 'late' });
    await closing;
    await close(ends);
  });

  test(`${name}: requests of one turn arrive in order, and get their own replies`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const arrived: unknown[] = [];
    await owner.respond('a.1', (packet) => {
      arrived.push((packet.payload as { readonly i: number }).i);
      return echo(packet);
    }).ready;
    const payloads = Array.from({ length: 600 }, (_, i) => ({ i, text: 'x'.repeat(i % 50 === 0 ? 50_000 : 10) }));
    const replies = payloads.map((reply) => ({ kind: 'reply', reply }));
    for (let round = 0; round < 2; round++) {
      const asks = payloads.map((payload) => asker.request('a.1', request('echo', payload), 60_000));
      t.deepEqual(await Promise.all(asks), replies);
    }
    const order = payloads.map(({ i }) => i);
    t.deepEqual(arrived, [...order, ...order]);
    await close(ends);
  });

  test(`${name}: large packets are carried`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const large = 'ä'.repeat(MEGABYTE / 4);
    await owner.respond('a.1', echo).ready;
    t.deepEqual(await asker.request('a.1', request('echo', large), 60_000), { kind: 'reply', reply: large });
    const { registration, all } = collected(owner, 'e.1', 1);
    await registration.ready;
    asker.publish('e.1', events(1, large));
    t.deepEqual(await all, [events(1, large)]);
    await close(ends);
  });

  test(`${name}: octets are carried as they are, in requests, replies and publications`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const raw = Uint8Array.from({ length: 1_000 }, (_, i) => i % 256);
    const isRaw = (octets: unknown) => octets instanceof Uint8Array && Buffer.from(octets).equals(raw);
    await owner.respond('a.1', async ({ payload }) => {
      const { messages } = payload as { readonly messages: readonly { readonly octets: Uint8Array }[] };
      const [first, second] = messages;
      return { kind: 'reply', reply: [isRaw(first?.octets), second?.octets.length, first?.octets] };
    }).ready;
    const payload = { messages: [{ octets: raw }, { octets: new Uint8Array() }, null] };
    const reply = await asker.request('a.1', request('echo', payload), 60_000);
    const [wasRaw, length, octets] = (reply as { readonly reply: readonly unknown[] }).reply;
    t.deepEqual([wasRaw, length, isRaw(octets)], [true, 0, true]);
    const { registration, all } = collected(owner, 'e.1', 1);
    await registration.ready;
    asker.publish('e.1', events(1, { octets: raw }));
    const [packet] = await all;
    t.true(isRaw((packet!.events[0]!.payload as { readonly octets: unknown }).octets));
    await close(ends);
  });

  test(`${name}: published packets reach every subscriber of the subject in order, and nobody else`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const listeners = [collected(owner, 'e.1', 100), collected(owner, 'e.1', 100), collected(asker, 'e.1', 100)];
    const other = collected(owner, 'e.2', 1);
    other.registration.end();
    await Promise.all(listeners.map(({ registration }) => registration.ready));
    asker.publish('e.2', events(1));
    const expected = Array.from({ length: 100 }, (_, i) => events(i + 1));
    for (const packet of expected) asker.publish('e.1', packet);
    for (const { all } of listeners) t.deepEqual(await all, expected);
    t.is(await Promise.race([other.all, 'nothing']), 'nothing');
    await close(ends);
  });

  test(`${name}: a node hears what it publishes at once, and once`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const seen: number[] = [];
    asker.subscribe<EventPacket>('e.1', ({ seq }) => seen.push(seq));
    const far = collected(owner, 'e.1', 2);
    await far.registration.ready;
    asker.publish('e.1', events(1));
    t.deepEqual(seen, [1]);
    asker.publish('e.1', events(2));
    await far.all;
    t.deepEqual(seen, [1, 2]);
    await close(ends);
  });

  test(`${name}: a listener that fails disturbs neither the others nor the publisher`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    owner.subscribe('e.1', () => {
      throw new Error('listener');
    });
    const { registration, all } = collected(owner, 'e.1', 2);
    await registration.ready;
    asker.publish('e.1', events(1));
    asker.publish('e.1', events(2));
    t.deepEqual(await all, [events(1), events(2)]);
    await close(ends);
  });

  test(`${name}: a subscription that ended twice leaves the others of its subject alone`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    const first = owner.subscribe('e.1', () => {});
    const { registration, all } = collected(owner, 'e.1', 1);
    first.end();
    first.end();
    await registration.ready;
    asker.publish('e.1', events(1));
    t.deepEqual(await all, [events(1)]);
    await close(ends);
  });

  test(`${name}: publishing to nobody is no error`, async (t) => {
    const ends = await create();
    t.notThrows(() => ends.asker.publish('e.none', events(1)));
    await close(ends);
  });

  test(`${name}: is connected to begin with, and reaches nobody once it is closed`, async (t) => {
    const ends = await create();
    const { asker, owner } = ends;
    await owner.respond('a.1', echo).ready;
    t.true(await firstValueFrom(asker.connected$));
    await asker.close();
    await asker.close();
    await t.throwsAsync(asker.request('a.1', request('echo'), 60_000), { instanceOf: Disconnected });
    t.notThrows(() => asker.publish('e.1', events(1)));
    await close(ends);
  });
}
