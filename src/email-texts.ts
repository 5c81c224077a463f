// The words of messages for the actors: the text body of a blob as the decoder of the gateways gives it. It has a decoder
// of its own, so that a burst of deliveries never keeps a reader of mail waiting.
import type { EmailTexts } from './actors/mailbox/email-texts.js';
import { BodyDecoder, DecoderBusy } from './gateways/decode/decoder.js';
import type { BlobStore } from './store/blobs.js';

const MOST_CHARACTERS = 256 * 1024;
/** Raw octets that are read for them: base64 and markup take more room than the words. */
const MOST_OCTETS = 1024 * 1024;
const DECODING_MS = 1_000;

export function openEmailTexts(blobs: Pick<BlobStore, 'index' | 'read'>): EmailTexts & { close(): Promise<void> } {
  const decoder = new BodyDecoder({ octets: MOST_OCTETS, characters: MOST_CHARACTERS, jobMs: DECODING_MS });
  return {
    async text(blob) {
      const index = await blobs.index(blob);
      if (index === undefined) return '';
      try {
        // Sections of the text body that hold markup come out as words: so do those of a message of markup alone.
        const { textSections, htmlSections } = index;
        const words = {
          ...index,
          textSections: textSections.length > 0 ? textSections : htmlSections,
          htmlSections: [],
        };
        return (await decoder.bodies(words, (start, end) => blobs.read(blob, start, end))).text;
      } catch (error) {
        if (error instanceof DecoderBusy) return '';
        throw error;
      }
    },
    close: () => decoder.close(),
  };
}
