// Tests writing in the page through a whole node: from the first letter to the delivery that its sender sees, two windows at one draft, an
// email that is taken back, an answer that stays in its thread, and a window that a reload brings back.
import type { ExecutionContext } from 'ava';
import type { Locator, Page } from 'playwright-core';
import { accountOn } from '../../../dev/node-accounts.js';
import {
  accessibilityFaults,
  openWindow,
  testInBrowser,
  type Window,
  type WindowOptions,
} from '../../support/browser/browser.js';
import { deliver, originOf, startPageNode } from '../../support/browser/page-node.js';
import { type EmailList, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { until } from '../../support/until.js';

interface Draft {
  readonly id: string;
  readonly subject: string;
}

/** Makes the offers to undo that drafts were discarded end at this time (ms since the epoch), for a page that is loaded again. */
const discardingAt = (time: number) => `for (const [key, text] of Object.entries(localStorage)) {
  const kept = key.startsWith('mansio.compose.') ? JSON.parse(text) : {};
  if (kept.discardAt) localStorage.setItem(key, JSON.stringify({ ...kept, discardAt: ${time} }));
}`;

/** Resolves with the label of what has the focus as soon as a compose window is in the document. */
const FOCUSED_FIRST = `new Promise((done) => {
  new MutationObserver((_, observer) => {
    if (document.querySelector('.compose-card') === null) return;
    observer.disconnect();
    done(document.activeElement.labels?.[0]?.textContent);
  }).observe(document.body, { childList: true, subtree: true });
})`;

async function world(t: ExecutionContext) {
  const zoe = await startPageNode(t, 'zoe');
  const { node, account, client } = zoe;
  const bob = await accountOn(node, 'bob');
  const drafts = async () => (await client.get<{ items: Draft[] }>('/api/outbound/drafts')).items;
  return {
    node,
    client,
    reader: new MailboxClient(node, bob.key),
    drafts,
    /** Opens the page as zoe. */
    async open(options: WindowOptions = {}): Promise<Window> {
      if (options.locale === undefined) return zoe.open(options);
      const window = await openWindow(t, originOf(node), options);
      const key = window.page.locator('form input');
      await key.fill(account.key);
      await key.press('Enter');
      return window;
    },
  };
}

const card = (page: Page): Locator => page.getByRole('dialog');
const field = (page: Page, label: string): Locator => card(page).getByLabel(label, { exact: true });
const body = (page: Page): Locator => card(page).getByRole('textbox', { name: 'Message body' });
const saved = (page: Page): Promise<void> => card(page).getByText('Saved', { exact: true }).waitFor();

async function write(page: Page, to: string, subject: string, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Compose' }).first().click();
  await field(page, 'To').fill(to);
  await field(page, 'Subject').fill(subject);
  await body(page).click();
  await page.keyboard.type(text);
}

testInBrowser('an email is written with a file and a picture, sent by key, and seen to arrive', async (t) => {
  const { node, reader, open } = await world(t);
  const window = await open();
  const { page, faults } = window;
  // The editor is loaded while somebody writes already.
  let load = () => {};
  const mayLoad = new Promise<void>((done) => {
    load = done;
  });
  await page.route('**/squire-editor*.js', async (route) => {
    await mayLoad;
    await route.continue();
  });
  const focused = page.evaluate(FOCUSED_FIRST);
  await write(page, 'Bob 💌 <bob@example.test>, nobody', 'Zoë 💌', 'Dear ');
  t.is(await focused, 'To');
  load();
  await card(page).getByRole('toolbar', { name: 'Formats' }).waitFor();
  await page.keyboard.type('Bob,');
  await field(page, 'Cc').fill('zoe@example.test');
  await card(page)
    .locator('input[type=file]')
    .setInputFiles([{ name: 'Plan 💌.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(200_000, 'a') }]);
  await page.evaluate(`(async () => {
    const canvas = document.createElement('canvas');
    const blob = await new Promise((done) => canvas.toBlob(done));
    const data = new DataTransfer();
    data.items.add(new File([blob], 'red.png', { type: 'image/png' }));
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
    document.querySelector('[contenteditable]').dispatchEvent(event);
  })()`);
  t.deepEqual(await accessibilityFaults(window), []);

  await body(page).press('Control+Enter');
  await card(page).getByText('“nobody” is no email address. Correct or remove it.').waitFor();
  await card(page).getByRole('button', { name: 'Remove nobody' }).click();
  await body(page).press('Control+Enter');
  const steps = page.getByRole('list', { name: 'Recipients and their steps' }).getByRole('listitem');
  await steps.filter({ hasText: 'Bob 💌' }).and(page.locator('[data-state=delivered]')).waitFor();
  await steps.filter({ hasText: 'zoe@example.test' }).and(page.locator('[data-state=delivered]')).waitFor();
  const queued = steps.filter({ hasText: /^\S*\d:\d\d.* queued$/ });
  await queued.nth(1).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);

  // The way is found again in Sent, and the recipient is known now.
  await page.getByRole('button', { name: 'Close' }).click();
  // The page's policy lets Playwright's waitForFunction look once alone.
  await until(() => page.evaluate<boolean>(`document.activeElement.textContent === 'Composec'`));
  await page.getByRole('link', { name: /^Sent/ }).click();
  await page.getByRole('listbox').getByText('Zoë 💌').click();
  await steps.filter({ hasText: 'Bob 💌' }).and(page.locator('[data-state=delivered]')).waitFor();
  await page.keyboard.press('c');
  await field(page, 'To').fill('bo');
  await card(page).getByRole('option', { name: 'Bob 💌' }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await field(page, 'To').press('Enter');
  await card(page).getByRole('button', { name: 'Remove Bob 💌' }).waitFor();

  await placed(node);
  const [email] = await reader.inbox();
  t.is(email?.subject, 'Zoë 💌');
  const mail = await reader.get<{
    htmlBody: string;
    textBody: string;
    attachments: { fileName: string; contentId?: string }[];
  }>(`/api/emails/${email!.id}`);
  t.regex(mail.textBody, /^Dear Bob,/);
  const picture = mail.attachments.find(({ fileName }) => fileName === 'red.png');
  t.true(mail.htmlBody.includes(`cid:${picture?.contentId}`));
  t.deepEqual(mail.attachments.map(({ fileName }) => fileName).sort(), ['Plan 💌.pdf', 'red.png']);
  t.deepEqual(faults, []);
});

testInBrowser('two windows at one draft are in step, and a conflict loses neither version', async (t) => {
  const { drafts, open } = await world(t);
  const [one, two] = [await open(), await open()];
  await write(one.page, 'bob@example.test', 'Both', 'Together');
  await saved(one.page);
  await two.page.getByRole('link', { name: /^Drafts/ }).click();
  await two.page.getByText('Both', { exact: true }).first().click();
  await field(two.page, 'Subject').waitFor();
  await field(one.page, 'Subject').fill('In step');
  await until(async () => (await field(two.page, 'Subject').inputValue()) === 'In step');

  await two.context.setOffline(true);
  await field(two.page, 'Subject').fill('Of the second');
  await card(two.page).getByText('Not saved yet: the server does not answer.').waitFor();
  await field(one.page, 'Subject').fill('Of the first');
  await until(async () => (await drafts())[0]?.subject === 'Of the first');
  await two.context.setOffline(false);
  const conflict = card(two.page).getByRole('alert').filter({ hasText: 'changed in another window' });
  await conflict.getByText('Of the first').waitFor();
  t.deepEqual(await accessibilityFaults(two), []);
  await conflict.getByRole('button', { name: 'Keep both' }).click();
  await saved(two.page);
  const subjects = (await drafts()).map(({ subject }) => subject).sort();
  t.deepEqual(subjects, ['Of the first', 'Of the second']);
  t.deepEqual([one.faults, two.faults], [[], []]);
});

testInBrowser('an email is taken back within its seconds, and its window is there again', async (t) => {
  const { client, reader, drafts, open } = await world(t);
  t.true((await client.request('PUT', '/api/preferences', { undoSendSeconds: 60 })).ok);
  const { page, faults } = await open();
  // The editor never comes: what is written is sent all the same.
  await page.route('**/squire-editor*.js', (route) => route.abort());
  await write(page, 'bob@example.test', 'Too early', 'Not yet');
  await card(page).getByText('The editor').waitFor();
  await saved(page);
  await page.unroute('**/squire-editor*.js');
  await card(page).getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText(/^Is sent in \d+ seconds?$/).waitFor();
  await page.reload();
  await page.getByText(/^Is sent in \d+ seconds?$/).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await saved(page);
  t.is(await field(page, 'Subject').inputValue(), 'Too early');
  await body(page).filter({ hasText: 'Not yet' }).waitFor();
  t.is(await body(page).textContent(), 'Not yet');
  t.deepEqual(
    (await drafts()).map(({ subject }) => subject),
    ['Too early'],
  );
  t.deepEqual(await reader.inbox(), []);

  await card(page).getByRole('button', { name: 'Discard draft' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  // The offer stands for ten seconds, and a busy machine takes longer to load the page.
  await page.evaluate(discardingAt(Date.now() + 600_000));
  await page.reload();
  await page.getByRole('button', { name: 'Undo' }).click();
  t.is(await field(page, 'Subject').inputValue(), 'Too early');

  // A deletion that nobody hears is tried again.
  await page.route('**/api/outbound/drafts/**', (route) =>
    route.request().method() === 'DELETE' ? route.abort() : route.continue(),
  );
  await card(page).getByRole('button', { name: 'Discard draft' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await page.evaluate(discardingAt(1));
  const failed = page.waitForEvent('requestfailed', (request) => request.method() === 'DELETE');
  await page.reload();
  await failed;
  t.is((await drafts()).length, 1);
  await page.unroute('**/api/outbound/drafts/**');
  await page.reload();
  await until(async () => (await drafts()).length === 0);
  t.deepEqual(faults, []);
});

testInBrowser('an answer quotes, goes to whom it belongs, stays in the thread, and survives a reload', async (t) => {
  const { node, client, reader, open } = await world(t);
  await deliver(node, {
    from: 'Someone <someone@remote.test>',
    to: 'zoe@example.test',
    cc: 'bob@example.test',
    replyTo: 'bob@example.test',
    subject: 'Contract',
    html: '<p style="color: green; position: fixed" onclick="alert(1)">Sign <b>here</b> 💌</p><script>alert(1)</script>',
  });
  const { page, faults } = await open();
  await page.getByText('Contract', { exact: true }).first().click();
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  await body(page).getByText('Sign here 💌').waitFor();
  await card(page).getByRole('toolbar', { name: 'Formats' }).waitFor();
  await body(page).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('I agree');
  await saved(page);
  await page.reload();
  await body(page).getByText('I agree').waitFor();
  t.is(await field(page, 'Subject').inputValue(), 'Re: Contract');
  await card(page).getByRole('button', { name: 'Send', exact: true }).click();
  await page.locator('[data-state=delivered]').waitFor();

  const original = (await client.inbox()).find(({ subject }) => subject === 'Contract')!;
  const { threadId, isAnswered } = await client.get<{ threadId: string; isAnswered: boolean }>(
    `/api/emails/${original.id}`,
  );
  t.true(isAnswered);
  const sent = await client.get<EmailList & { items: { threadId: string }[] }>('/api/emails/sent');
  t.is(sent.items[0]?.threadId, threadId);
  await placed(node);
  const answer = (await reader.inbox()).find(({ subject }) => subject === 'Re: Contract')!;
  const { htmlBody, textBody } = await reader.get<{ htmlBody: string; textBody: string }>(`/api/emails/${answer.id}`);
  t.regex(textBody, /^I agree[\s\S]*Someone wrote:\r?\n> Sign here 💌/);
  t.regex(htmlBody, /<blockquote type="cite"><p style="color: green;?">Sign <b>here<\/b> 💌<\/p><\/blockquote>/);
  t.deepEqual(faults, []);
});

testInBrowser(
  'on a phone, from right to left, a window fills the page, is put away, and is found again after a reload',
  async (t) => {
    const { open } = await world(t);
    const window = await open({
      locale: 'ar',
      viewport: { width: 320, height: 640 },
      hasTouch: true,
      colorScheme: 'dark',
    });
    const { page, faults } = window;
    await page.getByRole('button', { name: 'إنشاء رسالة' }).last().tap();
    const to = card(page).getByLabel('إلى', { exact: true });
    await to.fill('zoë@مثال.إختبار,');
    await card(page).getByLabel('الموضوع', { exact: true }).fill('مرحبا');
    await card(page).getByText('محفوظة', { exact: true }).waitFor();
    t.deepEqual(await card(page).boundingBox(), { x: 0, y: 0, width: 320, height: 640 });
    t.is(await page.evaluate('document.scrollingElement.scrollWidth'), 320);
    t.deepEqual(await accessibilityFaults(window), []);
    await card(page).getByRole('button', { name: 'طيّ النافذة' }).tap();
    await page.getByRole('button', { name: 'مرحبا' }).waitFor();
    await page.reload();
    // A page that is zoomed in is seen beside it.
    await page.setViewportSize({ width: 640, height: 400 });
    await page.getByRole('button', { name: 'مرحبا' }).tap();
    t.true((await card(page).boundingBox())!.width < 500);
    await card(page).getByRole('button', { name: 'إرسال', exact: true }).click({ trial: true });
    await card(page).getByRole('textbox', { name: 'نص الرسالة' }).click({ trial: true });
    t.is(await card(page).getByLabel('الموضوع', { exact: true }).inputValue(), 'مرحبا');
    await card(page)
      .getByRole('button', { name: /zoë@مثال/ })
      .first()
      .waitFor();
    t.deepEqual(faults, []);
  },
);
