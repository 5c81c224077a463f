// `npm run docs:screenshots` makes the pictures of the page that README and docs show, in docs/images: it starts a node with a small
// mailbox, opens its page in Chromium, and takes what a reader would see. They are made again when the page looks different.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { requireProgram } from '../../executables.js';
import { type DemoNode, startDemoNode } from './demo-node.js';

const DIRECTORY = 'docs/images';
const LARGEST_OCTETS = 150_000;
const QUALITY = 82;
const DESKTOP: BrowserContextOptions = { viewport: { width: 1440, height: 900 } };
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
};

interface Picture {
  readonly name: string;
  readonly options: BrowserContextOptions;
  /** Brings the page to what is shown. */
  arrange(page: Page): Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'web-mail-light', options: { ...DESKTOP, colorScheme: 'light' }, arrange: read },
  { name: 'web-mail-dark', options: { ...DESKTOP, colorScheme: 'dark' }, arrange: write },
  { name: 'web-mail-phone', options: { ...PHONE, colorScheme: 'light' }, arrange: async () => undefined },
];

async function read(page: Page): Promise<void> {
  await page.getByRole('option', { name: /otter bank/ }).click();
  await page.locator('iframe[aria-busy=false]').waitFor();
}

async function write(page: Page): Promise<void> {
  await page.getByRole('option', { name: /Feeding plan/ }).click();
  await page.getByText('Could we move the seals').last().waitFor();
  await page.keyboard.press('r');
  const text = page.getByRole('textbox', { name: 'Message body' });
  await text.waitFor();
  await page.getByRole('button', { name: 'Bold' }).waitFor();
  await page.keyboard.type('Yes, 14:00 is better for the seals as well. I tell the keepers today.');
  await page.getByText('Saved', { exact: true }).waitFor();
}

async function take(
  browser: Browser,
  { origin, account }: DemoNode,
  { name, options, arrange }: Picture,
): Promise<void> {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(origin);
  await page.getByLabel('API key').fill(account.key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('option', { name: /otter bank/ }).waitFor();
  await dismissOffers(page);
  await arrange(page);
  await page.evaluate('document.fonts.ready');
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  const picture = Buffer.from(data, 'base64');
  if (picture.length > LARGEST_OCTETS)
    throw new Error(`${name} has ${picture.length} octets, more than ${LARGEST_OCTETS}`);
  writeFileSync(join(DIRECTORY, `${name}.webp`), picture);
  process.stdout.write(`${DIRECTORY}/${name}.webp: ${(picture.length / 1000).toFixed(0)} kB\n`);
  await context.close();
}

/** A browser that has no passkey is offered one once. */
async function dismissOffers(page: Page): Promise<void> {
  const later = page.getByRole('button', { name: 'Do not offer a passkey again' });
  if (await later.isVisible()) await later.click();
}

mkdirSync(DIRECTORY, { recursive: true });
const node = await startDemoNode();
// root cannot use Chromium's sandbox.
const browser = await chromium.launch({ executablePath: requireProgram('chromium'), args: ['--no-sandbox'] });
try {
  for (const picture of PICTURES) await take(browser, node, picture);
} finally {
  await browser.close();
  await node.stop();
}
