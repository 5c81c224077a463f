// One attempt for the recipients of one domain: it tries hosts in their order until every recipient has a final reply or no host is left
// (RFC 5321 §5.1). Connection faults lead to the next address; temporary replies and refusals before MAIL lead to the next host. Refusals
// of the sender, of recipients and of the message are final. When it is unknown whether a host accepted the message, the attempt ends,
// because another host would deliver it twice; the next attempt begins with the host after it (decision 0061).

import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryTask } from '../../actors/delivery/delivery-transport.js';
import {
  type DeliveryStatus,
  faultStatus,
  isClosing,
  isRecipientLimit,
  replyStatus,
} from '../../mail-format/reports/delivery-status.js';
import { mailParameters, rcptParameters } from '../../mail-format/reports/dsn-parameters.js';
import type { SevenBitObstacle } from '../../mail-format/writing/seven-bit.js';
import type { AttemptLog, Tried } from './attempt-log.js';
import type { EnvelopeDsn } from './connection.js';
import type { HostHealth } from './host-health.js';
import type { SmtpClientLimits } from './limits.js';
import type { Exchanger } from './mail-exchangers.js';
import type { SmtpClientMeter } from './meter.js';
import type { SessionPool } from './pool.js';
import type { RecipientResults, TaskRecipient } from './recipient-results.js';
import type { Blocked, MailRoute, RouteParts } from './route.js';
import { type ClientSession, openSession, SessionFailure, type TlsPolicy } from './session.js';
import type { SignedForm, SignedForms } from './signed-forms.js';
import type { TransactionResult } from './transaction.js';

/** The objects that all attempts of a node share. */
export interface Common extends RouteParts {
  readonly pool: SessionPool;
  readonly health: HostHealth;
  readonly limits: SmtpClientLimits;
  readonly meter: SmtpClientMeter;
  readonly hostname: string;
  /** The port of mail hosts. */
  readonly port: number;
  readonly ca: string | undefined;
}

export interface Mail {
  readonly task: DeliveryTask;
  readonly forms: SignedForms;
  readonly route: MailRoute;
  /** The signal is also aborted when the attempt has used up its time. */
  readonly signal: AbortSignal;
  readonly log: AttemptLog;
}

const UNREAD = faultStatus('unread', 'the stored message could not be read');

/** The reasons why a message is not converted, in words. */
const OBSTACLES: Readonly<Record<SevenBitObstacle, string>> = {
  signed: 'a signed part has 8-bit octets and must not be changed',
  fixed: 'a part with 8-bit octets must not be encoded',
  header: 'an address or a boundary in it has 8-bit octets',
  unread: 'it has too many parts to be converted',
};

/** An attempt waits for a host that may be connected to again within this time. */
const SHORT_WAIT_MS = 2_000;

export class Attempt {
  readonly #common: Common;
  readonly #mail: Mail;
  readonly #results: RecipientResults;
  /** True when a host may have accepted the message. */
  #isDoubtful = false;

  constructor(common: Common, mail: Mail, results: RecipientResults) {
    this.#common = common;
    this.#mail = mail;
    this.#results = results;
  }

