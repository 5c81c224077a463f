// Lists mailboxes and what they contain: LIST (RFC 9051 §6.3.9, RFC 5258, 5819, 6154, 9590), LSUB, NAMESPACE and STATUS.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import { type Command, command } from '../command.js';
import { type Completion, no, ok, Refused } from '../completion.js';
import {
  type ListArguments,
  type LsubArguments,
  listArguments,
  lsubArguments,
  type StatusArguments,
  type StatusItem,
  statusArguments,
} from '../grammar/list.js';
import { mailboxTree, noSuchMailbox } from '../mailboxes/account-folders.js';
import { ListPattern } from '../mailboxes/list-pattern.js';
import { type MailboxTree, SPECIAL_USES, type TreeMailbox } from '../mailboxes/mailbox-tree.js';
import { attributesOf, listResponse, lsubResponse, NAMESPACE, ROOT, takesUtf8 } from '../responses/list.js';
import { metadataResponse } from '../responses/metadata.js';
import { type FolderStatus, needSizes, statusResponse } from '../responses/status.js';
import type { Session } from '../session.js';
import { entriesOf } from './metadata.js';

/** Characters of all patterns with wildcards: each one may be compared with every character of every name. */
const MOST_PATTERN_CHARACTERS = 1_000;
/** Mailboxes that are matched before other sessions get a turn. */
const MAILBOXES_A_TURN = 32;

export const listCommands: readonly Command[] = [
  command<ListArguments>({
    name: 'LIST',
    states: ['authenticated', 'selected'],
    parse: listArguments,
    run: list,
  }),
  command<LsubArguments>({
    name: 'LSUB',
    states: ['authenticated', 'selected'],
    parse: lsubArguments,
    run: lsub,
  }),
  command<undefined>({
    name: 'NAMESPACE',
    states: ['authenticated', 'selected'],
    parse: () => undefined,
    run({ output }) {
      output.write(NAMESPACE);
      return ok('NAMESPACE completed');
    },
  }),
  command<StatusArguments>({
    name: 'STATUS',
    states: ['authenticated', 'selected'],
    parse: statusArguments,
    run: status,
  }),
];

interface Listed {
  readonly mailbox: TreeMailbox;
  /** Whether mailboxes below it meet the selection options. */
  readonly hasSelectedBelow: boolean;
}

async function list(session: Session, args: ListArguments): Promise<Completion> {
  const { output } = session;
  if (!args.isExtended && args.patterns[0]?.name === '') {
    output.write(ROOT);
    return ok('LIST completed');
  }
  const patterns = patternsOf(args.patterns.map(({ name }) => args.reference.name + name));
  const tree = await mailboxTree(session);
  const listed = await chosen(tree, patterns, args);
  const statuses = args.status === undefined ? undefined : await statusesOf(session, listed, args.status);
  const isUtf8 = takesUtf8(session);
  const childInfo = args.selection.filter((option) => option === 'SUBSCRIBED' || option === 'SPECIAL-USE');
  const withSubscribed = args.withSubscribed || args.selection.includes('SUBSCRIBED');
  const oldNames = oldNamesOf(session, args);
  for (const { mailbox, hasSelectedBelow } of listed) {
    const { name, folder } = mailbox;
    const oldName = oldNames.get(name);
    const extension = { ...(hasSelectedBelow && { childInfo }), ...(oldName !== undefined && { oldName }) };
    output.write(listResponse(name, attributesOf(mailbox, withSubscribed), isUtf8, extension));
    if (folder === undefined) continue;
    const status = statuses?.get(folder.id);
    if (status !== undefined) output.write(statusText(session, name, args.status!, status));
    if (args.metadata !== undefined) {
      const entries = await entriesOf(session, folder.id, args.metadata, 0);
      output.write(metadataResponse(name, entries, isUtf8));
    }
    if (output.ready) await output.ready;
  }
  return ok('LIST completed');
}

/** Names as the client spelled them, by the names of the mailboxes that they stand for (RFC 9051 §6.3.9.7). */
function oldNamesOf({ enabled }: Session, { reference, patterns }: ListArguments): ReadonlyMap<string, string> {
  if (!enabled.has('IMAP4REV2')) return new Map();
  const composed = patterns.map(({ name, written }) => [reference.name + name, reference.written + written] as const);
  return new Map(composed.filter(([name, written]) => name !== written));
}

