// Receives the octets of one message after DATA, for every listener: bounds the size, refuses bare line endings,
// and pauses the peer while the sink writes. A refused message is read to its end too, because the reply may
// only come there (RFC 5321 §4.1.1.4).
import type { MessageStream } from './data-parser.js';
import { SmtpRefused } from './replies.js';

export interface DataSink {
  /** Called once, before the first octet. Returns what `write` returns. */
  begin(): Promise<void> | undefined;
  /** Returns a promise when the peer has to wait. Throws and rejects to refuse the message. */
  write(chunk: Buffer): Promise<void> | undefined;
  /** Called when the peer has sent the whole message. Throws to refuse it. */
  end(): void;
  /** Called when the message is refused or cut off, to keep nothing of it; may be called again. */
  discard(): void;
}

/**
 * Must be called in the same turn of the event loop that made the stream. Rejects after `discard`.
 * @throws SmtpRefused when the message is too large, malformed or cut off; errors of the sink
 */
export function receiveData(stream: MessageStream, maxSize: number, sink: DataSink): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let failure: unknown;
    let ended = false;
    const fail = (error: unknown): void => {
      failure ??= error;
      sink.discard();
    };
    const guard = (step: () => Promise<void> | undefined): void => {
      if (failure !== undefined) return;
      try {
        const written = step();
        if (written === undefined) return;
        stream.pause();
        written.catch(fail).finally(() => stream.resume());
      } catch (error) {
        fail(error);
      }
    };

    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      guard(() => {
        if (size > maxSize) throw new SmtpRefused('tooLarge');
        if (stream.decoder.malformed) throw new SmtpRefused('bareLineEnding');
        return sink.write(chunk);
      });
    });
    stream.once('end', () => {
      ended = true;
      guard(() => {
        if (stream.decoder.malformed) throw new SmtpRefused('bareLineEnding');
        sink.end();
        return undefined;
      });
      if (failure === undefined) resolve();
      else reject(failure);
    });
    stream.once('error', () => undefined);
    stream.once('close', () => {
      if (ended) return;
      const cutOff = new SmtpRefused('connectionLost');
      fail(cutOff);
      reject(cutOff);
    });
    guard(() => sink.begin());
  });
}
