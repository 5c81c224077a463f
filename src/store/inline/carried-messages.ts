// Messages that travel with a command to the owner of a mailbox on another node (docs/decisions/0077). The node that sends the
// command packs them; the node that receives it makes inline messages of them again (inline-messages.ts).
import type { MessageIndex } from '../../mail-format/message-index.js';
import type { MessageSummary } from '../../mail-format/summary.js';
import type { BlobContent } from '../blobs.js';
import type { InboundDelivery, InboundEnvelope } from '../inbound.js';
import type { UnstoredMessage } from './unstored-message.js';

/** As it is in the packet: the octets are not encoded, and the index has the form in which the store keeps it. */
export interface CarriedMessage {
  /** Id of the inline message. */
  readonly id: string;
  readonly octets: Uint8Array;
  /** SHA-256 of the octets, 64 lower-case hex digits. */
  readonly hash: string;
  /** The MIME index as JSON. */
  readonly index: string;
  readonly summary: MessageSummary;
}

/** The part of one account in a message for several accounts. */
interface CarriedShare {
  /** Id of the inline message. */
  readonly id: string;
  /** Id of the message for all its accounts. */
  readonly messageId: string;
  /** Id of the delivery to the account. */
  readonly deliveryId: string;
  /** The message; absent where another command carries it to the same node. */
  readonly whole?: {
    readonly message: CarriedMessage;
    readonly envelope: InboundEnvelope;
    /** One delivery per account. */
    readonly deliveries: readonly InboundDelivery[];
  };
}

export type Carried = CarriedMessage | CarriedShare;

export async function carriedMessage(id: string, { content, summary }: UnstoredMessage): Promise<CarriedMessage> {
  return { id, octets: await octetsOf(content), hash: content.hash, index: JSON.stringify(content.index), summary };
}

/** A single piece is not copied. */
async function octetsOf(content: BlobContent): Promise<Uint8Array> {
  const chunks = content.chunks();
  const pieces: Uint8Array[] = [];
  if (Symbol.iterator in chunks) pieces.push(...chunks);
  else for await (const piece of chunks) pieces.push(piece);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, content.size);
}

/** A message that another node has sent. */
interface ReceivedMessage {
  readonly id: string;
  readonly unstored: UnstoredMessage;
}

export interface ReceivedShare extends Omit<CarriedShare, 'whole'> {
  readonly whole?: {
    readonly unstored: UnstoredMessage;
    readonly envelope: InboundEnvelope;
    readonly deliveries: readonly InboundDelivery[];
  };
}

/** Reads what a packet carries; undefined when any part of it is damaged. */
export function receivedMessages(packed: unknown): readonly (ReceivedMessage | ReceivedShare)[] | undefined {
  if (!Array.isArray(packed)) return undefined;
  const received = packed.map((value: unknown) => {
    if (!isObject(value)) return undefined;
    return 'messageId' in value ? receivedShare(value) : receivedMessage(value);
  });
  return received.every((one) => one !== undefined) ? received : undefined;
}

type Fields<T> = Partial<Record<keyof T, unknown>>;

const areTexts = (...values: readonly unknown[]) => values.every((value) => typeof value === 'string');
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function receivedMessage(carried: object): ReceivedMessage | undefined {
  const { id, octets, hash, index: json, summary } = carried as Fields<CarriedMessage>;
  if (!areTexts(id, hash, json) || !(octets instanceof Uint8Array) || !isObject(summary)) return undefined;
  const { index: indexJson } = carried as CarriedMessage;
  const index = parsed(indexJson);
  if (!isObject(index)) return undefined;
  const content = { hash: hash as string, size: octets.length, index: index as MessageIndex, indexJson };
  return {
    id: id as string,
    unstored: { content: { ...content, chunks: () => [octets] }, summary: summary as MessageSummary },
  };
}

function receivedShare(carried: object): ReceivedShare | undefined {
  const { id, messageId, deliveryId, whole } = carried as Fields<CarriedShare>;
  if (!areTexts(id, messageId, deliveryId)) return undefined;
  if (whole === undefined) return carried as ReceivedShare;
  const { message, envelope, deliveries } = (whole ?? {}) as Fields<NonNullable<CarriedShare['whole']>>;
  const received = isObject(message) ? receivedMessage(message) : undefined;
  const areDeliveries = Array.isArray(deliveries) && deliveries.every(isDelivery);
  if (received === undefined || !isObject(envelope) || !areDeliveries) return undefined;
  const { unstored } = received;
  return { ...(carried as CarriedShare), whole: { unstored, envelope: envelope as InboundEnvelope, deliveries } };
}

function isDelivery(value: unknown): value is InboundDelivery {
  const { accountId, id } = (isObject(value) ? value : {}) as Fields<InboundDelivery>;
  return areTexts(accountId, id);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
