// Gives tests of the event stream an HTTP server with the stream of two accounts, and clients of it.
import type { ExecutionContext } from 'ava';
import { Credentials } from '../../../../src/auth/credentials.js';
import type { TokenVerifier } from '../../../../src/auth/oidc/token-verifier.js';
import { anonymousGuard } from '../../../../src/auth/origin.js';
import { type EventStreamLimits, OpenEventStreams } from '../../../../src/gateways/events/open-event-streams.js';
import { createPipeline } from '../../../../src/gateways/http/pipeline/pipeline.js';
import { eventRoute } from '../../../../src/gateways/http/routes/events.js';
import { type HttpLimits, startHttp } from '../../../../src/gateways/http/server/server.js';
import {
  type EventStreamClient,
  openEventStream,
  type StreamOptions,
} from '../../../support/clients/event-stream-client.js';
import { EventBus } from '../../../support/event-bus.js';
import { FakeDirectory, recordingLog } from '../../../support/hub-fakes.js';

export const MINE = '00000000-0000-7000-8000-00000000000a';
export const OTHER = '00000000-0000-7000-8000-00000000000b';
export const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln';

interface NodeOptions {
  readonly bus?: EventBus;
  readonly limits?: Partial<EventStreamLimits>;
  readonly http?: Partial<HttpLimits>;
  readonly tokens?: TokenVerifier;
}

export async function startNode(
  t: ExecutionContext,
  { bus = new EventBus(), limits = {}, http = {}, tokens }: NodeOptions = {},
) {
  const directory = new FakeDirectory();
  const principal = directory.addKey('mine', MINE);
  directory.addKey('other', OTHER, ['app']);
  directory.addKey('writer', MINE, ['api:write']);
  const { log, lines, text } = recordingLog();
  const sent: number[] = [];
  const meter = { sent: (events: number) => void sent.push(events) };
  const streams = new OpenEventStreams({ mailboxes: bus.node(), directory, log, meter, limits });
  const durations: number[] = [];
  const server = await startHttp({
    bind: '127.0.0.1',
    port: 0,
    webSockets: [],
    limits: http,
    log,
    handler: createPipeline({
      routes: [eventRoute(streams)],
      directory,
      credentials: new Credentials({ directory, ...(tokens && { tokens }) }),
      guard: anonymousGuard({ hostname: 'x.test', publicUrl: undefined }),
      log,
      meter: { answered: (_method, _route, _status, ms) => void durations.push(ms) },
    }),
  });
  t.teardown(async () => {
    streams.drain();
    await server.stop(100);
  });
  const url = `http://${server.address}/api/events`;
  const open = async (query = '', options: StreamOptions = {}): Promise<EventStreamClient> => {
    const client = await openEventStream(`${url}${query}`, { key: 'mine', ...options });
    t.teardown(() => client.close());
    return client;
  };
  return { bus, directory, principal, streams, server, sent, durations, url, open, lines, logText: text };
}

export const portOf = (url: string) => Number(new URL(url).port);
export const typesOf = ({ events }: EventStreamClient) => events.map(({ type }) => type);
export const dataOf = ({ events }: EventStreamClient) => events.map(({ data }) => data);
export const isEnded = (client: EventStreamClient) => () => client.ended !== undefined;
