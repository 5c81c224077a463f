// Measures the page in Chromium, through a whole node with a mailbox of 100,000 emails (BENCH_WEB_EMAILS): the list after a navigation, mail
// that arrives, an email that is opened, scrolling, the size of the first load, and the memory of the page while mail arrives. `npm run bench
// web 30` looks at the memory for 30 minutes, not for one; `npm run bench web list arrival` measures these parts alone. BENCH_WEB_PROFILE=FILE
// writes a CPU profile of the page while the part runs.
import { writeFileSync } from 'node:fs';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { requireProgram } from '../dev/executables.js';
import { figure, latency, percentile, withGoal } from './support/figures.js';
import { fillStore } from './support/large-store.js';
import { loadAverage } from './support/machine.js';
import { startMail } from './support/mail-stream.js';
import { type BenchAccount, type BenchNode, startBenchNode } from './support/node.js';
import { SmtpSender } from './support/smtp-load.js';
import { pause } from './support/write-probe.js';
import { htmlMail } from './web/mails.js';
import { PAGE_TIMES } from './web/page-times.js';

const EMAILS = Number(process.env['BENCH_WEB_EMAILS'] ?? 100_000);
const NAVIGATIONS = 10;
const ARRIVALS = 50;
const OPENED = 30;
/** What is opened or arrives first, without being measured: the page loads and compiles the code for it. */
const WARM = 3;
const SCROLLED_ROWS = 5_000;
/** The px of a frame: 5,000 rows take 20 seconds of 60 frames. */
const SCROLL_STEP = 320;
const FRAME_MS = 17;
/** The messages per second while the memory is looked at. */
const ARRIVING = 20;
const MINUTES = 1;
const MINUTE_MS = 60_000;
/** The most ms between two measurements: they are at all times between two frames. */
const PAUSE_MS = 150;
const GOALS = { list: 300, arrival: 50, open: 50, firstLoad: 150 } as const;
const VIEWPORT = { width: 1440, height: 900 };

interface Bench {
  readonly node: BenchNode;
  readonly browser: Browser;
  readonly account: BenchAccount;
  readonly origin: string;
  /** The cookies of a session. */
  readonly storageState: Awaited<ReturnType<BrowserContext['storageState']>>;
  readonly minutes: number;
}

const PARTS: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  list: measureList,
  arrival: measureArrival,
  open: measureOpen,
  scroll: measureScrolling,
  memory: measureMemory,
};

export async function run(args: readonly string[]): Promise<void> {
  const minutes = Number(args.find((arg) => /^\d+$/.test(arg)) ?? MINUTES);
  const named = args.filter((arg) => !/^\d+$/.test(arg));
  const unknown = named.filter((name) => PARTS[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`web [minutes] [${Object.keys(PARTS).join('|')} …], not ${unknown.join(' ')}`);
  // root cannot use Chromium's sandbox.
  const browser = await chromium.launch({ executablePath: requireProgram('chromium'), args: ['--no-sandbox'] });
  const node = await startBenchNode({ MANSIO_LOG_LEVEL: 'warn' });
  try {
    const [account] = await node.createAccounts(1);
    const started = performance.now();
    await fillStore(node.database, new Map([[account!.id, EMAILS]]));
    figure(`made a searchable store of ${EMAILS} emails`, (performance.now() - started) / 1000, 's');
    const origin = `http://127.0.0.1:${node.port('http')}`;
    const storageState = await signedIn(browser, origin, await node.createKey(account!.id));
    const bench = { node, browser, account: account!, origin, storageState, minutes };
    process.stdout.write(`  ${browser.browserType().name()} ${browser.version()}, load average ${loadAverage()}\n`);
    for (const name of named.length === 0 ? Object.keys(PARTS) : named) await PARTS[name]!(bench);
    process.stdout.write(`  load average at the end ${loadAverage()}\n`);
  } finally {
    await browser.close();
    await node.stop();
  }
}

/** Signs in as a person does, and returns the cookie. The first list loads the mailbox. */
async function signedIn(browser: Browser, origin: string, key: string): Promise<Bench['storageState']> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.goto(origin);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('option').first().waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Opens the page in a new context, which has the cookie and an empty cache; resolves when its rows are painted. */
async function openPage({ browser, origin, storageState }: Bench): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, storageState });
  await context.addInitScript(PAGE_TIMES);
  const page = await context.newPage();
  await page.goto(`${origin}/inbox`);
  await rowsMs(page);
  return page;
}

const rowsMs = (page: Page): Promise<number> => page.evaluate<number>('times.rowsMs');

async function measureList(bench: Bench): Promise<void> {
  const first: number[] = [];
  for (let i = 0; i < NAVIGATIONS; i++) {
    const page = await openPage(bench);
    first.push(await rowsMs(page));
    if (i === 0) await firstLoad(page);
    await page.context().close();
  }
  const page = await openPage(bench);
  const again: number[] = [];
  await profiled(page, async () => {
    for (let i = 0; i < WARM + NAVIGATIONS; i++) {
      await page.reload();
      const ms = await rowsMs(page);
      if (i >= WARM) again.push(ms);
    }
  });
  latency('list painted after a first navigation', first, GOALS.list);
  latency('list painted after a further navigation', again, GOALS.list);
  await page.context().close();
}

