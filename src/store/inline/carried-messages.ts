// Messages that travel with a command to the owner of a mailbox on another node (docs/decisions/0077). The node that sends the
// command packs them; the node that receives it makes inline messages of them again (inline-messages.ts).
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
export interface CarriedShare {
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

/** Returns what a packet carries; nothing when this node does not understand it. */
export function carriedMessages(packed: unknown): readonly Carried[] {
  return Array.isArray(packed) && packed.every(isCarried) ? packed : [];
}

type Fields<T> = Partial<Record<keyof T, unknown>>;

const areTexts = (...values: readonly unknown[]) => values.every((value) => typeof value === 'string');
const isObject = (value: unknown) => typeof value === 'object' && value !== null;

function isCarried(value: unknown): value is Carried {
  return isObject(value) && ('messageId' in (value as object) ? isShare(value as object) : isMessage(value as object));
}

function isMessage({ id, octets, hash, index, summary }: Fields<CarriedMessage>): boolean {
  return areTexts(id, hash, index) && octets instanceof Uint8Array && isObject(summary);
}

function isShare({ id, messageId, deliveryId, whole }: Fields<CarriedShare>): boolean {
  if (!areTexts(id, messageId, deliveryId)) return false;
  if (whole === undefined) return true;
  const { message, envelope, deliveries } = (whole ?? {}) as Fields<NonNullable<CarriedShare['whole']>>;
  return isObject(message) && isMessage(message as object) && isObject(envelope) && Array.isArray(deliveries);
}

export function unstoredMessage({ octets, hash, index, summary }: CarriedMessage): UnstoredMessage {
  const content = { hash, size: octets.length, index: JSON.parse(index), indexJson: index, chunks: () => [octets] };
  return { content, summary };
}
