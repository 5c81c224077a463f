// What a session writes to its client. Pieces of text are joined and sent once per turn of the event loop, or when there
// are 64 kB, because many small writes to a socket dominate the cost of a short command.

export interface Output {
  /** Writes a whole line, given without its end; the text is sent as UTF-8. */
  line(text: string): void;
  /** Writes text or octets unchanged: pieces of a response that has literals. Each character of a string is one octet. */
  write(octets: string | Uint8Array): void;
  /** A promise while the client is behind: await it before you write much more. */
  readonly ready: Promise<void> | undefined;
  /** Sends what has been written. */
  flush(): void;
}

/** The destination of the octets: a `LineConnection`. */
export interface Sink {
  /** Each character of a string is one octet. Returns a promise when the writer should wait before it writes again. */
  write(octets: string | Uint8Array): Promise<void> | undefined;
}

const NOT_ASCII = /[\u0080-\uffff]/;

/** Returns the octets of the text in UTF-8, one character each. */
export const octetsOf = (text: string): string =>
  NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;

const FLUSH_AT = 65_536;
/** Octets from which on a separate write costs less than copying them into the text. */
const LARGE = 4096;

export class ConnectionOutput implements Output {
  ready: Promise<void> | undefined;
  readonly #sink: Sink;
  /** Each character is one octet. */
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

  /** Called at the end of the turn of the event loop. */
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
