// Chromium for tests of the page: it starts once per test file. A window is a browser profile of its own, signed in or not; a test fails
// when its page reports an error or a violation of its policy, or asks another host for something.
import { AxeBuilder } from '@axe-core/playwright';
import { type ExecutionContext, registerCompletionHandler } from 'ava';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findProgram } from '../../../dev/executables.js';
import { testWith } from '../test-with.js';

/** Declares a test that is skipped where Chromium is not installed. */
export const testInBrowser = testWith('chromium');

/** A test of the page takes long on a busy machine; nothing in it measures time. */
export const BROWSER_TEST_MS = 600_000;
/** A step that waits for this long fails before its test does, and says what it waits for. */
export const STEP_MS = 240_000;

/**
 * An offer to undo stands for ten seconds, also over a reload; a busy machine takes longer between two steps of a test. What a page keeps of
 * it is changed whenever it is kept: an action that ends later keeps its offer again.
 */
const LASTING_OFFERS = `{
  const set = window.setTimeout;
  window.setTimeout = (run, ms, ...rest) => set(run, ms === 10000 ? 600000 : ms, ...rest);
  const keep = Storage.prototype.setItem;
  Storage.prototype.setItem = function (key, text) {
    const isOffer = key === 'mansio.undo';
    keep.call(this, key, isOffer ? JSON.stringify({ ...JSON.parse(text), until: Date.now() + 600000 }) : text);
  };
}`;

/** A worker would load the whole page again for each window, so only windows that need it have one. */
const NO_WORKER = `if (globalThis.ServiceWorkerContainer !== undefined) {
  ServiceWorkerContainer.prototype.register = () => Promise.reject(new Error('A test has no worker.'));
}`;

const TELL_MS = 10_000;
/** Characters of what a page shows. */
const MOST_TOLD = 8_000;

const LEVELS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

let launched: Promise<Browser> | undefined;

registerCompletionHandler(async () => {
  await (await launched)?.close();
});

/** Chromium without the parts that show a window, where it is installed: it takes half of the processor time. */
export const lightBrowser = (): string => findProgram('chromium-headless-shell') ?? findProgram('chromium')!;

/** `executablePath`: counts for the first call of a file. */
export function browserOfFile(executablePath = lightBrowser()): Promise<Browser> {
  // root cannot use Chromium's sandbox.
  launched ??= chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 0 });
  return launched;
}

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page reported and should not have; a test that provokes a report removes it here. */
  readonly faults: string[];
}

export type WindowOptions = BrowserContextOptions & { readonly path?: string };

/** Opens a window at a node's page. `origin`: such as `http://127.0.0.1:8080`. */
export async function openWindow(
  t: ExecutionContext,
  origin: string,
  { path = '/', serviceWorkers = 'block', ...options }: WindowOptions = {},
): Promise<Window> {
  t.timeout(BROWSER_TEST_MS);
  const browser = await browserOfFile();
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    ...options,
  });
  t.teardown(() => context.close());
  context.setDefaultTimeout(STEP_MS);
  await context.addInitScript(LASTING_OFFERS);
  if (serviceWorkers === 'block') await context.addInitScript(NO_WORKER);
  const page = await context.newPage();
  const faults: string[] = [];
  t.teardown(() => tellWhatIsShown(t, page, faults));
  watch(page, origin, faults);
  await page.goto(`${origin}${path}`);
  return { page, context, faults };
}

/** A test that fails, also by its time-out, says what its page shows: else nobody knows which step was waited for. */
async function tellWhatIsShown(t: ExecutionContext, page: Page, faults: readonly string[]): Promise<void> {
  if (t.passed || page.isClosed()) return;
  const shown = page.locator('body').ariaSnapshot({ timeout: TELL_MS });
  const tree = await shown.catch((error: unknown) => `no answer: ${error}`);
  t.log(page.url(), tree.slice(0, MOST_TOLD), ...faults);
}

/** Adds to `faults` what a page may not do: errors, violations of its policy, requests to other hosts. */
export function watch(page: Page, origin: string, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on('console', (line) => {
    if (/content.security.policy|trusted ?(type|script|html)/i.test(line.text())) faults.push(line.text());
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^(https?|wss?):$/.test(url.protocol) && url.host !== new URL(origin).host) faults.push(`request: ${url}`);
  });
}

/** Signs in with an API key, as a person does. */
export async function signIn({ page }: Pick<Window, 'page'>, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  // The view of the sign-in is a main part too.
  await page.locator('main.panes').waitFor();
}

/**
 * Resolves when the page has shown the text, for however short a time: the page itself looks at each frame. It is called, and not awaited,
 * before what makes the page show the text.
 */
export function flashed({ page }: Pick<Window, 'page'>, text: string): Promise<unknown> {
  return page.evaluate(`(async () => {
    while (!document.body.textContent.includes(${JSON.stringify(text)})) await new Promise(requestAnimationFrame);
  })()`);
}

/** What fades in has no contrast yet. What moves for ever is not waited for. */
const STILL = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime)).map(({ finished }) => finished))`;

/** Returns what axe finds against WCAG 2.2 AA: one line each. */
export async function accessibilityFaults({ page }: Pick<Window, 'page'>): Promise<string[]> {
  // axe would wait for ever for its answer from a frame in which no script runs.
  const axe = new AxeBuilder({ page }).withTags(LEVELS).exclude('iframe[sandbox]');
  await page.evaluate(STILL);
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
  );
}
