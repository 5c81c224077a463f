// Reads email in the page, in Chromium: a message of HTML with all that belongs to it, and one of plain text, as people do.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { SendMailOptions } from 'nodemailer';
import type { BrowserContext, Page } from 'playwright-core';
import { accountOn } from '../../../dev/node-accounts.js';
import { accessibilityFaults, openWindow, testInBrowser } from '../../support/browser/browser.js';
import { deliver, originOf, startPageNode } from '../../support/browser/page-node.js';
import type { MailboxClient } from '../../support/clients/mailbox-client.js';
import { until } from '../../support/until.js';

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');
const ADDRESS = 'zoe@example.test';

const INVITATION = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'METHOD:REQUEST',
  'BEGIN:VEVENT',
  'UID:visit@koehler.test',
  'DTSTART:20261203T100000Z',
  'DTEND:20261203T113000Z',
  'SUMMARY:Site visit',
  'ORGANIZER;CN=Mirjam:mailto:mirjam@example.test',
  `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:${ADDRESS}`,
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n');

const TEXT: SendMailOptions = {
  from: 'Ann Example <ann@remote.test>',
  to: `Zoë <${ADDRESS}>`,
  subject: 'Contract for the new aviary',
  messageId: '<first@remote.test>',
  text: 'Dear Zoë,\n\nsee https://koehler.test/plan or ask office@koehler.test.\n\nOn Monday you wrote:\n> Is it signed?\n\n-- \nAnn\n',
};

const HTML: SendMailOptions = {
  from: 'Mirjam Köhler <mirjam@remote.test>',
  to: `Zoë <${ADDRESS}>`,
  cc: 'Omar <omar@remote.test>',
  subject: 'Re: Contract for the new aviary',
  messageId: '<second@remote.test>',
  inReplyTo: '<first@remote.test>',
  references: ['<first@remote.test>'],
  html: `<p>Dear Zoë, <img src="cid:seal" alt="Seal"> here it is. <a href="https://elsewhere.test/">https://bank.test</a></p>
    <img src="https://pictures.test/logo.png" alt="Logo"><blockquote type="cite"><p>See the plan.</p></blockquote>`,
  attachments: [
    { filename: 'seal.gif', content: PIXEL, cid: 'seal' },
    { filename: 'notes.txt', content: 'Grüße aus dem Zoo', contentType: 'text/plain; charset=utf-8' },
    { filename: 'photo.gif', content: PIXEL },
    { filename: 'invite.ics', content: INVITATION, contentType: 'text/calendar; method=REQUEST; charset=utf-8' },
  ],
};

async function startWithMail(t: ExecutionContext) {
  // The page needs no sign-in.
  const { node, client } = await startPageNode(t, 'zoe', { MANSIO_ANONYMOUS_ACCOUNT: ADDRESS });
  await accountOn(node, 'mirjam');
  await deliver(node, TEXT, HTML);
  const ids = new Map<string, string>();
  await until(async () => {
    const { items } = await json<{ readonly items: readonly { readonly id: string; readonly messageId: string }[] }>(
      client,
      '/api/emails',
    );
    for (const { id, messageId } of items) ids.set(messageId, id);
    return items.length === 2;
  });
  const origin = originOf(node);
  return { client, origin, text: ids.get('<first@remote.test>')!, html: ids.get('<second@remote.test>')! };
}

async function json<T>(client: MailboxClient, path: string): Promise<T> {
  return (await client.request('GET', path)).json() as Promise<T>;
}

const article = (page: Page) => page.getByRole('article');
const frameOf = (page: Page) => page.frameLocator('.message-frame');

