// Tests folders, labels and filters in the page through a whole node: two windows see what is made, changed, ordered and deleted, and a filter
// labels the next email that arrives.
import type { ExecutionContext } from 'ava';
import type { Locator, Page } from 'playwright-core';
import { accessibilityFaults, testInBrowser } from '../../support/browser/browser.js';
import { deliver, startPageNode } from '../../support/browser/page-node.js';
import { until } from '../../support/until.js';

async function world(t: ExecutionContext) {
  const { node, account, client, open } = await startPageNode(t, 'zoe');
  const sendFrom = (from: string, subject: string) => deliver(node, { from, to: account.email, subject, text: 'Text' });
  return { client, open, sendFrom };
}

const folders = (page: Page): Locator => page.getByRole('navigation', { name: 'Folders' });
const link = (page: Page, name: string): Locator => folders(page).getByRole('link', { name });
const names = (page: Page): Promise<string[]> => folders(page).locator('.folder-row .folder-name').allTextContents();
const shows = (page: Page, ...expected: string[]): Promise<void> =>
  until(async () => JSON.stringify(await names(page)) === JSON.stringify(expected));

async function make(page: Page, what: 'label' | 'folder', name: string): Promise<void> {
  await page.getByRole('button', { name: `New ${what}` }).click();
  await page.getByLabel(`Name of the ${what}`).fill(name);
  await page.keyboard.press('Enter');
}

/** A form gives the focus back when it ends, which may be after the page shows what it has made. */
const ended = (page: Page, form: string): Promise<void> =>
  page.getByRole('form', { name: form }).waitFor({ state: 'detached' });

async function choose(page: Page, name: string, item: string): Promise<void> {
  const button = page.getByRole('button', { name: `Actions on ${name}` });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: item, exact: true }).press('Enter');
}

