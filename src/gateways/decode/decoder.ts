// Stand-in until the decoder is merged: what gateways ask of it.
import type { MessageIndex } from '../../mail/message-index.js';

export interface Bodies {
  readonly text: string;
  readonly html: string;
  /** A limit was hit: the bodies are not whole. */
  readonly partial: boolean;
}

/** Too many bodies are waiting to be decoded: the same call may succeed soon. */
export class DecoderBusy extends Error {}

export interface BodyDecoder {
  /** `read` gives octets [start, end) of the raw message. */
  bodies(index: MessageIndex, read: (start: number, end: number) => Promise<Uint8Array>): Promise<Bodies>;
}
