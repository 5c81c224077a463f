// Messages that travel with a command to the owner of a mailbox on another node (docs/decisions/0077). The node that sends the
// command packs them; the node that receives it makes inline messages of them again (inline-messages.ts).
import type { MessageSummary } from '../../mail/summary.js';
import type { BlobContent } from '../blobs.js';
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

/** Undefined when this node does not understand what a packet carries. */
export function carriedMessages(carried: unknown): readonly CarriedMessage[] | undefined {
  return Array.isArray(carried) && carried.every(isCarriedMessage) ? carried : undefined;
}

function isCarriedMessage(value: unknown): value is CarriedMessage {
  const { id, octets, hash, index, summary } = (value ?? {}) as Partial<Record<keyof CarriedMessage, unknown>>;
  const areTexts = typeof id === 'string' && typeof hash === 'string' && typeof index === 'string';
  return areTexts && octets instanceof Uint8Array && typeof summary === 'object' && summary !== null;
}

export function unstoredMessage({ octets, hash, index, summary }: CarriedMessage): UnstoredMessage {
  const content = { hash, size: octets.length, index: JSON.parse(index), indexJson: index, chunks: () => [octets] };
  return { content, summary };
}
