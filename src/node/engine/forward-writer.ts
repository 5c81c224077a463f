// Writes messages that accounts send on (docs/decisions/0097): the octets of the message stay as they are below new fields, so its
// signatures remain valid. The envelope sender is rewritten (SRS), what the MX found is sealed (ARC), and Delivered-To tells later hosts, and
// this one, which addresses the message has passed.
import type { WriteMail } from '../../actors/mailbox/background/automatic-mail.js';
import { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import { canonicalAddress, parseSender } from '../../mail-format/address.js';
import { exceedsHopLimit, wasDeliveredTo } from '../../mail-format/loop.js';
import type { MessageIndex } from '../../mail-format/message-index.js';
import type { SenderRewriting } from '../../mail-format/srs.js';
import { summarize } from '../../mail-format/summary.js';
import type { SealMessage } from '../../message-checks/mailauth/arc-seal.js';
import type { BlobStore } from '../../store/blobs.js';
import type { DueMail } from '../../store/mailbox-rows.js';
import { mxResults } from './mx-results.js';

export interface ForwardWriterOptions {
  readonly blobs: Pick<BlobStore, 'index' | 'stream'>;
  readonly directory: {
    hosts(domain: string): Promise<boolean>;
    isAddressOf(accountId: string, address: string): Promise<boolean>;
    mayForwardTo(accountId: string, address: string): Promise<boolean>;
  };
  /** The address of an account; undefined when it is deleted. */
  readonly addressOf: (accountId: string) => Promise<string | undefined>;
  readonly rewriting: SenderRewriting;
  readonly seal: SealMessage;
  /** The name of this host. */
  readonly hostname: string;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Octets of messages that are in memory at a time, and those of one account: the next one waits, and a larger one has all for itself. */
const MOST_OCTETS = 48 * 1024 * 1024;
const MOST_OCTETS_OF_ACCOUNT = 36 * 1024 * 1024;
/** Octets that are left free before a message for the new fields, so that no other copy of it is made. */
const FIELDS_OCTETS = 64 * 1024;

/** The most `Delivered-To` fields that are compared with the addresses of the account. */
const MOST_PASSED = 100;

export function forwardWriter(options: ForwardWriterOptions): WriteMail {
  const { blobs, directory, hostname } = options;
  const domainOf = (address: string) => parseSender(address)?.domain ?? '';

  /** The address that the message is marked with. */
  async function passedBy(accountId: string, { recipient }: DueMail): Promise<string | undefined> {
    return recipient ?? (await options.addressOf(accountId));
  }

  /** Addresses elsewhere, which the account has verified as targets, may have got the message before this account did. */
  async function hasPassed(accountId: string, due: DueMail, deliveredTo: readonly string[]): Promise<boolean> {
    if (due.recipient !== null && wasDeliveredTo({ deliveredTo }, due.recipient)) return true;
    // An alias belongs to nobody: only its address counts.
    if (due.further?.['isOnward'] === true) return false;
    for (const address of deliveredTo.slice(0, MOST_PASSED))
      if ((await directory.hosts(domainOf(address))) && (await directory.isAddressOf(accountId, address))) return true;
    return false;
  }

  /** The account or the operator may have removed an address since. */
  async function allowedTargets(accountId: string, targets: readonly string[]): Promise<string[]> {
    const areAllowed = await Promise.all(targets.map((target) => directory.mayForwardTo(accountId, target)));
    return targets.filter((_, i) => areAllowed[i]);
  }

  /** A hosted domain, for the envelope and for the seal. */
  async function hostedDomain(accountId: string, address: string): Promise<string | undefined> {
    const own = async () => domainOf((await options.addressOf(accountId)) ?? '');
    for (const domain of [domainOf(address), await own()]) if (await directory.hosts(domain)) return domain;
    return undefined;
  }

  /** SPF passes for mail of hosted domains, and targets here check none. */
  async function senderOf({ sender }: DueMail, targets: readonly string[], domain: string | undefined) {
    if (sender === '' || domain === undefined || (await directory.hosts(domainOf(sender)))) return sender;
    const areHosted = await Promise.all(targets.map((target) => directory.hosts(domainOf(target))));
    if (areHosted.every(Boolean)) return sender;
    // A sender that cannot be rewritten is told of nothing.
    return options.rewriting.rewrite(sender, domain, options.now()) ?? '';
  }

  const memory = new FairSemaphore({ total: MOST_OCTETS, share: MOST_OCTETS_OF_ACCOUNT });

  async function written(accountId: string, due: DueMail, { index, address, to }: Forwarded) {
    const message = new MessageBuffer(index.size);
    for await (const piece of blobs.stream(due.blob, 0, index.size)) message.append(piece);
    const { start, results, chain, isTold } = partsOf(message.octets, due, hostname);
    message.dropFirst(start);
    message.prepend(Buffer.from(`Delivered-To: ${address}\r\n`));
    const domain = await hostedDomain(accountId, address);
    if (domain !== undefined)
      message.prepend(Buffer.from(await options.seal(message.octets, { domain, results, chain }), 'latin1'));
    const sender = await senderOf(due, to, domain);
    return { message: message.octets, sender, to, reportTo: isTold ? due.sender : null };
  }

  return async (accountId, due) => {
    const index = await blobs.index(due.blob);
    const address = await passedBy(accountId, due);
    if (index === undefined || address === undefined) return { skip: 'the message or its account does not exist' };
    if (exceedsHopLimit(index)) return { skip: 'the message has passed too many hosts' };
    if (await hasPassed(accountId, due, index.deliveredTo)) return { skip: 'the message has passed this account' };
    const targets = due.targets.filter((target) => !index.deliveredTo.some((passed) => isSame(passed, target)));
    const to = due.further?.['isOnward'] === true ? targets : await allowedTargets(accountId, targets);
    if (to.length === 0) return { skip: 'no target is left' };
    const permit = await memory.acquire(accountId, { weight: index.size });
    try {
      const mail = await written(accountId, due, { index, address, to });
      const isElsewhere = due.further?.['isPlaced'] === false;
      const isPartial = to.length < targets.length;
      return { ...mail, isPartial, ...(isElsewhere && { arrived: summarize(index) }), release: () => permit.release() };
    } catch (error) {
      permit.release();
      throw error;
    }
  };
}

interface Forwarded {
  readonly index: MessageIndex;
  /** The address that the message is marked with. */
  readonly address: string;
  readonly to: readonly string[];
}

/** A message in one buffer, with room before it. */
class MessageBuffer {
  #buffer: Buffer;
  #start = FIELDS_OCTETS;
  #end = FIELDS_OCTETS;

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafeSlow(FIELDS_OCTETS + size);
  }

  get octets(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  append(piece: Uint8Array): void {
    this.#buffer.set(piece, this.#end);
    this.#end += piece.length;
  }

  dropFirst(octets: number): void {
    this.#start += octets;
  }

  prepend(fields: Buffer): void {
    if (fields.length > this.#start) {
      this.#buffer = Buffer.concat([Buffer.alloc(fields.length), this.octets]);
      this.#start = fields.length;
      this.#end = this.#buffer.length;
    }
    this.#start -= fields.length;
    this.#buffer.set(fields, this.#start);
  }
}

const isSame = (one: string, other: string): boolean => canonicalAddress(one) === canonicalAddress(other);

/** Where the message begins without the Return-Path of its delivery here, and what the MX wrote about it. */
function partsOf(stored: Buffer, due: DueMail, hostname: string) {
  const { start, value, chain, isForged } = mxResults(stored, due, hostname);
  const isTold = due.sender !== '' && !isForged;
  return { start, results: value ?? `${hostname}; none`, chain, isTold };
}
