// Starts a gateway on a free port over fakes, and gives tests the ways to talk to it: fetch, and bytes on a socket.

import net from 'node:net';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { Tracer } from '../../../src/actors/runtime/tracing.js';
import { Credentials } from '../../../src/auth/credentials.js';
import type { CodeFlow } from '../../../src/auth/oidc/code-flow.js';
import type { TokenVerifier } from '../../../src/auth/oidc/token-verifier.js';
import { anonymousGuard } from '../../../src/auth/origin.js';
import { PasskeyCeremonies } from '../../../src/auth/passkeys/ceremonies.js';
import { PasskeyChallenges } from '../../../src/auth/passkeys/challenges.js';
import { Rates } from '../../../src/auth/rates.js';
import { OpenEventStreams } from '../../../src/gateways/events/open-event-streams.js';
import type { HealthCheck } from '../../../src/gateways/http/health.js';
import { ImageDownloads } from '../../../src/gateways/http/images/image-download.js';
import { ImageUrls } from '../../../src/gateways/http/images/image-urls.js';
import type { Page } from '../../../src/gateways/http/page/page.js';
import { createPipeline } from '../../../src/gateways/http/pipeline/pipeline.js';
import type { Route } from '../../../src/gateways/http/route.js';
import { routeTable } from '../../../src/gateways/http/route-table.js';
import type { ConnectionInfo } from '../../../src/gateways/http/routes/connection-info.js';
import { createCors } from '../../../src/gateways/http/server/cors.js';
import {
  type HttpLimits,
  type HttpOptions,
  type HttpServer,
  startHttp,
} from '../../../src/gateways/http/server/server.js';
import { subscriptionCheck } from '../../../src/gateways/push/subscription-check.js';
import { CheckChain } from '../../../src/message-checks/check-chain.js';
import { Spool } from '../../../src/message-content/spool/spool.js';
import type { HttpClient } from '../../../src/net/http-client/http-client.js';
import { targetUrlFault } from '../../../src/net/http-client/target-url.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import { StoreFault } from '../../../src/store/errors.js';
import { type FakeSending, fakeSending } from '../../support/fake-sending.js';
import { patiently } from '../../support/patience.js';
import { fakeAccountApi, fakeWebhookTest } from './fake-account-api.js';
import { ALICE, FakeBlobs, FakeDirectory, FakeLog, plainDecoder } from './fakes.js';
import { startMailboxes, type TestMailboxes } from './mailboxes.js';
import { type ReplyCheck, replyCheck } from './schema-check.js';

export interface FakeExports {
  /** Seconds until an export is allowed. */
  waitSeconds: number;
  /** Counts the turns that exports gave back. */
  givenBack: number;
}

export interface Gateway {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  readonly directory: FakeDirectory;
  readonly accountApi: ReturnType<typeof fakeAccountApi>;
  readonly mailboxes: TestMailboxes;
  readonly exports: FakeExports;
  readonly blobs: FakeBlobs;
  readonly log: FakeLog;
  readonly routes: readonly Route[];
  readonly checks: HealthCheck[];
  readonly spool: Spool;
  readonly sending: FakeSending;
  /** A key of ALICE with scope app. */
  readonly key: string;
  /** @throws Error when the reply does not match the OpenAPI document */
  fetch(
    path: string,
    init?: RequestInit & { readonly key?: string | null; readonly json?: unknown },
  ): Promise<Response>;
}

interface Options {
  readonly limits?: Partial<HttpLimits>;
  readonly webSockets?: HttpOptions['webSockets'];
  readonly extra?: readonly Route[];
  readonly deadlineMs?: number;
  readonly tokens?: TokenVerifier;
  readonly rates?: Rates;
  /** Browser origins that CORS allows. */
  readonly origins?: readonly string[];
  /** Networks whose forwarded addresses are believed; absent: none. */
  readonly trusted?: readonly string[];
  readonly maxMessageSize?: number;
  readonly advertised?: Partial<Advertised>;
  readonly challenges?: PasskeyChallenges;
  readonly codeFlow?: CodeFlow;
  /** The URL of the API that the routes know. */
  readonly publicUrl?: string;
  /** Downloads images; absent: every URL has the image PNG. */
  readonly images?: Pick<HttpClient, 'download'>;
  readonly page?: Page;
  readonly tracer?: Tracer;
  readonly contentChecks?: CheckChain;
}

/** What the gateway tells clients about the cluster. */
export interface Advertised {
  readonly connectionInfo: ConnectionInfo;
  readonly apiUrl: string | undefined;
  readonly stsPolicy: string | undefined;
}

export const OWN_NAMES = { hostname: 'mail.example.test', publicUrl: 'https://app.example.test/mail-format' };
export const VAPID_KEY = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
export const MAX_MESSAGE_SIZE = 2 * 1024 * 1024;
export const SUBMISSION = { enabled: true, serverName: OWN_NAMES.hostname, port: 587, securePort: 465 };
export const OFF = { enabled: false, serverName: '', port: 0, securePort: 0 };
export const IMAP = { ...SUBMISSION, port: 143, securePort: 993 };
export const IMAGE_URLS = new ImageUrls('secret of the images');
export const PNG = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1');
const onePng: Pick<HttpClient, 'download'> = {
  async download({ take }) {
    take(PNG);
    return { status: 200, headers: {}, isWhole: true };
  },
};
/** The gateway hosts this domain. */
export const HOSTED = 'example.test';

/** In ms. A busy machine lets clients wait for longer than the server does by itself; a test of a limit sets it. */
export const PATIENT: Partial<HttpLimits> = { bodyMs: 600_000, stallMs: 600_000 };