testInBrowser('labels are made, changed, ordered and deleted, and another window follows', async (t) => {
  const { client, open } = await world(t);
  const [one, two] = [await open(), await open()];
  const { page } = one;
  for (const name of ['Paid', 'Work', 'Home']) {
    await make(page, 'label', name);
    await link(page, name).waitFor();
    await ended(page, 'New label');
  }
  await shows(two.page, 'Paid', 'Work', 'Home');

  await make(page, 'label', 'work');
  await page.getByText('Choose another name: this one is the name of another label or folder.').waitFor();
  t.deepEqual(await accessibilityFaults(one), []);
  await page.keyboard.press('Escape');
  await ended(page, 'New label');

  await choose(page, 'Home', 'Move up');
  await shows(page, 'Paid', 'Home', 'Work');
  await link(page, 'Paid').press('Alt+ArrowDown');
  await shows(two.page, 'Home', 'Paid', 'Work');
  await page.getByRole('button', { name: 'Undo' }).click();
  await shows(two.page, 'Paid', 'Home', 'Work');
  await shows(page, 'Paid', 'Home', 'Work');
  await link(page, 'Work').dragTo(link(page, 'Paid'), { targetPosition: { x: 20, y: 3 } });
  await shows(two.page, 'Work', 'Paid', 'Home');

  await choose(page, 'Home', 'Change name and colour');
  await page.getByLabel('Name of the label').fill('House');
  await page.getByRole('radio', { name: 'Teal' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await shows(two.page, 'Work', 'Paid', 'House');
  const labels = () => client.get<{ name: string; color: string }[]>('/api/labels');
  t.is((await labels()).find(({ name }) => name === 'House')?.color, '#00837a');
  // Before it, the move can still be undone.
  await page.getByText('Label House changed').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await shows(two.page, 'Work', 'Paid', 'Home');

  await link(page, 'Paid').click();
  await choose(page, 'Paid', 'Delete');
  await page.getByText('Filters stop assigning it.').waitFor();
  t.deepEqual(await accessibilityFaults(one), []);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await shows(two.page, 'Work', 'Home');
  await page.waitForURL('**/inbox');
  t.deepEqual([one.faults, two.faults], [[], []]);
});

testInBrowser(
  'a folder is made below another one, moved, and deleted with its mail in Archive, on a narrow screen',
  async (t) => {
    const { client, sendFrom, open } = await world(t);
    await sendFrom('someone@remote.test', 'Kept');
    const window = await open({ viewport: { width: 320, height: 640 } });
    const { page, faults } = window;
    await page.getByRole('button', { name: 'Folders' }).first().click();
    await make(page, 'folder', 'Projects');
    await ended(page, 'New folder');
    await choose(page, 'Projects', 'New folder in it');
    await page.getByLabel('Name of the folder').fill('Aqueduct');
    t.deepEqual(await accessibilityFaults(window), []);
    await page.getByRole('button', { name: 'Make' }).click();
    await shows(page, 'Projects', 'Aqueduct');
    await ended(page, 'New folder');
    t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);

    await choose(page, 'Aqueduct', 'Change name and place');
    await page.getByLabel('In', { exact: true }).selectOption({ label: 'No other folder' });
    await page.getByRole('button', { name: 'Save' }).click();
    await shows(page, 'Aqueduct', 'Projects');
    await page.getByRole('button', { name: 'Undo' }).click();
    await shows(page, 'Projects', 'Aqueduct');

    const all = await client.get<{ id: string; name: string; role: string }[]>('/api/folders');
    const [email] = await client.inbox();
    const folderId = all.find(({ name }) => name === 'Aqueduct')!.id;
    await client.request('POST', '/api/emails/bulk/move', { emailIds: [email!.id], folderId });
    await folders(page).getByRole('link', { name: 'Aqueduct 1 unread' }).waitFor();
    await choose(page, 'Projects', 'Delete');
    await page.getByText('The folders and labels below it are deleted in the same way.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await shows(page);
    const archived = await client.get<{ totalCount: number }>('/api/folders/archive/emails');
    t.is(archived.totalCount, 1);
    t.deepEqual(faults, []);
  },
);

testInBrowser('a filter made from an email is tested, saved, and labels the next email', async (t) => {
  const { client, sendFrom, open } = await world(t);
  await client.request('POST', '/api/labels', { name: 'News', color: '#00837a', sortOrder: 0 });
  await sendFrom('news@remote.test', 'Monday');
  await sendFrom('someone@remote.test', 'Other');
  const window = await open();
  const { page, faults } = window;
  await page.getByText('Monday', { exact: true }).first().click();
  await page.getByRole('button', { name: 'Make a filter from this email' }).click();
  const from = page.getByLabel("The sender's address has");
  t.is(await from.inputValue(), 'news@remote.test');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Choose an action').waitFor();
  await page.getByLabel('Assign a label').selectOption('News');
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByText('1 of the newest 100 emails of the inbox matches.').waitFor();
  const matching = page.getByRole('list', { name: 'Emails that match' });
  t.deepEqual(await matching.getByRole('link').allTextContents(), ['Monday']);
  t.deepEqual(await accessibilityFaults(window), []);
  await from.press('Enter');
  await page.getByText('If the sender has “news@remote.test”: label News.').waitFor();
  await page.locator('.filters:focus').waitFor();

  await sendFrom('news@remote.test', 'Tuesday');
  await link(page, 'News 1 unread').click();
  await page.getByText('Tuesday', { exact: true }).first().waitFor();
  await page.goBack();

  await page.getByRole('button', { name: 'Apply news@remote.test to existing mail' }).click();
  await page.getByText('1 of 3 emails is changed.').waitFor();
  const labelled = async () => (await client.get<{ emailCount: number }[]>('/api/labels'))[0]?.emailCount;
  t.is(await labelled(), 2);
  // Who has looked at the mail, and has loaded the page again, can still undo.
  await link(page, 'News').click();
  await page.goBack();
  await page.reload();
  await page.getByText('1 of 3 emails is changed.').waitFor();
  await page.locator('.filter-run').getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  t.is(await labelled(), 1);

  await page.getByRole('button', { name: 'New filter' }).click();
  await page.getByLabel('The subject has').fill('Invoice');
  await page.getByLabel('Mark it as read').check();
  // What is new is made with the filter.
  await page.getByLabel('Assign a label').selectOption('New label…');
  await page.keyboard.press('Enter');
  await page.getByText('Give the new label or folder a name.').waitFor();
  await page.getByLabel('Name of the new label').fill('Money');
  await page.getByLabel('Move it to a folder').selectOption('New folder…');
  await page.getByLabel('Name of the new folder').fill('Accounts');
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByLabel('Name of the filter').fill('Bills');
  await page.keyboard.press('Enter');
  const order = () => page.locator('.filter strong').allTextContents();
  await until(async () => (await order()).length === 2);
  await page.getByRole('button', { name: 'Move Bills up' }).click();
  await until(async () => (await order())[0] === 'Bills');
  await page.getByRole('checkbox', { name: 'Bills' }).uncheck();
  await page.getByText('(off)').waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('button', { name: 'Delete Bills' }).click();
  await until(async () => (await order()).length === 1);
  // Before it, the move can still be undone.
  await page.getByText('Filter Bills deleted').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await until(async () => (await order())[0] === 'Bills');
  const filters = await client.get<{ name: string; isEnabled: boolean; markAsRead: boolean }[]>('/api/filters');
  const made = { assignLabelName: 'Money', moveToFolderName: 'Accounts' };
  t.like(filters[0], { name: 'Bills', isEnabled: false, markAsRead: true, ...made });
  t.deepEqual(faults, []);
});
