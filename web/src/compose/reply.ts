// What a reply or a forward takes from its original: who gets it, from which of one's addresses, the subject, and the fields that keep the
// thread. The rules are those of the server's own replies (`src/mail-format/writing/reply.ts`).
import { addressKey, isAddress, mailboxKey, type Person, shownName } from './address.js';
import { asRecipient, merged, NO_RECIPIENTS, type Recipients } from './recipients.js';

/** The members of an email's details that matter here. */
export interface Original {
  readonly id: string;
  readonly fromAddress: string;
  readonly fromDisplayName: string;
  readonly subject: string;
  readonly messageId: string;
  readonly inReplyTo: string;
  /** Message ids, separated by spaces. */
  readonly references: string;
  readonly replyTo: readonly { readonly address: string; readonly displayName: string }[];
  readonly recipients: readonly {
    readonly address: string;
    readonly displayName: string;
    readonly type: 'To' | 'Cc' | 'Bcc';
  }[];
}

/** Matches the marks of several languages, with or without a count (`Re[2]:`), any number of times. */
const REPLY_MARKS = /^(?:\s*(?:re|aw|sv|antw|رد)(?:\s?(?:\[\d{1,4}\]|\(\d{1,4}\)))?\s*[:：])+/i;
const FORWARD_MARKS = /^(?:\s*(?:fwd?|wg)(?:\s?(?:\[\d{1,4}\]|\(\d{1,4}\)))?\s*[:：])+/i;
const LONGEST_SUBJECT = 998;

export const replySubject = (subject: string): string => marked('Re:', subject.replace(REPLY_MARKS, ''));
export const forwardSubject = (subject: string): string => marked('Fwd:', subject.replace(FORWARD_MARKS, ''));

/**
 * A reply goes to Reply-To, else to the author; to the recipients when the author is oneself. A reply to all also goes to the others. One's
 * own addresses are left out unless nobody else is there.
 */
export function replyRecipients(original: Original, own: readonly string[], all: boolean): Recipients {
  const isOwn = ownChecker(own);
  const named = (type: 'To' | 'Cc') => usable(original.recipients.filter((one) => one.type === type).map(asPerson));
  const others = (people: readonly Person[]) => people.filter((one) => !isOwn(one.address));
  const author = usable([{ name: original.fromDisplayName, address: original.fromAddress }]);
  const replyTo = usable(original.replyTo.map(asPerson));
  const [to, cc] = [named('To'), named('Cc')];
  const wasSent = author.length > 0 && author.every((one) => isOwn(one.address));
  const targets = wasSent && to.length > 0 ? to : replyTo.length > 0 ? replyTo : author;
  const isForOthers = others(targets).length > 0 || (all && others([...to, ...cc]).length > 0);
  const first = isForOthers ? others(targets) : targets;
  const everybody = merged([], [...first, ...(all ? others(to) : [])].map(asRecipient));
  const keys = new Set(everybody.map((one) => addressKey(one.address)));
  const copies = all ? others(cc).filter((one) => !keys.has(addressKey(one.address))) : [];
  return { ...NO_RECIPIENTS, To: everybody, Cc: merged([], copies.map(asRecipient)) };
}

/** Returns the own address that the original names, so that the answer comes from where the question went; undefined for none. */
export function addressedAs(original: Original, own: readonly string[]): string | undefined {
  const named = [original.fromAddress, ...original.recipients.map((one) => one.address)].map(mailboxKey);
  for (const key of named) {
    const found = own.find((one) => mailboxKey(one) === key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The server takes lines of 2,000 characters. */
const LONGEST_REFERENCES = 1_900;
const USABLE_ID = /^<[!-;=?-~]{1,900}>$/;

/** The draft's `headers` that put a reply into the thread (RFC 5322 §3.6.4): the oldest message and as many of the newest as fit. */
export function threadHeaders({
  messageId,
  inReplyTo,
  references,
}: Original): readonly [name: string, value: string][] {
  const id = angled(messageId);
  const before = references.trim() === '' ? inReplyTo : references;
  const ids = [...before.split(/\s+/).map(angled), id].filter((one) => USABLE_ID.test(one));
  const [first, ...others] = new Set(ids);
  if (first === undefined) return [];
  let [from, room] = [others.length, LONGEST_REFERENCES - first.length];
  while (from > 0 && room > others[from - 1]!.length) {
    from--;
    room -= others[from]!.length + 1;
  }
  const line = [first, ...others.slice(from)].join(' ');
  return USABLE_ID.test(id)
    ? [
        ['In-Reply-To', id],
        ['References', line],
      ]
    : [['References', line]];
}

const angled = (id: string): string => (id === '' || id.startsWith('<') ? id : `<${id}>`);

const ownChecker = (own: readonly string[]) => {
  const keys = new Set(own.map(mailboxKey));
  return (address: string) => keys.has(mailboxKey(address));
};

const asPerson = ({ address, displayName }: { readonly address: string; readonly displayName: string }): Person => ({
  name: shownName(displayName),
  address,
});

const usable = (people: readonly Person[]): readonly Person[] => people.filter((one) => isAddress(one.address));

const marked = (mark: string, rest: string): string =>
  `${mark} ${rest.trim()}`
    .trim()
    .slice(0, LONGEST_SUBJECT)
    .replace(/[\ud800-\udbff]$/, '');
