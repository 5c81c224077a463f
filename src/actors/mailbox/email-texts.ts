// Port: the words of a message's body, for filters and search. Decoding is a gateway's craft, so the composition root
// gives the implementation.

export interface EmailTexts {
  /**
   * Decoded text of the message body, at most 256 kB; '' when there is none or it cannot be read in time.
   * @throws StoreFault
   */
  text(blob: string): Promise<string>;
}
