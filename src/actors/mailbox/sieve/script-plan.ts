// Runs the active script of an account on mail that arrives, behind its filters, and adds its actions to the plan of the delivery
// (decision 0104). Filters that stop, or delete the email, end the evaluation: no script runs. `keep` leaves the email where the filters have
// put it; a script that files it takes it out of there.
import { lruCache } from '../../../concurrency/lru-cache.js';
import { canonicalAddress } from '../../../mail-format/address.js';
import { shownName } from '../../../mail-format/folder-name.js';
import type {
  FileintoAction,
  KeepAction,
  RedirectAction,
  SieveAction,
  SieveResult,
} from '../../../mail-format/sieve/actions.js';
import type { HeaderEdit } from '../../../mail-format/sieve/header-edit.js';
import { compileSieve, runSieve } from '../../../mail-format/sieve/index.js';
import type { SieveMessage } from '../../../mail-format/sieve/message.js';
import type { SieveEnvironment, SieveScript } from '../../../mail-format/sieve/run.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { ArrivedEnvelope, FolderRow } from '../../../store/mailbox-rows.js';
import { addFolder } from '../commands/folders.js';
import { folderAt } from '../commands/selection.js';
import type { DeliveryPlan, EditedCopy, FilterResult } from '../filters/delivery-plan.js';
import { grouped } from '../state/grouped.js';
import type { MailboxTransaction } from '../state/transaction.js';
import type { SieveScripts } from './sieve-scripts.js';

/** Dates are in UTC unless a script names another zone. */
const ZONE = 0;
/** Compiled scripts of the node that are kept; those that were used least recently go. */
const MOST_COMPILED = 100;
/** The roles of folders that scripts find by attribute (RFC 6154). */
const ROLES: Readonly<Record<string, FolderRow['role']>> = {
  '\\archive': 'archive',
  '\\drafts': 'drafts',
  '\\junk': 'junk',
  '\\sent': 'sent',
  '\\trash': 'trash',
};

const KEPT: KeepAction = { type: 'keep', flags: [], isImplicit: true };

type Scripts = Pick<SieveScripts, 'active' | 'content'>;

/** The keys are contents; a faulty script is undefined. */
const compiled = lruCache<string, { readonly script: SieveScript | undefined }>(MOST_COMPILED);

/** The script that runs when mail arrives; undefined without one. A stored script that is faulty is none. */
export function activeScript(scripts: Scripts): SieveScript | undefined {
  return scripts.active === null ? undefined : scriptNamed(scripts, scripts.active);
}

/** Whether a run of the script, or of those that it includes, may look at the body. */
export function readsBody(scripts: Scripts, script: SieveScript, seen = new Set<string>()): boolean {
  if (script.readsBody) return true;
  return script.includes.some(({ location, name }) => {
    if (location === 'global' || seen.has(name)) return false;
    seen.add(name);
    const included = scriptNamed(scripts, name);
    return included !== undefined && readsBody(scripts, included, seen);
  });
}

function scriptNamed(scripts: Scripts, name: string): SieveScript | undefined {
  const content = scripts.content(name);
  if (content === undefined) return undefined;
  let known = compiled.get(content);
  if (known === undefined) {
    const result = compileSieve(content);
    known = { script: 'script' in result ? result.script : undefined };
    compiled.set(content, known);
  }
  return known.script;
}

/** Adds what the active script decides to the result of the filters. It may create folders. */
export function afterScript(
  tx: MailboxTransaction,
  result: FilterResult,
  message: SieveMessage | undefined,
  envelope: ArrivedEnvelope,
): FilterResult {
  const { plan } = result;
  if (message === undefined || plan.remove || plan.stop) return result;
  const script = activeScript(tx.sieve.scripts);
  if (script === undefined) return result;
  const { actions, tracked } = withinRoom(tx, envelope, runSieve(script, message, environmentOf(tx, envelope)));
  const redirects = actions.flatMap((action) => (action.type === 'redirect' ? action : []));
  const targets = redirects.map(targetAddress);
  const { plan: placed, edit, copies } = withPlaces(tx, plan, actions);
  const scripted = { ...placed, forwardTo: new Set([...plan.forwardTo, ...targets]) };
  const undecided = scripted.remove ? [] : result.undecided;
  const replies = actions.filter((action) => action.type === 'reject' || action.type === 'vacation');
  const sentEdits = sentEditsOf(plan, redirects);
  const effects = { isRedirected: redirects.length > 0, replies, tracked, edit, copies, sentEdits };
  return { ...result, plan: scripted, undecided, script: effects };
}

