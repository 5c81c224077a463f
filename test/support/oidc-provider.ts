// A real OpenID provider on a free port (oauth2-mock-server), with tokens as tests want them and keys that come and go.
import { type JWK, OAuth2Server } from 'oauth2-mock-server';
import type { Teardown } from './embedded-database.js';

export interface TestProvider {
  readonly authority: string;
  /** Claims over a good token's; undefined takes one away. */
  token(claims?: Readonly<Record<string, unknown>>, kid?: string): Promise<string>;
  /** What its UserInfo endpoint tells of whoever asks. */
  tell(claims: Readonly<Record<string, unknown>>): void;
  /** Public keys as the provider publishes them. */
  keys(): readonly JWK[];
  addKey(kid: string, alg?: string): Promise<void>;
  /** Takes every key but this one away. */
  keepOnly(kid: string): Promise<void>;
  stop(): Promise<void>;
  /** At the address it had. */
  start(): Promise<void>;
}

export async function startProvider(t?: Teardown): Promise<TestProvider> {
  let server = new OAuth2Server();
  await server.issuer.keys.generate('RS256', { kid: 'first' });
  await server.start(0, 'localhost');
  const { port } = server.address();
  const stop = async () => {
    if (server.listening) await server.stop();
  };
  t?.teardown(stop);
  return {
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
