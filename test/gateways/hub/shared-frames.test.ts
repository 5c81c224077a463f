// Tests frames that connections share: each message is encoded once per protocol, and only for protocols and topics in use.

import { EVENT_FILTERS, eventFilterOf } from '../../../src/gateways/hub/event-filter.js';
import type { EventMessage } from '../../../src/gateways/hub/event-messages.js';
import { eventMessage, type Invocation } from '../../../src/gateways/hub/hub-messages.js';
import type { HubProtocol } from '../../../src/gateways/hub/hub-protocol.js';
import { JSON_PROTOCOL } from '../../../src/gateways/hub/json-protocol.js';
import { MESSAGE_PACK_PROTOCOL } from '../../../src/gateways/hub/message-pack-protocol.js';
import { sharedFrames } from '../../../src/gateways/hub/shared-frames.js';
import test from '../../support/test.js';

/** Returns the number of connections of each filter. */
function connections(...filters: (readonly [protocol: HubProtocol, topics: number])[]): number[] {
  const counts = new Array<number>(EVENT_FILTERS).fill(0);
  for (const [protocol, topics] of filters) counts[eventFilterOf({ protocol, topics })]!++;
  return counts;
}

/** Returns a message that counts how often its payload is encoded. */
function counted(topic: EventMessage['topic']) {
  const encoded = { times: 0 };
  const payload = {
    get id() {
      encoded.times++;
      return 'Zoë 💌';
    },
  };
  return { encoded, topic, message: eventMessage('E', payload) };
}

test('each filter gets its messages in its protocol, the same octets where the messages are the same', (t) => {
  const messages = [0, 1, 0].map((topic, i) => ({ topic: topic as 0 | 1, message: eventMessage('E', i) }));
  const frames = sharedFrames(
    messages,
    connections([JSON_PROTOCOL, 0], [JSON_PROTOCOL, 1], [JSON_PROTOCOL, 2], [MESSAGE_PACK_PROTOCOL, 1]),
  );
  const of = (protocol: HubProtocol, topics: number) => frames[eventFilterOf({ protocol, topics })];
  const payloads = (protocol: HubProtocol, topics: number) =>
    protocol.split(of(protocol, topics)!.octets).map((octets) => (protocol.parse(octets) as Invocation).arguments[0]);
  t.deepEqual(payloads(JSON_PROTOCOL, 0), [0, 2]);
  t.deepEqual(payloads(JSON_PROTOCOL, 1), [0, 1, 2]);
  t.deepEqual(payloads(MESSAGE_PACK_PROTOCOL, 1), [0, 1, 2]);
  t.is(of(JSON_PROTOCOL, 0), of(JSON_PROTOCOL, 2));
  t.is(of(MESSAGE_PACK_PROTOCOL, 0), undefined, 'no connection');
  t.is(of(MESSAGE_PACK_PROTOCOL, 1)?.messages, 3);
});

test('a message is encoded once a protocol, and for nobody not at all', (t) => {
  const [common, timeline] = [counted(0), counted(1)];
  const of = (...filters: Parameters<typeof connections>) => {
    common.encoded.times = 0;
    timeline.encoded.times = 0;
    sharedFrames([common, timeline], connections(...filters));
    return [common.encoded.times, timeline.encoded.times];
  };
  // MessagePack reads the value once to see whether it is defined, and once to encode it.
  const [twice] = of([MESSAGE_PACK_PROTOCOL, 0]);
  t.deepEqual(of(), [0, 0]);
  t.deepEqual(of([JSON_PROTOCOL, 0]), [1, 0]);
  t.deepEqual(of([JSON_PROTOCOL, 0], [JSON_PROTOCOL, 1], [JSON_PROTOCOL, 3]), [1, 1]);
  t.deepEqual(of([MESSAGE_PACK_PROTOCOL, 0], [MESSAGE_PACK_PROTOCOL, 2]), [twice, 0]);
  t.deepEqual(of([JSON_PROTOCOL, 1], [MESSAGE_PACK_PROTOCOL, 1]), [1 + twice!, 1 + twice!]);
});
