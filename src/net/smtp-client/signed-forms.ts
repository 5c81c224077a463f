// The forms of one message for the servers of an attempt: as it is stored, and without 8-bit octets for servers that accept none. Each form
// has its own signatures, since a signature covers the octets that arrive (RFC 6376 §5.3).
import type { SevenBitObstacle } from '../../mail-format/writing/seven-bit.js';
import type { OutgoingMessage } from './outgoing-message.js';

export interface SignedForm {
  readonly content: OutgoingMessage;
  /** The header fields that precede the content; ASCII, every line ends in CRLF. */
  readonly prefix: string;
}

export class SignedForms {
  readonly original: SignedForm;
  readonly #convert: () => Promise<SignedForm | SevenBitObstacle>;
  #sevenBit: Promise<SignedForm | SevenBitObstacle> | undefined;

  constructor(original: SignedForm, convert: () => Promise<SignedForm | SevenBitObstacle>) {
    this.original = original;
    this.#convert = convert;
  }

  /** The form is made at the first call. @throws StoreFault */
  sevenBit(): Promise<SignedForm | SevenBitObstacle> {
    this.#sevenBit ??= this.#convert();
    return this.#sevenBit;
  }
}
