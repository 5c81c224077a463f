// Tests that packets of released versions are read for ever, and are written as those versions read them (decision 0082). The frames in
// dev/released were written by the version whose name the folder has.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { assert } from 'superstruct';
import { mailboxActorProtocol } from '../../../../src/actors/mailbox/actor-protocol.js';
import { PACKET_VERSION, type RequestPacket } from '../../../../src/actors/runtime/transport/packet.js';
import { encode, PacketBatch, packetText, readBatch } from '../../../../src/actors/runtime/transport/packet-batch.js';
import { readPublication, readReply, readRequest } from '../../../../src/actors/runtime/transport/packet-reading.js';
import * as subjects from '../../../../src/actors/runtime/transport/subjects.js';
import { receivedMessages } from '../../../../src/store/inline/carried-messages.js';
import test from '../../../support/test.js';

interface Recorded {
  readonly kind: 'requests' | 'replies' | 'publication';
  /** Octets are `{$octets: hex}`. */
  readonly packets: readonly unknown[];
  /** Base64. */
  readonly frame: string;
}

const RELEASES = 'dev/released';
/** The tag of a packet is its place times this. */
const STEP = 7;

const frames = readdirSync(RELEASES)
  .filter((name) => existsSync(`${RELEASES}/${name}/packets.jsonl`))
  .flatMap((version) => {
    const lines = readFileSync(`${RELEASES}/${version}/packets.jsonl`, 'utf8').trim().split('\n');
    return lines.map((line) => ({ version, ...(JSON.parse(line) as Recorded) }));
  });

function withOctets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withOctets);
  if ('$octets' in value) return Buffer.from(String(value.$octets), 'hex');
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withOctets(member)]));
}

test('frames of released versions are read, and packets are written in the same frames', (t) => {
  t.true(frames.length > 10);
  for (const { kind, packets, frame } of frames) {
    const bytes = Buffer.from(frame, 'base64');
    const expected = packets.map((packet, i) => ({ tag: i * STEP, value: withOctets(packet) }));
    t.deepEqual(readBatch(bytes), expected, kind);
    const batch = new PacketBatch();
    for (const { tag, value } of expected) batch.add(tag, packetText(value));
    t.true(Buffer.from(batch.bytes()).equals(bytes), `${kind} ${JSON.stringify(packets)}`);
  }
});

test('packets of released versions are understood, with the operations that they name', (t) => {
  const operations = new Set<string>();
  for (const { kind, frame } of frames) {
    for (const { value } of readBatch(Buffer.from(frame, 'base64'))!) {
      if (kind === 'publication') t.is<unknown, unknown>(readPublication(value), value);
      else if (kind === 'replies') t.is<unknown, unknown>(readReply(value), value);
      else {
        const [subject, packet] = value as [string, RequestPacket];
        t.deepEqual(readRequest(packet), { request: packet });
        if (!subject.startsWith('mailbox.')) continue;
        operations.add(packet.name);
        assert(packet.payload, mailboxActorProtocol.operations[packet.name as 'deliver'].payload);
        if (packet.carried !== undefined) t.is(receivedMessages(packet.carried)?.length, 1, packet.name);
      }
    }
  }
  t.deepEqual([...operations].sort(), ['append', 'copy', 'deliver', 'move', 'setRead']);
});

test('members that are not known are passed over, and packets of a later version are refused with a sentence', (t) => {
  const read = (packet: object) => readBatch(encode(packet))![0]!.value as object;
  const request = { v: PACKET_VERSION, id: '1', accountId: 'a', name: 'snooze', payload: {}, deadline: 1, weight: 3 };
  t.deepEqual(readRequest(read(request)), { request });
  t.deepEqual(readRequest(read({ ...request, v: PACKET_VERSION + 1 })), {
    fault: { kind: 'fault', code: 'unsupported', message: 'packets of version 2 are not understood, only up to 1' },
  });
  const reply = { kind: 'reply', reply: {}, weight: 3 };
  t.deepEqual(readReply(read(reply)), reply);
  t.like(readReply(read({ kind: 'later', reply: {} })), { kind: 'fault', code: 'failed' });
  const notice = { v: PACKET_VERSION, kind: 'due', accountId: 'a', outboundId: 'o', weight: 3 };
  t.deepEqual(readPublication(read(notice)), notice);
  // Its subscribers read the store.
  t.is(readPublication(read({ ...notice, v: PACKET_VERSION + 1 })), undefined);
});

test('subjects are those of released versions', (t) => {
  t.deepEqual(
    {
      request: subjects.requestSubject('mailbox', 7),
      requests: subjects.nodeRequestsSubject('n1'),
      reply: subjects.replySubject('n1', '5'),
      event: subjects.eventSubject('mailbox', 'a'),
      node: subjects.nodeSubject('node-1'),
      placement: subjects.PLACEMENT_SUBJECT,
      breaks: subjects.BREAKS_SUBJECT,
      logins: subjects.LOGINS_SUBJECT,
      hub: subjects.hubSubject('h'),
      revocation: subjects.revocationSubject('node-1'),
      consumers: subjects.CONSUMERS_SUBJECT,
      delivery: subjects.deliverySubject('node-1'),
    },
    {
      request: 'mailbox.7',
      requests: 'requests.n1',
      reply: 'replies.n1.5',
      event: 'events.mailbox.a',
      node: 'node.6e6f64652d31',
      placement: 'placement',
      breaks: 'breaks',
      logins: 'logins',
      hub: 'hub.h',
      revocation: 'revocations.6e6f64652d31',
      consumers: 'consumers',
      delivery: 'delivery.6e6f64652d31',
    },
  );
});