/** RFC 3501 §6.3.9: a pattern that ends with `%` also returns levels above subscribed mailboxes. */
async function lsub(session: Session, { reference, pattern }: LsubArguments): Promise<Completion> {
  const [compiled] = patternsOf([reference + pattern]);
  const tree = await mailboxTree(session);
  const above = superiorsOf(tree.mailboxes.filter(({ isSubscribed }) => isSubscribed));
  const isUtf8 = takesUtf8(session);
  await eachYielding(tree.mailboxes, (mailbox) => {
    const isLevel = !mailbox.isSubscribed;
    if (isLevel && !(pattern.endsWith('%') && above.has(mailbox))) return;
    if (!compiled!.matches(mailbox.name)) return;
    session.output.write(lsubResponse(mailbox.name, isLevel ? ['\\Noselect'] : [], isUtf8));
  });
  return ok('LSUB completed');
}

async function status(session: Session, { mailbox, items }: StatusArguments): Promise<Completion> {
  // An owner that passes the path over returns all folders.
  const path = caseFolded(mailbox);
  const found = (await folderStatuses(session, { path: mailbox }, items)).find(
    (each) => caseFolded(each.path) === path,
  );
  if (found === undefined) return noSuchMailbox();
  session.output.write(statusText(session, mailbox, items, found));
  return ok('STATUS completed');
}

function patternsOf(texts: readonly string[]): ListPattern[] {
  const characters = texts.reduce((sum, text) => sum + (/[*%]/.test(text) ? text.length : 0), 0);
  if (characters > MOST_PATTERN_CHARACTERS) throw new Refused(no('The patterns are too long', 'LIMIT'));
  return texts.map((text) => new ListPattern(text));
}

/** Returns the mailboxes that match a pattern and the selection options. */
async function chosen(
  tree: MailboxTree,
  patterns: readonly ListPattern[],
  { selection }: ListArguments,
): Promise<Listed[]> {
  const options = new Set(selection);
  // Only its subscription can select a name without a mailbox.
  const isSelected = ({ folder, isSubscribed }: TreeMailbox): boolean =>
    (options.has('SUBSCRIBED') ? isSubscribed : folder !== undefined) &&
    (!options.has('SPECIAL-USE') || (folder !== undefined && SPECIAL_USES.has(folder.role)));
  const isRecursive = options.has('RECURSIVEMATCH');
  const above = isRecursive ? superiorsOf(tree.mailboxes.filter(isSelected)) : new Set<TreeMailbox>();
  const isAnyLevel = !options.has('SUBSCRIBED') && !options.has('SPECIAL-USE');
  const listed: Listed[] = [];
  await eachYielding(tree.mailboxes, (mailbox) => {
    const hasSelectedBelow = above.has(mailbox);
    const isLevel = mailbox.folder === undefined && !isSelected(mailbox);
    if (isLevel ? !(isAnyLevel && mailbox.isThere) && !hasSelectedBelow : !isSelected(mailbox) && !hasSelectedBelow) {
      return;
    }
    const matching = patterns.filter((pattern) => pattern.matches(mailbox.name));
    if (matching.length === 0) return;
    if (isLevel && !hasSelectedBelow && !matching.some(({ namesLevels }) => namesLevels)) return;
    listed.push({ mailbox, hasSelectedBelow });
  });
  return listed;
}

/** Returns all levels above these mailboxes. */
function superiorsOf(mailboxes: readonly TreeMailbox[]): Set<TreeMailbox> {
  const above = new Set<TreeMailbox>();
  for (const { superior } of mailboxes) {
    for (let level = superior; level !== undefined && !above.has(level); level = level.superior) above.add(level);
  }
  return above;
}

async function eachYielding(mailboxes: readonly TreeMailbox[], visit: (mailbox: TreeMailbox) => void): Promise<void> {
  for (const [i, mailbox] of mailboxes.entries()) {
    if (i > 0 && i % MAILBOXES_A_TURN === 0) await nextTurn();
    visit(mailbox);
  }
}

async function statusesOf(session: Session, listed: readonly Listed[], items: readonly StatusItem[]) {
  const ids = listed.flatMap(({ mailbox: { folder } }) => (folder === undefined ? [] : [folder.id]));
  const statuses = ids.length === 0 ? [] : await folderStatuses(session, { folderIds: ids }, items);
  return new Map(statuses.map((found) => [found.id, found]));
}

async function folderStatuses(
  session: Session,
  folders: { readonly folderIds: string[] } | { readonly path: string },
  items: readonly StatusItem[],
): Promise<readonly FolderStatus[]> {
  const { context, accountId } = session;
  // RFC 7162 §3.1: a client that asks for HIGHESTMODSEQ knows modseqs.
  if (items.includes('HIGHESTMODSEQ')) session.enable('CONDSTORE');
  const { reply } = await context.mailboxes
    .of(accountId)
    .ask('folderStatus', { ...folders, withSizes: needSizes(items) });
  return reply!.folders;
}

function statusText(session: Session, name: string, items: readonly StatusItem[], found: FolderStatus): string {
  const options = { appendLimit: session.context.maxMessageSize, isUtf8: takesUtf8(session) };
  return statusResponse(name, items, found, options);
}
