// Carries out the drawn commands of a history: holds an account and what its writers know of it.
import { randomUUID } from 'node:crypto';
import type fc from 'fast-check';
import { NO_VACATION } from '../../../../src/store/vacation.js';
import type { MailboxWorld } from '../mailbox-world.js';
import { addressee, attempt, outcome, stored } from '../outbound-world.js';
import type { Command, rule } from './replayed-commands.js';

/** Holds an account and what its writers know of it. */
export class Writers {
  readonly accountId: string;
  readonly other: string;
  emails: string[] = [];
  /** Emails in the inbox, to which deferred filters may apply. */
  received: string[] = [];
  labels: string[] = [];
  filters: string[] = [];
  outbound: { id: string; status: string; updatedAt: number; recipients: { id: string }[] }[] = [];
  readonly attempts = new Map<string, string>();
  readonly #runs: string[] = [];
  readonly #world: MailboxWorld;

  constructor(world: MailboxWorld, accountId: string, other: string) {
    this.#world = world;
    this.accountId = accountId;
    this.other = other;
  }

  async look(): Promise<void> {
    const { sql } = this.#world;
    const ids = async (rows: PromiseLike<readonly { readonly [column: string]: unknown }[]>) =>
      (await rows).map((row) => String(row['id']));
    this.emails = await ids(sql`select id from emails where account_id = ${this.accountId} order by id desc limit 6`);
    this.received = await ids(sql`
      select p.email_id as id from placements p join folders f on f.account_id = p.account_id and f.id = p.folder_id
      where p.account_id = ${this.accountId} and f.role = 'inbox' order by p.uid desc limit 6`);
    this.labels = await ids(sql`
      select id from folders where account_id = ${this.accountId} and role = 'label' order by id`);
    this.filters = await ids(sql`select id from filters where account_id = ${this.accountId} order by id`);
    const rows = await ids(sql`select id from outbound where account_id = ${this.accountId} order by id desc limit 6`);
    this.outbound = (await this.#world.store.outboundRows(this.accountId, rows)).map((row) => ({
      ...row,
      recipients: [...row.recipients],
    }));
  }

  async issue(next: Command): Promise<unknown> {
    const mailbox = this.#world.mailboxes.of(this.accountId);
    const one = <T>(of: readonly T[], n: number | null): T | undefined => (n === null ? undefined : of[n % of.length]);
    const email = 'which' in next ? (one(this.emails, next.which) ?? randomUUID()) : '';
    const received = 'which' in next ? (one(this.received, next.which) ?? randomUUID()) : '';
    const label = 'which' in next ? (one(this.labels, next.which) ?? randomUUID()) : '';
    const outbound = 'which' in next ? one(this.outbound, next.which) : undefined;
    const outboundId = outbound?.id ?? randomUUID();
    switch (next.kind) {
      case 'deliver': {
        const references = next.refersTo === null ? {} : { references: [`<thread-${next.refersTo}@x>`] };
        const mail = { subject: next.subject, body: 'red', ...references };
        const [spooled] = await this.#world.spool([this.accountId], next.at, mail);
        return spooled!.deliver({ isJunk: next.isJunk, sender: `${next.subject}@remote.test` });
      }
      case 'setRead':
        return mailbox.ask('setRead', { emailIds: [email], isRead: next.isRead });
      case 'remove':
        return mailbox.ask('remove', { emailIds: [email] });
      case 'announce':
        return mailbox.ask('announce', { emailId: received });
      case 'applyBodyFilters':
        return mailbox.ask('applyBodyFilters', { emailId: received, filterIds: next.all ? this.filters : [] });
      case 'createLabel':
        return mailbox.ask('createLabel', { name: `${next.name} ${next.which}`, color: '#000000', sortOrder: 1 });
      case 'updateLabel':
        return mailbox.ask('updateLabel', { labelId: label, name: next.name, color: '#ffffff', sortOrder: next.which });
      case 'deleteLabel':
        return mailbox.ask('deleteLabel', { labelId: label });
      case 'assignLabel':
      case 'unassignLabel':
        return mailbox.ask(next.kind, { emailId: email, labelId: one(this.labels, next.label) ?? randomUUID() });
      case 'createFilter':
        return mailbox.ask('createFilter', { rule: this.#ruleOf(next.rule) });
      case 'updateFilter': {
        const filterId = one(this.filters, next.which) ?? randomUUID();
        return mailbox.ask('updateFilter', { filterId, rule: this.#ruleOf(next.rule) });
      }
      case 'deleteFilter':
        return mailbox.ask('deleteFilter', { filterId: one(this.filters, next.which) ?? randomUUID() });
      case 'runFilter': {
        const filterId = one(this.filters, next.which) ?? randomUUID();
        const { reply } = await mailbox.ask('startFilterRun', { filterId });
        if (reply !== undefined) this.#runs.push(reply.runId);
        return this.#work();
      }
      case 'undoRun':
        await mailbox.ask('undoFilterRun', { runId: one(this.#runs, next.which) ?? randomUUID() });
        return this.#work();
      case 'putScript': {
        const { name, content, isActive } = next;
        return mailbox.ask('putSieveScript', { name, content, isActive });
      }
      case 'activateScript':
        return mailbox.ask('activateSieveScript', { name: next.isActive === null ? null : next.name });
      case 'deleteScript':
        return mailbox.ask('deleteSieveScript', { name: next.name });
      case 'renameScript':
        return mailbox.ask('renameSieveScript', { name: next.name, newName: next.newName });
      case 'append': {
        const { blob, summary } = await stored(this.#world);
        const message = { blob, summary, receivedAt: 1, flags: ['\\Draft'] };
        return mailbox.ask('append', { folderId: 'drafts', messages: [message] });
      }
      case 'setMetadata': {
        const folderId = next.label === null ? null : (one(['inbox', ...this.labels], next.label) ?? null);
        return mailbox.ask('setMetadata', { folderId, entries: [{ name: next.name, value: next.value }] });
      }
      case 'choosePreferences':
        return mailbox.ask(next.kind, { chosen: next.chosen });
      case 'copy':
      case 'move':
        return mailbox.ask(next.kind, { selection: { emailIds: [email] }, toFolderId: next.toFolderId });
      case 'createDraft':
        return mailbox.ask('createDraft', { draft: await this.#draft(next.to) });
      case 'updateDraft':
        return mailbox.ask('updateDraft', { outboundId, draft: await this.#draft(next.to) });
      case 'deleteDraft':
        return mailbox.ask('deleteDraft', { outboundId });
      case 'enqueue': {
        const draft = outbound?.status === 'Draft' ? { id: outboundId, updatedAt: outbound.updatedAt } : null;
        const { sender, content, recipients } = await this.#draft(next.to + 1);
        return mailbox.ask('enqueue', { draft, sender, content, recipients, ...(await stored(this.#world)) });
      }
      case 'startDelivery': {
        const begun = { id: randomUUID(), by: 'n' };
        const supersedes = this.attempts.get(outboundId) ?? null;
        const { reply } = await mailbox.ask('startDelivery', { outboundId, attempt: begun, supersedes });
        if (reply !== undefined) this.attempts.set(outboundId, begun.id);
        return reply;
      }
      case 'reportDelivery': {
        const answered = (outbound?.recipients ?? []).slice(0, next.outcomes.length);
        const outcomes = answered.map(({ id }, i) => {
          const kind = next.outcomes[i]!;
          const answer = outcome(id, kind, kind === 'delivered' && i === 0 ? this.other : undefined);
          // The reply names its code, so that the address is suppressed.
          return { ...answer, text: `${answer.statusCode} ${answer.text}` };
        });
        const tried = attempt(answered.map(({ id }, i) => ({ id, outcome: next.outcomes[i]! })));
        return mailbox.ask('reportDelivery', {
          outboundId,
          attemptId: this.attempts.get(outboundId) ?? randomUUID(),
          outcomes,
          attempts: [tried],
          isOver: next.isOver,
          isInterrupted: false,
        });
      }
      case 'giveDsn': {
        const { reply } = await mailbox.ask('dsnMaterial', { outboundId });
        const { kind, recipientIds = [] } = reply ?? {};
        const report = await stored(this.#world);
        return mailbox.ask('giveDsn', { outboundId, kind: kind ?? 'failed', recipientIds, report });
      }
      case 'chooseVacation': {
        const { isEnabled, period, intervalDays } = next;
        const vacation = { ...NO_VACATION, textBody: 'away', isEnabled, period, intervalDays };
        return mailbox.ask('choosePreferences', { chosen: { vacation } });
      }
      case 'answerDue':
        return this.#answerDue();
      case 'removeSuppression':
        return mailbox.ask('removeSuppression', { address: `r${next.which}@d${next.which}.test` });
      case 'manageOutbound':
        return mailbox.ask('manageOutbound', { outboundId, action: next.action });
    }
  }

  /** Carries out what runs of filters have to do; all emails match. */
  async #work(): Promise<void> {
    const mailbox = this.#world.mailboxes.of(this.accountId);
    for (;;) {
      const { apply, undo } = (await mailbox.ask('filterRunWork', {})).reply ?? {};
      if (apply !== undefined) {
        const { runId, after, upTo, isLast, emails } = apply;
        const emailIds = emails.map(({ emailId }) => emailId);
        await mailbox.ask('applyFilterRun', { runId, after, upTo, isLast, emailIds });
      } else if (undo !== undefined) await mailbox.ask('undoFilterBatch', undo);
      else return;
    }
  }

  async #answerDue(): Promise<void> {
    const mailbox = this.#world.mailboxes.of(this.accountId);
    for (const { id: dueId, sender } of (await mailbox.ask('dueAutomaticMail', {})).reply?.due ?? []) {
      const { blob, summary } = await stored(this.#world);
      const recipients = [{ address: sender, domain: 'remote.test' }];
      await mailbox.ask('sendAutomaticMail', {
        dueId,
        outgoing: { blob, summary, sender: '', recipients, reportTo: null },
      });
    }
  }

  async #draft(to: number) {
    const { blob, summary } = await stored(this.#world);
    return {
      sender: 'me@example.test',
      subject: `${to}`,
      content: { textBody: 't', htmlBody: null },
      recipients: Array.from({ length: to }, (_, i) => addressee(`r${i}@d${i}.test`)),
      message: { blob, size: summary.size, summary },
    };
  }

  #ruleOf({ subject, body, label, ...rest }: typeof rule extends fc.Arbitrary<infer T> ? T : never) {
    return {
      ...rest,
      name: 'rule',
      fromAddressContains: null,
      hasAttachments: null,
      subjectContains: subject,
      bodyContains: body,
      assignLabelId: (label === null ? undefined : this.labels[label % this.labels.length]) ?? null,
    };
  }
}
