// The event stream: the events of the account as server-sent events (WHATWG HTML, "Server-sent events"). gateways/events implements the
// streams and their limits.
import { optional } from 'superstruct';
import type { Exhausted } from '../../../concurrency/share-policies.js';
import { CLIENT_EVENT_TYPES } from '../../events/client-events.js';
import { NOTICE_TYPES } from '../../events/event-payloads.js';
import { streamStart } from '../../events/event-stream.js';
import type { OpenEventStreams } from '../../events/open-event-streams.js';
import type { HeaderField, ReplyStream } from '../exchange.js';
import { choicesParameter, text } from '../fields.js';
import { invalid, Problem } from '../problem.js';
import { binary, defineRoute, READ, type Route } from '../route.js';

const MEDIA_TYPE = 'text/event-stream';
const HEADERS: readonly HeaderField[] = [
  ['Content-Type', MEDIA_TYPE],
  // At the end of the stream the client opens a new connection: this node may be about to stop.
  ['Connection', 'close'],
  // Proxies like nginx would hold the events back.
  ['X-Accel-Buffering', 'no'],
];

const REFUSALS: Readonly<Record<Exhausted | 'draining', () => Problem>> = {
  share: () => refusal(429, 'The account has as many event streams as it may.', 60),
  total: () => refusal(503, 'The node has as many event streams as it takes.', 5),
  draining: () => refusal(503, 'The node is stopping.', 1),
};

export function eventRoute(streams: Pick<OpenEventStreams, 'admit'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/events',
    summary: 'What happens in the account, as an event stream',
    description: [
      'Server-sent events: `event` is the type, `data` the payload in JSON, `id` names the position after the event. Types and',
      'payloads are those of the hub. `Last-Event-ID`, or else `after`, continues after an id, or after a change by its number;',
      'without either the stream begins now. `Position`, with `{}`, names the position at the start and while events pass that',
      '`types` leaves out. `QuotaChanged` and `SendingChanged` have no `id` and are not resumed. `Resync`, with `{}`, comes in its place when events may be missing: the client reads again what it shows.',
    ].join(' '),
    tags: ['Events'],
    access: READ,
    isEventStream: true,
    query: {
      after: optional(text({ description: 'An id of this stream, a cursor of the hub, or the number of a change' })),
      types: optional(choicesParameter(...CLIENT_EVENT_TYPES, ...NOTICE_TYPES)),
    },
    replies: { 200: binary(MEDIA_TYPE) },
    handler: async ({ principal, expiresAt, query, lastEventId, isHead, aborted }) => {
      const start = streamStart(lastEventId || query.after, principal.accountId);
      if (start === undefined) {
        return invalid({ [lastEventId ? 'Last-Event-ID' : 'after']: ['must be an id of this stream or a number'] });
      }
      if (isHead) return { status: 200, headers: HEADERS, stream: NOTHING };
      const types = query.types && new Set(query.types);
      const stream = streams.admit({ principal, expiresAt, start, types });
      if (typeof stream === 'string') return REFUSALS[stream]();
      aborted.addEventListener('abort', () => stream.end(), { once: true });
      await stream.open();
      return {
        status: 200,
        headers: HEADERS,
        stream: { length: null, chunks: stream },
        finished: () => stream.end(),
      };
    },
  });
}

const NOTHING: ReplyStream = { length: null, chunks: (async function* () {})() };

function refusal(status: 429 | 503, detail: string, waitSeconds: number): Problem {
  return new Problem(status, { detail, headers: [['Retry-After', String(waitSeconds)]] });
}
