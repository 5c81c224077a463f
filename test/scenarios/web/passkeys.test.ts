// Tests passkeys with Chromium and its virtual authenticator on the page of a whole node: one is offered after a sign-in by key, is then the
// way in for a browser without a session, and is removed in the settings.
import type { ExecutionContext } from 'ava';
import { accountOn, port } from '../../../dev/node-accounts.js';
import { accessibilityFaults, openWindow, signIn, testInBrowser } from '../../support/browser/browser.js';
import { PAGE_SETTINGS } from '../../support/browser/page-node.js';
import { startTestNode } from '../../support/node.js';

async function windowWithAuthenticator(t: ExecutionContext) {
  const node = await startTestNode(PAGE_SETTINGS);
  t.teardown(() => node.stop());
  const account = await accountOn(node, 'ann');
  // Authenticators know names of hosts, no addresses.
  const window = await openWindow(t, `http://localhost:${port(node, 'http')}`);
  const devtools = await window.context.newCDPSession(window.page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    },
  });
  /** Whether the person at the device passes its check. */
  const verifies = (isUserVerified: boolean) =>
    devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  // The authenticator takes what the browser offers in the field at once, before anybody clicks the button.
  const field = { isOffered: false };
  await window.page.exposeFunction('isOfferedInField', () => field.isOffered);
  await window.context.addInitScript(() => {
    const browser = globalThis as unknown as {
      isOfferedInField(): Promise<boolean>;
      PublicKeyCredential: { isConditionalMediationAvailable(): Promise<boolean> };
    };
    browser.PublicKeyCredential.isConditionalMediationAvailable = () => browser.isOfferedInField();
  });
  return { window, account, verifies, field };
}

testInBrowser('a passkey is offered once, is then the way in, and is removed in the settings', async (t) => {
  const { window, account, verifies, field } = await windowWithAuthenticator(t);
  const { page, context, faults } = window;
  await page.reload();
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await signIn(window, account.key);

  const offer = page.getByRole('region', { name: 'Passkeys' });
  await offer.waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await verifies(false);
  await offer.getByRole('button', { name: 'Make a passkey' }).click();
  await offer.getByText('No passkey was added: the question was closed').waitFor();
  await verifies(true);
  await offer.getByRole('button', { name: 'Make a passkey' }).click();
  await page.getByText('The passkey is made.').waitFor();
  await offer.waitFor({ state: 'detached' });

  await page.goto(`${new URL(page.url()).origin}/settings/devices`);
  const passkeys = page.getByRole('list', { name: 'Passkeys' });
  await passkeys.getByText('Not used yet').waitFor();
  await page.getByLabel('Name of a new passkey').fill('Second');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('This device has a passkey of the account already.').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);

  await page.getByRole('button', { name: 'Sign out of this browser' }).click();
  await verifies(false);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('No passkey was used. Try again, or sign in with a key or a link.').waitFor();
  await verifies(true);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.goto(`${new URL(page.url()).origin}/settings/devices`);
  await passkeys.getByText('Last used: today').waitFor();

  field.isOffered = true;
  await page.getByRole('button', { name: 'Sign out of this browser' }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  field.isOffered = false;
  await page.goto(`${new URL(page.url()).origin}/settings/devices`);
  await page.getByRole('button', { name: /^Remove: / }).click();
  await page.getByText('This passkey signs in no more.').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('is removed. Delete it on the device too').waitFor();
  await passkeys.first().waitFor({ state: 'detached' });
  // The account has none again, but the offer was answered.
  await page.goto(new URL(page.url()).origin);
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await context.clearCookies();
  await page.reload();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('This passkey does not sign in').waitFor();
  t.deepEqual(faults, []);
});
