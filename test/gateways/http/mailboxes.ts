// Runs the real mailboxes over stores in memory, behind a gateway. They record what they were asked, and a test can make an
// operation fail or run a hook before an answer. An account is created when it is first asked for.

import type { MailboxActors } from '../../../src/actors/mailbox/actor-protocol.js';
import type { Mailboxes } from '../../../src/actors/mailbox/protocol.js';
import { ActorFault, type ActorFaultCode } from '../../../src/actors/runtime/errors.js';
import type { AskOptions } from '../../../src/actors/runtime/ref.js';
import type { MessageIndex } from '../../../src/mail-format/message-index.js';
import type { InlineMessages } from '../../../src/store/inline/inline-messages.js';
import type { SystemRole } from '../../../src/store/mailbox-rows.js';
import { commitChange } from '../../support/memory-stores/commit.js';
import { type MemoryMailboxes, startMemoryMailboxes } from '../../support/memory-stores/memory-mailboxes.js';
import { type AccountRows, MemoryTables, systemFolders } from '../../support/memory-stores/tables.js';
import { ALICE, type FakeBlobs, plainDecoder } from './fakes.js';

/** No account has this id. */
const NOBODY = '018f0000-0000-7000-8000-0000000000cc';

export const folderIdOf = (n: number) => `018f0000-0000-7000-b000-${String(n).padStart(12, '0')}`;
/** The ids of Alice's other system folders follow this one. */
export const INBOX_ID = folderIdOf(1);
export const NO_FOLDER_ID = folderIdOf(999);

type Hook = (payload: never, proceed: () => Promise<unknown>) => unknown;
type Ref = ReturnType<Mailboxes['of']>;
type Ask = (name: string, payload: unknown, options?: AskOptions) => Promise<unknown>;

export async function startMailboxes(blobs: FakeBlobs): Promise<TestMailboxes> {
  const tables = new MemoryTables();
  const textOf = async (index: MessageIndex, blob: string) =>
    (await plainDecoder.bodies(index, (ranges) => blobs.readRanges(blob, ranges), { accountId: '' })).text;
  return new TestMailboxes(tables, await startMemoryMailboxes(tables, blobs, textOf));
}

export class TestMailboxes {
  readonly tables: MemoryTables;
  readonly asked: { readonly name: string; readonly payload: unknown }[] = [];
  /** Every operation fails with this fault. */
  fault: ActorFaultCode | 'bug' | undefined;
  readonly #hooks = new Map<string, Hook>();
  readonly #real: MemoryMailboxes;

  constructor(tables: MemoryTables, real: MemoryMailboxes) {
    this.tables = tables;
    this.#real = real;
  }

  readonly refs: Mailboxes = {
    of: (accountId) => ({ ...this.#real.actors.of(accountId), ask: this.#ask.bind(this, accountId) as Ref['ask'] }),
  };

  /** The mailboxes without hooks, as the queue of deliveries sees them. */
  get actors(): MailboxActors {
    return this.#real.actors;
  }

  get inlineMessages(): InlineMessages {
    return this.#real.inlineMessages;
  }

  /** Runs `hook` between the caller and the mailbox. */
  hook(name: string, hook: Hook): void {
    this.#hooks.set(name, hook);
  }

  account(accountId: string): AccountRows {
    const known = this.tables.accounts.get(accountId);
    if (known !== undefined) return known;
    const folders = systemFolders(accountId === ALICE ? folderIdOf : undefined);
    return this.tables.addAccount({ id: accountId, folders });
  }

  folderId(accountId: string, role: SystemRole): string {
    return [...this.account(accountId).folders.values()].find((folder) => folder.role === role)!.id;
  }

  /** Stores rows as if they were there already. */
  put(accountId: string, change: Pick<Parameters<typeof commitChange>[1], 'changes' | 'counters'>): void {
    const { epoch, modseq } = this.account(accountId);
    const place = {
      accountId,
      epoch,
      modseqBefore: modseq,
      modseqAfter: modseq + 1,
      inbound: [],
      contents: [],
      shared: [],
      remembered: [],
    };
    const { kind } = commitChange(this.tables, { ...place, ...change });
    if (kind !== 'committed') throw new Error(kind);
    this.reload();
  }

  /** Another owner takes over the mailboxes. */
  reload(): void {
    this.#real.reload();
  }

  end(): Promise<void> {
    return this.#real.stop();
  }

  async #ask(accountId: string, name: string, payload: never, options?: AskOptions): Promise<unknown> {
    this.asked.push({ name, payload });
    if (this.fault === 'bug') throw new TypeError('cannot read properties of secret');
    if (this.fault !== undefined) throw new ActorFault(this.fault, 'fault');
    if (accountId !== NOBODY) this.account(accountId);
    const ref = this.#real.actors.of(accountId);
    const proceed = () => (ref.ask as Ask)(name, payload, options);
    const hook = this.#hooks.get(name);
    return hook === undefined ? proceed() : hook(payload, proceed);
  }
}
