// The form of packets on the wire, which neighbouring versions of Mansio share.
import test from 'ava';
import { decode, encode, type PlacementPacket, type RecheckPacket } from '../../../src/actors/runtime/packet.js';
import { readPublication } from '../../../src/actors/runtime/packet-reading.js';

const packets: readonly [PlacementPacket | RecheckPacket, object][] = [
  [
    { v: 1, kind: 'settled', node: 'n', shards: [7], crashed: true },
    { v: 1, kind: 'settled', node: 'n', shards: [7], vanished: true },
  ],
  [
    { v: 1, kind: 'unclean', node: 'n', shards: [7] },
    { v: 1, kind: 'unsure', node: 'n', shards: [7] },
  ],
  [
    { v: 1, kind: 'recheck' },
    { v: 1, kind: 'look' },
  ],
  [
    { v: 1, kind: 'freed', node: 'n', shards: [7] },
    { v: 1, kind: 'freed', node: 'n', shards: [7] },
  ],
];

test('packets have the names of version 1 on the wire, and are read with them', (t) => {
  for (const [packet, wire] of packets) {
    const octets = encode(packet);
    t.deepEqual(JSON.parse(Buffer.from(octets).toString()), wire);
    t.deepEqual(decode(octets), packet);
  }
});

test('a notice about consumers is read, one without an account is not', (t) => {
  const notice = { v: 1, kind: 'consumers', accountId: 'a' } as const;
  t.deepEqual(readPublication(encode(notice)), notice);
  t.is(readPublication(Buffer.from('{"v":1,"kind":"consumers","node":"n"}')), undefined);
});
