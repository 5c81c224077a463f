// DATA at submission: the message is completed as it passes (Date, Message-Id; Bcc is removed) and goes into the spool,
// which hashes and indexes it. The memory of the spool bounds the part of the header that is held back.

import type { SubmittedMessage } from '../../mail-format/writing/submitted-message.js';
import { SpoolFault } from '../../message-content/spool/errors.js';
import type { SpooledContent, SpoolWriter } from '../../message-content/spool/spool.js';
import type { MessageStream } from './data-parser.js';
import { type DataSink, receiveData } from './receive-data.js';

/** Octets that may be held back even if the spool has no room for them: the header of nearly every message. */
const ALWAYS_RESERVED = 32_768;

/**
 * `trace` precedes the message and does not count against `maxSize`. Keeps nothing when it throws.
 * @throws SmtpRefused, UnusableHeader, SpoolFault
 */
export async function receiveSubmission(
  stream: MessageStream,
  writer: SpoolWriter,
  trace: Uint8Array,
  maxSize: number,
  message: SubmittedMessage,
): Promise<SpooledContent> {
  await receiveData(stream, maxSize, new SubmissionSink(writer, trace, message));
  return writer.finish();
}

class SubmissionSink implements DataSink {
  readonly #writer: SpoolWriter;
  readonly #message: SubmittedMessage;
  readonly #trace: Uint8Array;
  #reserved = 0;

  constructor(writer: SpoolWriter, trace: Uint8Array, message: SubmittedMessage) {
    this.#writer = writer;
    this.#trace = trace;
    this.#message = message;
  }

  begin(): Promise<void> | undefined {
    return this.#writer.write(this.#trace);
  }

  write(chunk: Buffer): Promise<void> | undefined {
    const octets = this.#message.push(chunk);
    const { pending } = this.#message;
    const more = pending - Math.max(this.#reserved, ALWAYS_RESERVED);
    if (more > 0) {
      if (!this.#writer.reserve(more)) throw new SpoolFault('spool-memory', 'the memory of the spool is used up');
      this.#reserved = pending;
    }
    return octets === undefined ? undefined : this.#writer.write(octets);
  }

  end(): void {
    const octets = this.#message.end();
    // The writer waits for its last write before it finishes, and reports a failure then.
    if (octets !== undefined) this.#writer.write(octets)?.catch(() => undefined);
  }

  discard(): void {
    this.#writer.discard();
  }
}
