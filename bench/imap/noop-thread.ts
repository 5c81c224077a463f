// The client of ../quiet-client.ts in its own thread: it sends NOOP continuously, and reports the longest response time since the last
// report.
import { parentPort, workerData } from 'node:worker_threads';
import { ImapClient } from '../support/imap-client.js';
import type { ContenderLogin } from './contenders.js';

const PAUSE_MS = 2;

const { port, localAddress, name, password } = workerData as ContenderLogin;
const client = await ImapClient.open({ port, localAddress });
await client.ok(`LOGIN ${name} ${password}`);
await client.ok('SELECT INBOX');
let longest = 0;
parentPort!.on('message', () => {
  parentPort!.postMessage(longest);
  longest = 0;
});
for (;;) {
  const started = performance.now();
  await client.ok('NOOP');
  longest = Math.max(longest, performance.now() - started);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
