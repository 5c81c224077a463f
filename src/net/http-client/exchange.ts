// One request over one connection of the pool: sent, answered or failed within its time. `readExcerpt` and `readWhole` are the two ways to
// read an answer; a connection whose answer is not read to its end is closed.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ConnectionAgent } from './connection-pool.js';
import type { HttpClientLimits } from './limits.js';
import { type Download, failed, type HttpFailure, type PeerReply, shown } from './outcome.js';

interface ExchangeOptions {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  /** The addresses of the host; connections are made only to these. */
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly agent: ConnectionAgent;
  readonly limits: HttpClientLimits;
  /** The time of `performance.now()` at which the header of the answer must have arrived. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
}

/** Codes of Node and OpenSSL for failed handshakes and refused certificates. */
const TLS_CODES =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|EPROTO$|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH_|ERROR_IN_)/;

/**
 * `read` reads the answer and never rejects. Resolves to `stale` when a reused connection yields no answer because its server has closed it.
 */
export function exchange<T extends object>(
  options: ExchangeOptions,
  read: (response: IncomingMessage, limits: HttpClientLimits) => Promise<T>,
): Promise<T | HttpFailure | 'stale'> {
  const { url, limits, deadline, signal } = options;
  return new Promise((resolve) => {
    let isConnected = false;
    let isAnswered = false;
    const asked = begin(options);
    const settle = (outcome: T | HttpFailure | 'stale') => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    const fail = (outcome: HttpFailure | 'stale') => {
      settle(outcome);
      asked.destroy();
    };
    const late = (what: string) => fail(failed('timeout', `${url.host} ${what}`));
    const onAbort = () => fail(failed('aborted', 'the request was given up'));
    const connecting = setTimeout(() => late(`took no connection in ${limits.connectMs} ms`), limits.connectMs);
    const leftMs = Math.max(0, deadline - performance.now());
    const answering = setTimeout(() => late(`gave no answer in ${limits.answerMs} ms`), leftMs);
    const timers = [connecting, answering];
    const connected = () => {
      isConnected = true;
      clearTimeout(connecting);
    };

    asked.on('socket', (socket) => {
      if (asked.reusedSocket) connected();
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
    });
    // The listener stays after the outcome is known, because an error without a listener would end the process.
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // Errors after the header of the answer do not change it.
      if (!isAnswered) fail(asked.reusedSocket && isReset(error) ? 'stale' : failureOf(error, url, isConnected));
    });
    // Without this listener Node closes the connection and reports no answer.
    asked.on('upgrade', () => fail(failed('answer', `${url.host} answered with another protocol`)));
    asked.on('response', (response) => {
      isAnswered = true;
      clearTimeout(answering);
      void read(response, limits).then((outcome) => {
        settle(outcome);
        if (!response.complete) asked.destroy();
      });
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
  });
}

function begin({ method, url, addresses, headers, body, agent, limits }: ExchangeOptions): ClientRequest {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const known = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const asked = request(url, {
    method,
    agent,
    headers: { 'user-agent': 'Mansio', ...headers },
    maxHeaderSize: limits.headerOctets,
    insecureHTTPParser: false,
    // The connection goes to the checked addresses; DNS is not asked again.
    lookup: (_name, { all }, found) => {
      if (all === true) found(null, known);
      else found(null, known[0]!.address, known[0]!.family);
    },
  });
  asked.end(body);
  return asked;
}

/** An answer counts when its header has arrived, whatever happens to the body: one that is too long or too slow is cut. */
export function readExcerpt(response: IncomingMessage, limits: HttpClientLimits): Promise<PeerReply> {
  return new Promise((resolve) => {
    const kept: Buffer[] = [];
    let octets = 0;
    const answered = () => {
      clearTimeout(timer);
      response.pause();
      const text = Buffer.concat(kept).subarray(0, limits.excerptOctets).toString('utf8');
      resolve({ status: response.statusCode ?? 0, headers: fieldsOf(response), excerpt: shown(text) });
    };
    const timer = setTimeout(answered, limits.bodyMs);
    response.on('data', (chunk: Buffer) => {
      if (octets < limits.excerptOctets) kept.push(chunk);
      octets += chunk.length;
      if (octets > limits.bodyOctets) answered();
    });
    response.on('error', answered);
    response.on('close', answered);
    response.on('end', answered);
  });
}

/** Hands over the body of an answer with status 200, until `take` returns false. Other bodies are not read. */
export function readWhole(response: IncomingMessage, take: (octets: Uint8Array) => boolean): Promise<Download> {
  return new Promise((resolve) => {
    const status = response.statusCode ?? 0;
    const ended = (isWhole: boolean) => {
      response.pause();
      resolve({ status, headers: fieldsOf(response), isWhole });
    };
    response.on('error', () => ended(false));
    response.on('close', () => ended(response.complete));
    if (status !== 200) {
      ended(false);
      return;
    }
    response.on('end', () => ended(response.complete));
    response.on('data', (chunk: Buffer) => {
      if (!take(chunk)) ended(false);
    });
  });
}

function fieldsOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function isReset({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function failureOf(error: NodeJS.ErrnoException, { host }: URL, isConnected: boolean): HttpFailure {
  const { code = '', message } = error;
  if (code.startsWith('HPE_')) return failed('answer', `the answer of ${host} is no HTTP: ${message}`);
  if (TLS_CODES.test(code)) return failed('tls', `no TLS with ${host}: ${message}`);
  if (isConnected) return failed('closed', `${host} closed the connection before its answer (${code || message})`);
  return failed('connection', `no connection to ${host}: ${code || message}`);
}
