// Delivers to hosted domains without SMTP: the sender's commit hands the message over to the mailboxes. The sender's mailbox calls this
// when it queues an email; the transport retries recipients that failed temporarily. Other domains go to the remote transport. Addresses
// are accepted and refused as at the MX (docs/interface/mail.md, "Addresses").

import { exceedsHopLimit, wasDeliveredTo } from '../../mail-format/loop.js';
import type { MessageIndex } from '../../mail-format/message-index.js';
import type { SentOnward } from '../../mail-format/sent-onward.js';
import { clock } from '../../store/clock.js';
import { StoreFault } from '../../store/errors.js';
import {
  type Directory,
  existingUnclaimedIn,
  mailboxesOf,
  type Recipient,
  type RecipientMailbox,
  unclaimedIn,
} from '../directory/protocol.js';
import { NO_QUOTAS, type RecipientQuotas, roomOfAny } from '../quotas/protocol.js';
import type { DeliveryReport, DeliveryTask, DeliveryTransport, RecipientOutcome } from './delivery-transport.js';
import type { MessageFactSource, MessageFacts } from './message-facts.js';

export interface HostedDeliveryOptions {
  readonly directory: Pick<Directory, 'recipient' | 'openUnclaimed'>;
  readonly facts: MessageFactSource;
  /** Absent: nothing has a limit. */
  readonly quotas?: RecipientQuotas;
  /** The name of this host, for the timeline. */
  readonly hostname: string;
  readonly newId: () => string;
}

interface HostedTask extends Pick<DeliveryTask, 'domain' | 'recipients' | 'blob'> {
  /** Only for a message that is not stored yet. */
  readonly index?: MessageIndex | undefined;
}

/** Undefined when the recipients' domain is not hosted here. @throws StoreFault when the domain or the message cannot be read */
export type HostedDelivery = (task: HostedTask) => Promise<DeliveryReport | undefined>;

/** @throws StoreFault */
type IsHosted = (mail: Pick<HostedTask, 'recipients'>) => Promise<boolean>;

export type HostedTransport = HostedDelivery & { readonly isHosted: IsHosted };

type Address = DeliveryTask['recipients'][number];
type Judgement =
  | {
      readonly kind: 'delivered';
      readonly localAccountIds: readonly string[];
      readonly localOnward: Readonly<Record<string, SentOnward>>;
    }
  | { readonly kind: 'temporary' | 'permanent'; readonly statusCode: string; readonly text: string };

const temporary = (statusCode: string, text: string): Judgement => ({ kind: 'temporary', statusCode, text });
const permanent = (statusCode: string, text: string): Judgement => ({ kind: 'permanent', statusCode, text });

/** The mailboxes that get a message at a time. */
const MOST_MAILBOXES = 1_000;

// RFC 3463.
const LOOP = permanent('5.4.6', 'The message is in a mail loop.');
const UNKNOWN = permanent('5.1.1', 'There is no such mailbox here.');
const FULL = temporary('4.2.1', 'The mailbox takes no more mail now.');
const OVER_QUOTA = temporary('4.2.2', 'The mailbox is full.');
const LONG_OVER_QUOTA = permanent('5.2.2', 'The mailbox has been full for days.');
const MOVED = temporary('4.4.4', 'The domain is no longer hosted here.');
const AWAY = temporary('4.3.0', 'The directory of mailboxes cannot be read now.');

