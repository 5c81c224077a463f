// Checks packets from other nodes, which packet-batch has decoded: their version and their shape, but not what operations and events carry.
// A packet may have a version that this node does not understand, or be no packet at all. Then a caller gets a fault as reply, and the
// subscribers of a publication get a RecheckPacket.
import { PACKET_VERSION, type Publication, type ReplyPacket, type RequestPacket } from './packet.js';

type Fields = Readonly<Record<string, unknown>>;

export type RequestReading =
  | { readonly request: RequestPacket }
  /** The answer to send. */
  | { readonly fault: ReplyPacket & { readonly kind: 'fault' } };

export function readRequest(value: unknown): RequestReading {
  const fields = isFields(value) ? value : undefined;
  if (fields === undefined || !isVersion(fields['v'])) return failed('the request is no packet');
  if (!isUnderstood(fields['v'])) {
    const message = `packets of version ${fields['v']} are not understood, only up to ${PACKET_VERSION}`;
    return { fault: { kind: 'fault', code: 'unsupported', message } };
  }
  const { id, accountId, name, deadline } = fields;
  const texts = [id, accountId, name].every((field) => typeof field === 'string');
  if (!texts || typeof deadline !== 'number') return failed('the request lacks a field');
  return { request: fields as unknown as RequestPacket };
}

export function readReply(value: unknown): ReplyPacket {
  const fields = isFields(value) ? value : undefined;
  switch (fields?.['kind']) {
    case 'reply':
    case 'notOwner':
      return fields as unknown as ReplyPacket;
    case 'refusal':
      if (typeof fields['refusal'] === 'string') return fields as unknown as ReplyPacket;
      break;
    case 'fault':
      if (typeof fields['code'] === 'string' && typeof fields['message'] === 'string') {
        return fields as unknown as ReplyPacket;
      }
      break;
  }
  return failed('the reply was not understood').fault;
}

/** Undefined for a packet that is not understood. */
export function readPublication(value: unknown): Publication | undefined {
  const fields = isFields(value) ? value : undefined;
  if (fields === undefined || !isUnderstood(fields['v'])) return undefined;
  return fields['kind'] === 'recheck' ||
    isOfEvents(fields) ||
    isDue(fields) ||
    isOfLogins(fields) ||
    isOfConsumers(fields) ||
    isOfPlacement(fields)
    ? (fields as unknown as Publication)
    : undefined;
}

function isOfEvents({ accountId, after, seq, events }: Fields): boolean {
  const isRecord = (event: unknown) =>
    isFields(event) && typeof event['seq'] === 'number' && typeof event['type'] === 'string';
  const isPlaced = typeof accountId === 'string' && typeof after === 'number' && typeof seq === 'number';
  return isPlaced && Array.isArray(events) && events.every(isRecord);
}

function isDue({ kind, accountId, outboundId }: Fields): boolean {
  return kind === 'due' && typeof accountId === 'string' && typeof outboundId === 'string';
}

function isOfLogins({ kind, node, networks, names, known }: Fields): boolean {
  const arePairs = (list: unknown, of: 'number' | 'string') =>
    Array.isArray(list) && list.every((pair) => isPair(pair, of));
  const isComplete = arePairs(networks, 'number') && arePairs(names, 'number') && arePairs(known, 'string');
  return kind === 'logins' && typeof node === 'string' && isComplete;
}

function isOfConsumers({ kind, accountId }: Fields): boolean {
  return kind === 'consumers' && typeof accountId === 'string';
}

function isPair(pair: unknown, of: 'number' | 'string'): boolean {
  return Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === of;
}

const OTHER_KINDS: ReadonlySet<string> = new Set(['due', 'logins', 'consumers']);

/** Accepts unknown kinds of later versions: their listeners know them. */
function isOfPlacement({ kind, node, shards, crashed, gone, to, leases }: Fields): boolean {
  if (typeof kind !== 'string' || OTHER_KINDS.has(kind) || typeof node !== 'string') return false;
  const ofShards = Array.isArray(shards) && shards.every(Number.isInteger);
  if (kind === 'acquired') return ofShards && typeof crashed === 'boolean';
  if (kind === 'freed' || kind === 'unclean') return ofShards;
  const isLease = (lease: unknown) =>
    isFields(lease) && Number.isInteger(lease['shard']) && Number.isInteger(lease['epoch']);
  if (kind === 'given') return typeof to === 'string' && Array.isArray(leases) && leases.every(isLease);
  return kind !== 'gone' || typeof gone === 'string';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isVersion(v: unknown): v is number {
  return Number.isInteger(v) && (v as number) >= 1;
}

function isUnderstood(v: unknown): boolean {
  return isVersion(v) && v <= PACKET_VERSION;
}

function failed(message: string): { readonly fault: ReplyPacket & { readonly kind: 'fault' } } {
  return { fault: { kind: 'fault', code: 'failed', message } };
}
