// The events of clients: the payload of each as a struct, its topic, and when it comes. The AsyncAPI document and the types of the client
// are made of this table (http/openapi/async-api.ts), and client-events.ts makes the events by it. Shapes that REST has too are named.
import {
  array,
  boolean,
  define,
  enums,
  type Infer,
  integer,
  literal,
  nullable,
  object,
  optional,
  Struct,
  string,
} from 'superstruct';
import type { AnyStruct } from '../../actors/runtime/protocol.js';
import { isUuid } from '../../mail-format/ids.js';

export interface EventDescription<S extends AnyStruct = AnyStruct> {
  /** The parameter of the hub's address that asks for the event; everybody gets the events without one. */
  readonly topic?: 'timeline' | 'changes' | 'sessions';
  readonly when: string;
  readonly payload: S;
}

const uuid = () => define<string>('uuid', (value) => typeof value === 'string' && isUuid(value));
const timestamp = () =>
  define<string>('timestamp', (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)));
/** A shape of REST, by its name in the OpenAPI document. */
const shapeOfRest = (name: string) =>
  new Struct<object, null>({
    type: 'restShape',
    schema: { $ref: `#/components/schemas/${name}` } as never,
    validator: (value) => typeof value === 'object' && value !== null,
  });
const id = () => object({ id: uuid() });
const label = () => object({ id: uuid(), name: string(), color: string(), sortOrder: integer() });
const folder = () => object({ id: uuid(), path: string(), isSubscribed: boolean() });
const placement = () => object({ id: uuid(), folderId: uuid() });
/** JSON Schema's `oneOf`, of which superstruct's unions keep no parts. */
function oneOf<const S extends readonly AnyStruct[]>(...structs: S): Struct<Infer<S[number]>, null> {
  return new Struct({
    type: 'oneOf',
    schema: structs as never,
    validator: (value) => structs.some((struct) => struct.is(value)),
  });
}
const described = <S extends AnyStruct>(
  when: string,
  payload: S,
  topic?: 'timeline' | 'changes' | 'sessions',
): EventDescription<S> => ({ when, payload, ...(topic && { topic }) });

/** Events of the log: the hub, the event stream, Web Push and webhooks have them. */
export const EVENTS = {
  NewEmail: described(
    'A new email was placed for the account',
    object({
      id: uuid(),
      from: string(),
      fromDisplay: string(),
      subject: string(),
      receivedAt: timestamp(),
      hasAttachments: boolean(),
    }),
  ),
  EmailUpdated: described('An email was marked read or unread', object({ id: uuid(), isRead: boolean() })),
  EmailDeleted: described('An email was deleted; the payload is its id', uuid()),
  UnreadCountChanged: described(
    'The unread emails of the inbox are another number, which is the payload, or emails were marked or deleted',
    integer(),
  ),
  DeliveryStatusChanged: described(
    'An outbound email has a new status',
    object({ id: uuid(), status: enums(['Draft', 'Queued', 'Sending', 'Sent', 'Failed']) }),
  ),
  DeliveryAttempted: described(
    'A host was tried for an outbound email',
    object({ id: uuid(), attempt: shapeOfRest('DeliveryAttempt') }),
    'timeline',
  ),
  LabelCreated: described('A label was made', label(), 'changes'),
  LabelUpdated: described('A label was changed', label(), 'changes'),
  LabelDeleted: described('A label was deleted; no email carries it any more', id(), 'changes'),
  DraftCreated: described('A draft was made', id(), 'changes'),
  DraftUpdated: described('A draft was changed', id(), 'changes'),
  DraftDeleted: described('A draft was deleted', id(), 'changes'),
  EmailFlagsChanged: described(
    'Flags of an email beyond the read one changed',
    object({
      id: uuid(),
      isRead: boolean(),
      isFlagged: boolean(),
      isAnswered: boolean(),
      flags: array(string()),
      keywords: optional(array(string())),
    }),
    'changes',
  ),
  FolderCreated: described('A folder of the user was made', folder(), 'changes'),
  FolderUpdated: described('A folder of the user was changed', folder(), 'changes'),
  FolderDeleted: described('A folder was deleted', id(), 'changes'),
  EmailPlaced: described('An email was placed in a folder or got a label', placement(), 'changes'),
  EmailUnplaced: described('A placement of an email ended', placement(), 'changes'),
  PreferencesChanged: described(
    'Preferences were chosen; the payload has the chosen values',
    shapeOfRest('PreferenceChanges'),
    'changes',
  ),
  SendersChanged: described(
    'The lists of allowed and blocked senders were replaced',
    shapeOfRest('Senders'),
    'changes',
  ),
  ForwardingChanged: described('The forwarding of the account was changed', shapeOfRest('Forwarding'), 'changes'),
  VacationChanged: described(
    'The vacation of the account was changed, perhaps only its texts, which REST has',
    object({
      isEnabled: boolean(),
      startsAt: nullable(timestamp()),
      endsAt: nullable(timestamp()),
      intervalDays: integer(),
    }),
    'changes',
  ),
  FiltersChanged: described(
    'A filter was made, changed, moved or deleted; not when mail is filtered',
    object({ id: uuid() }),
    'changes',
  ),
  ScriptsChanged: described(
    'A Sieve script was stored or deleted, or is the active one now; null: none is active any more',
    object({ name: nullable(string()) }),
    'changes',
  ),
  SuppressionsChanged: described(
    'Emails to an address bounced for good, so that nothing is sent to it, or it may be written to again',
    object({ address: string(), isSuppressed: boolean() }),
    'changes',
  ),
};

