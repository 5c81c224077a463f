// Measures a request over the bare NATS client between two processes: the least that a request to another node can take. This file is both
// the asker and, as a child process, the one that answers.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connect } from 'nats';
import { percentile } from './figures.js';

const SUBJECT = 'bench.echo';
const OCTETS = 200;

/** Returns the median of requests one after the other, in ms. */
export async function bareRequestMs(url: string, milliseconds: number): Promise<number> {
  const child = fork(fileURLToPath(import.meta.url), [url]);
  await once(child, 'message');
  const connection = await connect({ servers: url });
  const samples: number[] = [];
  const data = new Uint8Array(OCTETS);
  for (const end = performance.now() + milliseconds; performance.now() < end; ) {
    const began = performance.now();
    await connection.request(SUBJECT, data, { timeout: 10_000 });
    samples.push(performance.now() - began);
  }
  await connection.close();
  child.disconnect();
  await once(child, 'exit');
  return percentile(samples, 0.5);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const connection = await connect({ servers: process.argv[2]! });
  connection.subscribe(SUBJECT, { callback: (_, message) => void message.respond(message.data) });
  await connection.flush();
  process.on('disconnect', () => process.exit(0));
  process.send?.('ready');
}
