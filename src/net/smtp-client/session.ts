// One connection to a mail host, ready for transactions: dialled, greeted, under TLS if possible, and logged in to a smart host. Every phase
// has an absolute time limit here: the library only measures inactivity, and a server that sends single octets is never inactive.
import type { TLSSocket } from 'node:tls';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { RelayCredentials } from '../../mail-format/relay-url.js';
import {
  type DeliveryFault,
  type DeliveryStatus,
  faultStatus,
  isClosing,
  replyStatus,
} from '../../mail-format/reports/delivery-status.js';
import { DialFailure, dial } from '../tcp/dial.js';
import { ClientConnection } from './connection.js';
import type { SmtpClientLimits } from './limits.js';
import { NO_STARTTLS } from './tls-results.js';
import { type Envelope, Transaction, type TransactionResult } from './transaction.js';

/** `opportunistic`: TLS when it works, with any certificate; `verified`: with the host's certificate, otherwise no mail (RFC 8461 §4.2). */
export type TlsPolicy = 'none' | 'opportunistic' | 'verified';

export interface SessionOptions {
  /** The MX name, or an address literal. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly tls: TlsPolicy;
  /** True when TLS begins with the connection, without STARTTLS. */
  readonly isImplicitTls?: boolean;
  /** Sent to a host with a verified certificate alone: `tls` is `verified`. */
  readonly credentials?: RelayCredentials | undefined;
  /** PEM; when it is absent, the authorities of the system are used. */
  readonly ca?: string | undefined;
  /** The name in EHLO. */
  readonly hostname: string;
  readonly limits: SmtpClientLimits;
  readonly signal: AbortSignal;
}

/** Thrown when no session could be opened. */
export class SessionFailure extends Error {
  override readonly name = 'SessionFailure';
  readonly status: DeliveryStatus;
  /**
   * `unreachable`: `code` has the code of the system; `silent`: no greeting in time; `tls`: STARTTLS was offered and failed, or was
   * required: `code` is that of the handshake or `NO_STARTTLS`; `login`: the host does not accept the credentials.
   */
  readonly kind: 'unreachable' | 'silent' | 'closing' | 'tls' | 'login' | 'other';
  readonly code: string | undefined;

  constructor(status: DeliveryStatus, kind: SessionFailure['kind'], code?: string) {
    super(status.text);
    this.status = status;
    this.kind = kind;
    this.code = code;
  }
}

type LibraryError = SMTPConnection.SMTPError;
const CLOSE_MS = 2_000;

/** @throws SessionFailure */
export async function openSession(options: SessionOptions): Promise<ClientSession> {
  const { address, port, limits, signal } = options;
  const socket = await dial({ address, port, timeoutMs: limits.connectMs, signal }).catch((error: unknown) => {
    if (!(error instanceof DialFailure)) throw error;
    const status = faultStatus(error.code === 'ABORT_ERR' ? 'ended' : 'unreachable', error.message);
    throw new SessionFailure(status, 'unreachable', error.code);
  });
  const session = new ClientSession(options, socket);
  await session.ready;
  return session;
}

export class ClientSession {
  readonly host: string;
  readonly address: string;
  /** The TLS version as the timeline shows it; null without TLS. */
  tls: string | null = null;
  isVerified = false;
  /** The code of what keeps the certificate from being verified; `NO_STARTTLS` without TLS. */
  tlsFault: string | undefined = NO_STARTTLS;
  /** The number of transactions so far. */
  served = 0;
  /** Settles once. Rejects with SessionFailure. */
  readonly ready: Promise<void>;
  readonly #connection: ClientConnection;
  readonly #options: SessionOptions;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #transaction: Transaction | undefined;
  #onOver: (() => void) | undefined;

