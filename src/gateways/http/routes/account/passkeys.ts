// Passkeys of an account, and signing in with one (docs/interface/sessions.md, "Passkeys").
import { nullable, optional } from 'superstruct';
import type { Passkeys, Profiles, Sessions } from '../../../../actors/account/protocol.js';
import type { Principal } from '../../../../actors/directory/protocol.js';
import type { PasskeyCeremonies } from '../../../../auth/passkeys/ceremonies.js';
import { type RelyingParty, relyingPartyOf } from '../../../../auth/passkeys/relying-party.js';
import type { BrowserRequest } from '../../../../auth/session-cookie.js';
import { uuidOctets } from '../../../../mail-format/ids.js';
import type { Passkey } from '../../../../store/sign-in/passkeys.js';
import { anyObject, choice, idParameter, line, list, record, text, textList, timestamp, uuid } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, notFound, Problem, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';
import { session, signedInReply, signingBrowser } from './sessions.js';

const PATH = '/api/passkeys';
const TAGS = ['Sessions'];
/** Answers of authenticators have a few kB. */
const BODY_LIMIT = 64 * 1024;
const MOST_TRANSPORTS = 10;
const UNNAMED = 'Passkey';

export interface PasskeySources {
  readonly passkeys: Passkeys;
  readonly sessions: Pick<Sessions, 'create' | 'isProven'>;
  readonly profiles: Pick<Profiles, 'read'>;
  readonly ceremonies: PasskeyCeremonies;
  readonly publicUrl: string | undefined;
}

const passkey = named(
  'Passkey',
  record({ id: uuid(), name: text(), createdAt: timestamp(), lastUsedAt: nullable(timestamp()) }),
);

const CREDENTIAL = { id: text(), rawId: text(), type: choice('public-key') };
const registrationAnswer = named(
  'PasskeyRegistration',
  record({
    ...CREDENTIAL,
    response: record({
      clientDataJSON: text(),
      attestationObject: text(),
      transports: optional(textList(MOST_TRANSPORTS)),
    }),
    name: optional(line(100, { description: 'The name by which its owner knows it' })),
  }),
);
const loginAnswer = named(
  'PasskeyLogin',
  record({
    ...CREDENTIAL,
    response: record({ clientDataJSON: text(), authenticatorData: text(), signature: text(), userHandle: text() }),
  }),
);
const EXAMPLE = { id: 'AQIDBA', rawId: 'AQIDBA', type: 'public-key' as const };
const NO_ANSWER = { response: ['is no answer to a registration of the last five minutes'] };
const FULL = 'The account has as many passkeys as it may have; delete one first.';
const KNOWN = 'This passkey is registered.';

export function passkeyRoutes(sources: PasskeySources): readonly Route[] {
  const partyOf = (browser: BrowserRequest) => {
    const party = relyingPartyOf(browser, sources.publicUrl);
    return 'refusal' in party ? invalid({ host: [party.refusal] }) : party;
  };
  return [...ownRoutes(sources), ...registrationRoutes(sources, partyOf), ...loginRoutes(sources, partyOf)];
}

type PartyOf = (browser: BrowserRequest) => RelyingParty | Problem;

function ownRoutes({ passkeys }: PasskeySources): readonly Route[] {
  const params = { id: idParameter() };
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Passkeys of the account, oldest first',
      tags: TAGS,
      access: OWNER,
      replies: { 200: list(passkey) },
      handler: async ({ principal }) => {
        const found = await passkeys.list(principal.accountId);
        return { status: 200, json: found.map(shownOf) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/{id}`,
      summary: 'One passkey',
      tags: TAGS,
      access: OWNER,
      params,
      replies: { 200: passkey },
      handler: async ({ principal, params: { id } }) => {
        const found = (await passkeys.list(principal.accountId)).find((one) => one.id === id);
        return found === undefined ? notFound() : { status: 200, json: shownOf(found) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PATH}/{id}`,
      summary: 'Delete a passkey; sessions that it began continue',
      tags: TAGS,
      access: OWNER,
      params,
      replies: { 204: EMPTY },
      handler: async ({ principal, params: { id } }) =>
        (await passkeys.remove(principal.accountId, id)) ? { status: 204 } : notFound(),
    }),
  ];
}

/** Whoever has stolen an API key may register a passkey, and must not prove with it to be the user. */
async function isProven({ sessions }: PasskeySources, { accountId, keyId, sessionEnd }: Principal): Promise<boolean> {
  if (keyId === null) return true;
  return sessionEnd !== undefined && (await sessions.isProven(accountId, keyId));
}

