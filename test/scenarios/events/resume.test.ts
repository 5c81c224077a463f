// Tests a hub client that resumes on whole nodes: after the death of its node, and from an old position with slow reading.
import { on, once } from 'node:events';
import { createRequire } from 'node:module';
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';

const SETTINGS = { MANSIO_HOSTED_DOMAINS: 'example.test' };

test('a client whose node was killed hears from the next one what it missed, once', async (t) => {
  let node = await startTestNode(SETTINGS);
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const { email, key } = await createAccount(sql, 'ann@example.test');
  await sql.end();
  const send = (to: TestNode, subject: string) =>
    createTransport({ host: '127.0.0.1', port: port(to, 'mx'), tls: { rejectUnauthorized: false } }).sendMail({
      from: 'bob@remote.test',
      to: email,
      subject,
      text: subject,
    });

  const url = (of: TestNode) => `http://127.0.0.1:${port(of, 'http')}/hubs/email?resume=true`;
  const hub = new HubConnectionBuilder()
    .withUrl(url(node), { accessTokenFactory: () => key })
    .withAutomaticReconnect({ nextRetryDelayInMilliseconds: () => 50 })
    .configureLogging(LogLevel.None)
    .build();
  let cursor: string | null = null;
  const subjects: string[] = [];
  let heard = () => {};
  hub.on('NewEmail', (shown: { subject: string }) => void subjects.push(shown.subject));
  hub.on('Position', (position: string) => {
    cursor = position;
    heard();
  });
  const complete: boolean[] = [];
  const resume = async () => void complete.push((await hub.invoke<{ complete: boolean }>('Resume', cursor)).complete);
  const until = async (count: number) => {
    while (subjects.length < count) await new Promise<void>((resolve) => (heard = resolve));
  };
  hub.onreconnected(resume);
  await hub.start();
  await resume();
  await send(node, 'one');
  await until(1);

  await node.kill('SIGKILL');
  node = await startTestNode({ ...SETTINGS, MANSIO_DATA_DIR: node.dataDir });
  await send(node, 'two');
  await send(node, 'three');
  hub.baseUrl = url(node);
  await until(3);
  await send(node, 'four');
  await until(4);
  t.deepEqual(subjects, ['one', 'two', 'three', 'four']);
  t.deepEqual(complete, [true, true]);
  await hub.stop();
});

test('a client that reads slowly gets a long way back whole', async (t) => {
  const node = await startTestNode(SETTINGS);
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const { id, key } = await createAccount(sql, 'ann@example.test');
  const connect = async () => {
    const WebSocket = createRequire(createRequire(import.meta.url).resolve('@microsoft/signalr'))('ws');
    const socket = new WebSocket(`ws://127.0.0.1:${port(node, 'http')}/hubs/email?resume=true&access_token=${key}`);
    await once(socket, 'open');
    socket.send('{"protocol":"json","version":1}\u001e');
    return socket;
  };
  const resume = (cursor: string | null) =>
    `${JSON.stringify({ type: 1, invocationId: '1', target: 'Resume', arguments: [cursor] })}\u001e`;
  const first = await connect();
  let text = '';
  first.send(resume(null));
  // Several messages may arrive in one turn.
  for await (const [message] of on(first, 'message')) {
    text = String(message);
    if (text.includes('"complete"')) break;
  }
  first.terminate();
  const cursor = /"cursor":"([^"]+)"/.exec(text)![1]!;

  const [changes, perChange] = [20_000, 8];
  await sql`
    -- Changes begin at 2.
    insert into events (account_id, seq, entries, at)
    select ${id}, seq, (
      select json_agg(json_build_object('type', 'EmailRemoved', 'payload', json_build_object('emailId', seq || '.' || n)))
      from generate_series(1, ${perChange}::int) n
    ), now() from generate_series(2, ${changes}::int + 1) seq`;
  await sql.end();
  const socket = await connect();
  let [last, count, inOrder] = [0, 0, true];
  const whole = new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error('cut off')));
    socket.on('message', (data: string) => {
      for (const [, seq, n] of data.matchAll(/"arguments":\["(\d+)\.(\d+)"/g)) {
        const place = (Number(seq) - 2) * perChange + Number(n);
        inOrder &&= place === last + 1;
        last = place;
        count++;
      }
      if (last === changes * perChange) resolve();
    });
  });
  socket.send(resume(cursor));
  const raw = socket._socket as NodeJS.ReadableStream;
  for (let i = 0; i < 20; i++) {
    raw.pause();
    await new Promise((resolve) => setTimeout(resolve, 50));
    raw.resume();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await whole;
  t.true(inOrder);
  t.is(count, changes * perChange);
  t.false(node.logs.some((line) => line.includes('slow hub client')));
  socket.removeAllListeners('close');
  socket.terminate();
});
