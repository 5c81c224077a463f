// Subscriptions that outlive their mailbox: DELETE does not unsubscribe a name (RFC 9051 §6.3.7). The names are the lines of an annotation
// of the account, so they are committed, logged and copied like annotations. For an existing folder only the subscription in its row
// counts, whatever the annotation says.

import { isPathWithinBounds, levelName, levelsOf } from '../../../mail-format/folder-name.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { Annotations } from '../state/annotations.js';
import type { MailboxTransaction } from '../state/transaction.js';

const ENTRY = '/private/vendor/mansio/subscriptions';
/** The most names that are kept; the oldest are dropped. */
const MOST_NAMES = 500;
const MOST_OCTETS = 32 * 1024;

/**
 * Names in the order in which their folders were deleted. Lines that clients have set themselves may be invalid names; they are skipped.
 */
export function keptSubscriptions(annotations: Annotations): string[] {
  const value = annotations.value(null, ENTRY);
  if (value === undefined) return [];
  return Buffer.from(value, 'base64').toString('utf8').split('\n').filter(isName).slice(-MOST_NAMES);
}

/** Must be called after `tx.begin()`. */
export function keepSubscriptions(tx: MailboxTransaction, paths: readonly string[]): void {
  if (paths.length > 0) write(tx, [...without(keptSubscriptions(tx.annotations), paths), ...paths]);
}

/** Calls `tx.begin()` only when the name was subscribed. */
export function forgetSubscription(tx: MailboxTransaction, path: string): void {
  const kept = keptSubscriptions(tx.annotations);
  const left = without(kept, [path]);
  if (left.length === kept.length) return;
  tx.begin();
  write(tx, left);
}

function write(tx: MailboxTransaction, paths: readonly string[]): void {
  const lines = paths.filter(isName).slice(-MOST_NAMES);
  while (Buffer.byteLength(lines.join('\n')) > MOST_OCTETS) lines.shift();
  const value = lines.length === 0 ? null : Buffer.from(lines.join('\n')).toString('base64');
  tx.annotate(null, [{ name: ENTRY, value }]);
}

function without(paths: readonly string[], others: readonly string[]): string[] {
  const names = new Set(others.map(caseFolded));
  return paths.filter((path) => !names.has(caseFolded(path)));
}

const isName = (line: string): boolean =>
  isPathWithinBounds(line) && levelsOf(line).every((level) => 'name' in levelName(level));
