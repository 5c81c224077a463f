// Fakes mailboxes and the store of outbound mail in memory, as the queue sees both: rows start, take reports and end as in the
// mailbox's machine. Tests choose faults and transports.
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { NEVER } from 'rxjs';
import type {
  DeliveryReport,
  DeliveryTask,
  DeliveryTransport,
  RecipientOutcome,
} from '../../../src/actors/delivery/delivery-transport.js';
import { DeliveryQueue, type DeliveryQueueOptions } from '../../../src/actors/delivery/queue.js';
import { QueueWakeup } from '../../../src/actors/delivery/queue-wakeup.js';
import { DeliveryScheduler, type SchedulerLimits } from '../../../src/actors/delivery/scheduler/scheduler.js';
import { SenderDsns } from '../../../src/actors/delivery/sender-dsn.js';
import type { DeliveryMailboxes } from '../../../src/actors/mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { type LocalTransport, localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import type { BlobContent } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import type { ClusterView } from '../../../src/store/leases.js';
import type {
  DsnKind,
  OutboundRequest,
  OutboundStatus,
  OutboundStore,
  RecipientStatus,
} from '../../../src/store/outbound.js';
import { shardOf } from '../../../src/store/shard.js';
import { turn } from '../../support/turns.js';

export const SHARDS = 4;
export const MESSAGE = Buffer.from('From: a@here.test\r\nSubject: hello\r\nMessage-ID: <1@here.test>\r\n\r\nbody\r\n');

export interface FakeEmail {
  readonly accountId: string;
  readonly outboundId: string;
  status: OutboundStatus;
  dueAt: number;
  retryCount: number;
  attempt: { id: string; by: string } | null;
  dsnDue: DsnKind | null;
  readonly sender: string;
  readonly recipients: { id: string; address: string; domain: string; status: RecipientStatus }[];
}

/** A question to a mailbox; they are kept in order. */
export interface Asked {
  readonly accountId: string;
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: payloads of many commands, looked at by the tests
  readonly payload: any;
}

export const account = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

export class OutboundWorld {
  readonly emails = new Map<string, FakeEmail>();
  readonly asked: Asked[] = [];
  readonly requests: OutboundRequest[] = [];
  readonly blobs = new Map<string, BlobContent>();
  /** Incarnations of running nodes. */
  readonly alive = new Set<string>();
  /** The number of reads of the store. */
  reads = 0;
  storeFault: Error | undefined;
  /** The mailbox throws it instead of an answer. */
  mailboxFault: (asked: Asked) => Error | undefined = () => undefined;
  /** The commit succeeds, but its answer is lost. */
  lostAnswer: (asked: Asked) => boolean = () => false;

  /** Queues an email that is due now, with one recipient per address. */
  add(accountId: string, addresses: readonly string[], changes: Partial<FakeEmail> = {}): FakeEmail {
    const email: FakeEmail = {
      accountId,
      outboundId: randomUUID(),
      status: 'Queued',
      dueAt: Date.now(),
      retryCount: 0,
      attempt: null,
      dsnDue: null,
      sender: 'a@here.test',
      recipients: addresses.map((address) => ({
        id: randomUUID(),
        address,
        domain: address.slice(address.lastIndexOf('@') + 1),
        status: 'Pending' as const,
      })),
      ...changes,
    };
    this.emails.set(email.outboundId, email);
    return email;
  }

  count(status: OutboundStatus): number {
    return [...this.emails.values()].filter((email) => email.status === status).length;
  }

  asksOf(name: string): readonly Asked[] {
    return this.asked.filter((asked) => asked.name === name);
  }

