// Formats STATUS (RFC 9051 §7.3.4, RFC 7889, RFC 8474, RFC 9208). Responses are binary strings with their line end.
import type { MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Reply } from '../../../actors/runtime/protocol.js';
import type { StatusItem } from '../grammar/list.js';
import { mailboxName } from '../wire/format.js';

export type FolderStatus = Reply<MailboxProtocol, 'folderStatus'>['folders'][number];

export interface StatusOptions {
  /** The most octets of one message. */
  readonly appendLimit: number;
  readonly isUtf8: boolean;
}

type Rendering = (status: FolderStatus, options: StatusOptions) => number | string;

const RENDERINGS: Readonly<Record<StatusItem, Rendering>> = {
  MESSAGES: ({ total }) => total,
  // RFC 9051 has removed \Recent; no message is ever recent.
  RECENT: () => 0,
  UIDNEXT: ({ uidNext }) => uidNext,
  UIDVALIDITY: ({ uidValidity }) => uidValidity,
  UNSEEN: ({ unread }) => unread,
  DELETED: ({ deleted }) => deleted,
  SIZE: ({ size = 0 }) => size,
  // SELECT reports the same value; 0 is not allowed there.
  HIGHESTMODSEQ: ({ modseq }) => Math.max(1, modseq),
  MAILBOXID: ({ id }) => `(${id})`,
  APPENDLIMIT: (_, { appendLimit }) => appendLimit,
  'DELETED-STORAGE': ({ deletedSize = 0 }) => deletedSize,
};

/** Tells whether the items need the sizes of messages, which `folderStatus` returns on request. */
export const needSizes = (items: readonly StatusItem[]): boolean =>
  items.includes('SIZE') || items.includes('DELETED-STORAGE');

export function statusResponse(
  name: string,
  items: readonly StatusItem[],
  status: FolderStatus,
  options: StatusOptions,
): string {
  const values = items.map((item) => `${item} ${RENDERINGS[item](status, options)}`);
  return `* STATUS ${mailboxName(name, options.isUtf8)} (${values.join(' ')})\r\n`;
}