function registrationRoutes(sources: PasskeySources, partyOf: PartyOf): readonly Route[] {
  const { passkeys, profiles, ceremonies } = sources;
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/registration`,
      summary: 'Begin to register a passkey',
      description:
        'The reply is what `PublicKeyCredential.parseCreationOptionsFromJSON` takes. The passkey is bound to the host of the request: localhost, or that of `MANSIO_PUBLIC_URL`; 400 elsewhere. An account has at most 20.',
      tags: TAGS,
      access: OWNER,
      replies: { 200: anyObject() },
      problems: [400],
      handler: async ({ principal: { accountId }, browser }) => {
        const party = partyOf(browser);
        if (party instanceof Problem) return party;
        const [profile, known] = await Promise.all([profiles.read(accountId), passkeys.list(accountId)]);
        if (profile === undefined) return unauthenticated('invalid_token');
        const { email, displayName } = profile;
        const user = { handle: uuidOctets(accountId), accountId, email, displayName };
        return { status: 200, json: { ...(await ceremonies.registration(party, user, known)) } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/registration/verify`,
      summary: 'Register the passkey that an authenticator has made',
      description: 'The body is what `toJSON` of the credential gives, with a `name` where its owner wants one.',
      tags: TAGS,
      access: OWNER,
      body: registrationAnswer,
      bodyLimit: BODY_LIMIT,
      example: { ...EXAMPLE, response: { clientDataJSON: 'e30', attestationObject: 'oA' }, name: 'My phone' },
      replies: { 201: passkey },
      problems: [409],
      handler: async ({ principal, browser, body }) => {
        const party = partyOf(browser);
        if (party instanceof Problem) return party;
        const { accountId } = principal;
        const { id, rawId, type, response, name = UNNAMED } = body;
        const { clientDataJSON, attestationObject, transports = [] } = response;
        const answer = { clientDataJSON, attestationObject, transports: transports as never[] };
        const sent = { id, rawId, type, response: answer, clientExtensionResults: {} };
        const registered = await ceremonies.register(party, accountId, sent);
        if (registered === undefined) return invalid(NO_ANSWER);
        const { credential, challenge } = registered;
        const made = { ...credential, name, rpId: party.id, isProven: await isProven(sources, principal) };
        const added = await passkeys.add(accountId, made, challenge);
        switch (added) {
          case 'spent':
            return invalid(NO_ANSWER);
          case 'noAccount':
            return unauthenticated('invalid_token');
          case 'full':
          case 'known':
            return new Problem(409, { detail: added === 'full' ? FULL : KNOWN });
          default:
            return { status: 201, json: shownOf(added) };
        }
      },
    }),
  ];
}

function loginRoutes({ passkeys, sessions, ceremonies }: PasskeySources, partyOf: PartyOf): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/login`,
      summary: 'Begin to sign in with a passkey',
      description: 'The reply is what `PublicKeyCredential.parseRequestOptionsFromJSON` takes. It names no passkey.',
      tags: TAGS,
      access: 'public',
      replies: { 200: anyObject() },
      problems: [400],
      handler: async ({ browser }) => {
        const party = partyOf(browser);
        if (party instanceof Problem) return party;
        return { status: 200, json: { ...(await ceremonies.login(party)) } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/login/verify`,
      summary: 'Sign in: make a session for the passkey that an authenticator has used',
      description:
        'The body is what `toJSON` of the credential gives. Replies like `POST /api/sessions`; 401 when the answer is wrong, too late or given before, or the passkey is not known.',
      tags: TAGS,
      access: 'signIn',
      body: loginAnswer,
      bodyLimit: BODY_LIMIT,
      example: {
        ...EXAMPLE,
        response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' },
      },
      replies: { 201: session },
      replyFields: { 'Set-Cookie': 'The session' },
      handler: async ({ body, browser, signedIn }) => {
        const signing = signingBrowser(browser, signedIn);
        if (signing instanceof Problem) return signing;
        const party = partyOf(browser);
        if (party instanceof Problem) return party;
        const known = await passkeys.find(body.id, party.id);
        if (known === undefined) return unauthenticated('invalid_token');
        const { id, rawId, type, response } = body;
        const { clientDataJSON, authenticatorData, signature, userHandle } = response;
        const answer = { clientDataJSON, authenticatorData, signature, userHandle };
        const sent = { id, rawId, type, response: answer, clientExtensionResults: {} };
        const proven = await ceremonies.signIn(party, known, uuidOctets(known.accountId), sent);
        const isUsed = proven !== undefined && (await passkeys.use(known.id, proven.counter, proven.challenge));
        const proof = known.isProven ? 'passkey' : undefined;
        const made = isUsed ? await sessions.create(known.accountId, { ...signing, proof }) : undefined;
        return made === undefined ? unauthenticated('invalid_token') : signedInReply(made, signing);
      },
    }),
  ];
}

function shownOf({ id, name, createdAt, lastUsedAt }: Passkey) {
  return { id, name, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null };
}
