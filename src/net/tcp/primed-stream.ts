// A stream whose first piece is read before the head of the reply or response is written.

/** Returns the stream with its first piece read: a stream that cannot be read at all fails before anything of it is written. */
export async function primed(source: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = source[Symbol.asyncIterator]();
  let first: IteratorResult<Uint8Array> | undefined = await iterator.next();
  const pieces: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => pieces,
    next: async () => {
      if (first === undefined) return iterator.next();
      const result = first;
      first = undefined;
      return result;
    },
    // A generator would not do: `return` of a generator that was never read does not end the source.
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
  return pieces;
}
