// Tests long threads: a reply says what it leaves out, and pages give all of it.
import test from '../../../../support/test.js';
import { ALICE } from '../../fakes.js';
import { type Gateway, startGateway } from '../../gateway.js';
import { addMail } from '../../mail-fixture.js';
import type { Document } from '../../schema-check.js';

const THREAD = '018f0000-0000-7000-8000-0000000000ff';

function fill({ mailboxes, blobs }: Gateway, count: number, text = (i: number) => `text ${i}`): void {
  for (let i = 0; i < count; i++) {
    const id = `018f0000-0000-7000-8000-${String(i).padStart(12, '0')}`;
    addMail(mailboxes, blobs, ALICE, { id, subject: `${i}`, text: text(i) });
  }
}

async function thread(gateway: Gateway, query = '') {
  const response = await gateway.fetch(`/api/emails/threads/${THREAD}${query}`);
  const emails = (response.status === 200 ? await response.json() : []) as Document[];
  return {
    status: response.status,
    truncated: response.headers.get('x-truncated'),
    total: response.headers.get('x-total-count'),
    subjects: emails.map(({ subject }) => Number(subject)),
    partial: emails.filter(({ isPartial }) => isPartial === true).map(({ subject }) => Number(subject)),
  };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test('more than 500 emails: the newest, and the reply says so; pages are the whole thread', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway, 510);
  const whole = await thread(gateway);
  t.deepEqual([whole.truncated, whole.total], ['true', '510']);
  t.deepEqual(whole.subjects, numbers(10, 510));
  const paged: number[] = [];
  for (let page = 1; page <= 6; page++) {
    const found = await thread(gateway, `?page=${page}&pageSize=100`);
    t.deepEqual([found.truncated, found.total], [null, '510']);
    paged.push(...found.subjects);
  }
  t.deepEqual(paged, numbers(0, 510));
  t.deepEqual((await thread(gateway, '?page=2')).subjects, numbers(20, 40));
  t.deepEqual((await thread(gateway, '?pageSize=3')).subjects, numbers(0, 3));
  t.is((await thread(gateway, '?pageSize=1000')).subjects.length, 100);
  t.deepEqual(await thread(gateway, '?page=99'), {
    status: 200,
    truncated: null,
    total: '510',
    subjects: [],
    partial: [],
  });
  for (const query of ['?page=0', '?page=x', '?pageSize=-1']) t.is((await thread(gateway, query)).status, 400, query);
});

test('bodies beyond 8 M characters are left out, and the reply says so', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway, 12, (i) => `${i}`.padEnd(1_000_000, ' words'));
  const whole = await thread(gateway);
  t.deepEqual([whole.truncated, whole.total], ['true', '12']);
  t.deepEqual(whole.partial, [0, 1, 2], 'the oldest');
  const page = await thread(gateway, '?page=1&pageSize=5');
  t.deepEqual([page.truncated, page.partial], [null, []]);
});

test('a thread that fits says nothing', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway, 500);
  const { truncated, total, subjects } = await thread(gateway);
  t.deepEqual([truncated, total, subjects.length], [null, '500', 500]);
});