  constructor(options: SessionOptions, socket: NonNullable<SMTPConnection.Options['connection']>) {
    const { host, address, limits, hostname, tls, isImplicitTls = false, ca } = options;
    this.#options = options;
    this.host = host;
    this.address = address;
    const connection = new ClientConnection(
      {
        connection: socket,
        host: address,
        ...(host.startsWith('[') ? {} : { servername: host }),
        name: hostname,
        secure: isImplicitTls,
        ignoreTLS: tls === 'none',
        requireTLS: tls === 'verified',
        opportunisticTLS: tls === 'opportunistic',
        tls: { minVersion: 'TLSv1.2', rejectUnauthorized: tls === 'verified', ...(ca !== undefined && { ca }) },
        connectionTimeout: limits.setupMs,
        greetingTimeout: limits.setupMs,
        // Time limits are absolute and set here; this one covers everything else.
        socketTimeout: limits.attemptMs,
        socketCloseTimeout: CLOSE_MS,
      },
      limits.replyOctets,
    );
    this.#connection = connection;
    this.ready = this.#setUp();
    // This handler is set before the constructor's caller awaits the promise.
    this.ready.catch(() => {});
    // The library adds its listeners only in the next turn.
    socket.on('error', () => {});
    socket.once('close', () => {
      if (connection.stage === 'init') connection.close();
    });
  }

