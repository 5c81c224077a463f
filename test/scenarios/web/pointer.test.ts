// Tests what is done to rows by hand: they are dragged to a folder and a label, swiped on a phone, filtered and made denser by the menu of the
// list, and called junk. What moves is still for whoever wants that, and times are those of the browser's zone.
import type { Page } from 'playwright-core';
import { testInBrowser } from '../../support/browser/browser.js';
import { deliver, startPageNode } from '../../support/browser/page-node.js';
import { until } from '../../support/until.js';

const rows = (page: Page) => page.getByRole('option');
const row = (page: Page, subject: string) => rows(page).filter({ hasText: subject });
const subjects = (page: Page) => page.locator('.row-subject').allTextContents();

testInBrowser('rows are dragged, filtered, made denser and called junk', async (t) => {
  const { node, account, client, open } = await startPageNode(t, 'ida');
  const made = async (path: string, body: object) =>
    ((await (await client.request('POST', path, body)).json()) as { readonly id: string }).id;
  const folderId = await made('/api/folders', { name: 'Bills', parentId: null });
  await made('/api/labels', { name: 'Zoo', color: '#3b82f6', sortOrder: 0 });
  for (const subject of ['Alpha', 'Beta', 'Gamma'])
    await deliver(node, { from: 'Ann <ann@remote.test>', to: account.email, subject, text: `The text of ${subject}.` });
  const { page, faults } = await open();
  const count = async (folder: string) =>
    (await client.get<{ totalCount: number }>(`/api/folders/${folder}/emails`)).totalCount;
  await rows(page).nth(2).waitFor();

  await row(page, 'Alpha').dragTo(page.getByRole('link', { name: 'Bills' }));
  await page.getByText('Moved to Bills').waitFor();
  await row(page, 'Alpha').waitFor({ state: 'detached' });
  await until(async () => (await count(folderId)) === 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await row(page, 'Alpha').waitFor();
  await until(async () => (await count(folderId)) === 0);
  // What is selected is dragged together, and nothing is dropped where only the server puts mail.
  for (const subject of ['Beta', 'Gamma']) await row(page, subject).click({ modifiers: ['ControlOrMeta'] });
  await page.getByText('2 emails selected', { exact: true }).waitFor();
  await row(page, 'Beta').dragTo(page.getByRole('link', { name: 'Sent' }));
  await page.getByText('2 emails selected', { exact: true }).waitFor();
  await row(page, 'Beta').dragTo(page.getByRole('link', { name: 'Zoo' }));
  await page.getByText('2 emails labelled Zoo').waitFor();
  await rows(page).filter({ hasText: 'Zoo' }).nth(1).waitFor();
  t.is(await rows(page).count(), 3);
  await page.getByRole('link', { name: 'Zoo' }).click();
  await page.getByRole('heading', { name: 'Zoo' }).waitFor();
  await rows(page).nth(1).waitFor();
  t.deepEqual((await subjects(page)).toSorted(), ['Beta', 'Gamma']);
  await page.getByRole('link', { name: /^Inbox/ }).click();
  await rows(page).nth(2).waitFor();

  const choose = async (role: 'menuitemradio' | 'menuitemcheckbox', name: string) => {
    await page.getByRole('button', { name: /^Order and view/ }).click();
    await page.getByRole(role, { name, exact: true }).click();
  };
  await row(page, 'Gamma').focus();
  await page.keyboard.press('s');
  await choose('menuitemradio', 'Flagged');
  // Another list has no rows until the server has answered.
  await until(async () => (await subjects(page)).join() === 'Gamma');
  await choose('menuitemradio', 'All');
  await rows(page).nth(2).waitFor();
  const height = async () => (await rows(page).first().boundingBox())!.height;
  const before = await height();
  await choose('menuitemradio', 'Compact');
  await until(async () => (await height()) < before);
  await until(async () => {
    const { displayDensity } = await client.get<{ displayDensity: string }>('/api/preferences');
    return displayDensity === 'compact';
  });

  await row(page, 'Alpha').click();
  await page.getByRole('article').getByRole('heading', { name: 'Alpha' }).waitFor();
  await page.getByRole('toolbar').getByRole('button', { name: 'Junk', exact: true }).click();
  await page.getByText('Moved to Junk').waitFor();
  await page.getByRole('link', { name: /^Junk/ }).click();
  await row(page, 'Alpha').click();
  await page.getByRole('toolbar').getByRole('button', { name: 'Not junk' }).click();
  await page.getByText('Moved to Inbox').waitFor();
  await until(async () => (await count('inbox')) === 3);
  t.deepEqual(faults, []);

  const far = await open({ timezoneId: 'Asia/Tokyo', reducedMotion: 'reduce' });
  const time = row(far.page, 'Alpha').locator('time');
  const at = new Date((await time.getAttribute('datetime'))!);
  const inTokyo = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'Asia/Tokyo' });
  t.is(await time.getAttribute('title'), inTokyo.format(at));
  const motion = async (one: Page, said: string) => {
    await one.locator('.undo-strip').getByText(said, { exact: true }).waitFor();
    return one.evaluate<string>(`getComputedStyle(document.querySelector('.undo-strip')).animationDuration`);
  };
  await row(far.page, 'Beta').focus();
  await far.page.keyboard.press('e');
  t.is(await motion(far.page, 'Moved to Archive'), '0s');
  await page.getByRole('link', { name: /^Inbox/ }).click();
  await row(page, 'Alpha').focus();
  await page.keyboard.press('s');
  t.not(await motion(page, 'Flagged'), '0s');
  t.deepEqual(far.faults, []);
});

testInBrowser('on a phone rows are swiped to the archive and to Trash, and a short swipe does nothing', async (t) => {
  const { node, account, client, open } = await startPageNode(t, 'ida');
  for (const subject of ['Alpha', 'Beta', 'Gamma'])
    await deliver(node, { from: 'ann@remote.test', to: account.email, subject, text: 'Text' });
  const { page, context, faults } = await open({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  const touch = await context.newCDPSession(page);
  const swipe = async (subject: string, by: number) => {
    const { x, y, width, height } = (await row(page, subject).boundingBox())!;
    const at = (px: number) => ({ touchPoints: [{ x: x + width / 2 + px, y: y + height / 2 }] });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', ...at(0) });
    for (const part of [0.25, 0.5, 0.75, 1])
      await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', ...at(by * part) });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  };
  await rows(page).nth(2).waitFor();
  await swipe('Alpha', 60);
  t.is(await page.locator('.undo-strip').count(), 0);
  await swipe('Alpha', 150);
  await page.getByText('Moved to Archive').waitFor();
  await row(page, 'Alpha').waitFor({ state: 'detached' });
  await swipe('Beta', -150);
  await page.getByText('Moved to Trash').waitFor();
  await row(page, 'Beta').waitFor({ state: 'detached' });
  t.deepEqual(await subjects(page), ['Gamma']);
  const count = async (folder: string) =>
    (await client.get<{ totalCount: number }>(`/api/folders/${folder}/emails`)).totalCount;
  await until(async () => (await count('archive')) === 1 && (await count('trash')) === 1);
  t.deepEqual(faults, []);
});
