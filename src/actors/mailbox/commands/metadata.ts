// Sets annotations for mail programs, within the bounds of a folder and of the account: all entries or none.
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { folderNamed } from './selection.js';

const MOST_ENTRIES = 100;
const LONGEST_NAME = 1_000;
const MOST_VALUE_OCTETS = 64 * 1024;
const MOST_OCTETS = 1024 * 1024;

export function setMetadata(
  tx: MailboxTransaction,
  { folderId: of, entries: asked }: Payload<MailboxProtocol, 'setMetadata'>,
): Outcome<MailboxProtocol, 'setMetadata'> {
  const folderId = of === null ? null : folderNamed(tx, of)?.id;
  if (folderId === undefined) return { refusal: 'noSuchFolder' };
  // If a name occurs twice, the last value counts. Values get the form of base64 that the store writes.
  const named = asked.map(({ name, value }) => ({
    name: name.toLowerCase(),
    value: value === null ? null : Buffer.from(value, 'base64').toString('base64'),
  }));
  const entries = [...new Map(named.map((entry) => [entry.name, entry])).values()];
  const isTooLong = entries.some(
    ({ name, value }) =>
      name.length > LONGEST_NAME || (value !== null && Buffer.byteLength(value, 'base64') > MOST_VALUE_OCTETS),
  );
  if (isTooLong) return { refusal: 'tooLarge' };
  const after = tx.annotations.copy();
  for (const entry of entries) after.set({ folderId, ...entry });
  if (after.count(folderId) > Math.max(MOST_ENTRIES, tx.annotations.count(folderId))) return { refusal: 'tooMany' };
  if (after.octets > Math.max(MOST_OCTETS, tx.annotations.octets)) return { refusal: 'tooLarge' };
  // Missing entries need no removal.
  const changed = entries.filter(({ name, value }) => value !== null || tx.annotations.has(folderId, name));
  if (changed.length === 0) return { reply: {} };
  tx.begin();
  tx.annotate(folderId, changed);
  return { reply: {} };
}
