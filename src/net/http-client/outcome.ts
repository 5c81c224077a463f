// The outcome of a request: an answer with any status, or a named failure.

export interface PeerReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body as text without control characters; '' when there is none. */
  readonly excerpt: string;
}

/** The answer to a download, whose body was handed over piece by piece. */
export interface Download extends Pick<PeerReply, 'status' | 'headers'> {
  /** False when the body is cut off, or was not wanted to its end. */
  readonly isWhole: boolean;
}

/**
 * - `url`: requests to such a URL are refused.
 * - `private-address`: the host has a private address.
 * - `name`: DNS gives no address.
 * - `connection`: the connection could not be made.
 * - `tls`: the handshake failed, or the certificate is not the host's.
 * - `timeout`: no answer arrived in time.
 * - `closed`: the peer closed the connection before its answer.
 * - `answer`: the answer is not HTTP, its header is too long, or it redirects too often.
 * - `busy`: too many requests wait.
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
  /** One short line for people, without control characters. */
  readonly detail: string;
}

export type HttpOutcome = PeerReply | HttpFailure;

const LONGEST_DETAIL = 300;

/** Peers choose parts of `detail`; half of a surrogate pair is removed, because the store refuses it. */
export function failed(failure: HttpFailureName, detail: string): HttpFailure {
  return { failure, detail: shown(detail.slice(0, LONGEST_DETAIL)) };
}

/** Cleans a peer's text so that people may see it and the store accepts it. */
export function shown(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ').trim();
}