  /** Connects, and settles once there is a session or none. Later ends of the connection reach the transaction. */
  #setUp(): Promise<void> {
    const { host, limits, signal } = this.#options;
    const connection = this.#connection;
    return new Promise<void>((resolve, reject) => {
      let isSettled = false;
      const fail = (failure: SessionFailure) => {
        if (isSettled) return;
        isSettled = true;
        this.#unwatch();
        signal.removeEventListener('abort', onAbort);
        reject(failure);
        this.close();
      };
      const onAbort = () => fail(new SessionFailure(faultStatus('ended', 'the attempt was ended'), 'other'));
      signal.addEventListener('abort', onAbort, { once: true });
      this.#watch(limits.setupMs, () => {
        const late = Object.assign(new Error(`no session within ${limits.setupMs / 1000} s`), {
          timeoutType: connection.lastServerResponse === false ? ('GREETING_TIMEOUT' as const) : undefined,
        });
        fail(setupFailure(late, connection.upgrading === true, this.#options));
      });
      connection.on('error', (error: LibraryError) => {
        if (!isSettled) fail(setupFailure(error, connection.upgrading === true, this.#options));
        else this.#fail(error);
      });
      connection.once('end', () => {
        this.#isOver = true;
        // The reason of the end is set in the same turn.
        queueMicrotask(() => {
          fail(new SessionFailure(faultStatus('lost', `${host} closed the connection`), 'other'));
          this.#transaction?.lost(`${host} closed the connection`);
          this.#onOver?.();
        });
      });
      const succeed = () => {
        if (isSettled) return;
        isSettled = true;
        this.#unwatch();
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      connection.connect((error) => {
        if (error) return fail(setupFailure(error, false, this.#options));
        if (isSettled) return;
        this.#describeTls();
        const { credentials } = this.#options;
        if (credentials === undefined) succeed();
        else this.#logIn(credentials).then(succeed, fail);
      });
    });
  }

  /** @throws SessionFailure; never settles when the connection is lost, which `#setUp` notices */
  async #logIn(credentials: RelayCredentials): Promise<void> {
    const { host } = this.#options;
    if (!this.isVerified) throw loginFailure(`the smart host ${host} has no verified certificate: it gets no password`);
    if (!this.#connection.takesPasswords)
      throw loginFailure(`the smart host ${host} offers no login with user and password`);
    const { user, password: pass } = credentials;
    const error = await new Promise<LibraryError | null | undefined>((resolve) => {
      this.#connection.login({ credentials: { user, pass } }, (failed) => resolve(failed));
    });
    if (!error) return;
    const { response = '' } = error;
    if (!response.startsWith('5')) throw setupFailure(error, false, this.#options);
    throw loginFailure(`the smart host ${host} refuses the credentials: ${withoutSecrets(response, credentials)}`);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  supports(extension: string): boolean {
    return this.#connection.supports(extension);
  }

  /** In octets; 0 when the server does not announce it. */
  get largestMessage(): number {
    return this.#connection.largestMessage;
  }

  /**
   * Sends one message to at most `limits.recipients`. The result tells whether the session may be used again, and whether `reset` is needed
   * before. @throws what reading the message throws; the session is then over
   */
  async transact(envelope: Envelope, signal: AbortSignal): Promise<TransactionResult> {
    const { limits } = this.#options;
    this.served++;
    const transaction = new Transaction(this.#connection, envelope, {
      limits,
      watch: (ms, what) => this.#watch(ms, () => transaction.lost(`${this.host}: ${what} within ${ms / 1000} s`)),
    });
    this.#transaction = transaction;
    const onAbort = () => transaction.lost('the attempt was ended', 'ended');
    signal.addEventListener('abort', onAbort, { once: true });
    if (this.#isOver) transaction.lost(`${this.host} closed the connection`);
    else if (signal.aborted) onAbort();
    else transaction.start();
    try {
      const result = await transaction.done;
      if (!result.isReusable) this.close();
      return result;
    } catch (error) {
      this.close();
      throw error;
    } finally {
      this.#unwatch();
      this.#transaction = undefined;
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends a transaction that was refused; returns false when the session is over. */
  reset(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (done: boolean) => {
        this.#unwatch();
        this.#onOver = undefined;
        if (!done) this.close();
        resolve(done);
      };
      this.#onOver = () => settle(false);
      this.#watch(CLOSE_MS, () => settle(false));
      this.#connection.begin(false, false);
      this.#connection.reset((error) => settle(!error));
    });
  }

  /** Keeps the session for `ms`, then ends it. `onOver` is called when it is over for any reason. */
  keepIdle(ms: number, onOver: () => void): void {
    this.#connection.begin(false, false);
    this.#onOver = onOver;
    this.#watch(ms, () => this.quit());
    this.#timer?.unref();
  }

  /** Takes the session out of its idle state. */
  use(): void {
    this.#onOver = undefined;
    this.#unwatch();
  }

  /** Ends the session with QUIT; it is over when the server answers, or soon after. */
  quit(): void {
    if (this.#isOver) return;
    this.#watch(CLOSE_MS, () => this.close());
    this.#timer?.unref();
    this.#connection.quit();
  }

  close(): void {
    this.#unwatch();
    this.#connection.close();
  }

  #fail(error: LibraryError): void {
    const fault: DeliveryFault = error.code === 'EPROTOCOL' ? 'protocol' : 'lost';
    const reply = error.response;
    if (reply !== undefined && isClosing(reply)) this.#transaction?.lost(reply, 'lost', reply);
    else this.#transaction?.lost(`${this.host}: ${error.message}`, fault);
  }

  #watch(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  #unwatch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #describeTls(): void {
    if (!this.#connection.secure) return;
    const socket = this.#connection._socket as TLSSocket;
    this.isVerified = socket.authorized;
    this.tlsFault = this.isVerified ? undefined : String(socket.authorizationError);
    const verified = this.isVerified ? ' (verified)' : '';
    this.tls = `${socket.getProtocol() ?? 'TLS'} ${socket.getCipher()?.standardName ?? 'unknown'}${verified}`;
  }
}

function loginFailure(text: string): SessionFailure {
  return new SessionFailure(faultStatus('relay-login', text), 'login');
}

/** A host may repeat what it was sent. */
function withoutSecrets(reply: string, { user, password }: RelayCredentials): string {
  const forms = [`\0${user}\0${password}`, password].map((text) => Buffer.from(text).toString('base64'));
  return [...forms, password].reduce((text, secret) => text.replaceAll(secret, '[hidden]'), reply);
}

function setupFailure(error: LibraryError, isUpgrading: boolean, { host, tls }: SessionOptions): SessionFailure {
  const { response, command = '', code, timeoutType } = error;
  if (isUpgrading || code === 'ETLS') {
    const isRefused = command === 'STARTTLS' && Boolean(response);
    const fault = tls !== 'verified' ? 'lost' : isRefused ? 'sts-no-tls' : 'sts-certificate';
    const { originalCode } = error as { originalCode?: string };
    const status = faultStatus(fault, `TLS with ${host} failed: ${error.message}`);
    return new SessionFailure(status, 'tls', isRefused ? NO_STARTTLS : originalCode);
  }
  if (response !== undefined) {
    const stage = command === 'CONN' ? 'greeting' : 'hello';
    return new SessionFailure(replyStatus(response, stage), isClosing(response) ? 'closing' : 'other');
  }
  if (timeoutType === 'GREETING_TIMEOUT') {
    return new SessionFailure(faultStatus('lost', `${host} sent no greeting in time`), 'silent');
  }
  const fault = code === 'EPROTOCOL' ? 'protocol' : 'lost';
  return new SessionFailure(faultStatus(fault, `${host}: ${error.message}`), 'other');
}