export async function startGateway(t: ExecutionContext, options: Options = {}): Promise<Gateway> {
  const directory = new FakeDirectory();
  const accountApi = fakeAccountApi();
  const blobs = new FakeBlobs();
  const mailboxes = await startMailboxes(blobs);
  t.teardown(() => mailboxes.end());
  const exports: FakeExports = { waitSeconds: 0, givenBack: 0 };
  const log = new FakeLog();
  const checks: HealthCheck[] = [];
  const sending = fakeSending();
  const spool = new Spool({ directory: temporaryDirectory() });
  const advertised: Advertised = {
    connectionInfo: { smtp: SUBMISSION, pop3: OFF, imap: IMAP },
    apiUrl: undefined,
    stsPolicy: undefined,
    ...options.advertised,
  };
  const credentials = new Credentials({ directory, ...(options.tokens && { tokens: options.tokens }) });
  const routes = [
    ...routeTable({
      mailboxes: mailboxes.refs,
      blobs,
      decoder: plainDecoder,
      exports: {
        claim: async () => ({ waitSeconds: exports.waitSeconds, giveBack: () => void exports.givenBack++ }),
      },
      accountApi,
      quotas: {
        usageOf: async () => ({ used: { bytes: 300, messages: 3 }, limit: { bytes: 1_000, messages: null } }),
      },
      sending,
      connectionInfo: () => advertised.connectionInfo,
      apiUrl: () => advertised.apiUrl,
      stsPolicy: () => advertised.stsPolicy,
      hosts: async (domain) => {
        if (directory.down) throw new StoreFault('store-unavailable', 'down', { temporary: true });
        return domain === HOSTED;
      },
      eventStreams: new OpenEventStreams({ mailboxes: mailboxes.refs, directory, log: pino({ level: 'silent' }) }),
      composing: {
        inlineMessages: mailboxes.inlineMessages,
        spool,
        contentChecks: options.contentChecks ?? new CheckChain([], pino({ level: 'silent' })),
        hostname: OWN_NAMES.hostname,
        maxMessageSize: options.maxMessageSize ?? MAX_MESSAGE_SIZE,
      },
      push: { publicKey: VAPID_KEY, check: subscriptionCheck(false) },
      codeFlow: options.codeFlow,
      identify: (token, accessToken) => credentials.ofUser(token, accessToken),
      ceremonies: new PasskeyCeremonies(options.challenges ?? new PasskeyChallenges('secret of the challenges')),
      images: {
        urls: IMAGE_URLS,
        downloads: new ImageDownloads(options.images ?? onePng),
        rates: options.rates ?? new Rates(),
      },
      webhooks: { urlFault: (url) => targetUrlFault(url, false), test: fakeWebhookTest },
      config: { oidc: { authority: '', clientId: '', enabled: false } },
      checks,
      version: '0.0.0',
      publicUrl: options.publicUrl,
      log,
    }),
    ...(options.extra ?? []),
  ];
  const cors = createCors(options.origins ?? []);
  const server = await startHttp({
    bind: '127.0.0.1',
    port: 0,
    handler: createPipeline({
      routes,
      directory,
      credentials,
      guard: anonymousGuard({ ...OWN_NAMES, origins: options.origins ?? [] }),
      ...(options.rates && { rates: options.rates }),
      page: options.page,
      ...(options.tracer && { tracer: options.tracer }),
      log,
      deadlineMs: options.deadlineMs ?? 60_000,
    }),
    webSockets: options.webSockets ?? [],
    limits: { ...PATIENT, ...options.limits },
    ...(cors && { cors }),
    trusted: new TrustedNetworks(options.trusted ?? []),
    log,
  });
  t.teardown(() => server.stop(0));
  const key = directory.key(ALICE, 'app');
  const url = `http://${server.address}`;
  return {
    url,
    port: Number(server.address.split(':')[1]),
    server,
    directory,
    accountApi,
    mailboxes,
    exports,
    blobs,
    log,
    routes,
    checks,
    spool,
    sending,
    key,
    async fetch(path, init = {}) {
      const headers = new Headers(init.headers);
      if (init.key !== null && !headers.has('authorization')) headers.set('authorization', `Bearer ${init.key ?? key}`);
      if (init.json !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
      const body = init.json === undefined ? init.body : JSON.stringify(init.json);
      const response = await fetch(url + path, { ...init, headers, ...(body === undefined ? {} : { body }) });
      check ??= describedBy(routes);
      const { faults } = await check;
      const method = init.method ?? 'GET';
      const found = await faults(method, path, response, () => response.clone().json());
      if (found.length > 0) throw new Error(`${method} ${path}: ${response.status}, ${found.join('; ')}`);
      return response;
    },
  };
}

/** All gateways of a test file share it: they do not differ in anything that the document describes. */
let check: Promise<ReplyCheck> | undefined;

async function describedBy(routes: readonly Route[]): Promise<ReplyCheck> {
  const route = routes.find(({ path }) => path === '/api/openapi.json')!;
  const reply = await route.handler({} as never);
  return replyCheck(JSON.parse(JSON.stringify('json' in reply ? reply.json : null)), routes);
}

/** Writes bytes; resolves with everything received once `until` accepts it or the server closes. */
export function exchangeBytes(
  port: number,
  bytes: string | Uint8Array,
  until: (got: string) => boolean,
): Promise<string> {
  let got = '';
  const answered = new Promise<string>((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
      if (until(got)) {
        socket.destroy();
        resolve(got);
      }
    });
    // A reset after a refusal counts as a close.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? reject(error) : resolve(got),
    );
    socket.on('close', () => resolve(got));
    socket.write(bytes);
  });
  return patiently(answered, () => `an answer; so far: ${got}`);
}

export const closed = (): boolean => false;
