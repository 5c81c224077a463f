// What a session writes to its client. Pieces of text are joined, and leave together once a turn of the event loop or when there
// are 64 kB: many small writes to a socket cost more than all else in a short command.
import { octetsOf } from './wire/format.js';

export interface Output {
  /** A whole line without its end; the text is sent as UTF-8. */
  line(text: string): void;
  /** Text or octets as they are: pieces of a response that has literals. Each character of a string is one octet. */
  write(octets: string | Uint8Array): void;
  /** A promise while the client is behind: await it before writing much more. */
  readonly ready: Promise<void> | undefined;
  /** Sends what was written so far. */
  flush(): void;
}

/** Where the octets go: a `LineConnection`. */
export interface Sink {
  /** Each character of a string is one octet. Returns a promise when the writer should wait before it writes again. */
  write(octets: string | Uint8Array): Promise<void> | undefined;
}

const FLUSH_AT = 65_536;
/** Octets from which on copying them into the text costs more than a write of their own. */
const LARGE = 4096;

export class ConnectionOutput implements Output {
  ready: Promise<void> | undefined;
  readonly #sink: Sink;
  /** One character an octet. */
  #text = '';
  #isScheduled = false;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  line(text: string): void {
    this.write(`${octetsOf(text)}\r\n`);
  }

  write(octets: string | Uint8Array): void {
    if (typeof octets === 'string') this.#text += octets;
    else if (octets.length < LARGE) this.#text += latin1(octets);
    else {
      this.flush();
      this.#send(octets);
      return;
    }
    if (this.#text.length >= FLUSH_AT) this.flush();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(flushLater, this);
    }
  }

  flush(): void {
    if (this.#text === '') return;
    const octets = this.#text;
    this.#text = '';
    this.#send(octets);
  }

  /** The turn is over. */
  turned(): void {
    this.#isScheduled = false;
    this.flush();
  }

  #send(octets: string | Uint8Array): void {
    const full = this.#sink.write(octets);
    if (full === undefined || full === this.ready) return;
    this.ready = full;
    void full.then(() => {
      if (this.ready === full) this.ready = undefined;
    });
  }
}

function flushLater(output: ConnectionOutput): void {
  output.turned();
}

function latin1(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
}
