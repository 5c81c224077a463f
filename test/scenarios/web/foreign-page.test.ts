// Tests `mansio/client` in the page of another origin, as somebody else would use it: bundled, with a key, in Chromium. It lists, follows and
// changes mail; where the origin is not listed, the browser withholds everything.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { createTransport } from 'nodemailer';
import { accountOn, port } from '../../../dev/node-accounts.js';
import { BROWSER_TEST_MS, browserOfFile, testInBrowser } from '../../support/browser/browser.js';
import { startTestNode } from '../../support/node.js';

/** Shows subjects, the state and errors as text. The key and the server are in the address, which no real page does. */
const PAGE = `
  import { createClient, Conflict } from 'mansio/client';
  const [baseUrl, apiKey] = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  const client = createClient({ baseUrl, credential: { apiKey } });
  const show = (id, text) => { document.getElementById(id).textContent = text; };
  client.connection$.subscribe((state) => show('state', state));
  client.list({ folder: 'inbox' }).subscribe(({ items }) => {
    show('list', items.map(({ subject }) => subject).join() || 'nothing');
    document.getElementById('archive').onclick = () => client.act.move([items[0].id], { to: 'archive' });
  });
  async function draft() {
    const { draft: { id }, etag } = await client.drafts.create({ subject: 'One' });
    await client.drafts.update(id, { subject: 'Two' }, etag);
    await client.drafts.update(id, { subject: 'Three' }, etag);
  }
  draft().catch((error) => show('draft', error instanceof Conflict ? 'conflict' : error.name));
`;

testInBrowser('a page of another origin lists, follows and changes mail when its origin is listed', async (t) => {
  t.timeout(BROWSER_TEST_MS);
  const stdin = { contents: PAGE, resolveDir: '.' };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', platform: 'browser', write: false });
  const ids = ['state', 'list', 'draft'].map((id) => `<p id="${id}"></p>`).join('');
  const html = `<!doctype html>${ids}<button id="archive">Archive</button><script type="module" src="/page.js"></script>`;
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? outputFiles[0]!.text : html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port: foreign } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${foreign}`;
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_CORS_ORIGINS: origin });
  t.teardown(() => node.stop());
  const { key, email } = await accountOn(node, 'zoe');
  const context = await (await browserOfFile()).newContext();
  t.teardown(() => context.close());
  context.setDefaultTimeout(0);
  const hash = encodeURIComponent(JSON.stringify([`http://127.0.0.1:${port(node, 'http')}`, key]));

  const page = await context.newPage();
  await page.goto(`${origin}/#${hash}`);
  await page.getByText('live', { exact: true }).waitFor();
  await page.getByText('nothing', { exact: true }).waitFor();
  await page.getByText('conflict', { exact: true }).waitFor();
  const transport = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  await transport.sendMail({ from: 'ann@remote.test', to: email, subject: 'Hello', text: 'x' });
  await page.getByText('Hello', { exact: true }).waitFor();
  await page.getByRole('button').click();
  await page.getByText('nothing', { exact: true }).waitFor();
  t.deepEqual(await context.cookies(), []);

  // The same page under another name is another origin.
  const stranger = await context.newPage();
  await stranger.goto(`http://localhost:${foreign}/#${hash}`);
  await stranger.getByText('NetworkFault', { exact: true }).waitFor();
  t.is(await stranger.locator('#list').textContent(), '');
  await stranger.getByText('reconnecting', { exact: true }).waitFor();
});
