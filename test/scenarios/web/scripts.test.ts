// Tests the Sieve scripts in the settings of the page: written, with what is wrong by line and column, used, and deleted.
import { accessibilityFaults, testInBrowser } from '../../support/browser/browser.js';
import { deliver, startPageNode } from '../../support/browser/page-node.js';
import { until } from '../../support/until.js';

const FAULTY = 'require "fileinto";\nfilinto "Archive";';

testInBrowser('a script is written, corrected where the page says, used and deleted', async (t) => {
  const { node, account, client, open } = await startPageNode(t, 'zoe');
  const window = await open();
  const { page } = window;
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Scripts' }).click();
  await page.getByText('There is no script yet.').waitFor();
  await page.getByRole('button', { name: 'New script' }).click();
  await page.getByLabel('Name').fill('main');
  const text = page.getByLabel('Script', { exact: true });
  await text.fill(FAULTY);
  await page.getByRole('button', { name: 'Save' }).click();
  const fault = page.getByRole('button', { name: 'Line 2, column 1: there is no command filinto' });
  await fault.waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await fault.click();
  t.is(await text.evaluate((field) => (field as unknown as { selectionStart: number }).selectionStart), 20);
  await text.fill('require "fileinto";\nfileinto "Archive";');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const scripts = () => client.get<readonly { readonly name: string; readonly isActive: boolean }[]>('/api/sieve');
  t.deepEqual(await scripts(), [{ name: 'main', isActive: false }]);

  await page.getByRole('button', { name: 'Use main', exact: true }).click();
  await page.getByText('main runs when mail arrives.').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await deliver(node, { from: 'a@far.test', to: account.email, subject: 'Filed', text: 'hello' });
  const archived = async () =>
    (await client.get<{ readonly items: readonly { readonly subject: string }[] }>('/api/emails/search?folder=archive'))
      .items;
  await until(async () => (await archived()).some(({ subject }) => subject === 'Filed'));

  await page.getByRole('button', { name: 'Edit main' }).click();
  await page.getByRole('heading', { name: 'main' }).waitFor();
  t.is(await text.inputValue(), 'require "fileinto";\nfileinto "Archive";');
  // Another program stores the script while it is written here: what is written stays.
  await text.fill('discard;');
  const stored = { content: 'require "fileinto";\nfileinto "Trash";', isActive: true };
  t.is((await client.request('PUT', '/api/sieve/main', stored)).status, 204);
  await page.getByText('Another window has changed this meanwhile.').waitFor();
  t.is(await text.inputValue(), 'discard;');
  await page.getByRole('button', { name: 'Show what is stored' }).click();
  t.is(await text.inputValue(), stored.content);
  await page.getByLabel('Name').fill('weekend');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  t.deepEqual(await scripts(), [{ name: 'weekend', isActive: true }]);
  // What another window has written since stays when the script is no longer used.
  const elsewhere = { content: 'keep;', isActive: true };
  t.is((await client.request('PUT', '/api/sieve/weekend', elsewhere)).status, 204);
  await page.getByRole('button', { name: 'Do not use weekend' }).click();
  await page.getByText('weekend does not run any more.').waitFor();
  t.deepEqual(await client.get('/api/sieve/weekend'), { content: 'keep;', isActive: false });
  await page.getByRole('button', { name: 'Delete weekend' }).click();
  await page.getByRole('group', { name: 'Delete weekend' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('weekend is deleted.').waitFor();
  t.deepEqual(await scripts(), []);
  t.deepEqual(window.faults, []);
});
