// A reply with a document that is made for this request, such as XML.
import type { HeaderField } from '../../exchange.js';

export const XML = 'text/xml';

export function document<const S extends number>(
  status: S,
  mediaType: string,
  text: string,
  headers: readonly HeaderField[] = [],
) {
  const octets = Buffer.from(text);
  // Settings change with the listeners, and documents are short, so nobody caches them.
  const fields: readonly HeaderField[] = [
    ['Content-Type', `${mediaType}; charset=utf-8`],
    ['Cache-Control', 'no-store'],
    ...headers,
  ];
  return { status, headers: fields, stream: { length: octets.length, chunks: whole(octets) } };
}

async function* whole(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  yield octets;
}
