// Octets of a message as a literal may contain them: only a literal8 may contain NUL, and only BINARY may send one (RFC 9051 §9). Mail
// from SMTP and imports has some. As in Dovecot, 0x80 replaces NUL, so that sizes and partials do not change.

const SHOWN = 0x80;

export function shownText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', String.fromCharCode(SHOWN)) : text;
}

/** Copies the octets only if they contain NUL. */
export function shownOctets(octets: Uint8Array): Uint8Array {
  let shown = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  let at = shown.indexOf(0);
  if (at < 0) return octets;
  shown = Buffer.from(shown);
  for (; at >= 0; at = shown.indexOf(0, at + 1)) shown[at] = SHOWN;
  return shown;
}

/** Not a generator: the `return` of a generator that was never read would not end the source. */
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
