// Sends a request to a node as another node would, from a connection of the bus that belongs to no node.
import { createInbox, type NatsConnection } from 'nats';
import type { ReplyPacket } from '../../../src/actors/runtime/transport/packet.js';
import { encode, readBatch } from '../../../src/actors/runtime/transport/packet-batch.js';

/** `packet`: the subject and the request, or whatever is sent instead. */
export async function askRaw(connection: NatsConnection, subject: string, packet: unknown): Promise<ReplyPacket> {
  const replies = createInbox();
  const subscription = connection.subscribe(`${replies}.*`, { max: 1 });
  connection.publish(subject, encode(packet), { reply: `${replies}.1` });
  for await (const { data } of subscription) return readBatch(data)?.[0]?.value as ReplyPacket;
  throw new Error('the connection was closed');
}