  get #isOver(): boolean {
    return this.#results.isOver || this.#isDoubtful || this.#mail.signal.aborted;
  }

  /** @throws what reading the message throws */
  async run(): Promise<void> {
    const started = performance.now();
    const { task, route } = this.#mail;
    const found = await route.hosts();
    if ('status' in found) return this.#blocked(found, started);
    let end = Number.POSITIVE_INFINITY;
    const hosts = afterDoubtful(found, task.recipients);
    for (const host of hosts.slice(0, this.#common.limits.hosts)) {
      if (this.#isOver) return;
      if (host.priority >= end) continue;
      if (await this.#tryHost(host)) end = host.priority;
    }
  }

  /** Tries the host's addresses in turn; returns true when the host is this node itself. */
  async #tryHost(exchanger: Exchanger): Promise<boolean> {
    const { limits, health } = this.#common;
    const started = performance.now();
    const found = await this.#mail.route.addresses(exchanger);
    if ('status' in found) {
      this.#blocked(found, started);
      return found.isOwn === true;
    }
    for (const address of health.order(found).slice(0, limits.addressesPerHost)) {
      if (this.#isOver || !(await this.#tryAddress(exchanger.host, address))) break;
    }
    return false;
  }

  /** Returns true when another address of the host may do better. */
  async #tryAddress(host: string, address: string): Promise<boolean> {
    const { health, pool } = this.#common;
    const { signal, route } = this.#mail;
    const started = performance.now();
    const tried: Tried = { host, address, tls: null };
    const notNow = health.notNow(this.#place(address));
    if (notNow?.kind === 'closing' && notNow.ms <= SHORT_WAIT_MS)
      await pause(notNow.ms, undefined, { signal }).catch(() => {});
    else if (notNow !== undefined) {
      const isClosing = notNow.kind === 'closing';
      const status = isClosing ? replyStatus(notNow.reason, 'greeting') : faultStatus('unreachable', notNow.reason);
      this.#missed(tried, started, status, isClosing);
      return true;
    }
    for (let isNew = false; ; isNew = true) {
      let session: ClientSession | undefined;
      try {
        session = await pool.acquire(this.#target(host, address), signal, this.#mail.task.connect, isNew);
      } catch (error) {
        if (!(error instanceof SessionFailure)) throw error;
        this.#learn(address, error);
        this.#missed(tried, started, route.statusOf(error), error.kind !== 'unreachable');
        return error.kind === 'unreachable' || error.kind === 'silent';
      }
      if (session === undefined) {
        this.#results.postpone();
        return false;
      }
      tried.tls = session.tls;
      if (await this.#converse(session, tried, started)) return false;
    }
  }

  /** Runs transactions until all pending recipients were tried; returns false when that needs a new connection. */
  async #converse(session: ClientSession, tried: Tried, started: number): Promise<boolean> {
    const { pool, limits, health, meter } = this.#common;
    const { task, log } = this.#mail;
    const host = session.host;
    const form = await this.#formFor(session).catch((error: unknown) => {
      pool.release(session, true);
      this.#results.noteAll(UNREAD, host);
      throw error;
    });
    if ('kind' in form) {
      pool.release(session, true);
      const pending = this.#results.pending;
      this.#results.settleAll(form, host);
      log.add(
        tried,
        started,
        form,
        pending.map((addressee) => [addressee, form]),
      );
      return true;
    }
    const { content, prefix } = form;
    let rest = this.#results.pending;
    const statuses = new Map<TaskRecipient, DeliveryStatus>();
    let decided: DeliveryStatus | undefined;
    let isReusable = true;
    let isInStep = true;
    try {
      while (rest.length > 0 && isReusable && !this.#isOver) {
        const batch = rest.slice(0, limits.recipients);
        const isFresh = session.served === 0;
        const result = await session.transact(
          {
            sender: task.sender,
            recipients: batch.map(({ address }) => address),
            isInternational: content.hasUtf8Header || this.#isInternational(batch),
            prefix,
            content,
            dsn: envelopeDsn(task, batch),
          },
          this.#mail.signal,
        );
        isInStep = isFresh || isBelievable(result) || this.#mail.signal.aborted;
        if (!isInStep) {
          isReusable = false;
          break;
        }
        const limited = this.#take(result, batch, session, statuses);
        decided = decisive(statuses.values(), decided);
        if (isDelivered(result)) meter.sent(prefix.length + content.size);
        const closing = [...result.answers.values()].find(({ reply }) => reply !== undefined && isClosing(reply));
        if (closing !== undefined) health.closing(this.#place(session.address), closing.reply!);
        else if (!result.isUnanswered) health.answered(this.#place(session.address));
        isReusable = result.isReusable && (!result.needsReset || (await session.reset()));
        rest = [...limited, ...rest.slice(batch.length)];
      }
    } catch (error) {
      isReusable = false;
      this.#results.noteAll(UNREAD, host);
      throw error;
    } finally {
      pool.release(session, isReusable);
    }
    const ended = faultStatus('lost', `${host}: the connection ended before all recipients were asked for`);
    for (const addressee of isInStep ? rest : []) {
      if (statuses.has(addressee)) continue;
      this.#results.note(addressee, ended, host);
      statuses.set(addressee, ended);
    }
    if (statuses.size > 0) log.add(tried, started, decided ?? ended, [...statuses]);
    return isInStep;
  }

  /** Notes the replies; returns the recipients that need another transaction with this host. */
  #take(
    { answers, isDoubtful }: TransactionResult,
    batch: readonly TaskRecipient[],
    session: ClientSession,
    statuses: Map<TaskRecipient, DeliveryStatus>,
  ): TaskRecipient[] {
    const { host } = session;
    const onward = session.supports('DSN') ? 'passed' : 'relayed';
    const isSomeoneTaken = [...answers.values()].some(({ stage }) => stage === 'data' || stage === 'message');
    const limited: TaskRecipient[] = [];
    this.#isDoubtful = isDoubtful;
    for (const addressee of batch) {
      const answer = answers.get(addressee.address)!;
      const { reply, stage } = answer;
      const status = this.#mail.route.statusOf(answer);
      statuses.set(addressee, status);
      const mayHaveIt = isDoubtful && stage !== 'rcpt';
      if (status.kind === 'temporary' || stage === undefined) this.#results.note(addressee, status, host, mayHaveIt);
      else this.#results.settle(addressee, status, host, onward);
      // Limited recipients are tried again only while others succeed: a server that accepts none is not asked again.
      if (isSomeoneTaken && stage === 'rcpt' && isRecipientLimit(reply ?? '')) limited.push(addressee);
    }
    return limited;
  }

  /** Returns the message in a form that the server can accept, or the status when it cannot. @throws what reading the message throws */
  async #formFor(session: ClientSession): Promise<SignedForm | DeliveryStatus> {
    const { forms } = this.#mail;
    const { largestMessage, host } = session;
    const hasUtf8 = session.supports('SMTPUTF8');
    const needsUtf8 = `the message needs SMTPUTF8, which ${host} does not know`;
    if (!hasUtf8 && this.#isInternational(this.#results.pending)) return faultStatus('no-smtputf8', needsUtf8);
    const { isEightBit, hasUtf8Header } = forms.original.content;
    const isUtf8Missing = hasUtf8Header && !hasUtf8;
    const fits = !isUtf8Missing && (!isEightBit || session.supports('8BITMIME'));
    const form = fits ? forms.original : await forms.sevenBit();
    if (typeof form === 'string') {
      if (isUtf8Missing) return faultStatus('no-smtputf8', needsUtf8);
      return faultStatus('no-8bitmime', `the message needs 8BITMIME, which ${host} does not know: ${OBSTACLES[form]}`);
    }
    const size = form.prefix.length + form.content.size;
    if (largestMessage === 0 || size <= largestMessage) return form;
    return faultStatus('too-large', `the message has ${size} octets, ${host} takes ${largestMessage}`);
  }

  #isInternational(addressees: readonly TaskRecipient[]): boolean {
    const { sender } = this.#mail.task;
    return !isAsciiText(sender) || addressees.some(({ address }) => !isAsciiText(address));
  }

  #target(host: string, address: string) {
    const { hostname, ca, limits, health, meter } = this.#common;
    const { route, signal, log } = this.#mail;
    const { port, isImplicitTls, credentials, tls: wanted, key } = route.connection;
    const open = async (tls: TlsPolicy) => {
      const options = { host, address, port, tls, isImplicitTls, credentials, ca, hostname, limits, signal };
      const session = await openSession(options).catch((error: unknown) => {
        if (error instanceof SessionFailure && error.kind === 'tls' && !signal.aborted)
          route.negotiated({ host, address, isEncrypted: false, fault: error.code });
        throw error;
      });
      health.connected(address);
      // Without TLS by choice nothing was negotiated.
      if (tls !== 'none')
        route.negotiated({ host, address, isEncrypted: session.tls !== null, fault: session.tlsFault });
      meter.connected(session.tls === null ? 'none' : session.isVerified ? 'verified' : 'unverified');
      route.loggedIn(undefined);
      return session;
    };
    return {
      address,
      key: `${address} ${host} ${key}`,
      open: async () => {
        if (wanted === 'verified') return open(wanted);
        if (!health.hasTls(address)) return open('none');
        try {
          return await open(wanted);
        } catch (error) {
          // RFC 7435: without a policy, mail is sent unencrypted when encryption fails.
          if (!(error instanceof SessionFailure) || error.kind !== 'tls' || signal.aborted) throw error;
          health.tlsFailed(address);
          log.withoutTls(host, address, error.status.text);
          return open('none');
        }
      },
    };
  }

  /** A host is known by its address; its other ports, of a smart host, have a health of their own. */
  #place(address: string): string {
    const { port } = this.#mail.route.connection;
    return port === this.#common.port ? address : `${address} port ${port}`;
  }

  #learn(address: string, { kind, code, status }: SessionFailure): void {
    const { health } = this.#common;
    if (this.#mail.signal.aborted) return;
    if (kind === 'unreachable') health.unreachable(address, code ?? '');
    if (kind === 'silent' || (kind === 'unreachable' && code === 'ETIMEDOUT'))
      health.silent(this.#place(address), status.text);
    if (kind === 'closing') health.closing(this.#place(address), status.text);
    if (kind === 'login') this.#mail.route.loggedIn(status);
  }

  #blocked({ tried, status }: Blocked, started: number): void {
    this.#missed(tried, started, status);
  }

  /** Called when no recipient was tried at this host; `isReached` is true when the host's reply is the reason. */
  #missed(tried: Tried, started: number, status: DeliveryStatus, isReached = false): void {
    const pending = this.#results.pending;
    this.#results.noteAll(status, isReached ? tried.host : null);
    this.#mail.log.add(
      tried,
      started,
      status,
      pending.map((addressee) => [addressee, status]),
    );
  }
}