  async #read(shards: readonly number[]): Promise<readonly FakeEmail[]> {
    this.reads++;
    await turn();
    if (this.storeFault !== undefined) throw this.storeFault;
    return [...this.emails.values()].filter(({ accountId }) => shards.includes(shardOf(accountId, SHARDS)));
  }

  readonly store: OutboundStore = {
    due: async (shards, limit, except, exceptAccounts = []) =>
      (await this.#read(shards))
        .filter(
          ({ status, dueAt, outboundId, accountId }) =>
            status === 'Queued' &&
            dueAt <= Date.now() &&
            !except.includes(outboundId) &&
            !exceptAccounts.includes(accountId),
        )
        .sort((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit)
        .map(({ accountId, outboundId }) => ({ accountId, outboundId, interrupted: null })),
    interrupted: async (shards, incarnation, limit, except) =>
      (await this.#read(shards))
        .filter(
          ({ status, attempt, outboundId }) =>
            status === 'Sending' &&
            (attempt?.by === incarnation ? !except.includes(outboundId) : !this.alive.has(attempt?.by ?? '')),
        )
        .slice(0, limit)
        .map(({ accountId, outboundId, attempt }) => ({ accountId, outboundId, interrupted: attempt!.id })),
    held: async () => [],
    expired: async () => [],
    dsnsDue: async (shards, limit, except, exceptAccounts) =>
      (await this.#read(shards))
        .filter(({ dsnDue, outboundId }) => dsnDue !== null && !except.includes(outboundId))
        .filter(({ accountId }) => !exceptAccounts.includes(accountId))
        .slice(0, limit),
    requests: async (_shards, limit) => this.requests.slice(0, limit),
    suppressionRequests: async () => [],
    settleRequest: async (request) => {
      this.requests.splice(this.requests.indexOf(request), 1);
    },
    overdueMs: async () => 0,
    isStranded: async () => false,
    awaitingRelease: async () => 0,
    requestReleases: async () => undefined,
    list: async () => [],
    find: async () => undefined,
    request: async (request) => void this.requests.push(request),
    isRequested: async () => false,
    suppressions: async () => [],
    requestLift: async () => undefined,
  };

  /** Returns what a mailbox answers after its commit. */
  #answer({ accountId, name, payload }: Asked): unknown {
    if (name === 'deliver') return { reply: { emailId: randomUUID() } };
    const email = this.emails.get(payload.outboundId);
    if (email === undefined || email.accountId !== accountId) return { refusal: 'noSuchOutbound' };
    switch (name) {
      case 'startDelivery': {
        const isDue = email.status === 'Queued' && email.dueAt <= Date.now();
        const isLeft = email.status === 'Sending' && email.attempt?.id === payload.supersedes;
        if (!isDue && !isLeft) return { refusal: 'notDue' };
        email.status = 'Sending';
        email.attempt = payload.attempt;
        const recipients = email.recipients.filter(({ status }) => status === 'Pending');
        const { sender, retryCount } = email;
        const shown = { sender, retryCount, messageId: '<1@here.test>', createdAt: Date.now() };
        return { reply: { ...shown, blob: 'b'.repeat(64), size: MESSAGE.length, dsn: null, recipients } };
      }
      case 'reportDelivery': {
        if (email.status !== 'Sending' || email.attempt?.id !== payload.attemptId) return { refusal: 'notUnderWay' };
        const localDeliveries: { accountId: string; inboundId: string }[] = [];
        for (const { recipientId, kind, localAccountId } of payload.outcomes as (RecipientOutcome & {
          localAccountId?: string;
        })[]) {
          const recipient = email.recipients.find(({ id }) => id === recipientId)!;
          if (recipient.status !== 'Pending') continue;
          if (kind === 'delivered') recipient.status = 'Delivered';
          if (kind === 'permanent') recipient.status = 'Failed';
          if (localAccountId !== undefined)
            localDeliveries.push({ accountId: localAccountId, inboundId: randomUUID() });
        }
        if (payload.isOver) {
          const left = email.recipients.some(({ status }) => status === 'Pending');
          const failed = email.recipients.some(({ status }) => status === 'Failed');
          email.status = left ? 'Queued' : failed ? 'Failed' : 'Sent';
          email.attempt = null;
          if (left && !payload.isInterrupted) {
            email.retryCount++;
            email.dueAt = Date.now() + 3_600_000;
          }
          if (email.status === 'Failed' && email.sender !== '') email.dsnDue = 'failed';
        }
        const { status, dsnDue } = email;
        return { reply: { status, localDeliveries, nextRetryAt: null, dsnDue } };
      }
      case 'dsnMaterial': {
        const { outboundId: id, sender, status, recipients, dsnDue } = email;
        const shown = { id, sender, status, subject: 'hello', blob: 'b'.repeat(64), retryCount: 0, nextRetryAt: null };
        const dated = { messageId: '<1@here.test>', references: [], createdAt: Date.now(), recipients };
        const recipientIds = recipients.map((each) => each.id);
        const material = { kind: dsnDue, recipientIds, dsn: null, attempts: [] };
        return { reply: { ...material, email: { ...shown, ...dated } } };
      }
      case 'giveDsn':
        if (email.dsnDue !== payload.kind) return { refusal: 'notDue' };
        email.dsnDue = null;
        return { reply: { emailId: randomUUID(), isMoreDue: false } };
      case 'manageOutbound':
        if (email.status !== 'Queued') return { refusal: 'notPossible' };
        if (payload.action === 'cancel') email.status = 'Failed';
        else email.dueAt = Date.now();
        return { reply: { status: email.status } };
      default:
        throw new Error(`not played: ${name}`);
    }
  }

  readonly mailboxes = {
    of: (accountId: string) => ({
      ask: async (name: string, payload: unknown) => {
        const asked: Asked = { accountId, name, payload };
        this.asked.push(asked);
        await turn();
        const fault = this.mailboxFault(asked);
        if (fault !== undefined) throw fault;
        const answer = this.#answer(asked);
        if (this.lostAnswer(asked)) throw new ActorFault('unreachable', 'the answer got lost');
        return answer;
      },
    }),
  } as unknown as DeliveryMailboxes;

  /** Starts another node with the role `outbound`; its heartbeats see `view`. */
  node(
    nodeId: string,
    deliveryTransport: DeliveryTransport,
    view: () => ClusterView,
    changes: Partial<DeliveryQueueOptions> & {
      transport?: LocalTransport;
      isCurrent?: () => boolean;
      limits?: Partial<SchedulerLimits>;
    } = {},
  ) {
    const { transport = localTransport({ encoding: true }), isCurrent = () => true, limits = {}, ...options } = changes;
    const log = pino({ level: 'silent' });
    const ownership = {
      nodeId,
      shards: SHARDS,
      state: 'serving' as const,
      heartbeatAgeMs: 0,
      get view() {
        return view();
      },
      get isCurrent() {
        return isCurrent();
      },
    };
    const queueWakeup = new QueueWakeup({ transport: { ...transport, breaks$: NEVER }, ownership });
    this.alive.add(`${nodeId} lives`);
    const blobs = {
      index: async () => indexMessage(MESSAGE),
      read: async (_: string, start: number, end: number) => MESSAGE.subarray(start, end),
      put: async (content: BlobContent) => void this.blobs.set(content.hash, content),
    };
    const { store, mailboxes } = this;
    const retry = { maxRetries: 3, baseMs: 1_000, capMs: 10_000 };
    const scheduler = new DeliveryScheduler(limits);
    const shared = { store, mailboxes, scheduler, log, newId: randomUUID };
    const queue = new DeliveryQueue({
      ...shared,
      deliveryTransport,
      dsns: new SenderDsns({ ...shared, blobs, hostname: 'mx.here.test', retry }),
      ownership,
      queueWakeup,
      incarnation: `${nodeId} lives`,
      leaseTtlMs: 60_000,
      pollMs: 3_600_000,
      ...options,
    });
    return { queue, queueWakeup, scheduler };
  }
}

/** Returns a view with these nodes, and owners of every shard. */
export function viewOf(
  nodes: Readonly<Record<string, readonly string[]>>,
  owner: string | null,
  states: Readonly<Record<string, 'serving' | 'cut off' | 'draining'>> = {},
): ClusterView {
  return {
    nodes: Object.entries(nodes).map(([id, roles]) => ({
      id,
      version: '1',
      roles,
      bus: 'nats',
      state: states[id] ?? 'serving',
      startedAt: 0,
      silentMs: 0,
      expired: false,
    })),
    leases: Array.from({ length: SHARDS }, (_, shard) => ({ shard, epoch: 1, nodeId: owner, expired: owner === null })),
  };
}

export const ALONE = () => viewOf({ a: ['mailbox', 'outbound'] }, 'a');

export const answer = (
  { recipients }: DeliveryTask,
  kind: RecipientOutcome['kind'] = 'delivered',
  host: string | null = 'mx.test',
): DeliveryReport => ({
  outcomes: recipients.map(({ id }) => ({ kind, recipientId: id, text: kind, statusCode: '2.0.0', host })),
  attempts: [
    {
      id: randomUUID(),
      at: 0,
      durationMs: 1,
      domain: 'd',
      host,
      remoteAddress: null,
      tls: null,
      reply: kind,
      recipients: [],
    },
  ],
});

/** A transport whose deliveries end one by one, by the test. */
export class ManualTransport implements DeliveryTransport {
  readonly tasks: (DeliveryTask & { readonly settle: (report: DeliveryReport) => void; ended: boolean })[] = [];
  most = 0;

  get open() {
    return this.tasks.filter(({ ended }) => !ended);
  }

  deliver(task: DeliveryTask): Promise<DeliveryReport> {
    return new Promise((resolve) => {
      const held = {
        ...task,
        ended: false,
        settle: (report: DeliveryReport) => {
          held.ended = true;
          resolve(report);
        },
      };
      this.tasks.push(held);
      this.most = Math.max(this.most, this.open.length);
    });
  }
}

export const delivers: DeliveryTransport = { deliver: async (task) => answer(task) };
export const away = () => new StoreFault('store-unavailable', 'away', { temporary: true });
export const unreachable = () => new ActorFault('unreachable', 'nobody answers');
