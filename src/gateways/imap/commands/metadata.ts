// Annotations of mailboxes and of the account: GETMETADATA and SETMETADATA (RFC 5464). An account has one user, who sees both
// shared and private annotations. Shared annotations of the server would belong to all accounts, so nobody can
// set them here.
import { type Command, command } from '../command.js';
import { type Completion, no, ok, Refused } from '../completion.js';
import { refusalCompletion } from '../faults.js';
import {
  type GetMetadataArguments,
  getMetadataArguments,
  type SetMetadataArguments,
  setMetadataArguments,
} from '../grammar/metadata.js';
import { folderReference } from '../mailboxes/account-folders.js';
import { takesUtf8 } from '../responses/list.js';
import { type MetadataEntry, metadataResponse } from '../responses/metadata.js';
import type { Session, SessionState } from '../session.js';

const AFTER_LOGIN: readonly SessionState[] = ['authenticated', 'selected'];
/** The longest value that a mailbox stores. */
const MOST_VALUE_OCTETS = 65_536;
const SCOPES = ['/private', '/shared'];

export const metadataCommands: readonly Command[] = [
  command<GetMetadataArguments>({
    name: 'GETMETADATA',
    states: AFTER_LOGIN,
    parse: getMetadataArguments,
    run: getMetadata,
  }),
  command<SetMetadataArguments>({
    name: 'SETMETADATA',
    states: AFTER_LOGIN,
    parse: setMetadataArguments,
    run: setMetadata,
  }),
];

async function getMetadata(session: Session, args: GetMetadataArguments): Promise<Completion> {
  const { mailbox, entries: names, depth, maxSize = Number.POSITIVE_INFINITY } = args;
  const folderId = mailbox === '' ? null : await folderReference(session, mailbox);
  const entries = await entriesOf(session, folderId, names, depth);
  const octets = ({ value }: MetadataEntry) => value?.length ?? 0;
  const shown = entries.filter((entry) => octets(entry) <= maxSize);
  if (shown.length > 0) session.output.write(metadataResponse(mailbox, shown, takesUtf8(session)));
  if (shown.length === entries.length) return ok('GETMETADATA completed');
  return ok('GETMETADATA completed without long entries', `METADATA LONGENTRIES ${Math.max(...entries.map(octets))}`);
}

async function setMetadata(session: Session, { mailbox, entries }: SetMetadataArguments): Promise<Completion> {
  if (!entries.every(({ name }) => SCOPES.some((scope) => name.startsWith(`${scope}/`)))) {
    return no('Names of entries begin with /private/ or /shared/', 'CANNOT');
  }
  if (mailbox === '' && entries.some(({ name }) => name.startsWith('/shared/'))) {
    return no('Shared annotations of the server cannot be set', 'NOPERM');
  }
  const folderId = mailbox === '' ? null : await folderReference(session, mailbox);
  const { context, accountId } = session;
  const payload = {
    folderId,
    entries: entries.map(({ name, value }) => ({ name, value: value?.toString('base64') ?? null })),
  };
  const { refusal } = await context.mailboxes.of(accountId).ask('setMetadata', payload);
  if (refusal === 'tooMany') return no('There are too many annotations', 'METADATA TOOMANY');
  const isValueLarge = entries.some(({ value }) => value !== null && value.length > MOST_VALUE_OCTETS);
  if (refusal === 'tooLarge' && isValueLarge)
    return no('A value is too large', `METADATA MAXSIZE ${MOST_VALUE_OCTETS}`);
  return refusal === undefined ? ok('SETMETADATA completed') : refusalCompletion(refusal);
}

/**
 * Returns the entries with these names and the entries below them. At depth 0, a name without a value gives an entry with null.
 * `folderId` is null for entries of the account. @throws ActorFault; Refused NO when there is no such folder
 */
export async function entriesOf(
  session: Session,
  folderId: string | null,
  names: readonly string[],
  depth: GetMetadataArguments['depth'],
): Promise<MetadataEntry[]> {
  const { context, accountId } = session;
  const { reply, refusal } = await context.mailboxes.of(accountId).ask('metadata', { folderId });
  if (reply === undefined) throw new Refused(refusalCompletion(refusal));
  const stored = new Map(reply.entries.map(({ name, value }) => [name, Buffer.from(value, 'base64')]));
  const wanted = new Set(names);
  if (depth === 0) return [...wanted].map((name) => ({ name, value: stored.get(name) ?? null }));
  const isWanted = (name: string) => wanted.has(name) || levelsAbove(name, depth).some((level) => wanted.has(level));
  return [...stored].filter(([name]) => isWanted(name)).map(([name, value]) => ({ name, value }));
}

/** Returns `/a/b` and `/a` for `/a/b/c`, the nearest first. */
function levelsAbove(name: string, depth: 1 | 'infinity'): string[] {
  const levels = name.split('/');
  const above = levels.slice(2).map((_, i) => levels.slice(0, levels.length - 1 - i).join('/'));
  return depth === 1 ? above.slice(0, 1) : above;
}
