// What became of a request: an answer, whatever its status, or a named failure.

export interface PeerReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body as text without control characters; '' for none. */
  readonly excerpt: string;
}

/**
 * - `url`: nothing is sent to such a URL.
 * - `private-address`: the host has a private address.
 * - `name`: DNS gives no address.
 * - `connection`: no connection came about.
 * - `tls`: the handshake failed, or the certificate is not the host's.
 * - `timeout`: no answer came in time.
 * - `closed`: the peer closed the connection before its answer.
 * - `answer`: the answer is no HTTP, or its header is too long.
 * - `busy`: as many requests wait as may.
 * - `aborted`: the caller gave up.
 */
export type HttpFailureName =
  | 'url'
  | 'private-address'
  | 'name'
  | 'connection'
  | 'tls'
  | 'timeout'
  | 'closed'
  | 'answer'
  | 'busy'
  | 'aborted';

export interface HttpFailure {
  readonly failure: HttpFailureName;
  /** For people: one short line without control characters. */
  readonly detail: string;
}

export type HttpOutcome = PeerReply | HttpFailure;

const LONGEST_DETAIL = 300;

/** Peers choose parts of `detail`; a character that is cut in two goes, because the store takes no half. */
export function failed(failure: HttpFailureName, detail: string): HttpFailure {
  return { failure, detail: shown(detail.slice(0, LONGEST_DETAIL)) };
}

/** Text of a peer as people may see it and the store keeps it. */
export function shown(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ').trim();
}
