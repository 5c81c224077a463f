// Tests both ceremonies with a soft authenticator: what is right, and each lie by itself.
import { PasskeyCeremonies } from '../../../src/auth/passkeys/ceremonies.js';
import { PasskeyChallenges } from '../../../src/auth/passkeys/challenges.js';
import { type Lies, SoftAuthenticator } from '../../support/peers/soft-authenticator.js';
import test from '../../support/test.js';

const PARTY = { id: 'localhost', origin: 'http://localhost:8080' };
const HANDLE = Buffer.alloc(16, 7);
const USER = { handle: HANDLE, accountId: 'a', email: 'ann@example.test', displayName: 'Ann' };

async function registered(counter = 0) {
  const ceremonies = new PasskeyCeremonies(new PasskeyChallenges('secret'));
  const authenticator = new SoftAuthenticator(PARTY.origin, counter);
  const options = await ceremonies.registration(PARTY, USER, []);
  const made = await ceremonies.register(PARTY, 'a', authenticator.create(options as never) as never);
  return { ceremonies, authenticator, options, credential: made!.credential };
}

test('a passkey is registered and signs in', async (t) => {
  const { ceremonies, authenticator, options, credential } = await registered(5);
  t.like(options, {
    rp: { id: 'localhost', name: 'Mansio' },
    user: { id: HANDLE.toString('base64url'), name: 'ann@example.test', displayName: 'Ann' },
    attestation: 'none',
  });
  t.like(options.authenticatorSelection, { residentKey: 'required', userVerification: 'required' });
  t.like(credential, { credentialId: authenticator.id, counter: 5, transports: ['internal'] });
  const login = await ceremonies.login(PARTY);
  t.like(login, { rpId: 'localhost', userVerification: 'required' });
  t.falsy(login.allowCredentials?.length);
  const signedIn = await ceremonies.signIn(PARTY, credential, HANDLE, authenticator.get(login as never) as never);
  t.is(signedIn?.counter, 6);
  t.truthy(signedIn?.challenge.hash);
  const [known] = (await ceremonies.registration(PARTY, USER, [credential])).excludeCredentials!;
  t.like(known, { id: authenticator.id, transports: ['internal'] });
});

test('each lie of a registration is refused', async (t) => {
  const { ceremonies, options } = await registered();
  const other = await ceremonies.registration({ ...PARTY, id: 'other.test' }, USER, []);
  const lies: readonly Lies[] = [
    { origin: 'http://evil.test' },
    { origin: 'http://localhost:8081' },
    { rpId: 'evil.test' },
    { type: 'webauthn.get' },
    { isVerified: false },
    { challenge: 'AAAA' },
    { challenge: other.challenge },
    { challenge: (await ceremonies.login(PARTY)).challenge },
    { format: 'packed' },
    { format: 'fido-u2f' },
  ];
  const answer = (lie: Lies) => new SoftAuthenticator(PARTY.origin).create(options as never, lie) as never;
  for (const lie of lies) t.is(await ceremonies.register(PARTY, 'a', answer(lie)), undefined, JSON.stringify(lie));
  t.is(await ceremonies.register(PARTY, 'b', answer({})), undefined);
  for (const object of [
    '',
    'oA',
    Buffer.alloc(40_000, 0x81).toString('base64url'),
    Buffer.alloc(9, 0xff).toString('base64url'),
  ]) {
    const response = { clientDataJSON: 'e30', attestationObject: object };
    const hostile = { id: 'AA', rawId: 'AA', type: 'public-key', response, clientExtensionResults: {} };
    t.is(await ceremonies.register(PARTY, 'a', hostile as never), undefined);
  }
  t.truthy(await ceremonies.register(PARTY, 'a', answer({})));
});

test('each lie of a sign-in is refused', async (t) => {
  const { ceremonies, authenticator, options, credential } = await registered(5);
  const login = await ceremonies.login(PARTY);
  const lies: readonly Lies[] = [
    { origin: 'https://localhost:8080' },
    { rpId: 'evil.test' },
    { type: 'webauthn.create' },
    { isVerified: false },
    { counter: 5 },
    { counter: 0 },
    { challenge: options.challenge },
    { userHandle: '' },
    { userHandle: Buffer.alloc(16, 8).toString('base64url') },
  ];
  const answer = (lie: Lies) => authenticator.get(login as never, lie) as never;
  for (const lie of lies)
    t.is(await ceremonies.signIn(PARTY, credential, HANDLE, answer(lie)), undefined, JSON.stringify(lie));
  const stranger = new SoftAuthenticator(PARTY.origin, 5);
  stranger.create(options as never);
  const forged = { ...stranger.get(login as never), id: authenticator.id, rawId: authenticator.id } as never;
  t.is(await ceremonies.signIn(PARTY, credential, HANDLE, forged), undefined);
  t.truthy(await ceremonies.signIn(PARTY, credential, HANDLE, answer({})));
});
