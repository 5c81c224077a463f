// Stand-in until the decoder is merged: content transfer encodings as streams; base64 only.

export async function* decodeStream(encoding: string, source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (encoding !== 'base64') return yield* source;
  let rest = '';
  for await (const chunk of source) {
    const text =
      rest +
      Buffer.from(chunk)
        .toString('latin1')
        .replace(/[^A-Za-z0-9+/]/g, '');
    const whole = text.length - (text.length % 4);
    rest = text.slice(whole);
    if (whole > 0) yield Buffer.from(text.slice(0, whole), 'base64');
  }
  if (rest !== '') yield Buffer.from(rest, 'base64');
}
