// Labels and filters of the fake mailboxes: enough of the mailbox's rules to see what the routes make of its answers.
import type { Filter, Label, MailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import type { Payload } from '../../../src/actors/runtime/protocol.js';

type Of<N extends keyof MailboxProtocol['operations']> = Payload<MailboxProtocol, N>;

interface Organised {
  readonly labels: Map<string, Label>;
  readonly filters: Map<string, Filter>;
  made: number;
}

export const labelIdOf = (n: number) => `018f0000-0000-7000-9000-${String(n).padStart(12, '0')}`;
export const filterIdOf = (n: number) => `018f0000-0000-7000-a000-${String(n).padStart(12, '0')}`;

const MADE_AT = Date.UTC(2026, 0, 1);
/** A name of which there are too many. */
export const ONE_TOO_MANY = 'one too many';

const kept = new WeakMap<object, Organised>();

function organisedOf(emails: readonly { readonly id: string }[]): Organised {
  const organised = kept.get(emails) ?? { labels: new Map(), filters: new Map(), made: 0 };
  kept.set(emails, organised);
  return organised;
}

type Emails = readonly { readonly id: string; readonly threadId: string }[];

/** An email of the fakes without what is not of details. */
export function detailOf(email: object): object {
  return Object.fromEntries(
    Object.entries(email).filter(([key]) => !['folder', 'preview', 'attachmentCount'].includes(key)),
  );
}

const done = (isThere: boolean, refusal: string) => (isThere ? { reply: {} } : { refusal });

export const labelFilterAnswers = {
  labels: (emails: Emails) => ({ reply: { labels: [...organisedOf(emails).labels.values()] } }),
  createLabel: (emails: Emails, { name, color, sortOrder }: Of<'createLabel'>) => {
    const organised = organisedOf(emails);
    if (name === ONE_TOO_MANY) return { refusal: 'tooMany' };
    if ([...organised.labels.values()].some((label) => label.name === name)) return { refusal: 'nameTaken' };
    const label = { id: labelIdOf(++organised.made), name, color, sortOrder, emailCount: 0, createdAt: MADE_AT };
    organised.labels.set(label.id, label);
    return { reply: label };
  },
  updateLabel: (emails: Emails, { labelId, name, color, sortOrder }: Of<'updateLabel'>) => {
    const { labels } = organisedOf(emails);
    const label = labels.get(labelId);
    if (label === undefined) return { refusal: 'noSuchLabel' };
    if ([...labels.values()].some((other) => other.name === name && other.id !== labelId))
      return { refusal: 'nameTaken' };
    labels.set(labelId, { ...label, name, color, sortOrder });
    return { reply: {} };
  },
  deleteLabel: (emails: Emails, { labelId }: Of<'deleteLabel'>) =>
    done(organisedOf(emails).labels.delete(labelId), 'noSuchLabel'),
  assignLabel: (emails: Emails, { emailId, labelId }: Of<'assignLabel'>) =>
    emails.some(({ id }) => id === emailId)
      ? done(organisedOf(emails).labels.has(labelId), 'noSuchLabel')
      : { refusal: 'noSuchEmail' },
  unassignLabel: (emails: Emails, { emailId, labelId }: Of<'unassignLabel'>) =>
    emails.some(({ id }) => id === emailId)
      ? done(organisedOf(emails).labels.has(labelId), 'noSuchLabel')
      : { refusal: 'noSuchEmail' },
  filters: (emails: Emails) => ({ reply: { filters: [...organisedOf(emails).filters.values()] } }),
  createFilter: (emails: Emails, { rule }: Of<'createFilter'>) => {
    const organised = organisedOf(emails);
    if (rule.name === ONE_TOO_MANY) return { refusal: 'tooMany' };
    if (rule.assignLabelId !== null && !organised.labels.has(rule.assignLabelId)) return { refusal: 'noSuchLabel' };
    const id = filterIdOf(organised.filters.size + 1);
    const filter = { ...rule, id, createdAt: MADE_AT, updatedAt: MADE_AT, lastAppliedAt: null, timesApplied: 0 };
    organised.filters.set(id, filter);
    return { reply: filter };
  },
  updateFilter: (emails: Emails, { filterId, rule }: Of<'updateFilter'>) => {
    const { filters, labels } = organisedOf(emails);
    const filter = filters.get(filterId);
    if (filter === undefined) return { refusal: 'noSuchFilter' };
    if (rule.assignLabelId !== null && !labels.has(rule.assignLabelId)) return { refusal: 'noSuchLabel' };
    filters.set(filterId, { ...filter, ...rule });
    return { reply: {} };
  },
  deleteFilter: (emails: Emails, { filterId }: Of<'deleteFilter'>) =>
    done(organisedOf(emails).filters.delete(filterId), 'noSuchFilter'),
  testFilter: (emails: Emails, { filterId, limit }: Of<'testFilter'>) => {
    if (!organisedOf(emails).filters.has(filterId)) return { refusal: 'noSuchFilter' };
    const matchedEmailIds = emails.slice(0, limit).map(({ id }) => id);
    return { reply: { matchCount: matchedEmailIds.length, matchedEmailIds } };
  },
  thread: (emails: Emails, { threadId, page, pageSize = 20 }: Of<'thread'>) => {
    const found = emails.filter((email) => email.threadId === threadId);
    const newest = page === undefined ? found.slice(-500) : found.slice((page - 1) * pageSize, page * pageSize);
    return found.length === 0
      ? { refusal: 'noSuchThread' }
      : { reply: { emails: newest.map(detailOf), total: found.length } };
  },
};
