// The forms of one message for the servers of an attempt: as it is stored, and without 8-bit octets for servers that take none.
// Each form has signatures of its own, since a signature is about the octets that arrive (RFC 6376 §5.3).
import type { SevenBitObstacle } from '../mail/seven-bit.js';
import type { OutgoingMessage } from './outgoing-message.js';

export interface SignedForm {
  readonly content: OutgoingMessage;
  /** Header fields to put before the content; ASCII, every line ends in CRLF. */
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

  /** Made when it is first asked for. @throws StoreFault */
  sevenBit(): Promise<SignedForm | SevenBitObstacle> {
    this.#sevenBit ??= this.#convert();
    return this.#sevenBit;
  }
}
