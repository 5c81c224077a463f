// A page with the policy of the real one, in Chromium, that makes mails safe and shows them in their frame: for tests of what needs a
// document but no node.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { build } from 'esbuild';
import { chromium, type Page } from 'playwright-core';
import { documentPolicy } from '../../../../src/gateways/http/page/page.js';
import { lightBrowser } from '../../../support/browser/browser.js';

const NONCE = 'bm9uY2U';
const [POLICY_FIELD, POLICY] = documentPolicy(NONCE);

const ENTRY = `
  import { safeMail } from './web/src/message/html/safe-mail.ts';
  import { frameDocument, PAPER } from './web/src/message/html/frame-document.ts';
  import { setFrameDocument } from './web/src/message/html/frame.ts';
  const texts = { misleads: (destination) => 'leads to ' + destination, showQuote: 'Show quoted text' };
  const mapOf = (pairs) => new Map(Object.entries(pairs ?? {}));
  globalThis.violations = [];
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    violations.push(effectiveDirective + ' ' + blockedURI);
  });
  globalThis.safe = (html, { remote, byContentId, isFolded = false } = {}) => {
    const mail = safeMail(html, texts);
    const content = mail.content({ remote: mapOf(remote), byContentId: mapOf(byContentId) }, isFolded);
    return { ...content, remoteImages: mail.remoteImages, contentIds: mail.contentIds, usesColors: mail.usesColors };
  };
  globalThis.show = (content) => {
    const frame = document.querySelector('iframe');
    const isLoaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    const options = { nonce: document.querySelector('link').nonce, origin: location.origin, palette: PAPER, title: 'Mail' };
    setFrameDocument(frame, frameDocument(content, options));
    return isLoaded;
  };`;

const PAGE = `<!doctype html><title>Page</title><link rel="stylesheet" nonce="${NONCE}" href="/style.css">
  <iframe sandbox="allow-popups allow-popups-to-escape-sandbox" title="Mail"></iframe><script type="module" src="/entry.js"></script>`;

export interface SafeContent {
  readonly body: string;
  readonly styles: string;
  readonly inlineStyles: string;
  readonly remoteImages: readonly string[];
  readonly contentIds: readonly string[];
  readonly usesColors: boolean;
}

export interface SafeOptions {
  readonly remote?: Record<string, string>;
  readonly byContentId?: Record<string, string>;
  readonly isFolded?: boolean;
}

export interface SafeMailPage {
  readonly page: Page;
  readonly origin: string;
  /** What a violation of the policy was reported for, and each request that did not go to the page's own files. */
  faults(): Promise<string[]>;
  safe(html: string, options?: SafeOptions): Promise<SafeContent>;
  show(content: SafeContent): Promise<void>;
}

const modules = build({
  stdin: { contents: ENTRY, resolveDir: process.cwd(), loader: 'ts' },
  bundle: true,
  format: 'esm',
  target: 'es2022',
  write: false,
});

export async function openSafeMailPage(t: ExecutionContext): Promise<SafeMailPage> {
  const script = (await modules).outputFiles[0]!.text;
  const FILES: Record<string, readonly [type: string, content: string]> = {
    '/': ['text/html', PAGE],
    '/entry.js': ['text/javascript', script],
    '/style.css': ['text/css', 'iframe { width: 600px; height: 400px }'],
    '/favicon.ico': ['image/x-icon', ''],
  };
  const others: string[] = [];
  const server = createServer((request, response) => {
    const [type, content] = FILES[request.url!] ?? ['image/png', ''];
    response.writeHead(200, { 'content-type': type, [POLICY_FIELD]: POLICY }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await chromium.launch({
    executablePath: lightBrowser(),
    args: ['--no-sandbox'],
    timeout: 0,
  });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  page.on('request', (request) => {
    const path = request.url().startsWith(`${origin}/`) ? request.url().slice(origin.length) : request.url();
    if (FILES[path] === undefined && !path.startsWith('data:')) others.push(path);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') others.push(message.text());
  });
  await page.goto(origin);
  return {
    page,
    origin,
    faults: async () => [...others, ...(await page.evaluate<string[]>('violations'))],
    safe: (html, options = {}) => page.evaluate(`safe(${JSON.stringify(html)}, ${JSON.stringify(options)})`),
    show: (content) => page.evaluate(`show(${JSON.stringify(content)})`),
  };
}
