// Debian's clamd with one signature of our own, the EICAR test file, instead of ClamAV's database.
import { chmodSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { requireProgram } from '../../../dev/executables.js';
import { freePort } from '../../../dev/ports.js';
import { startProgram } from '../../../dev/program.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { eventually } from '../../scenarios/cluster/support/eventually.js';

/** In two pieces, so that no scanner removes this file. */
export const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD', '-ANTIVIRUS-TEST-FILE!$H+H*'].join('');

interface Teardown {
  teardown(end: () => Promise<unknown>): void;
}

/** Returns its port. */
export async function startClamd(t: Teardown): Promise<number> {
  const directory = temporaryDirectory('mansio-clamd-');
  const port = await freePort();
  const signature = `Eicar-Test-Body:0:*:${Buffer.from(EICAR).toString('hex')}\n`;
  const settings = [`DatabaseDirectory ${directory}`, `TCPSocket ${port}`, 'TCPAddr 127.0.0.1', 'Foreground yes'];
  // It gives up the rights of root unless root is named.
  if (process.getuid?.() === 0) settings.push('User root');
  chmodSync(directory, 0o755);
  writeFileSync(join(directory, 'local.ndb'), signature);
  writeFileSync(join(directory, 'clamd.conf'), `${settings.join('\n')}\n`);
  const program = startProgram({
    command: requireProgram('clamd'),
    args: ['-c', join(directory, 'clamd.conf')],
    env: { PATH: process.env['PATH'] ?? '' },
  });
  t.teardown(() => program.kill('SIGTERM'));
  await eventually('clamd', () => answers(port));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('zPING\0'));
    socket.once('data', (reply) => {
      socket.destroy();
      resolve(reply.toString().startsWith('PONG'));
    });
    // It may take a connection before it answers.
    socket.setTimeout(10_000, () => socket.destroy());
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
