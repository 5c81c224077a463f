// Replies of POP3 (RFC 1939 §3, RFC 2449 §8).

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
