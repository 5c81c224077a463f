// Tests the encoding of packets: what is written is read, and damaged batches neither throw nor reach anything outside of the packet.
import fc from 'fast-check';
import {
  decode,
  encode,
  PacketBatch,
  packetText,
  readBatch,
} from '../../../../src/actors/runtime/transport/packet-batch.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const NUMBER = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
);
const TREE = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string({ unit: 'binary' }).map(wellFormed),
    NUMBER,
    fc.constantFrom(null, true, false),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'length')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value;

/** Text without lone surrogates, which UTF-8 does not have. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** Makes the octets of a value comparable: Buffers are read. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return { octets: Buffer.from(value).toString('hex') };
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([key, member]) => [key, comparable(member)]);
}

function batchOf(packets: readonly unknown[]): Uint8Array {
  const batch = new PacketBatch();
  for (const [i, packet] of packets.entries()) batch.add(i * 3, packetText(packet));
  return batch.bytes();
}

test('what is written is read: packets with octets, in batches', (t) => {
  fc.assert(
    fc.property(fc.array(TREE, { maxLength: 5 }), (packets) => {
      const read = readBatch(batchOf(packets));
      t.deepEqual(
        read?.map(({ tag, value }) => [tag, comparable(value)]),
        packets.map((packet, i) => [i * 3, comparable(packet)]),
      );
    }),
    { numRuns: runs(1_000) },
  );
});

test('the length of a batch is known before it is written', (t) => {
  fc.assert(
    fc.property(fc.array(TREE, { minLength: 1, maxLength: 15 }), (packets) => {
      const batch = new PacketBatch();
      for (const packet of packets) {
        const text = packetText(packet);
        const most = batch.lengthWith(text);
        batch.add(0, text);
        t.true(batch.length <= most);
      }
      t.is(batch.bytes().length, batch.length);
      const alone = new PacketBatch();
      const text = packetText(packets[0]);
      alone.add(0, text);
      t.is(alone.bytes().length, text.length);
    }),
    { numRuns: runs(300) },
  );
});

test('batches that are cut or have other bytes do no harm', (t) => {
  fc.assert(
    fc.property(
      fc.array(TREE, { minLength: 1, maxLength: 4 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
      fc.option(fc.nat()),
      (packets, flips, cut) => {
        const bytes = Buffer.from(batchOf(packets));
        for (const [at, byte] of flips) bytes[at % bytes.length] = byte;
        const damaged = cut === null ? bytes : bytes.subarray(0, cut % bytes.length);
        const read = readBatch(damaged);
        if (cut !== null && flips.length === 0) t.is(read, undefined);
        decode(damaged);
      },
    ),
    { numRuns: runs(3_000) },
  );
  t.deepEqual(Object.keys(Object.prototype), []);
});

test('one packet that cannot be read does not hide the others', (t) => {
  const bytes = Buffer.from(batchOf([{ first: 1 }, { second: 2 }, { third: 3 }]));
  bytes[bytes.indexOf('second') - 1] = 0x7d;
  t.deepEqual(readBatch(bytes), [
    { tag: 0, value: { first: 1 } },
    { tag: 3, value: undefined },
    { tag: 6, value: { third: 3 } },
  ]);
});

test('paths that lead elsewhere than to a null of the packet are not read', (t) => {
  const bytes = Buffer.from(encode({ o: Uint8Array.of(7) }));
  const swap = (from: string, to: string) => Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1');
  t.deepEqual(comparable(decode(bytes)), [['o', { octets: '07' }]]);
  for (const path of ['"x"', '"o', '[0]', '"O"', 'null', '1e9'])
    t.is(decode(swap('"o"]', `${path}]`)), undefined, path);
  t.is(decode(swap('[0,"o"]', '[1,"o"]')), undefined);
});

test('octets that several packets of a batch share are carried once, and members without a value not at all', (t) => {
  const octets = Buffer.alloc(10_000, 'a');
  const packets = [{ octets }, { list: [octets, octets] }, { octets: undefined, other: Buffer.from('b') }];
  const bytes = batchOf(packets);
  t.true(bytes.length < 10_300);
  const [first, second, third] = readBatch(bytes)!.map(({ value }) => value) as [
    { octets: Buffer },
    { list: Buffer[] },
    object,
  ];
  t.true(first.octets.equals(octets));
  t.is(second.list[0], first.octets);
  t.is(second.list[1], first.octets);
  t.deepEqual(third, { other: Buffer.from('b') });
});

test('octets are views of what was received', (t) => {
  const bytes = encode({ octets: Buffer.alloc(10_000, 'a') });
  t.is((decode(bytes) as { octets: Uint8Array }).octets.buffer, bytes.buffer);
});
