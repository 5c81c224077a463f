// Replies of POP3 (RFC 1939 §3, RFC 2449 §8) and how they are sent: pieces are joined and written once per turn of the event loop, or
// when there are 64 kB, because many small writes to a socket dominate the cost of a short command.

export interface Pop3Reply {
  readonly isOk: boolean;
  /** The response code without its brackets (RFC 2449 §8, RFC 3206). */
  readonly code?: string;
  readonly text: string;
  /** Lines of a multi-line response; none of them begins with a dot. */
  readonly lines?: Iterable<string>;
  /** Sends the line of the reply and then changes how octets are transported: STLS. */
  readonly sendWith?: (line: string) => Promise<void>;
}

export const ok = (text: string): Pop3Reply => ({ isOk: true, text });
export const list = (text: string, lines: Iterable<string>): Pop3Reply => ({ isOk: true, text, lines });
export const err = (text: string, code?: string): Pop3Reply => ({
  isOk: false,
  text,
  ...(code !== undefined && { code }),
});

/** Ends a session whose maildrop another session has taken over. */
export const LOCK_LOST = err('Another session has the maildrop; nothing was deleted', 'IN-USE');

/** Returns the first line of the reply with its CRLF. */
export function lineOf({ isOk, code, text }: Pop3Reply): string {
  return `${isOk ? '+OK' : '-ERR'} ${code === undefined ? '' : `[${code}] `}${text}\r\n`;
}

/** Ends a command with -ERR for an expected reason. */
export class RefusedCommand extends Error {
  override readonly name = 'RefusedCommand';
  readonly reply: Pop3Reply;

  constructor(reply: Pop3Reply) {
    super(reply.text);
    this.reply = reply;
  }
}

/** The destination of the octets: a `LineConnection`. */
export interface Pop3Sink {
  /** Returns a promise when the writer should wait before it writes again. */
  write(octets: Uint8Array): Promise<void> | undefined;
}

const FLUSH_AT = 65_536;
const NOTHING: (Buffer | string)[] = [];

export class Pop3Output {
  /** A promise while the client is behind: await it before you write much more. */
  ready: Promise<void> | undefined;
  readonly #sink: Pop3Sink;
  #pieces = NOTHING;
  #octets = 0;
  #isScheduled = false;

  constructor(sink: Pop3Sink) {
    this.#sink = sink;
  }

  /** Texts must be ASCII. The caller must not change the octets afterwards. */
  write(piece: Buffer | string): void {
    if (this.#pieces.length === 0) this.#pieces = [];
    this.#pieces.push(piece);
    this.#octets += piece.length;
    if (this.#octets >= FLUSH_AT) this.flush();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(flushLater, this);
    }
  }

  flush(): void {
    if (this.#octets === 0) return;
    const [first] = this.#pieces;
    const octets = this.#pieces.length === 1 && typeof first !== 'string' ? first! : joined(this.#pieces, this.#octets);
    this.#pieces = NOTHING;
    this.#octets = 0;
    const full = this.#sink.write(octets);
    if (full === undefined || full === this.ready) return;
    this.ready = full;
    void full.then(() => {
      if (this.ready === full) this.ready = undefined;
    });
  }

  /** Called at the end of the turn of the event loop. */
  turned(): void {
    this.#isScheduled = false;
    this.flush();
  }
}

function flushLater(output: Pop3Output): void {
  output.turned();
}

function joined(pieces: readonly (Buffer | string)[], length: number): Buffer {
  const octets = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') octets.write(piece, at, 'latin1');
    else octets.set(piece, at);
    at += piece.length;
  }
  return octets;
}
