// What every transport must do, whatever carries the packets. Run by one test file an implementation.
import type { TestFn } from 'ava';
import type { EventPacket, ReplyPacket, RequestPacket } from '../../../src/actors/runtime/packet.js';
import { NoResponders, RequestTimeout, type Transport } from '../../../src/actors/runtime/transport.js';

const request = (name: string, payload: unknown = {}): RequestPacket => ({
  v: 1,
  id: 'b7c0f6f2-7f1e-4d3c-9a53-2f6f6a0f8d11',
  accountId: '00000000-0000-7000-8000-000000000001',
  name,
  payload,
  deadline: Date.now() + 60_000,
});

const events = (seq: number): EventPacket => ({
  v: 1,
  accountId: '00000000-0000-7000-8000-000000000001',
  after: seq - 1,
  seq,
  events: [{ seq, n: 0, type: 'Tested', at: 0, payload: { seq } }],
});

export function transportContract(test: TestFn, name: string, create: () => Promise<Transport>): void {
  test(`${name}: a request reaches the responder of its subject and brings the reply back`, async (t) => {
    const transport = await create();
    transport.respond('a.1', async (packet): Promise<ReplyPacket> => ({ kind: 'reply', reply: packet.payload }));
    transport.respond('a.2', async (): Promise<ReplyPacket> => ({ kind: 'refusal', refusal: 'no' }));
    t.deepEqual(await transport.request('a.1', request('echo', { x: ['ü', null, 1.5] }), 1000), {
      kind: 'reply',
      reply: { x: ['ü', null, 1.5] },
    });
    t.deepEqual(await transport.request('a.2', request('echo'), 1000), { kind: 'refusal', refusal: 'no' });
    await transport.close();
  });

  test(`${name}: nobody on the subject is told at once`, async (t) => {
    const transport = await create();
    await t.throwsAsync(transport.request('a.1', request('echo'), 60_000), { instanceOf: NoResponders });
    const responder = transport.respond('a.1', async () => ({ kind: 'notOwner' }));
    t.deepEqual(await transport.request('a.1', request('echo'), 1000), { kind: 'notOwner' });
    responder.end();
    await t.throwsAsync(transport.request('a.1', request('echo'), 60_000), { instanceOf: NoResponders });
    await transport.close();
  });

  test(`${name}: a responder that does not answer runs into the time-out`, async (t) => {
    const transport = await create();
    transport.respond('a.1', () => new Promise(() => {}));
    await t.throwsAsync(transport.request('a.1', request('echo'), 20), { instanceOf: RequestTimeout });
    await transport.close();
  });

  test(`${name}: published packets reach every subscriber of the subject in order, and nobody else`, async (t) => {
    const transport = await create();
    const seen: number[][] = [[], [], []];
    let done = () => {};
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    const record = (i: number) => (packet: EventPacket) => {
      seen[i]!.push(packet.seq);
      if (seen[0]!.length === 100 && seen[1]!.length === 100) done();
    };
    transport.subscribe('e.1', record(0));
    transport.subscribe('e.1', record(1));
    const subscription = transport.subscribe('e.2', record(2));
    subscription.end();
    for (let seq = 1; seq <= 100; seq++) transport.publish('e.1', events(seq));
    transport.publish('e.2', events(1));
    await all;
    const expected = Array.from({ length: 100 }, (_, i) => i + 1);
    t.deepEqual(seen, [expected, expected, []]);
    await transport.close();
  });

  test(`${name}: publishing to nobody is no error`, async (t) => {
    const transport = await create();
    t.notThrows(() => transport.publish('e.none', events(1)));
    await transport.close();
  });
}
