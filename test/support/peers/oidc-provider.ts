// A real OpenID provider on a free port (oauth2-mock-server), with tokens as tests want them and keys that can be added and removed.
import type { IncomingMessage } from 'node:http';
import { type JWK, OAuth2Server } from 'oauth2-mock-server';
import { freePort } from '../../../dev/ports.js';
import type { Teardown } from '../database/embedded-database.js';

export interface TestProvider {
  readonly authority: string;
  /** `claims` override those of a good token; undefined removes one. */
  token(claims?: Readonly<Record<string, unknown>>, kid?: string): Promise<string>;
  /** Sets what its UserInfo endpoint returns. */
  tell(claims: Readonly<Record<string, unknown>>): void;
  /** Sets what its tokens say of whoever signs in; undefined removes a claim. */
  signsIn(claims: Readonly<Record<string, unknown>>): void;
  /** The next exchange of a code is refused with this error. */
  refuses(error: string): void;
  /** The next browser is sent back with this error instead of a code. */
  denies(error: string, description: string): void;
  /** What was sent to its token endpoint. */
  readonly exchanges: readonly Exchange[];
  /** Returns the public keys as the provider publishes them. */
  keys(): readonly JWK[];
  addKey(kid: string, alg?: string): Promise<void>;
  /** Removes every key but this one. */
  keepOnly(kid: string): Promise<void>;
  stop(): Promise<void>;
  /** Starts again at the same address. */
  start(): Promise<void>;
}

export interface Exchange {
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

export async function startProvider(t?: Teardown): Promise<TestProvider> {
  let server = new OAuth2Server();
  await server.issuer.keys.generate('RS256', { kid: 'first' });
  // No other process takes this port while the provider is stopped.
  const port = await freePort();
  await server.start(port, 'localhost');
  const stop = async () => {
    if (server.listening) await server.stop();
  };
  t?.teardown(stop);
  const exchanges: Exchange[] = [];
  server.service.on('beforeResponse', (_reply, request: IncomingMessage & { readonly body: Exchange['form'] }) => {
    exchanges.push({ authorization: request.headers.authorization, form: request.body });
  });
  return {
    exchanges,
    signsIn(claims) {
      server.service.on('beforeTokenSigning', ({ payload }: { readonly payload: Record<string, unknown> }) => {
        Object.assign(payload, claims);
        for (const [name, value] of Object.entries(payload)) if (value === undefined) delete payload[name];
      });
    },
    refuses(error) {
      server.service.once('beforeResponse', (reply: { statusCode: number; body: unknown }) => {
        Object.assign(reply, { statusCode: 400, body: { error } });
      });
    },
    denies(error, description) {
      server.service.once('beforeAuthorizeRedirect', ({ url }: { readonly url: URL }) => {
        url.searchParams.delete('code');
        url.searchParams.set('error', error);
        url.searchParams.set('error_description', description);
      });
    },
    authority: `http://localhost:${port}`,
    token: (claims = {}, kid = 'first') =>
      server.issuer.buildToken({
        kid,
        scopesOrTransform(_header, payload) {
          Object.assign(payload, { sub: 'anna', email: 'anna@example.test', email_verified: true, ...claims });
          for (const [name, value] of Object.entries(payload)) if (value === undefined) delete payload[name];
        },
      }),
    tell(claims) {
      server.service.on('beforeUserinfo', (reply: { body: unknown }) => {
        reply.body = claims;
      });
    },
    keys: () => server.issuer.keys.toJSON(),
    async addKey(kid, alg = 'RS256') {
      await server.issuer.keys.generate(alg, { kid });
    },
    async keepOnly(kid) {
      const kept = server.issuer.keys.toJSON(true).find((key) => key.kid === kid);
      await stop();
      server = new OAuth2Server();
      await server.issuer.keys.add({ ...kept });
      await server.start(port, 'localhost');
    },
    stop,
    start: () => server.start(port, 'localhost'),
  };
}