async function firstLoad(page: Page): Promise<void> {
  const octets = await page.evaluate<number>(`performance.getEntries()
    .filter(({ entryType, name }) => entryType === 'navigation' || name.startsWith(location.origin + '/assets/'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
  figure('first load, compressed', octets / 1000, 'kB', withGoal(octets / 1000, GOALS.firstLoad));
}

async function measureArrival(bench: Bench): Promise<void> {
  const page = await openPage(bench);
  const sender = await SmtpSender.open('127.0.0.1', bench.node.port('mx'));
  const takenMs: number[] = [];
  await profiled(page, async () => {
    for (let i = 0; i < WARM + ARRIVALS; i++) {
      const subject = `Arrival ${i} of ${ARRIVALS}`;
      await page.evaluate(`times.row(${JSON.stringify(subject)})`);
      const repliedAt = await arrive(bench, sender, i, subject);
      const paintedAt = await page.evaluate<number>('times.of()');
      if (i >= WARM) takenMs.push(paintedAt - repliedAt);
      await pause(Math.random() * PAUSE_MS);
    }
  });
  sender.close();
  latency('250 of the final dot until the row is painted', takenMs, GOALS.arrival);
  await page.context().close();
}

/** Resolves with the time of the 250. */
async function arrive({ account }: Bench, sender: SmtpSender, n: number, subject: string): Promise<number> {
  const isAccepted = await sender.send('news@remote.test', [account.email], htmlMail(n, account.email, subject));
  const repliedAt = Date.now();
  if (!isAccepted) throw new Error(`the node did not accept ${subject}`);
  return repliedAt;
}

async function measureOpen(bench: Bench): Promise<void> {
  const text = await openPage(bench);
  // The first rows may have arrived in an earlier part, as HTML.
  await text.evaluate(`document.querySelector('.list-scroll').scrollTop = 50_000`);
  await text.evaluate('times.rowAfter(500)');
  await opened(text, 'open an email of text');
  await text.context().close();
  const sender = await SmtpSender.open('127.0.0.1', bench.node.port('mx'));
  for (let i = 0; i < WARM + OPENED; i++) await arrive(bench, sender, i, `Newsletter ${i}`);
  sender.close();
  const html = await openPage(bench);
  await opened(html, 'open an email of HTML (40 kB)');
  await html.context().close();
}

/** Goes to the next row, opens it and goes back to the list, by keys. */
async function opened(page: Page, name: string): Promise<void> {
  const takenMs: number[] = [];
  await profiled(page, async () => {
    for (let i = 0; i < WARM + OPENED; i++) {
      await page.keyboard.press('j');
      await pause(Math.random() * PAUSE_MS);
      await page.evaluate('times.open()');
      await page.keyboard.press('Enter');
      const ms = await page.evaluate<number>('times.opened()');
      if (i >= WARM) takenMs.push(ms);
      await page.keyboard.press('u');
      await page.locator('article.message').waitFor({ state: 'detached' });
    }
  });
  latency(`${name}, key until title and body are painted`, takenMs, GOALS.open);
}

interface Scrolled {
  readonly frames: readonly number[];
  readonly isWaiting: number;
}

async function measureScrolling(bench: Bench): Promise<void> {
  const page = await openPage(bench);
  const { frames, isWaiting } = await profiled(page, () =>
    page.evaluate<Scrolled>(`times.scroll(${SCROLLED_ROWS}, ${SCROLL_STEP})`),
  );
  const late = frames.filter((ms) => ms > FRAME_MS).length;
  const seconds = frames.reduce((sum, ms) => sum + ms, 0) / 1000;
  const note = `of ${frames.length} in ${seconds.toFixed(1)} s`;
  figure(`frames longer than ${FRAME_MS} ms, over ${SCROLLED_ROWS} rows`, (late / frames.length) * 100, '%', note);
  figure('the longest of these frames', percentile(frames, 1), 'ms', `p99 ${percentile(frames, 0.99).toFixed(0)} ms`);
  figure('frames that show a row before its email is there', (isWaiting / frames.length) * 100, '%');
  await page.context().close();
}

async function measureMemory(bench: Bench): Promise<void> {
  const page = await openPage(bench);
  const session = await page.context().newCDPSession(page);
  const mail = await startMail(bench.node.port('mx'), [bench.account.email], ARRIVING);
  await pause(MINUTE_MS / 6);
  let first: Memory | undefined;
  for (let minute = 0; minute <= bench.minutes; minute++) {
    if (minute > 0) await pause(MINUTE_MS);
    const now = await memoryOf(session);
    first ??= now;
    const note = `${now.nodes} nodes, ${now.listeners} listeners; ${(now.megabytes - first.megabytes).toFixed(2)} MB more`;
    figure(`heap of the page, minute ${minute} of arriving mail`, now.megabytes, 'MB', note);
  }
  figure('messages that arrived', await mail.stop(), 'messages/s');
  await page.context().close();
}

interface Memory {
  readonly megabytes: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** What is left after a collection. */
async function memoryOf(session: CDPSession): Promise<Memory> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const value = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return { megabytes: value('JSHeapUsedSize') / 1e6, nodes: value('Nodes'), listeners: value('JSEventListeners') };
}

/** BENCH_WEB_PROFILE names the file for Chromium's DevTools. */
async function profiled<T>(page: Page, work: () => Promise<T>): Promise<T> {
  const file = process.env['BENCH_WEB_PROFILE'];
  if (file === undefined) return await work();
  const session = await page.context().newCDPSession(page);
  await session.send('Profiler.enable');
  await session.send('Profiler.start');
  const result = await work();
  const { profile } = await session.send('Profiler.stop');
  writeFileSync(file, JSON.stringify(profile));
  return result;
}