export type ClientEventType = keyof typeof EVENTS;
export type EventPayload<T extends ClientEventType> = Infer<(typeof EVENTS)[T]['payload']>;

const item = shapeOfRest('EmailListItem');
const listChange = oneOf(
  object({ type: literal('removed'), index: integer(), id: uuid() }),
  object({ type: literal('inserted'), index: integer(), item }),
  object({ type: literal('changed'), index: integer(), item }),
  object({ type: literal('counted'), total: integer(), unread: integer() }),
  object({ type: literal('ended'), error: string() }),
);

/** Events of what the directory has of an account and no log contains: the hub and the event stream have them, and nobody resumes them. */
export const NOTICES = {
  QuotaChanged: described(
    'The limits of the account were set, or it has become full, nearly full, or neither: `/api/quota` has others now',
    object({}),
    'changes',
  ),
  SendingChanged: described(
    'The account was suspended from sending or may send again: `/api/profile` tells which',
    object({}),
    'changes',
  ),
};

export type NoticeType = keyof typeof NOTICES;
export const NOTICE_TYPES = Object.keys(NOTICES) as readonly NoticeType[];
export type StreamEventType = ClientEventType | NoticeType;

/** Events that only connections of the hub have, because the log does not contain them. */
export const HUB_EVENTS = {
  QueuePositionChanged: described(
    'An outbound email that is due waits for the node that delivers, or for `domain`; `position` emails are before it',
    object({ id: uuid(), position: integer(), domain: optional(string()) }),
    'timeline',
  ),
  SessionsChanged: described(
    'A browser was signed in to the account or out of it: `/api/sessions` lists others now',
    object({}),
    'sessions',
  ),
  Position: described('After each batch of events, where the address has `resume=true`: the cursor to keep', string()),
  ListChanged: described(
    'A list that the client has subscribed to has changed; the members are the arguments of the message, in this order',
    object({ subscriptionId: string(), changes: array(listChange) }),
  ),
};

const listPage = object({
  subscriptionId: string(),
  items: array(item),
  total: integer(),
  unread: integer(),
});

/** The methods of the hub: the argument and the result of each. */
export const HUB_CALLS = {
  Resume: {
    what: 'Begins the events after a cursor; null: from now. Needs `resume=true` in the address',
    argument: nullable(string()),
    result: object({ cursor: string(), complete: boolean() }),
  },
  Subscribe: {
    what: 'Gives a page of a list, and then its changes. The query has the parameters of the lists of REST',
    argument: define<object>('anyObject', (value) => typeof value === 'object' && value !== null),
    result: listPage,
  },
  Unsubscribe: { what: 'Ends a subscription', argument: string(), result: literal(null) },
};
