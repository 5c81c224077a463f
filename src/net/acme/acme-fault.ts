// The failure of a request for a certificate: the type that the authority gave (RFC 8555 §6.7), or one of ours where there was no such reply.
import { Fault } from '../../concurrency/fault.js';

/**
 * - `connection`: the server was not reached, or left before its reply.
 * - `tls`: the handshake failed, or the certificate of the server is not trusted.
 * - `timeout`: no reply, or no decision, came in time.
 * - `reply`: the reply is not what the protocol demands.
 * - `aborted`: the node stops, or has lost its lease.
 */
type OwnFault = 'connection' | 'tls' | 'timeout' | 'reply' | 'aborted';

export type AcmeFaultType = OwnFault | `urn:${string}`;

interface Particulars {
  /** From the field Retry-After, in ms. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const LONGEST_DETAIL = 500;

export class AcmeFault extends Fault<'acme'> {
  readonly type: AcmeFaultType;
  readonly retryAfterMs: number | undefined;

  constructor(type: AcmeFaultType, detail: string, { retryAfterMs, cause }: Particulars = {}) {
    super('acme', shown(detail), { temporary: true, cause });
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the fault concerns all certificates: the server is away, or takes no requests of this account now. */
  get isOfServer(): boolean {
    const types: readonly string[] = ['connection', 'tls', 'aborted'];
    return types.includes(this.type) || /:(?:serverInternal|accountDoesNotExist|unauthorizedAccount)$/.test(this.type);
  }
}

/** The server chooses the text: people see it, and the store accepts it. */
function shown(text: string): string {
  return text
    .slice(0, LONGEST_DETAIL)
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
}