export function hostedDelivery(options: HostedDeliveryOptions): HostedTransport {
  const { directory, facts, hostname, newId, quotas = NO_QUOTAS } = options;

  /** Undefined: the recipient is for another commit. */
  async function judge(
    recipients: readonly Address[],
    message: MessageFacts,
  ): Promise<readonly (Judgement | undefined)[]> {
    if (exceedsHopLimit(message)) return recipients.map(() => LOOP);
    const { found, postponed } = withinBound(await lookUp(recipients, message));
    const known = () => found.flatMap((recipient) => recipient ?? []);
    const [unclaimed, existing] = [unclaimedIn(known()), existingUnclaimedIn(known())];
    const isUnclaimed = unclaimed.length + existing.length > 0;
    const made = isUnclaimed
      ? await directory.openUnclaimed([...new Set(unclaimed)], message.summary.size, existing)
      : undefined;
    return Promise.all(
      found.map((recipient, i) => {
        if (postponed.has(i)) return undefined;
        return recipient === undefined ? LOOP : withRoom(judgementOf(recipient, made), recipient, message.summary.size);
      }),
    );
  }

  /** Undefined: the message has been delivered there. They are looked up together; those without an owner again, one after another. */
  async function lookUp(recipients: readonly Address[], message: MessageFacts): Promise<(Recipient | undefined)[]> {
    const found = await Promise.all(
      recipients.map(({ address }) => (wasDeliveredTo(message, address) ? undefined : directory.recipient(address))),
    );
    const before: Recipient[] = [];
    for (const [i, recipient] of found.entries()) {
      if (recipient === undefined) continue;
      // The bounds of unclaimed mailboxes count those of the message.
      const isFurther = unclaimedIn([recipient]).length > 0 && unclaimedIn(before).length > 0;
      const counted = isFurther ? await directory.recipient(recipients[i]!.address, unclaimedIn(before)) : recipient;
      found[i] = counted;
      before.push(counted);
    }
    return found;
  }

  async function withRoom(judgement: Judgement, recipient: Recipient, size: number): Promise<Judgement> {
    if (judgement.kind !== 'delivered') return judgement;
    const room = await roomOfAny(quotas, mailboxesOf(recipient), size);
    if (room === 'room') return judgement;
    return room === 'full' ? OVER_QUOTA : LONG_OVER_QUOTA;
  }

  async function deliverHere(task: HostedTask): Promise<DeliveryReport> {
    const [at, began] = [clock.now(), performance.now()];
    const message = await facts.of(task.blob, task.index);
    const judgements = await judge(task.recipients, message).catch((error: unknown): Judgement[] => {
      if (error instanceof StoreFault) return task.recipients.map(() => AWAY);
      throw error;
    });
    // Recipients without an outcome were not tried: they stay due, and this counts as none of their attempts.
    const outcomes = task.recipients.flatMap(({ id }, i) => {
      const judgement = judgements[i];
      return judgement === undefined ? [] : [outcomeOf(id, judgement, hostname)];
    });
    const durationMs = Math.round(performance.now() - began);
    const attempt = {
      id: newId(),
      at,
      durationMs,
      domain: task.domain,
      host: hostname,
      remoteAddress: null,
      tls: null,
      // The first failure tells more than a success.
      reply: (outcomes.find(({ kind }) => kind !== 'delivered') ?? outcomes[0]!).text,
      recipients: outcomes.map(({ recipientId: id, kind: outcome, statusCode }) => ({ id, outcome, statusCode })),
    };
    return { outcomes, attempts: [attempt] };
  }

  const hosted: IsHosted = (mail) => isHosted(directory, mail);
  const deliver = async (task: HostedTask) => ((await hosted(task)) ? deliverHere(task) : undefined);
  return Object.assign(deliver, { isHosted: hosted });
}

/** `remote`: delivers to domains that are not hosted here. */
export function localDeliveryTransport(deliverHere: HostedTransport, remote: DeliveryTransport): DeliveryTransport {
  return {
    deliver: async (task) => (await deliverHere(task)) ?? remote.deliver(task),
    async destinationOf(mail) {
      const destination = (await remote.destinationOf?.(mail)) ?? mail.domain;
      // A smart host takes no mail for domains that are hosted here.
      return destination !== mail.domain && (await deliverHere.isHosted(mail)) ? mail.domain : destination;
    },
  };
}

async function isHosted(
  directory: Pick<Directory, 'recipient'>,
  { recipients }: Pick<HostedTask, 'recipients'>,
): Promise<boolean> {
  const [first] = recipients;
  // All recipients have the same domain.
  return first !== undefined && (await directory.recipient(first.address)).kind !== 'notHosted';
}

const nameOf = (mailbox: RecipientMailbox): string =>
  mailbox.kind === 'mailbox' ? mailbox.accountId : mailbox.address;

/** The first recipients that lead to no more mailboxes than one commit may write, or the first one alone; the others come later. */
function withinBound(found: readonly (Recipient | undefined)[]) {
  const postponed = new Set<number>();
  const mailboxes = new Set<string>();
  for (const [i, recipient] of found.entries()) {
    const all = recipient === undefined ? [] : mailboxesOf(recipient).map(nameOf);
    const further = all.filter((mailbox) => !mailboxes.has(mailbox));
    if (mailboxes.size > 0 && mailboxes.size + further.length > MOST_MAILBOXES) postponed.add(i);
    else for (const mailbox of further) mailboxes.add(mailbox);
  }
  return { found: found.map((recipient, i) => (postponed.has(i) ? undefined : recipient)), postponed };
}

function judgementOf(recipient: Recipient, unclaimed: ReadonlyMap<string, string> | undefined): Judgement {
  switch (recipient.kind) {
    case 'mailbox':
    case 'unclaimed':
    case 'several': {
      const mailboxes = mailboxesOf(recipient);
      const localAccountIds: string[] = [];
      const localOnward: Record<string, SentOnward> = {};
      for (const mailbox of mailboxes) {
        const id = mailbox.kind === 'mailbox' ? mailbox.accountId : unclaimed?.get(mailbox.address);
        if (id === undefined) return FULL;
        localAccountIds.push(id);
        if (mailbox.onward !== undefined) localOnward[id] = mailbox.onward;
      }
      return { kind: 'delivered', localAccountIds, localOnward };
    }
    case 'loop':
      return LOOP;
    case 'unknown':
      return UNKNOWN;
    case 'full':
      return FULL;
    case 'notHosted':
      return MOVED;
  }
}

function outcomeOf(recipientId: string, judgement: Judgement, host: string): RecipientOutcome {
  if (judgement.kind !== 'delivered') return { ...judgement, recipientId, host };
  const { kind, localAccountIds, localOnward } = judgement;
  const onward = Object.keys(localOnward).length > 0 && { localOnward };
  return {
    kind,
    localAccountIds,
    ...onward,
    recipientId,
    host,
    statusCode: '2.1.5',
    text: 'Delivered to the mailbox.',
  };
}
