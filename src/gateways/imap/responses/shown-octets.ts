// Octets of a message as a literal may have them: none has a NUL but a literal8, which only BINARY may be (RFC 9051 §9). Mail
// from SMTP and imports has some. As Dovecot has it, 0x80 takes its place, so that sizes and partials stay as they are.

const SHOWN = 0x80;

export function shownText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', String.fromCharCode(SHOWN)) : text;
}

/** A copy where there is a NUL. */
export function shownOctets(octets: Uint8Array): Uint8Array {
  let shown = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  let at = shown.indexOf(0);
  if (at < 0) return octets;
  shown = Buffer.from(shown);
  for (; at >= 0; at = shown.indexOf(0, at + 1)) shown[at] = SHOWN;
  return shown;
}

/** Not a generator: that of a generator which was never read would not end the source. */
export function shownStream(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]();
      return {
        async next() {
          const result = await iterator.next();
          return result.done === true ? result : { value: shownOctets(result.value) };
        },
        return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
