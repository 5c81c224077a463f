// Server-sent events and long polling, for clients that cannot open a WebSocket: reads their requests and writes the replies. The
// connection is on the node that negotiated, which the token names; other nodes forward its requests over the bus. So a balancer needs no
// sticky sessions.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/TransportProtocols.md
import type { EndpointRequest, HttpAnswer } from '../../web-socket.js';
import { problem } from '../admission.js';
import { originOf } from '../connection-token.js';
import type { Opening, PolledConnections, PolledReply, PolledRequest } from './polled-connections.js';

/** The hubs of other nodes. */
export interface HubPeers {
  /** Undefined when no hub with this id can be reached. */
  ask(hubId: string, request: PolledRequest): Promise<PolledReply | undefined>;
  /** Answers requests of other nodes to this hub, until the returned function is called. */
  serve(hubId: string, carryOut: (request: PolledRequest) => Promise<PolledReply>): () => void;
}

export interface FallbackOptions {
  readonly hubId: string;
  readonly connections: PolledConnections;
  /** Absent: there is only one node. */
  readonly peers?: HubPeers;
  readonly maxMessageBytes: number;
}

/** Executes a request on the node that has the connection. */
type CarryOut = (kind: PolledRequest['kind'], octets?: Uint8Array) => Promise<PolledReply>;

const GONE: PolledReply = {
  kind: 'refused',
  status: 404,
  detail: 'The node of the connection is gone: connect again.',
};
const NO_STORE = { 'cache-control': 'no-store' };
const EVENT_STREAM = {
  // Proxies neither buffer the events nor change them.
  'cache-control': 'no-cache, no-store, no-transform',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};
/** Sent at the start, so that the client sees the open stream, and during silence, because the HTTP server closes silent connections. */
const COMMENT = Buffer.from(':\r\n\r\n');

/** Answers an admitted request; `opening` names its account. */
export function fallbackAnswer(
  request: EndpointRequest,
  connectionToken: string,
  opening: Opening,
  options: FallbackOptions,
): Promise<HttpAnswer> {
  const { hubId, connections, peers, maxMessageBytes } = options;
  const origin = originOf(connectionToken)?.hubId;
  const carryOut: CarryOut = async (kind, octets) => {
    const asked: PolledRequest = { kind, connectionToken, opening, ...(octets && { octets }) };
    if (origin === hubId) return connections.carryOut(asked);
    return (origin === undefined ? undefined : await peers?.ask(origin, asked)) ?? GONE;
  };
  switch (request.method) {
    case 'POST':
      return send(request, carryOut, maxMessageBytes);
    case 'DELETE':
      return end(carryOut);
    default:
      return request.header('accept').includes('text/event-stream')
        ? stream(request, carryOut)
        : poll(request, carryOut);
  }
}

async function send(request: EndpointRequest, carryOut: CarryOut, maxOctets: number): Promise<HttpAnswer> {
  const octets = await request.body(maxOctets);
  const reply = await carryOut('send', octets);
  return reply.kind === 'refused' ? refused(reply) : { status: 200, headers: NO_STORE, body: '' };
}

async function end(carryOut: CarryOut): Promise<HttpAnswer> {
  const reply = await carryOut('end');
  return reply.kind === 'refused' ? refused(reply) : { status: 202, headers: NO_STORE, body: '' };
}

async function poll(request: EndpointRequest, carryOut: CarryOut): Promise<HttpAnswer> {
  // The frames of a poll that the client has not received are lost, so the connection ends.
  const lost = endsOnce(carryOut);
  request.aborted.addEventListener('abort', lost);
  let reply = await carryOut('poll');
  while (reply.kind === 'silence' && !request.aborted.aborted) reply = await carryOut('next');
  if (reply === GONE) lost();
  if (reply.kind === 'refused') return refused(reply);
  const { toConfirm = false } = reply.kind === 'done' ? {} : reply;
  const finished = (isSent: boolean) => {
    if (!isSent) lost();
    else if (toConfirm) void carryOut('taken');
  };
  if (reply.kind === 'over') return { status: 204, headers: NO_STORE };
  if (reply.kind !== 'frames') return { status: 200, headers: NO_STORE, body: '', finished };
  const type = reply.isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8';
  return { status: 200, headers: { ...NO_STORE, 'content-type': type }, body: reply.octets, finished };
}

async function stream(request: EndpointRequest, carryOut: CarryOut): Promise<HttpAnswer> {
  const reply = await carryOut('stream');
  if (reply.kind === 'refused') return refused(reply);
  const ended = endsOnce(carryOut);
  request.aborted.addEventListener('abort', ended);
  return { status: 200, headers: EVENT_STREAM, body: events(carryOut), finished: ended };
}

async function* events(carryOut: CarryOut): AsyncGenerator<Uint8Array> {
  yield COMMENT;
  for (;;) {
    const reply = await carryOut('next');
    if (reply.kind === 'silence') yield COMMENT;
    // JSON has no line breaks, so each `data` field is one line.
    else if (reply.kind === 'frames')
      yield Buffer.concat([Buffer.from('data: '), reply.octets, Buffer.from('\r\n\r\n')]);
    else return;
  }
}

/** Ends the connection at the first call only. */
function endsOnce(carryOut: CarryOut): () => void {
  let isEnded = false;
  return () => {
    if (!isEnded) void carryOut('end');
    isEnded = true;
  };
}

function refused({ status, detail, headers }: Extract<PolledReply, { readonly kind: 'refused' }>): HttpAnswer {
  return problem(status, detail, headers);
}
