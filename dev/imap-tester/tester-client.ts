// Implements a client that believes nothing: it sends commands unchanged, parses every response strictly, and compares each untagged
// response with what it knows of its selected mailbox.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { constants, createDeflateRaw, createInflateRaw } from 'node:zlib';
import { CheckedMailbox } from './checked-mailbox.js';
import { literalAt, parseResponse, type Response, ServerFault } from './response.js';

/** It ends a hang alone: on a busy machine a long command may take a minute. */
const PATIENCE_MS = 180_000;
/** The maximum of lines in the transcript, which cover some dozens of commands. */
const MOST_NOTES = 400;
/** The maximum of characters in a line of the transcript. */
const MOST_NOTED = 200;

export interface Server {
  readonly host: string;
  readonly port: number;
  /** The server expects TLS from the first octet; certificates are not checked. */
  readonly tls?: boolean;
}

export interface Literal {
  readonly octets: Buffer;
  /** The literal is a `literal8` (RFC 3516). */
  readonly isBinary?: boolean;
  /** The literal is sent without the consent of the server (RFC 7888). */
  readonly isUninvited?: boolean;
}

/** The text of a command, or a literal; plain octets are a literal that waits for the server's consent. */
export type Piece = string | Buffer | Literal;

export interface Completed {
  readonly completion: Response;
  /** The untagged responses in order. */
  readonly untagged: readonly Response[];
}

interface Running {
  readonly tag: string;
  readonly name: string;
  readonly isUid: boolean;
  readonly untagged: Response[];
  readonly resolve: (completed: Completed) => void;
  readonly reject: (error: unknown) => void;
}

