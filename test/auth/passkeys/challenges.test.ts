// Tests challenges of passkeys: each is good for its purpose, for five minutes, on every node.
import {
  CHALLENGE_MS,
  type ChallengePurpose,
  PasskeyChallenges,
  passkeyChallenges,
} from '../../../src/auth/passkeys/challenges.js';
import test from '../../support/test.js';

const REGISTRATION: ChallengePurpose = { ceremony: 'registration', rpId: 'localhost', accountId: 'a' };
const issued = (challenges: PasskeyChallenges, purpose = REGISTRATION) =>
  Buffer.from(challenges.issue(purpose)).toString('base64url');

test('a challenge is good for its own purpose alone, until its time is over', (t) => {
  let now = Date.UTC(2026, 10, 29);
  const challenges = new PasskeyChallenges('secret', () => now);
  const challenge = issued(challenges);
  t.not(challenge, issued(challenges));
  const others: ChallengePurpose[] = [
    { ...REGISTRATION, accountId: 'b' },
    { ...REGISTRATION, rpId: 'example.test' },
    { ceremony: 'registration', rpId: 'localhost' },
    { ...REGISTRATION, ceremony: 'login' },
  ];
  for (const other of others) t.is(challenges.valid(challenge, other), undefined);
  const changed = `${challenge.startsWith('A') ? 'B' : 'A'}${challenge.slice(1)}`;
  for (const text of ['', 'x', `${challenge}AAAA`, challenge.slice(4), changed, 'A'.repeat(72)])
    t.is(challenges.valid(text, REGISTRATION), undefined, text);
  t.is(new PasskeyChallenges('other', () => now).valid(challenge, REGISTRATION), undefined);
  const valid = challenges.valid(challenge, REGISTRATION);
  t.is(valid?.expiresAt, now + CHALLENGE_MS);
  t.regex(valid?.hash ?? '', /^[0-9a-f]{64}$/);
  now += CHALLENGE_MS - 1;
  t.deepEqual(challenges.valid(challenge, REGISTRATION), valid);
  now++;
  t.is(challenges.valid(challenge, REGISTRATION), undefined);
});

test('all nodes share one secret', async (t) => {
  let stored: string | undefined;
  const settings = {
    async getOrCreate(_: string, initial: () => string) {
      stored ??= initial();
      return stored;
    },
  };
  const [one, another] = [await passkeyChallenges(settings), await passkeyChallenges(settings)];
  t.truthy(another.valid(issued(one), REGISTRATION));
});