/** A target that a filter names gets the message as it came; otherwise its first redirect counts. */
function sentEditsOf(
  { forwardTo }: DeliveryPlan,
  redirects: readonly RedirectAction[],
): ReadonlyMap<string, HeaderEdit> {
  const edits = new Map<string, HeaderEdit | undefined>();
  for (const action of redirects) {
    const target = targetAddress(action);
    if (!edits.has(target)) edits.set(target, forwardTo.has(target) ? undefined : action.edit);
  }
  return new Map([...edits].flatMap(([target, edit]) => (edit === undefined ? [] : [[target, edit] as const])));
}

/** Targets are in canonical form, as those of filters and of the account: one that several of them name gets the message once. */
const targetAddress = ({ address }: { readonly address: string }): string => canonicalAddress(address) ?? address;

/** The message that a script refuses is kept when its sender cannot be told, because too much mail of the account is due. */
function withinRoom(tx: MailboxTransaction, { sender }: ArrivedEnvelope, run: SieveResult): SieveResult {
  const isRefused = sender !== '' && run.actions.some(({ type }) => type === 'reject');
  return isRefused && !tx.dueMail.vacation.hasRoom ? { ...run, actions: [KEPT], tracked: [] } : run;
}

function environmentOf(tx: MailboxTransaction, { sender, recipient }: ArrivedEnvelope): SieveEnvironment {
  const { scripts } = tx.sieve;
  // A script may ask for many folders; a run makes none.
  let known: ReturnType<typeof foldersByName> | undefined;
  const folders = () => {
    known ??= foldersByName(tx.folders.rows());
    return known;
  };
  return {
    now: tx.now,
    zone: ZONE,
    sender,
    recipient: recipient ?? undefined,
    hasFolder: (path) => folders().paths.has(caseFolded(path)),
    specialUse: (attribute) => folders().roles.get(ROLES[attribute.toLowerCase()])?.name,
    isTracked: (key) => tx.sieve.isTracked(key, tx.now),
    include: (location, name) => (location === 'personal' ? scriptNamed(scripts, name) : undefined),
  };
}

function foldersByName(rows: readonly FolderRow[]) {
  return {
    paths: new Set(rows.map(({ name }) => caseFolded(name))),
    roles: new Map<FolderRow['role'] | undefined, FolderRow>(rows.map((row) => [row.role, row])),
  };
}

function withPlaces(tx: MailboxTransaction, plan: DeliveryPlan, actions: readonly SieveAction[]) {
  const placing = actions.filter((action) => action.type === 'keep' || action.type === 'fileinto');
  // Each header is an email of its own.
  const byHeader = grouped(placing, ({ edit }) => JSON.stringify(edit ?? null));
  const [first, ...copies] = [...byHeader.values()].map((alike) => emailOf(tx, plan, alike));
  if (first === undefined) {
    const removed = { ...plan, folderIds: new Set<string>(), labelIds: new Set<string>(), flags: new Set<string>() };
    return { plan: { ...removed, remove: true }, edit: undefined, copies };
  }
  const { edit, folderIds, flags } = first;
  return { plan: { ...plan, folderIds, flags }, edit, copies };
}

/** The email of actions whose header is the same. */
function emailOf(
  tx: MailboxTransaction,
  plan: DeliveryPlan,
  placing: readonly (KeepAction | FileintoAction)[],
): EditedCopy {
  const folderIds = new Set(placing.flatMap((action) => foldersOf(tx, plan, action)));
  // An email has the same flags in all its folders.
  const flags = new Set([...plan.flags, ...placing.flatMap((action) => action.flags)]);
  return { edit: placing[0]!.edit, folderIds, flags };
}

function foldersOf(tx: MailboxTransaction, plan: DeliveryPlan, action: KeepAction | FileintoAction): readonly string[] {
  const inbox = tx.folders.rowOf('inbox').id;
  if (action.type === 'keep') return plan.folderIds.size === 0 ? [inbox] : [...plan.folderIds];
  const folder = targetOf(tx, action);
  // The email is kept where it cannot be filed (RFC 5228 §2.10.6). Drafts are emails that users write.
  return [folder === undefined || folder.role === 'drafts' ? inbox : folder.id];
}

function targetOf(tx: MailboxTransaction, { folder, create, specialUse }: FileintoAction): FolderRow | undefined {
  const special = specialUse === undefined ? undefined : folderFor(tx, specialUse);
  const found = special ?? folderAt(tx.folders.rows(), folder);
  if (found !== undefined || !create) return found;
  const read = shownName(folder);
  if ('problem' in read) return undefined;
  const made = addFolder(tx, { role: 'folder', name: read.name, color: null, sortOrder: 0 });
  return 'refusal' in made ? undefined : made;
}

function folderFor(tx: MailboxTransaction, attribute: string): FolderRow | undefined {
  const role = ROLES[attribute.toLowerCase()];
  return role === undefined ? undefined : tx.folders.rows().find((row) => row.role === role);
}
