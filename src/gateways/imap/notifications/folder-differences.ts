// The differences between two states of an account's folders, as responses (RFC 5465 §5). It compares states instead of events, so
// that missed events lose nothing, and frequent changes are reported once.

import type { StatusItem } from '../grammar/list.js';
import { SEPARATOR, SPECIAL_USES } from '../mailboxes/mailbox-tree.js';
import { listResponse } from '../responses/list.js';
import { type FolderStatus, statusResponse } from '../responses/status.js';
import type { NotifyRules } from './notify-rules.js';

const STATUS_ITEMS: readonly StatusItem[] = ['MESSAGES', 'UIDNEXT', 'UIDVALIDITY', 'UNSEEN', 'HIGHESTMODSEQ'];

export type Folders = ReadonlyMap<string, FolderStatus>;

/** Returns responses about what changed. `selectedId` is the folder whose messages have their own group. */
export function differences(
  rules: NotifyRules,
  before: Folders,
  after: Folders,
  selectedId: string | undefined,
  isUtf8: boolean,
): string[] {
  const responses: string[] = [];
  for (const folder of before.values()) {
    if (!after.has(folder.id) && rules.eventsOf(folder).has('MailboxName'))
      responses.push(listed(folder, isUtf8, ['\\NonExistent']));
  }
  for (const folder of after.values()) {
    const old = before.get(folder.id);
    const events = rules.eventsOf(folder);
    if (old === undefined || old.path !== folder.path) {
      const isWanted = events.has('MailboxName') || (old !== undefined && rules.eventsOf(old).has('MailboxName'));
      if (isWanted) responses.push(listed(folder, isUtf8, attributesOf(folder), old));
    }
    if (old !== undefined && old.isSubscribed !== folder.isSubscribed) {
      if (events.has('SubscriptionChange') || rules.eventsOf(old).has('SubscriptionChange')) {
        responses.push(listed(folder, isUtf8, attributesOf(folder)));
      }
    }
    if (folder.id !== selectedId && hasNewMessages(old, folder, events)) responses.push(statusOf(folder, isUtf8));
  }
  return responses;
}

/** The state of a mailbox whose messages changed. It includes the modseq even if the client never asked for one (RFC 5465 §3.1). */
export function statusOf(folder: FolderStatus, isUtf8: boolean): string {
  return statusResponse(shownName(folder), STATUS_ITEMS, folder, { isUtf8, appendLimit: 0 });
}

/** The name as LIST shows it. */
export const shownName = ({ path }: Pick<FolderStatus, 'path'>): string =>
  path.replace(new RegExp(`^inbox(?=${SEPARATOR}|$)`, 'i'), 'INBOX');

function hasNewMessages(
  old: FolderStatus | undefined,
  folder: FolderStatus,
  events: ReturnType<NotifyRules['eventsOf']>,
): boolean {
  if (old === undefined) return folder.total > 0 && events.has('MessageNew');
  if (old.modseq === folder.modseq && old.uidValidity === folder.uidValidity) return false;
  const haveComeOrGone = old.uidNext !== folder.uidNext || old.total !== folder.total;
  // A client asks for both MessageNew and MessageExpunge or for none of them.
  return events.has(haveComeOrGone ? 'MessageNew' : 'FlagChange');
}

function listed(folder: FolderStatus, isUtf8: boolean, attributes: readonly string[], old?: FolderStatus): string {
  return listResponse(shownName(folder), attributes, isUtf8, old === undefined ? {} : { oldName: shownName(old) });
}

function attributesOf({ isSubscribed, role }: FolderStatus): string[] {
  const use = SPECIAL_USES.get(role);
  return [...(isSubscribed ? ['\\Subscribed'] : []), ...(use === undefined ? [] : [use])];
}
