// Tests what becomes of the page when its session ends while it is open, through a whole node: nothing is shown any more, and whoever signs
// in again goes on where they were, while somebody else finds nothing of theirs.
import { accountOn } from '../../../dev/node-accounts.js';
import { accessibilityFaults, signIn, testInBrowser } from '../../support/browser/browser.js';
import { startPageNode } from '../../support/browser/page-node.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { until } from '../../support/until.js';

/** An offer to undo that outlives a reload of the page. */
const OFFER = `sessionStorage.setItem('mansio.undo', JSON.stringify({
  text: 'Moved by Bob', until: Date.now() + 600_000, undo: { puts: [] } }))`;
const KEPT = `[sessionStorage.getItem('mansio.undo'), localStorage.getItem('mansio.searches')]`;

interface Drafts {
  readonly items: readonly { readonly id: string; readonly subject: string }[];
}

testInBrowser('a session ends while an email is written; the next one of the account goes on with it', async (t) => {
  const { node, account, client, open } = await startPageNode(t, 'zoe');
  const other = await accountOn(node, 'bob');
  const bob = new MailboxClient(node, other.key);
  const window = await open({ path: '/archive' });
  const { page, faults } = window;
  const endSessions = async () => {
    for (const { id } of await client.get<readonly { readonly id: string }[]>('/api/sessions'))
      t.is((await client.request('DELETE', `/api/sessions/${id}`)).status, 204);
    await page.getByText('Your session has ended.').waitFor();
  };
  const draftsOf = async (of: MailboxClient) => (await of.get<Drafts>('/api/outbound/drafts')).items;
  const attachments = async (id: string) =>
    (await client.get<{ readonly attachments: readonly unknown[] }>(`/api/outbound/drafts/${id}`)).attachments.length;

  // Nothing of what is written has reached the server when the session ends.
  await page.route('**/api/outbound/drafts**', (route) => route.abort());
  await page.getByRole('button', { name: 'Compose' }).first().click();
  const card = page.getByRole('complementary');
  const subject = card.getByLabel('Subject');
  await subject.fill('Half a letter');
  await card
    .locator('input[type=file]')
    .setInputFiles([{ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('a plan') }]);
  await card.getByText('plan.txt').waitFor();
  await endSessions();
  await page.getByText('Half a letter').first().waitFor({ state: 'detached' });
  await subject.waitFor({ state: 'detached' });
  t.deepEqual(await accessibilityFaults(window), []);
  await page.unroute('**/api/outbound/drafts**');
  t.deepEqual(await draftsOf(client), []);

  await signIn(window, account.key);
  await subject.waitFor();
  t.is(await subject.inputValue(), 'Half a letter');
  t.is(new URL(page.url()).pathname, '/archive');
  await until(async () => {
    const [draft] = await draftsOf(client);
    return draft !== undefined && (await attachments(draft.id)) === 1;
  });

  // Somebody else signs in instead.
  // The server stores a save whose answer is lost, and nothing after it.
  await card.getByText('Saved', { exact: true }).waitFor();
  let heard = 0;
  await page.route('**/api/outbound/drafts**', async (route) => {
    if (route.request().method() === 'PUT' && heard++ === 0) await route.fetch();
    await route.abort();
  });
  await subject.fill('Most of a letter');
  await until(async () => (await draftsOf(client))[0]?.subject === 'Most of a letter');
  await subject.fill('A whole letter');
  await endSessions();
  await page.unroute('**/api/outbound/drafts**');
  await signIn(window, other.key);
  await page.getByText('bob@example.test', { exact: true }).first().waitFor();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  t.is(await subject.count(), 0);
  t.deepEqual(await draftsOf(bob), []);

  // Whoever signs in after a sign-out begins from nothing.
  await page.getByRole('combobox', { name: 'Search' }).fill('a secret');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/search\?q=/);
  t.true(await page.evaluate(`localStorage.getItem('mansio.searches').includes('a secret')`));
  await page.evaluate(OFFER);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  t.is(await page.getByText('Your session has ended.').count(), 0);
  t.is(page.url(), `${new URL(page.url()).origin}/`);
  t.deepEqual(await page.evaluate(KEPT), [null, null]);
  t.is(await page.getByText('Moved by Bob').count(), 0);

  // What was written last has waited for its author.
  await signIn(window, account.key);
  await subject.waitFor();
  t.is(await subject.inputValue(), 'A whole letter');
  // What it has written itself is no other window.
  await until(async () => (await draftsOf(client))[0]?.subject === 'A whole letter');
  t.deepEqual(faults, []);
});
