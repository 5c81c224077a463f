// The words of messages for the actors: both bodies of a blob, as the gateways' decoder returns them, and the names in its header. It has a
// decoder of its own, so that a burst of deliveries never makes a reader of mail wait.
import { storedHeader } from '../../actors/mailbox/filters/filter-reads.js';
import type { BodyText, EmailTexts, SearchableTexts, StoredMessage } from '../../actors/mailbox/search/email-texts.js';
import type { MessageIndex } from '../../mail-format/message-index.js';
import { textOfMailboxes } from '../../mail-format/words/search-text.js';
import { verbatimText } from '../../message-content/decode/body-parts.js';
import { BodyDecoder, type ReadRanges, type Viewer } from '../../message-content/decode/decoder.js';
import type { BlobStore } from '../../store/blobs.js';

const MOST_CHARACTERS = 256 * 1024;
/** The raw octets that are read for them: base64 and markup need more room than the words. */
const MOST_OCTETS = 1024 * 1024;
/** The time of each of the two attempts at a long body. */
const DECODING_MS = 500;
/** The same for a body that is read long after its delivery; the decoder's own limit sets the number of octets. */
const LONG_DECODING_MS = 2_500;
const HEAP_MB = 64;
/** Waiting jobs use no memory and are few: each account reads only a limited number of bodies at a time. */
const MOST_WAITING = 10_000;
/** Messages up to this size are read whole, many at a time, for search. */
const SMALL_OCTETS = 64 * 1024;
/** The number of indexed characters of the names and addresses of recipients, and of file names. */
const MOST_NAMES = 64 * 1024;

export function openEmailTexts(
  blobs: Pick<BlobStore, 'index' | 'indexes' | 'read' | 'readRanges' | 'readAll'>,
): EmailTexts & { close(): Promise<void> } {
  const decoder = new BodyDecoder({
    octets: MOST_OCTETS,
    characters: MOST_CHARACTERS,
    jobMs: DECODING_MS,
    heapMb: HEAP_MB,
    queue: MOST_WAITING,
    queueAnAccount: MOST_WAITING,
  });

  const longDecoder = new BodyDecoder({
    jobMs: LONG_DECODING_MS,
    queue: MOST_WAITING,
    queueAnAccount: MOST_WAITING,
  });

  const bodyOf = (index: MessageIndex, read: ReadRanges, by: BodyDecoder, viewer: Viewer) =>
    by.bodies(ofWords(index), read, viewer);

  const readerOf =
    (blob: string): ReadRanges =>
    (ranges, signal) =>
      blobs.readRanges(blob, ranges, signal);

  async function textOf(accountId: string, blob: string, by: BodyDecoder): Promise<BodyText> {
    const index = await blobs.index(blob);
    if (index === undefined) return { text: '', extent: 'whole' };
    const { text, partial, isUndecoded } = await bodyOf(index, readerOf(blob), by, { accountId, atOnce: true });
    return { text, extent: isUndecoded === true ? 'undecoded' : partial ? 'start' : 'whole' };
  }

  return {
    header: (blob) => storedHeader(blobs, blob),
    text: (accountId, blob) => textOf(accountId, blob, decoder),
    longText: (accountId, blob) => textOf(accountId, blob, longDecoder),
    async searchable(messages, signal) {
      const indexes = await blobs.indexes([...new Set(messages.map(({ blob }) => blob))]);
      signal?.throwIfAborted();
      const small = [...indexes].flatMap(([blob, { size }]) => (size <= SMALL_OCTETS ? [blob] : []));
      const whole = small.length === 0 ? new Map<string, Uint8Array>() : await blobs.readAll(small);
      const found = new Map<string, Promise<SearchableTexts>>();
      const textsOf = async ({ accountId, blob }: StoredMessage): Promise<SearchableTexts> => {
        const index = indexes.get(blob);
        if (index === undefined) return { recipients: '', attachments: '', body: '' };
        const octets = whole.get(blob);
        const read = octets === undefined ? readerOf(blob) : within(octets);
        const asItIs = octets && verbatimText(ofWords(index), octets);
        const { to, cc } = index.envelope;
        return {
          recipients: cut(textOfMailboxes([...to, ...cc])),
          attachments: cut(index.attachments.map(({ fileName }) => fileName).join('\n')),
          body: asItIs ?? (await bodyOf(index, read, decoder, { accountId, ...(signal && { signal }) })).text,
        };
      };
      for (const message of messages) if (!found.has(message.blob)) found.set(message.blob, textsOf(message));
      return Promise.all(messages.map(({ blob }) => found.get(blob)!));
    },
    async close() {
      await Promise.all([decoder.close(), longDecoder.close()]);
    },
  };
}

/** Both bodies as one text, so that text which is only in the HTML is found too. Markup is converted to words. */
function ofWords(index: MessageIndex): MessageIndex {
  const { textSections, htmlSections } = index;
  return { ...index, textSections: [...new Set([...textSections, ...htmlSections])], htmlSections: [] };
}

const within =
  (octets: Uint8Array): ReadRanges =>
  async (ranges) =>
    ranges.map(({ start, end }) => Uint8Array.prototype.slice.call(octets, start, end));

const cut = (names: string): string => names.slice(0, MOST_NAMES);
