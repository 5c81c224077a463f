// DATA to content: the octets of one message from its stream into a spool writer, in bounded memory and with backpressure.
// A message that cannot be kept is still read to its end, because the reply may only come there (RFC 5321 §4.1.1.4).
import { SpoolFault } from '../../spool/errors.js';
import type { SpooledContent, SpoolWriter } from '../../spool/spool.js';
import type { MessageStream } from './data-parser.js';
import { Refused } from './replies.js';

/** What a message goes through on its way; what it throws refuses the message. */
export interface Passage {
  /** Octets that are held back now. */
  readonly held: number;
  /** What may go on; undefined while nothing may. */
  push(piece: Uint8Array): Uint8Array | undefined;
  /** What was held back to the end. */
  end(): Uint8Array | undefined;
}

/** Octets that may be held back though the spool has no room for them: the header of nearly every message. */
const ALWAYS_HELD = 32_768;

/**
 * Reads the stream to its end. `prefix` goes before the message and does not count against `maxSize`.
 * @throws Refused when too large, malformed or cut off; SpoolFault; what `passage` throws. Nothing is kept then.
 */
export async function receive(
  stream: MessageStream,
  writer: SpoolWriter,
  prefix: Uint8Array,
  maxSize: number,
  passage: Passage,
): Promise<SpooledContent> {
  try {
    // Before the first await: the stream must find its reader in the turn it was made.
    const read = readAll(stream, writer, prefix, maxSize, passage);
    await read;
    if (stream.discipline.malformed) throw new Refused('bareLineEnding');
  } catch (error) {
    writer.discard();
    throw error;
  }
  return writer.finish();
}

function readAll(
  stream: MessageStream,
  writer: SpoolWriter,
  prefix: Uint8Array,
  maxSize: number,
  passage: Passage,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let reserved = 0;
    let failure: unknown;
    let ended = false;

    const fail = (error: unknown): void => {
      failure ??= error;
      writer.discard();
    };
    const keep = (passed: () => Uint8Array | undefined): void => {
      if (failure !== undefined) return;
      try {
        const octets = passed();
        const written = octets === undefined ? undefined : writer.write(octets);
        if (written === undefined) return;
        stream.pause();
        written.catch(fail).finally(() => stream.resume());
      } catch (error) {
        fail(error);
      }
    };

    const push = (chunk: Buffer): Uint8Array | undefined => {
      const octets = passage.push(chunk);
      const more = passage.held - Math.max(reserved, ALWAYS_HELD);
      if (more > 0) {
        if (!writer.reserve(more)) throw new SpoolFault('spool-memory', 'the memory of the spool is used up');
        reserved = passage.held;
      }
      return octets;
    };

    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxSize) fail(new Refused('tooLarge'));
      else if (stream.discipline.malformed) fail(new Refused('bareLineEnding'));
      else keep(() => push(chunk));
    });
    stream.once('end', () => {
      ended = true;
      if (!stream.discipline.malformed) keep(() => passage.end());
      if (failure === undefined) resolve();
      else reject(failure);
    });
    stream.once('error', () => undefined);
    stream.once('close', () => {
      if (!ended) reject(new Refused('connectionLost'));
    });
    keep(() => prefix);
  });
}
