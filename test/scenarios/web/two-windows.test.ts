// Tests two windows in the settings through a whole node: each shows what the other one changes, and what is being written stays.
import { accessibilityFaults, testInBrowser } from '../../support/browser/browser.js';
import { startPageNode } from '../../support/browser/page-node.js';
import { mansio } from '../../support/command.js';
import { until } from '../../support/until.js';

testInBrowser('the vacation is the same in two windows, and what is written in one of them stays', async (t) => {
  const { client, open } = await startPageNode(t, 'zoe');
  const [one, other] = [await open({ path: '/settings/vacation' }), await open({ path: '/settings/vacation' })];
  const textOf = ({ page }: typeof one) => page.getByRole('textbox', { name: 'Text' });
  const answers = ({ page }: typeof one) => page.getByLabel('Answer my mail');
  const contested = ({ page }: typeof one) => page.getByText('Another window has changed this meanwhile.');
  const vacation = () => client.get<{ isEnabled: boolean; textBody: string | null }>('/api/vacation');
  await textOf(one).fill('Until Monday');
  await textOf(one).blur();
  await until(async () => (await textOf(other).inputValue()) === 'Until Monday');
  await answers(other).check();
  await until(() => answers(one).isChecked());
  t.like(await vacation(), { isEnabled: true, textBody: 'Until Monday' });

  // What cannot be saved is still written here.
  await one.page.route('**/api/vacation', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await textOf(one).fill('Until Tuesday');
  await textOf(one).blur();
  await one.page.getByRole('button', { name: 'Try again' }).waitFor();
  await textOf(other).fill('Until Friday');
  await textOf(other).blur();
  await contested(one).waitFor();
  t.is(await textOf(one).inputValue(), 'Until Tuesday');
  t.deepEqual(await accessibilityFaults(one), []);
  await one.page.getByRole('button', { name: 'Show what is stored' }).click();
  t.is(await textOf(one).inputValue(), 'Until Friday');
  await contested(one).waitFor({ state: 'detached' });
  t.like(await vacation(), { isEnabled: true, textBody: 'Until Friday' });
  t.is(await contested(other).count(), 0);
});

testInBrowser(
  'filters are the same in two windows; a form keeps what is written, and saves what others changed',
  async (t) => {
    const { client, open } = await startPageNode(t, 'zoe');
    const [one, other] = [await open({ path: '/settings/filters' }), await open({ path: '/settings/filters' })];
    const filter = { name: 'Bills', isEnabled: true, priority: 1, subjectContains: 'bill', markAsRead: true };
    t.is((await client.request('POST', '/api/filters', filter)).status, 201);
    type Stored = { readonly id: string; readonly isEnabled: boolean; readonly subjectContains: string };
    const stored = () => client.get<readonly Stored[]>('/api/filters');
    const subject = one.page.getByLabel('The subject has');
    const edit = () => one.page.getByRole('button', { name: 'Change Bills' }).click();
    await edit();
    await subject.fill('invoice');
    const isOn = other.page.getByRole('checkbox', { name: 'Bills' });
    const heard = one.page.waitForResponse(async (response) => {
      const isRead = response.request().method() === 'GET' && new URL(response.url()).pathname === '/api/filters';
      return isRead && ((await response.json()) as readonly Stored[])[0]?.isEnabled === false;
    });
    await isOn.uncheck();
    await until(async () => (await stored())[0]?.isEnabled === false);
    await heard;
    t.is(await subject.inputValue(), 'invoice');
    await one.page.getByRole('button', { name: 'Save', exact: true }).click();
    await other.page.getByText('invoice').waitFor();
    t.like((await stored())[0], { isEnabled: false, subjectContains: 'invoice' });

    await edit();
    await subject.fill('receipt');
    const [{ id }] = (await stored()) as [Stored];
    await client.request('PUT', `/api/filters/${id}`, { ...filter, subjectContains: 'order' });
    const contested = one.page.getByText('Another window has changed this meanwhile.');
    await contested.waitFor();
    t.is(await subject.inputValue(), 'receipt');
    t.deepEqual(await accessibilityFaults(one), []);
    await one.page.getByRole('button', { name: 'Show what is stored' }).click();
    t.is(await subject.inputValue(), 'order');
    await subject.fill('receipt');
    await other.page.getByRole('button', { name: 'Delete Bills' }).click();
    await one.page.getByText('This filter was deleted elsewhere.').waitFor();
    t.is(await subject.inputValue(), 'receipt');
    await one.page.getByRole('button', { name: 'Save', exact: true }).click();
    await other.page.getByText('receipt').waitFor();
    t.is((await stored()).length, 1);
    t.deepEqual([...one.faults, ...other.faults], []);
  },
);

testInBrowser('senders and storage follow what other programs change', async (t) => {
  const { node, account, client, open } = await startPageNode(t, 'zoe');
  const one = await open({ path: '/settings/senders' });
  const blocked = one.page.getByLabel('Blocked senders');
  await blocked.fill('Spam.test');
  await blocked.blur();
  await until(async () => (await client.get<{ blocked: string[] }>('/api/senders')).blocked.length === 1);
  await client.request('PUT', '/api/senders', { allowed: ['ann@spam.test'], blocked: ['spam.test', 'bo@peer.test'] });
  await until(async () => (await one.page.getByLabel('Allowed senders').inputValue()) === 'ann@spam.test');
  t.is(await blocked.inputValue(), 'bo@peer.test\nspam.test');
  t.is(await one.page.getByText('Another window has changed this meanwhile.').count(), 0);

  const other = await open({ path: '/settings/profile' });
  const limit = () => other.page.getByText('250 MB', { exact: false });
  await other.page.getByRole('heading', { name: 'Storage' }).waitFor();
  t.is(await limit().count(), 0);
  t.is((await mansio(node.dataDir, ['quota', 'set', account.email, '--bytes', '250000000'])).code, 0);
  await limit().first().waitFor();
  t.deepEqual([...one.faults, ...other.faults], []);
});