testInBrowser('an email of HTML is read with its thread, attachments and invitation', async (t) => {
  const { client, origin, html } = await startWithMail(t);
  const window = await openWindow(t, origin, { path: '/inbox' });
  const { page } = window;
  await page.getByText('Mirjam Köhler').first().click();
  await article(page).getByRole('heading', { name: 'Re: Contract for the new aviary' }).waitFor();
  t.is(new URL(page.url()).pathname, `/inbox/${html}`);
  await until(async () => (await json<{ readonly isRead: boolean }>(client, `/api/emails/${html}`)).isRead);

  await article(page).getByText('not signed by remote.test').waitFor();
  await article(page).getByRole('button', { name: 'to me, Omar' }).click();
  await article(page).getByText('omar@remote.test').waitFor();
  await article(page).getByText('DMARC none').waitFor();

  const frame = frameOf(page);
  await frame.getByText('leads to elsewhere.test').waitFor();
  // A mail whose attached images come late is shown without them first, and then in another frame.
  await frame.locator('img[alt=Seal][src^="data:image/gif;base64,"]').waitFor();
  t.is(await frame.getByAltText('Logo').getAttribute('src'), null);
  await frame.getByText('See the plan.').waitFor({ state: 'hidden' });
  await frame.getByText('Show quoted text').click();
  await frame.getByText('See the plan.').waitFor({ state: 'visible' });

  const entries = await page.evaluate('history.length');
  await article(page).getByRole('button', { name: 'Show pictures' }).click();
  const logo = frame.locator('img[alt=Logo][src]');
  t.true((await logo.getAttribute('src'))!.startsWith(`${origin}/api/image-proxy?`));
  // Back leaves the email.
  t.is(await page.evaluate('history.length'), entries);

  // The image in the text is no attachment for its reader.
  t.deepEqual(await page.locator('.message-file-name').allTextContents(), ['notes.txt', 'photo.gif', 'invite.ics']);
  await article(page).getByRole('button', { name: 'Open notes.txt' }).click();
  await article(page).getByText('Grüße aus dem Zoo').waitFor();
  await article(page).getByRole('button', { name: 'Back to the message' }).click();
  await article(page).getByRole('button', { name: 'Open photo.gif' }).click();
  await page.getByRole('img', { name: 'photo.gif' }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await article(page).getByRole('button', { name: 'Back to the message' }).click();
  t.is(await article(page).getByRole('link', { name: 'Save photo.gif' }).getAttribute('download'), 'photo.gif');

  await article(page).getByText('Thu, 3 Dec 2026').waitFor();
  await article(page).getByRole('button', { name: 'Accept' }).click();
  await article(page).getByText('Your answer: Accept').waitFor();
  const { items } = await json<{ readonly items: readonly { readonly id: string }[] }>(client, '/api/emails/sent');
  const sent = await json<{
    readonly toAddresses: unknown;
    readonly attachments: readonly { readonly method?: string }[];
  }>(client, `/api/emails/${items[0]!.id}`);
  t.deepEqual(sent.toAddresses, ['mirjam@example.test']);
  t.deepEqual(
    sent.attachments.map(({ method }) => method),
    ['REPLY'],
  );

  t.deepEqual(await accessibilityFaults(window), []);
  // A line of the thread opens the other message.
  await page.getByRole('navigation', { name: 'Earlier messages' }).getByText('Ann Example').click();
  await article(page).getByText('see https://koehler.test/plan').waitFor();
  t.deepEqual(window.faults, []);
});

testInBrowser('an email of plain text is read, printed, seen as it came, and leaves when it is deleted', async (t) => {
  const { client, origin, text } = await startWithMail(t);
  const window = await openWindow(t, origin, { path: `/inbox/${text}`, colorScheme: 'dark' });
  const { page } = window;
  const link = article(page).getByRole('link', { name: 'https://koehler.test/plan' });
  t.is(await link.getAttribute('rel'), 'noopener noreferrer');
  await article(page).getByRole('link', { name: 'office@koehler.test' }).click();
  await page.getByRole('button', { name: 'Remove office@koehler.test' }).waitFor();
  await page.getByRole('button', { name: 'Discard draft' }).click();
  await article(page).getByText('Is it signed?').waitFor({ state: 'hidden' });
  await article(page).getByText('Show quoted text').click();
  await article(page).getByText('Is it signed?').waitFor({ state: 'visible' });
  t.deepEqual(await accessibilityFaults(window), []);

  await page.evaluate(`new MutationObserver((records) => {
    for (const { addedNodes: [node] } of records) if (node?.id === 'message-print') globalThis.printed = node.srcdoc;
  }).observe(document.body, { childList: true })`);
  await article(page).getByRole('button', { name: 'Print' }).click();
  await until(async () => (await page.evaluate('globalThis.printed')) !== undefined);
  const printed = await page.evaluate<string>('printed');
  for (const part of ['Contract for the new aviary', 'Ann Example', 'Dear Zoë,', 'Is it signed?'])
    t.true(printed.includes(part), part);

  await printsNothingHostile(t, window.context, page.url());

  await article(page).getByRole('button', { name: 'Show original' }).click();
  await article(page).getByText('Message-ID: <first@remote.test>').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await article(page).getByRole('button', { name: 'Back to the message' }).click();
  t.true(
    (await article(page).getByRole('link', { name: 'Save as file' }).getAttribute('href'))!.endsWith('/export/eml'),
  );

  // What is marked unread while it is open stays so, and a label is seen at once.
  const label = (await (
    await client.request('POST', '/api/labels', { name: 'Zoo', color: '#3b82f6', sortOrder: 1 })
  ).json()) as { readonly id: string };
  await client.request('PATCH', `/api/emails/${text}`, { isRead: false });
  await client.request('POST', `/api/labels/emails/${text}`, { labelId: label.id });
  await article(page).getByText('Zoo', { exact: true }).waitFor();
  t.false((await json<{ readonly isRead: boolean }>(client, `/api/emails/${text}`)).isRead);
  await client.request('DELETE', `/api/emails/${text}`);
  await page.getByText('This email has been deleted.').waitFor();
  t.deepEqual(window.faults, []);
});

/** Puts hostile markup into what the page prints, as if nothing had made it safe: the frame alone must hold. */
async function printsNothingHostile(t: ExecutionContext, context: BrowserContext, url: string): Promise<void> {
  const asked: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    asked.push(request.url);
    response.end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const host = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const ran = (by: string) => `parent.ran = '${by}'`;
  const hostile = `<script>${ran('script')}</script><script src="${host}/script"></script><img src="${host}/img">
    <img src="x:" onerror="${ran('onerror')}"><svg onload="${ran('onload')}"></svg><iframe src="${host}/frame"></iframe>
    <iframe srcdoc="<script>parent.${ran('frame')}</script>"></iframe><link rel="stylesheet" href="${host}/link">
    <style>@import '${host}/import'; body { background: url(${host}/background) }</style>
    <object data="${host}/object"></object><video src="${host}/video" autoplay></video><base href="${host}/">
    <meta http-equiv="refresh" content="0;url=${host}/refresh"><details open ontoggle="${ran('ontoggle')}"></details>`;
  await context.addInitScript(`if (self === top) {
    const make = trustedTypes.createPolicy.bind(trustedTypes);
    trustedTypes.createPolicy = (name, rules) => make(name, {
      ...rules,
      createHTML: (html) => rules.createHTML(html.replace(/<body[^>]*>/, (start) => start + ${JSON.stringify(hostile)})),
    });
    new MutationObserver((records) => {
      for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) {
        if (node.id !== 'message-print') continue;
        globalThis.paper = { sandbox: node.getAttribute('sandbox'), html: node.srcdoc };
        node.addEventListener('load', () => { globalThis.paper.isLoaded = true; });
      }
    }).observe(document, { childList: true, subtree: true });
  }`);
  const page = await context.newPage();
  await page.goto(url);
  await article(page).getByRole('button', { name: 'Print' }).click();
  await until(() => page.evaluate<boolean>('globalThis.paper?.isLoaded === true'));
  t.true(await page.evaluate<boolean>(`paper.html.includes(${JSON.stringify(`${host}/refresh`)})`));
  t.is(await page.evaluate('globalThis.ran'), undefined);
  t.deepEqual(asked, []);
  // A frame of another origin cannot be printed by the page, and one without scripts does not print itself.
  t.is(await page.evaluate('paper.sandbox'), 'allow-same-origin allow-modals');
  const printing = `{
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-modals');
    document.body.append(frame);
    try { frame.contentWindow.print(); 'printed'; } catch ({ name }) { name; }
  }`;
  t.is(await page.evaluate(printing), 'SecurityError');
  await page.close();
}

testInBrowser('an email is read on a phone, in a language from right to left', async (t) => {
  const { origin, html } = await startWithMail(t);
  const window = await openWindow(t, origin, {
    path: `/inbox/${html}`,
    viewport: { width: 320, height: 640 },
    locale: 'ar',
    hasTouch: true,
  });
  const { page } = window;
  await article(page).getByText('عرض الصور').waitFor();
  await frameOf(page).getByText('here it is').waitFor();
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  t.deepEqual(await accessibilityFaults(window), []);
  t.deepEqual(window.faults, []);
});
