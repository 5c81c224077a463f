// Tests folders, flags and moves as users see them: over REST on a whole node, with names that people use, and after a kill.

import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { type ListedEmail, MailboxClient } from '../../support/clients/mailbox-client.js';
import { placed } from '../../support/clients/placed.js';
import { nodeDirectory, startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';

interface Folder {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly parentId: string | null;
  readonly total: number;
  readonly unread: number;
}

interface Listed extends ListedEmail {
  readonly isFlagged: boolean;
  readonly isAnswered: boolean;
  readonly folderIds: readonly string[];
}

interface Page {
  readonly items: readonly Listed[];
  readonly totalCount: number;
  readonly unreadCount: number;
}

async function send(node: TestNode, to: string, mail: object): Promise<void> {
  await createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } }).sendMail({
    from: 'Zoë 💌 <zoe@remote.test>',
    to,
    ...mail,
  });
  await placed(node);
}

test('mail is moved through nested folders, out of junk, flagged and answered, and is as it was after a kill', async (t) => {
  const settings = {
    MANSIO_DATA_DIR: await nodeDirectory('mansio-folders-'),
    MANSIO_HOSTED_DOMAINS: 'example.test',
  };
  let node = await startTestNode(settings);
  const sql = await storeOf(node);
  const user = await createAccount(sql, 'fay@example.test');
  const stranger = await createAccount(sql, 'eve@example.test');
  await sql.end();
  let client = new MailboxClient(node, user.key);
  const status = async (method: string, path: string, body?: unknown) =>
    (await client.request(method, path, body)).status;
  const made = async (body: object): Promise<Folder> => {
    const response = await client.request('POST', '/api/folders', body);
    t.is(response.status, 201);
    return (await response.json()) as Folder;
  };
  const moved = async (body: object) => {
    const response = await client.request('POST', '/api/emails/bulk/move', body);
    return { status: response.status, ...((await response.json()) as { count?: number }) };
  };
  const subjects = async (path: string) => (await client.get<Page>(path)).items.map(({ subject }) => subject);
  const folders = () => client.get<Folder[]>('/api/folders');

  for (const [subject, text] of [
    ['b one', 'x'.repeat(500)],
    ['Re: a two', 'x'],
    ['c three', 'xx'],
  ] as const) {
    await send(node, user.email, { subject, text });
  }
  const [three, two, one] = (await client.get<Page>('/api/emails')).items;
  t.deepEqual(
    (await folders()).map(({ name, role, total, unread }) => [name, role, total, unread]),
    [
      ['INBOX', 'inbox', 3, 3],
      ['Sent', 'sent', 0, 0],
      ['Drafts', 'drafts', 0, 0],
      ['Archive', 'archive', 0, 0],
      ['Trash', 'trash', 0, 0],
      ['Junk', 'junk', 0, 0],
    ],
  );

  const zoe = await made({ name: 'Zoë 💌' });
  const year = await made({ name: '2026', parentId: zoe.id });
  t.is(year.parentId, zoe.id);
  t.is(await status('POST', '/api/folders', { name: 'zoe\u0308 💌' }), 400, 'the same name, composed');
  t.is((await new MailboxClient(node, stranger.key).request('DELETE', `/api/folders/${zoe.id}`)).status, 404);

  t.like(await moved({ emailIds: [one!.id, two!.id], folderId: year.id }), { status: 200, count: 2 });
  t.deepEqual(await subjects(`/api/folders/${year.id}/emails`), ['Re: a two', 'b one']);
  t.deepEqual(await subjects(`/api/folders/${year.id}/emails?sort=date`), ['b one', 'Re: a two']);
  t.deepEqual(await subjects(`/api/folders/${year.id}/emails?sort=subject`), ['Re: a two', 'b one'], 'without Re:');
  t.deepEqual(await subjects(`/api/folders/${year.id}/emails?sort=-size`), ['b one', 'Re: a two']);
  t.deepEqual(await subjects('/api/emails'), ['c three']);
  t.deepEqual((await client.get<Listed>(`/api/emails/${one!.id}`)).folderIds, [year.id]);
  t.deepEqual(await subjects(`/api/emails/search?folder=${year.id}&q=three`), []);
  t.deepEqual(await subjects(`/api/emails/search?folder=${year.id}&q=two`), ['Re: a two']);
  const mbox = await client.request('GET', `/api/emails/export/mbox?folder=${year.id}`);
  t.is((await mbox.text()).match(/^From /gm)?.length, 2);

  t.is(await status('PATCH', `/api/emails/${one!.id}`, { isFlagged: true, isRead: true }), 204);
  t.is(await status('PATCH', `/api/emails/${one!.id}`, { isFlagged: true, isRead: false }), 204);
  t.deepEqual(await subjects(`/api/folders/${year.id}/emails?isFlagged=true`), ['b one']);
  t.like(await client.get<Page>(`/api/folders/${year.id}/emails?isRead=true`), { totalCount: 0, unreadCount: 0 });
  t.deepEqual(await subjects('/api/emails/search?isFlagged=true'), ['b one']);
  t.is(await status('POST', `/api/outbound/reply/${two!.id}`, { textBody: 'yes' }), 200);
  const forward = { recipients: [{ address: user.email, type: 'To' }] };
  t.is(await status('POST', `/api/outbound/forward/${two!.id}`, forward), 200);
  t.like(await client.get<Listed>(`/api/emails/${two!.id}`), { isAnswered: true, isFlagged: false });
  t.deepEqual(await subjects('/api/emails/search?keyword=$forwarded'), ['Re: a two']);

  t.like(await moved({ emailIds: [three!.id], folderId: 'junk' }), { status: 200, count: 1 });
  t.deepEqual(await subjects('/api/emails/search?q=three'), [], 'junk is left out');
  t.deepEqual(await subjects('/api/emails/search?q=three&folder=junk&keyword=$Junk'), ['c three']);
  t.like(await moved({ emailIds: [three!.id], folderId: 'inbox', fromFolderId: 'trash' }), { count: 0 });
  t.like(await moved({ emailIds: [three!.id], folderId: 'inbox', fromFolderId: 'junk' }), { count: 1 });
  t.deepEqual(await subjects('/api/emails/search?keyword=$NotJunk'), ['c three']);
  t.deepEqual(await subjects('/api/emails/search?keyword=$Junk&folder=inbox'), []);

  t.is(await status('PUT', `/api/folders/${zoe.id}`, { name: 'Zoë 💔', isSubscribed: false }), 204);
  t.is(await status('PUT', `/api/folders/${zoe.id}`, { name: 'x', parentId: year.id }), 400, 'not into itself');
  await node.kill('SIGKILL');
  node = await startTestNode(settings);
  client = new MailboxClient(node, user.key);
  t.deepEqual(
    (await folders()).slice(6).map(({ name, parentId, total }) => [name, parentId, total]),
    [
      ['Zoë 💔', null, 0],
      ['2026', zoe.id, 2],
    ],
  );
  t.deepEqual(await subjects('/api/emails/search?keyword=$NotJunk'), ['c three']);
  t.deepEqual(await subjects(`/api/folders/${year.id}/emails?isFlagged=true`), ['b one']);
  t.is(await status('DELETE', `/api/folders/${zoe.id}`), 204);
  const archive = (await folders()).find(({ role }) => role === 'archive')!;
  t.deepEqual(await subjects(`/api/folders/${archive.id}/emails`), ['Re: a two', 'b one'], 'nothing is lost');
  t.is((await folders()).length, 6);
  t.is(await status('DELETE', `/api/folders/${archive.id}`), 400);
  await node.stop();
});
