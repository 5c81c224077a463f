// Messages that come in chunks (BDAT, RFC 3030). The octets of a chunk follow its command, even if the command is refused; the reply
// to the last chunk is the reply to the message. data-parser reads the octets; the handlers get a stream as after DATA.
import type { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { DataParser, EXCESS, type MessageStream } from './data-parser.js';

/** The part of the connection that chunks need. */
interface ChunkConnection
  extends Pick<
    SMTPConnection,
    '_parser' | '_server' | '_dataStream' | '_transactionCounter' | '_resetSession' | 'hostNameAppearsAs' | 'session'
  > {
  readonly owesLogin: boolean;
  send(code: number, text: string, context?: string): void;
  close(): void;
  chunkBegins(isFirst: boolean): void;
  chunkEnded(): void;
}

type Failure = (Error & { readonly responseCode?: number }) | null | undefined;

const BDAT = /^BDAT (\d{1,15})( LAST)?[ \t]*$/i;
/** Between two chunks, these commands abort the message. */
const GIVES_UP: ReadonlySet<string> = new Set(['RSET', 'HELO', 'EHLO', 'QUIT']);
/** Between two chunks, these commands change nothing; any other command is out of sequence. */
const PASSES: ReadonlySet<string> = new Set(['NOOP', 'VRFY', 'HELP']);

export class ChunkedMessages {
  readonly #connection: ChunkConnection;
  /** The message that is being received, if there is one. */
  #message: { isBetween: boolean } | undefined;

  constructor(connection: ChunkConnection) {
    this.#connection = connection;
  }

  /** Whether the peer has to send the next chunk. */
  get isBetween(): boolean {
    return this.#message?.isBetween === true;
  }

  /** Tells whether a command other than BDAT may be carried out now. Some commands abort the message. */
  allows(verb: string): boolean {
    if (this.#message === undefined || PASSES.has(verb)) return true;
    if (!GIVES_UP.has(verb)) return false;
    this.#message = undefined;
    this.#connection._dataStream = false;
    this.#parser?.abandonChunks();
    return true;
  }

  /** `callback` continues reading. A malformed BDAT ends the connection, because the end of its octets is unknown. */
  take(command: string, callback: () => void): void {
    const connection = this.#connection;
    const parser = this.#parser;
    if (parser === undefined) return;
    const [, digits, last] = BDAT.exec(command) ?? [];
    const octets = Number(digits);
    const most = (Number(connection._server.options.size) || Number.POSITIVE_INFINITY) + EXCESS;
    if (digits === undefined || octets > most) {
      if (digits === undefined) connection.send(501, '5.5.4 Bad BDAT, closing connection');
      else connection.send(552, '5.3.4 Message too large, closing connection');
      connection.close();
      return;
    }
    const refusal = this.#message === undefined ? this.#refusal() : undefined;
    if (refusal !== undefined) {
      parser.takeChunk(octets, false, () => connection.send(...refusal), callback);
      return;
    }
    connection.chunkBegins(this.#message === undefined);
    const message = this.#message ?? this.#begin(parser);
    message.isBetween = false;
    const taken = () => {
      connection.chunkEnded();
      message.isBetween = true;
      connection.send(250, `2.0.0 ${octets} octets received`);
    };
    parser.takeChunk(octets, last !== undefined, last === undefined ? taken : () => undefined, callback);
  }

  get #parser(): DataParser | undefined {
    const { _parser: parser } = this.#connection;
    return parser instanceof DataParser ? parser : undefined;
  }

  #refusal(): [code: number, text: string] | undefined {
    const { hostNameAppearsAs, owesLogin, session } = this.#connection;
    if (!hostNameAppearsAs) return [503, '5.5.1 Send HELO or EHLO first'];
    if (owesLogin) return [530, '5.7.0 Authentication required'];
    return session.envelope.rcptTo.length === 0 ? [503, '5.5.1 Need RCPT'] : undefined;
  }

  #begin(parser: DataParser): { isBetween: boolean } {
    const { _server: server, session } = this.#connection;
    const message = { isBetween: false };
    this.#message = message;
    const stream = parser.startChunks(server.options.size);
    this.#connection._dataStream = stream;
    server.onData(stream, session, (error, text) => whenOver(stream, () => this.#replied(message, error, text)));
    return message;
  }

  /** Ends the message as smtp-server ends DATA. */
  #replied(message: object, error: Failure, text: unknown): void {
    // The message was aborted.
    if (this.#message !== message) return;
    const connection = this.#connection;
    this.#message = undefined;
    connection._dataStream = false;
    if (error) connection.send(error.responseCode ?? 450, error.message);
    else connection.send(250, String(text), 'DATA_OK');
    connection._transactionCounter++;
    connection._resetSession();
    this.#parser?.continue();
  }
}

/** A message that is refused unread is read to its end, because the reply may only come there. */
function whenOver(stream: MessageStream, then: () => void): void {
  if (stream.readableEnded || stream.destroyed) {
    then();
    return;
  }
  stream.once('close', then);
  if (stream.readableFlowing === null) stream.resume();
}