export class TesterClient {
  /** Undefined while no mailbox is selected. */
  mailbox: CheckedMailbox | undefined;
  /** NOTIFY reports the changes of the selected mailbox. */
  isNotified = false;
  /** It is being selected while another mailbox still is. */
  #opening: CheckedMailbox | undefined;
  /** The last lines that were sent and received, for reports. */
  readonly transcript: string[] = [];
  /** The first words of the last command. */
  lastCommand = '';
  readonly #socket: Socket;
  /** Receives what is sent: the socket, or the compressor before it. */
  #sink: Writable;
  /** Inflates what the socket receives after COMPRESS (RFC 4978). */
  #inflate: Writable | undefined;
  #buffer: Buffer = Buffer.alloc(0);
  /** Octets at the start of the buffer that belong to the present response. */
  #scanned = 0;
  #running: Running | undefined;
  #continued: (() => void) | undefined;
  #tags = 0;
  #failure: unknown;
  #greeted!: (response: Response) => void;
  #ungreeted!: (error: unknown) => void;
  /** Rejects when the connection ends before it. */
  readonly greeting = new Promise<Response>((resolve, reject) => {
    this.#greeted = resolve;
    this.#ungreeted = reject;
  });
  #isGreeted = false;
  /** Untagged responses that arrived while no command ran, or during IDLE. */
  readonly unasked: Response[] = [];
  #changed: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#sink = socket;
    this.greeting.catch(() => {});
    socket.on('data', (chunk: Buffer) => {
      if (this.#inflate === undefined) this.#receive(chunk);
      else this.#inflate.write(chunk);
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => {
      const closed = () => this.#fail(new Error('the connection is closed'));
      // All received octets are inflated first; the server does not end the compressed stream.
      if (this.#inflate === undefined) closed();
      else this.#inflate.once('error', closed).end(closed);
    });
  }

  static async open({ host, port, tls = false }: Server): Promise<TesterClient> {
    const socket = tls ? connectTls({ host, port, rejectUnauthorized: false }) : connect({ host, port });
    await once(socket, tls ? 'secureConnect' : 'connect');
    socket.setNoDelay(true);
    const client = new TesterClient(socket);
    await client.greeting;
    return client;
  }

  /** Rejects when a response breaks a rule. */
  async run(...pieces: readonly Piece[]): Promise<Completed> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#running !== undefined) throw new Error('a command runs already');
    const tag = `t${++this.#tags}`;
    const words = String(pieces[0]).trim().toUpperCase().split(' ');
    const isUid = words[0] === 'UID';
    const name = (isUid ? words[1] : words[0]) ?? '';
    this.lastCommand = String(pieces[0]).slice(0, MOST_NOTED);
    const late = setTimeout(() => this.#fail(new Error(`no completion of ${tag} ${name} in time`)), PATIENCE_MS);
    const completed = new Promise<Completed>((resolve, reject) => {
      this.#running = { tag, name, isUid, untagged: [], resolve, reject };
    });
    completed.catch(() => {});
    try {
      let text = `${tag} `;
      for (const piece of pieces) {
        if (typeof piece === 'string') {
          text += piece;
          continue;
        }
        const { octets, isBinary = false, isUninvited = false } = Buffer.isBuffer(piece) ? { octets: piece } : piece;
        const continued = new Promise<void>((resolve) => {
          this.#continued = resolve;
        });
        this.#send(`${text}${isBinary ? '~' : ''}{${octets.length}${isUninvited ? '+' : ''}}\r\n`);
        // The server may refuse the literal by completing the command.
        if (!isUninvited) await Promise.race([continued, completed]);
        if (this.#running === undefined) return await completed;
        this.#sink.write(octets);
        text = '';
      }
      this.#send(`${text}\r\n`);
      return await completed;
    } finally {
      clearTimeout(late);
      this.#continued = undefined;
    }
  }

  /** Does the same as `run`, but a completion other than OK is a failure. */
  async ok(...pieces: readonly Piece[]): Promise<Completed> {
    const completed = await this.run(...pieces);
    if (completed.completion.name !== 'OK') throw new ServerFault(`${String(pieces[0])}: ${completed.completion.raw}`);
    return completed;
  }

  /** Starts IDLE; `done` ends it and waits for the answer. */
  async idle(): Promise<{ done(): Promise<Completed> }> {
    const continued = new Promise<void>((resolve) => {
      this.#continued = resolve;
    });
    const completed = this.run('IDLE');
    completed.catch(() => {});
    await Promise.race([continued, completed]);
    return {
      done: () => {
        this.#send('DONE\r\n');
        return completed;
      },
    };
  }

  /** Waits for `holds`, which is checked after each response. Rejects when that takes too long. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const late = setTimeout(() => this.#fail(new Error(`waited in vain for ${what}`)), PATIENCE_MS);
    try {
      while (!holds()) {
        if (this.#failure !== undefined) throw this.#failure;
        await new Promise<void>((resolve) => this.#changed.push(resolve));
      }
    } finally {
      clearTimeout(late);
    }
  }

  /** `known` is brought up to date by QRESYNC; it has its own UIDVALIDITY and modseq. */
  async select(name: string, command = 'SELECT', known?: CheckedMailbox): Promise<Completed> {
    const { uidValidity, highestModseq, messages } = known ?? {};
    const isResumed = uidValidity !== undefined && highestModseq !== undefined && known?.knowsAllUids === true;
    const mailbox = new CheckedMailbox(isResumed ? messages : undefined);
    mailbox.isNotified = this.isNotified;
    if (this.mailbox === undefined) this.mailbox = mailbox;
    else this.#opening = mailbox;
    const completed = await this.run(
      isResumed ? `${command} ${name} (QRESYNC (${uidValidity} ${highestModseq}))` : `${command} ${name}`,
    );
    this.#opening = undefined;
    if (completed.completion.name !== 'OK') this.mailbox = undefined;
    else if (this.mailbox !== mailbox)
      throw new ServerFault(`${name} is selected, and the mailbox before is not CLOSED`);
    else mailbox.selected();
    return completed;
  }

  /** Closes the connection as a killed program does. */
  destroy(): void {
    this.#failure ??= new Error('the client has gone');
    this.#socket.destroy();
  }

  async logout(): Promise<void> {
    await this.run('LOGOUT');
    this.mailbox = undefined;
    this.#failure ??= new Error('the client has logged out');
    this.#sink.end();
  }

  #send(text: string): void {
    this.#note(`> ${text}`);
    this.#sink.write(text, 'latin1');
  }

  #note(line: string): void {
    this.transcript.push(line.length > MOST_NOTED ? `${line.slice(0, MOST_NOTED)}…` : line);
    if (this.transcript.length > MOST_NOTES) this.transcript.shift();
  }

  #receive(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    try {
      for (let response = this.#next(); response !== undefined; response = this.#next()) this.#take(response);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Returns the octets of the next whole response. */
  #next(): Buffer | undefined {
    for (;;) {
      const end = this.#buffer.indexOf('\r\n', this.#scanned, 'latin1');
      if (end < 0) return undefined;
      const lineStart = Math.max(this.#scanned, end - 40);
      const literal = literalAt(this.#buffer.subarray(lineStart, end).toString('latin1'));
      if (literal === undefined) {
        const response = this.#buffer.subarray(0, end);
        this.#buffer = this.#buffer.subarray(end + 2);
        this.#scanned = 0;
        return response;
      }
      if (this.#buffer.length < end + 2 + literal) return undefined;
      this.#scanned = end + 2 + literal;
    }
  }

  #take(octets: Buffer): void {
    this.#note(`< ${octets.toString('latin1')}`);
    const response = parseResponse(octets);
    if (!this.#isGreeted) {
      this.#isGreeted = true;
      this.#greeted(response);
      return;
    }
    const running = this.#running;
    if (response.tag === '+') {
      this.#continued?.();
      this.#continued = undefined;
    } else if (response.tag === '*') {
      // Responses for the previous mailbox come before CLOSED, those for the new one after it.
      if (response.code === 'CLOSED' && this.#opening !== undefined) this.mailbox = this.#opening;
      this.mailbox?.apply(response, running);
      if (running === undefined || running.name === 'IDLE') this.unasked.push(response);
      running?.untagged.push(response);
    } else if (running?.tag === response.tag) {
      this.#running = undefined;
      if (running.name === 'COMPRESS' && response.name === 'OK') this.#compress();
      running.resolve({ completion: response, untagged: running.untagged });
    } else throw new ServerFault(`a completion of no command: ${response.raw}`);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#changed.splice(0)) wake();
  }

  /** Nothing was sent after the command, so all octets after its completion are compressed. */
  #compress(): void {
    const deflate = createDeflateRaw({ flush: constants.Z_SYNC_FLUSH });
    deflate.pipe(this.#socket);
    this.#sink = deflate;
    const inflate = createInflateRaw();
    inflate.on('data', (chunk: Buffer) => this.#receive(chunk));
    inflate.on('error', (error) => {
      if (!this.#socket.closed) this.#fail(error);
    });
    const early = this.#buffer;
    this.#buffer = Buffer.alloc(0);
    if (early.length > 0) inflate.write(early);
    this.#inflate = inflate;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#ungreeted(error);
    this.#wake();
    const running = this.#running;
    this.#running = undefined;
    running?.reject(this.#failure);
    this.#continued?.();
    this.#socket.destroy();
  }
}