/** Begins with the host after the one that may have accepted the message; hosts that may have accepted it for any recipient come last. */
function afterDoubtful(hosts: readonly Exchanger[], recipients: DeliveryTask['recipients']): readonly Exchanger[] {
  const doubtful = new Set(recipients.map(({ doubtfulHost }) => doubtfulHost));
  const next = hosts.findIndex(({ host }) => doubtful.has(host)) + 1;
  const rotated = [...hosts.slice(next), ...hosts.slice(0, next)];
  return [...rotated.filter(({ host }) => !doubtful.has(host)), ...rotated.filter(({ host }) => doubtful.has(host))];
}

function envelopeDsn({ dsn }: DeliveryTask, recipients: readonly TaskRecipient[]): EnvelopeDsn {
  const asked = new Map(
    recipients.map(({ address, dsn: of }) => [address, of === undefined ? '' : rcptParameters(of)]),
  );
  return { mail: dsn ? mailParameters(dsn) : '', rcpt: (address) => asked.get(address) ?? '' };
}

/**
 * On a reused connection, 354 shows that each reply belongs to its command. Without it, a late reply to the previous message may have been
 * taken for one of these, or the connection has ended meanwhile (decision 0068). A recipient that is tried again loses nothing.
 */
function isBelievable({ isInStep, answers }: TransactionResult): boolean {
  return isInStep || [...answers.values()].every(({ reply }) => reply?.startsWith('4'));
}

function isDelivered({ answers }: TransactionResult): boolean {
  return [...answers.values()].some(({ status }) => status.kind === 'delivered');
}

/** Returns the most significant reply of an attempt: delivered, otherwise temporary, otherwise permanent. */
function decisive(statuses: Iterable<DeliveryStatus>, known: DeliveryStatus | undefined): DeliveryStatus | undefined {
  const weight = { delivered: 3, temporary: 2, permanent: 1 };
  let found = known;
  for (const status of statuses) if (found === undefined || weight[status.kind] > weight[found.kind]) found = status;
  return found;
}

function isAsciiText(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
