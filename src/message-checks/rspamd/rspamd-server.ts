// The HTTP interface of rspamd: what is posted to a worker, and its answer. Every request ends in time, and the answer has a limit.
// `rspamd-check.ts` decides what an answer means for a message.
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Names and values; a value that is an array makes several fields. */
export type RspamdFields = Readonly<Record<string, string | readonly string[]>>;

interface RspamdAnswer {
  readonly status: number;
  readonly text: string;
}

/** No connection to the server was made, whatever the message is. */
export class RspamdUnreachable extends Error {
  constructor(cause: unknown) {
    super('rspamd cannot be reached', { cause });
  }
}

type MessageOctets = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The result of a message with hundreds of symbols has 50 kB. */
const LONGEST_ANSWER = 1_048_576;

export class RspamdServer {
  readonly #url: string;
  readonly #request: typeof request;
  // A connection per message: rspamd closes it after the answer.
  readonly #agent: Agent;

  /** `url`: that of a worker, without a path. */
  constructor(url: string) {
    this.#url = url;
    const isTls = url.startsWith('https:');
    this.#request = isTls ? tlsRequest : request;
    this.#agent = isTls ? new TlsAgent({ keepAlive: false }) : new Agent({ keepAlive: false });
  }

  /**
   * Sends the message while it is read. Rejects when no whole answer arrives, and when the signal aborts; with RspamdUnreachable while there
   * is no connection.
   */
  async post(path: string, fields: RspamdFields, message: MessageOctets, signal: AbortSignal): Promise<RspamdAnswer> {
    const asked = this.#begin('POST', path, fields, signal);
    const answer = answerTo(asked);
    // A server may answer before it has read everything; a failure without an answer rejects `answer`.
    pipeline(Readable.from(message), asked).catch(() => undefined);
    try {
      return await answer;
    } finally {
      asked.destroy();
    }
  }

  async get(path: string, signal: AbortSignal): Promise<RspamdAnswer> {
    const asked = this.#begin('GET', path, {}, signal);
    asked.end();
    return answerTo(asked);
  }

  #begin(method: string, path: string, fields: RspamdFields, signal: AbortSignal): ClientRequest {
    const headers = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? fieldText(value) : value.map(fieldText),
    ]);
    return this.#request(`${this.#url}${path}`, {
      method,
      headers: Object.fromEntries(headers),
      agent: this.#agent,
      signal,
    });
  }
}

function answerTo(asked: ClientRequest): Promise<RspamdAnswer> {
  return new Promise((resolve, reject) => {
    let isConnected = false;
    asked.on('socket', (socket) => socket.once('connect', () => (isConnected = true)));
    asked.on('error', (error) => reject(isConnected ? error : new RspamdUnreachable(error)));
    asked.on('close', () => reject(new Error('rspamd closed the connection before its answer')));
    asked.on('response', (response: IncomingMessage) => {
      const pieces: Buffer[] = [];
      let octets = 0;
      response.on('error', reject);
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        octets += piece.length;
        if (octets > LONGEST_ANSWER)
          asked.destroy(new Error(`the answer of rspamd has more than ${LONGEST_ANSWER} bytes`));
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString('utf8') }),
      );
    });
  });
}

/** The octets of a value in UTF-8, which rspamd expects, in the form that node:http sends unchanged; no control characters. */
function fieldText(value: string): string {
  return Buffer.from(value.replace(/\p{Cc}+/gu, ' '), 'utf8').toString('latin1');
}
