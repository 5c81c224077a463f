// Models labels and filters in plain objects, with their rules written a second time.

import fc from 'fast-check';

const WORDS = ['red', 'GREEN', 'blue', 'Grün'];
export const word = fc.constantFrom(...WORDS);

export interface ModelEmail {
  id: string;
  from: string;
  subject: string;
  body: string;
  receivedAt: number;
  isRead: boolean;
  folders: Set<string>;
}

export interface ModelLabel {
  id: string;
  name: string;
  color: string;
  sortOrder: number;
}

export const rule = fc.record({
  isEnabled: fc.boolean(),
  priority: fc.nat(3),
  from: fc.option(word),
  subject: fc.option(word),
  body: fc.option(word),
  hasAttachments: fc.option(fc.constant(false), { freq: 4 }),
  markAsRead: fc.option(fc.boolean()),
  label: fc.option(fc.nat(4)),
  delete: fc.option(fc.boolean(), { freq: 4 }),
});

export type Rule = typeof rule extends fc.Arbitrary<infer T> ? T : never;

export const fold = (text: string) => text.normalize('NFC').toLowerCase();

export class Model {
  emails: ModelEmail[] = [];
  labels: ModelLabel[] = [];
  filters: { id: string; rule: Rule; labelId: string | null; times: number; made: number }[] = [];
  #made = 0;
  readonly inbox: string;
  readonly archive: string;

  constructor(inbox: string, archive: string) {
    this.inbox = inbox;
    this.archive = archive;
  }

  isTaken(name: string, except?: string): boolean {
    return this.labels.some((label) => label.id !== except && fold(label.name) === fold(name));
  }

  /** Applies the filters to an email; null when one deletes it. */
  judged(email: ModelEmail): ModelEmail | null {
    const inOrder = this.filters.toSorted((a, b) => a.rule.priority - b.rule.priority || a.made - b.made);
    for (const filter of inOrder) {
      const { isEnabled, from, subject, body } = filter.rule;
      const holds = (part: string | null, text: string) => part === null || fold(text).includes(fold(part));
      if (!isEnabled || !holds(from, email.from) || !holds(subject, email.subject) || !holds(body, email.body))
        continue;
      filter.times++;
      if (filter.rule.delete === true) return null;
      if (filter.rule.markAsRead === true) email.isRead = true;
      if (filter.labelId !== null) email.folders.add(filter.labelId);
    }
    return email;
  }

  addFilter(id: string, of: Rule, labelId: string | null): void {
    this.filters.push({ id, rule: of, labelId, times: 0, made: this.#made++ });
  }

  deleteLabel(id: string): void {
    this.labels = this.labels.filter((label) => label.id !== id);
    for (const email of this.emails) this.take(email, id);
    for (const filter of this.filters) if (filter.labelId === id) filter.labelId = null;
  }

  take(email: ModelEmail, labelId: string): void {
    if (email.folders.delete(labelId) && email.folders.size === 0) email.folders.add(this.archive);
  }
}
