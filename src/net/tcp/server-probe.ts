// Asks a listener of this deployment whether it serves: connects, waits for its greeting, starts TLS as clients do, and says what it found.
// `mansio doctor` uses it; nothing is sent but greetings.
import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { dial } from './dial.js';

export type ProbedProtocol = 'smtp' | 'imap' | 'pop3' | 'sieve' | 'http';

export interface ProbeRequest {
  readonly address: string;
  readonly port: number;
  readonly protocol: ProbedProtocol;
  /** `start`: the client asks for TLS after the greeting. */
  readonly tls: 'none' | 'start' | 'implicit';
  /** The name that a client asks a certificate for. */
  readonly serverName: string;
  /** The listener believes PROXY headers of this machine, and waits for one. */
  readonly sendsProxyHeader: boolean;
  readonly timeoutMs: number;
}

export interface ProbedService {
  /** The first line of the server. */
  readonly greeting: string;
  /** Undefined without TLS. */
  readonly certificate: ProbedCertificate | undefined;
}

export interface ProbedCertificate {
  readonly leaf: X509Certificate;
  /** Why its chain is not believed, by Node's code of the error; undefined when it is. The name is not judged. */
  readonly chainFault: string | undefined;
}

/** The server answered, and not as its protocol has it. */
class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer';
}

/** The most characters of an answer that are read, and shown. */
const MOST_READ = 8192;
const MOST_SHOWN = 100;
const UNKNOWN_PROXY = 'PROXY UNKNOWN\r\n';

/** The end of the greeting, the request for TLS and the answer that grants it. */
const DIALOGS: Readonly<Record<ProbedProtocol, Dialog>> = {
  smtp: { greeting: /^220[ -]/, startTls: ['EHLO doctor.invalid\r\n', 'STARTTLS\r\n'], granted: /^220[ -]/m },
  imap: { greeting: /^\* OK/i, startTls: ['a STARTTLS\r\n'], granted: /^a OK/im },
  pop3: { greeting: /^\+OK/i, startTls: ['STLS\r\n'], granted: /^\+OK/im },
  sieve: { greeting: /^(?:"|OK)/i, startTls: ['STARTTLS\r\n'], granted: /^OK/im },
  http: { greeting: /^HTTP\/1\.\d [2-5]\d\d/, startTls: [], granted: /^/ },
};

interface Dialog {
  readonly greeting: RegExp;
  readonly startTls: readonly string[];
  readonly granted: RegExp;
}

/** @throws DialFailure, UnexpectedAnswer, or an error of TLS */
export async function probeService(request: ProbeRequest): Promise<ProbedService> {
  const { address, port, timeoutMs } = request;
  const signal = AbortSignal.timeout(timeoutMs);
  const socket = await dial({ address, port, timeoutMs, signal });
  socket.on('error', () => undefined);
  const end = () => socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await converse(socket, request, signal);
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}

async function converse(socket: Socket, request: ProbeRequest, signal: AbortSignal): Promise<ProbedService> {
  const { protocol, tls, serverName } = request;
  const dialog = DIALOGS[protocol];
  if (request.sendsProxyHeader) socket.write(UNKNOWN_PROXY);
  if (tls === 'implicit') {
    const secured = await secureAs(socket, serverName);
    return { greeting: await greet(secured, request, signal), certificate: certificateOf(secured) };
  }
  const greeting = await greet(socket, request, signal);
  if (tls === 'none') return { greeting, certificate: undefined };
  for (const [i, line] of dialog.startTls.entries()) {
    socket.write(line);
    const isLast = i === dialog.startTls.length - 1;
    // The last line of an answer to EHLO has a space after its code.
    await answer(socket, isLast ? dialog.granted : /^\d{3} /m, 'STARTTLS', signal);
  }
  return { greeting, certificate: certificateOf(await secureAs(socket, serverName)) };
}

async function greet(socket: Socket, { protocol, serverName }: ProbeRequest, signal: AbortSignal): Promise<string> {
  if (protocol === 'http') socket.write(`GET /healthz HTTP/1.1\r\nHost: ${serverName}\r\nConnection: close\r\n\r\n`);
  const text = await answer(socket, DIALOGS[protocol].greeting, 'greeting', signal);
  return text.split(/\r?\n/, 1)[0]!.slice(0, MOST_SHOWN);
}

/** Reads whole lines until one of them matches. @throws UnexpectedAnswer when none does before the connection ends */
function answer(socket: Socket, expected: RegExp, what: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const settle = (work: () => void) => {
      socket.off('data', read);
      socket.off('end', ended);
      socket.off('close', ended);
      socket.pause();
      work();
    };
    const refuse = (why: string) => settle(() => reject(new UnexpectedAnswer(why)));
    const ended = () =>
      refuse(
        signal.aborted
          ? `no ${what} in time`
          : `the connection ended ${text === '' ? 'without an answer' : `after ${JSON.stringify(text.slice(0, MOST_SHOWN))}`}`,
      );
    const read = (octets: Buffer) => {
      text += octets.toString('latin1');
      const lines = text.slice(0, text.lastIndexOf('\n') + 1);
      if (lines !== '' && expected.test(lines)) settle(() => resolve(lines));
      else if (text.length > MOST_READ || /^(?:5\d\d|4\d\d|-ERR|a (?:NO|BAD)|\* BYE|NO|BYE)\b/im.test(lines))
        refuse(`it answers ${JSON.stringify(text.slice(0, MOST_SHOWN))}`);
    };
    socket.on('data', read);
    socket.on('end', ended);
    socket.on('close', ended);
    socket.resume();
  });
}

function secureAs(socket: Socket, serverName: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // The name of the certificate is judged by the caller, which knows all names that it should have.
    const options = { socket, servername: serverName, rejectUnauthorized: false, checkServerIdentity: () => undefined };
    const secured = connect(options, () => resolve(secured));
    secured.on('error', reject);
    secured.on('close', () => reject(new UnexpectedAnswer('the connection ended during the TLS handshake')));
  });
}

function certificateOf(secured: TLSSocket): ProbedCertificate | undefined {
  const leaf = secured.getPeerX509Certificate();
  const fault = secured.authorizationError as unknown;
  return leaf && { leaf, chainFault: secured.authorized ? undefined : String(fault ?? 'unknown') };
}
