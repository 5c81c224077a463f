// The arguments of NOTIFY (RFC 5465 §8).
import { no, Refused } from '../completion.js';
import type { CommandReader } from '../wire/command-reader.js';
import { type FetchAttribute, fetchAttributes } from './fetch.js';

const MAILBOX_EVENTS = ['MailboxName', 'SubscriptionChange', 'MailboxMetadataChange', 'ServerMetadataChange'] as const;
const MESSAGE_EVENTS = ['MessageNew', 'MessageExpunge', 'FlagChange'] as const;
const EVENTS = [...MESSAGE_EVENTS, ...MAILBOX_EVENTS];
export type NotifyEvent = (typeof EVENTS)[number];

export type NotifyFilter =
  | { readonly type: 'selected' | 'selected-delayed' | 'inboxes' | 'personal' | 'subscribed' }
  | { readonly type: 'subtree' | 'mailboxes'; readonly mailboxes: readonly string[] };

export interface NotifyGroup {
  readonly filter: NotifyFilter;
  /** Without events, later groups do not apply to the mailboxes of the filter. */
  readonly events: ReadonlySet<NotifyEvent>;
  /** The attributes that FETCH reports for each new message of the selected mailbox (MessageNew). */
  readonly attributes: readonly FetchAttribute[];
}

export interface NotifyArguments {
  /** Without groups, the command is NOTIFY NONE. */
  readonly groups: readonly NotifyGroup[];
  /** Whether STATUS of each mailbox with message events is sent at once. */
  readonly withStatus: boolean;
}

const PLAIN_FILTERS = ['selected', 'selected-delayed', 'inboxes', 'personal', 'subscribed'] as const;
const MOST_GROUPS = 100;
const MOST_MAILBOXES = 1_000;

/** @throws Refused NO [BADEVENT] */
export function notifyArguments(reader: CommandReader): NotifyArguments {
  if (reader.accept('NONE')) return { groups: [], withStatus: false };
  reader.expect('SET ');
  const withStatus = reader.accept('STATUS ');
  const groups = [eventGroup(reader)];
  while (reader.accept(' ')) {
    if (groups.length === MOST_GROUPS) throw reader.fault(`expected no more than ${MOST_GROUPS} groups`);
    groups.push(eventGroup(reader));
  }
  return { groups, withStatus };
}

function eventGroup(reader: CommandReader): NotifyGroup {
  reader.expect('(');
  const filter = notifyFilter(reader);
  reader.space();
  const group = notifyEvents(reader);
  reader.expect(')');
  return { filter, ...group };
}

function notifyFilter(reader: CommandReader): NotifyFilter {
  const word = reader.word().toLowerCase();
  const plain = PLAIN_FILTERS.find((type) => type === word);
  if (plain !== undefined) return { type: plain };
  if (word !== 'subtree' && word !== 'mailboxes') {
    throw reader.fault(`expected ${PLAIN_FILTERS.join(', ')}, subtree or mailboxes`);
  }
  reader.space();
  return { type: word, mailboxes: reader.isListNext ? mailboxList(reader) : [reader.mailbox()] };
}

function mailboxList(reader: CommandReader): string[] {
  let count = 0;
  return reader.list(() => {
    if (++count > MOST_MAILBOXES) throw reader.fault(`expected no more than ${MOST_MAILBOXES} mailboxes`);
    return reader.mailbox();
  }, 1);
}

function notifyEvents(reader: CommandReader): Pick<NotifyGroup, 'events' | 'attributes'> {
  const events = new Set<NotifyEvent>();
  let attributes: FetchAttribute[] = [];
  if (reader.accept('NONE')) return { events, attributes };
  let hasUnknown = false;
  reader.list(() => {
    const word = reader.word();
    const event = EVENTS.find((known) => known.toUpperCase() === word);
    if (event === undefined) hasUnknown = true;
    else events.add(event);
    if (event === 'MessageNew' && reader.isNext(' (')) {
      reader.space();
      attributes = fetchAttributes(reader);
    }
  }, 1);
  if (hasUnknown) throw new Refused(no('Unknown event', `BADEVENT (${EVENTS.join(' ')})`));
  checkTogether(reader, events);
  return { events, attributes };
}

/** RFC 5465 §5: a client that gets EXISTS for new messages needs EXPUNGE too, or its sequence numbers become wrong. */
function checkTogether(reader: CommandReader, events: ReadonlySet<NotifyEvent>): void {
  if (events.has('MessageNew') !== events.has('MessageExpunge')) {
    throw reader.fault('expected MessageNew and MessageExpunge together');
  }
  if (events.has('FlagChange') && !events.has('MessageNew')) {
    throw reader.fault('expected MessageNew and MessageExpunge beside FlagChange');
  }
}
