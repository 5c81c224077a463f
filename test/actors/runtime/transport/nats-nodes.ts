// Gives tests of the NATS transport a server, transports of nodes on it, and what they wait for. The file that imports it stops the server.
import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { connect, type NatsConnection } from 'nats';
import pino from 'pino';
import { filter, firstValueFrom, lastValueFrom, take, toArray } from 'rxjs';
import { type NatsServer, startNatsServer } from '../../../../dev/servers/nats-server.js';
import { BusUnavailable } from '../../../../src/actors/runtime/transport/nats-servers.js';
import type { RequestLimitsOptions } from '../../../../src/actors/runtime/transport/request-limits.js';
import { Disconnected, type Transport } from '../../../../src/actors/runtime/transport/transport.js';
import { natsTransport } from '../../../../src/actors/runtime/transport/transport-nats.js';
import { deferred } from '../../../support/deferred.js';
import { type Ends, request } from './transport-contract.js';

export const ACCOUNT = '00000000-0000-7000-8000-00000000000a';
export const log = pino({ level: 'silent' });
export const server = await startNatsServer();

export const newCluster = () => randomBytes(8).toString('hex');

interface At {
  readonly url: string;
}

export function open(
  clusterId: string,
  nodeId: string,
  at: readonly At[] = [server],
  limits: RequestLimitsOptions = {},
): Promise<Transport> {
  return natsTransport({ servers: at.map(({ url }) => url), clusterId, nodeId, log, limits });
}

/** A start waits for some seconds each time. */
const MOST_TRIES = 50;

/** Opens a transport. Tries again, because a busy machine may answer later than a start waits. @throws what a server answers instead */
export async function opened(
  clusterId: string,
  nodeId: string,
  at: At | readonly At[] = server,
  limits: RequestLimitsOptions = {},
): Promise<Transport> {
  const servers = 'url' in at ? [at] : at;
  const isBusy = (error: unknown) => error instanceof BusUnavailable && error.message.includes('does not answer');
  for (let tries = 1; ; tries++) {
    try {
      return await open(clusterId, nodeId, servers, limits);
    } catch (error) {
      if (!isBusy(error) || tries === MOST_TRIES) throw error;
    }
  }
}

/** Opens a transport, which is closed when the test ends. */
export async function node(
  t: ExecutionContext,
  clusterId: string,
  nodeId: string,
  at: At = server,
  limits: RequestLimitsOptions = {},
): Promise<Transport> {
  const transport = await opened(clusterId, nodeId, at, limits);
  t.teardown(() => transport.close());
  return transport;
}

export async function twoNodes(t: ExecutionContext, at?: At): Promise<Ends> {
  const clusterId = newCluster();
  return { asker: await node(t, clusterId, 'asker', at), owner: await node(t, clusterId, 'owner', at) };
}

/** Starts a server for one test, which may stop or break it. */
export async function ownServer(t: ExecutionContext, config?: string): Promise<NatsServer> {
  const own = await startNatsServer(config);
  t.teardown(() => own.stop());
  return own;
}

/** Opens a connection of a client that is no node. */
export async function stranger(t: ExecutionContext): Promise<NatsConnection> {
  const connection = await connect({ servers: server.url });
  t.teardown(() => connection.close());
  return connection;
}

/** Returns the next states, without the present one. */
export const changes = (transport: Transport, count: number) =>
  lastValueFrom(transport.connected$.pipe(take(count + 1), toArray())).then((states) => states.slice(1));

export const connection = (transport: Transport, state: boolean) =>
  firstValueFrom(transport.connected$.pipe(filter((connected) => connected === state)));

/** Resolves when the server has everything that the transport has sent. */
export const flushed = (transport: Transport) => transport.subscribe('flushed', () => {}).ready;

/** Sends a request that is taken and never answered; `over` resolves when it has failed because the bus is away. */
export async function underWay(
  t: ExecutionContext,
  { asker, owner }: Ends,
): Promise<{ readonly over: Promise<unknown> }> {
  const { promise: taken, resolve: took } = deferred();
  await owner.respond('never', () => {
    took();
    return new Promise(() => {});
  }).ready;
  const over = t.throwsAsync(asker.request('never', request('echo'), 60_000), { instanceOf: Disconnected });
  await taken;
  return { over };
}
