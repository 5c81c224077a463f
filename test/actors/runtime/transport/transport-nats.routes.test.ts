// Tests how requests over NATS find the node that answers now, when the one that answered before has left, closes or hangs.
import type { ReplyPacket } from '../../../../src/actors/runtime/transport/packet.js';
import { NoResponders, RequestTimeout } from '../../../../src/actors/runtime/transport/transport.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { newCluster, node, server } from './nats-nodes.js';
import { echo, request } from './transport-contract.js';

test.after.always(() => server.stop());

test('a request finds the node that answers now, when the one that answered before has left, ended or moved', async (t) => {
  const clusterId = newCluster();
  const [asker, first, second] = await Promise.all(['asker', 'first', 'second'].map((id) => node(t, clusterId, id)));
  const by = (name: string) => async (): Promise<ReplyPacket> => ({ kind: 'reply', reply: name });
  const ask = () => asker!.request('a.1', request('echo'), 60_000);
  const registration = first!.respond('a.1', by('first'));
  await registration.ready;
  t.deepEqual(await ask(), { kind: 'reply', reply: 'first' });
  // The responder has moved.
  registration.end();
  await second!.respond('a.1', by('second')).ready;
  t.deepEqual(await Promise.all([ask(), ask()]), Array(2).fill({ kind: 'reply', reply: 'second' }));
  // The node has left.
  await second!.close();
  await first!.respond('a.1', by('first again')).ready;
  t.deepEqual(await Promise.all([ask(), ask()]), Array(2).fill({ kind: 'reply', reply: 'first again' }));
  // The node does not own what it answered for.
  await first!.respond('a.1', async () => ({ kind: 'notOwner' })).ready;
  t.deepEqual(await ask(), { kind: 'notOwner' });
  await first!.close();
  await t.throwsAsync(ask(), { instanceOf: NoResponders });
});

test('while the node that answers closes, requests over its route come to something, and nobody waits', async (t) => {
  const clusterId = newCluster();
  const [asker, owner, next] = await Promise.all(['asker', 'owner', 'next'].map((id) => node(t, clusterId, id)));
  await owner!.respond('a.1', echo).ready;
  const ask = () =>
    asker!.request('a.1', request('echo'), 60_000).then(
      ({ kind }) => kind,
      (error: Error) => error.name,
    );
  t.is(await ask(), 'reply');
  const kinds: string[] = [];
  let closed = false;
  const asking = Array.from({ length: 20 }, async () => {
    while (!closed) kinds.push(await ask());
  });
  while (kinds.length < 100) await new Promise(setImmediate);
  await next!.respond('a.1', echo).ready;
  await owner!.close();
  const { length } = kinds;
  while (kinds.length < length + 100) await new Promise(setImmediate);
  closed = true;
  await Promise.all(asking);
  t.deepEqual(
    [...new Set(kinds)].filter((kind) => !['reply', 'notOwner'].includes(kind)),
    [],
  );
});

test('a late reply of the node that answered before makes no route to it', async (t) => {
  const clusterId = newCluster();
  const [asker, first, second] = await Promise.all(['asker', 'first', 'second'].map((id) => node(t, clusterId, id)));
  const { promise: gate, resolve: open } = deferred();
  const { promise: taken, resolve: took } = deferred();
  const registration = first!.respond('a.1', async (packet) => {
    if (packet.name === 'hang') return new Promise(() => {});
    took();
    return gate.then(() => echo(packet));
  });
  await registration.ready;
  const late = asker!.request('a.1', request('late'), 60_000);
  await taken;
  await second!.respond('a.1', async () => ({ kind: 'reply', reply: 'second' })).ready;
  asker!.forgetRoute('a.1');
  open();
  await late;
  // Both nodes get it, and the second one answers.
  t.like(await asker!.request('a.1', request('hang'), 60_000), { reply: 'second' });
});

test('a route to a node that hangs is forgotten when another node answers', async (t) => {
  const clusterId = newCluster();
  const [asker, first, second] = await Promise.all(['asker', 'first', 'second'].map((id) => node(t, clusterId, id)));
  let hangs = false;
  const responder = (): Promise<ReplyPacket> =>
    hangs ? new Promise(() => {}) : Promise.resolve({ kind: 'reply', reply: 'first' });
  await first!.respond('a.1', responder).ready;
  const ask = (timeoutMs = 60_000) => asker!.request('a.1', request('echo'), timeoutMs);
  t.like(await ask(), { reply: 'first' });
  hangs = true;
  await second!.respond('a.1', async () => ({ kind: 'reply', reply: 'second' })).ready;
  const hung = t.throwsAsync(ask(500), { instanceOf: RequestTimeout });
  asker!.forgetRoute('a.1');
  t.like(await ask(), { reply: 'second' });
  t.like(await ask(), { reply: 'second' });
  await hung;
});
