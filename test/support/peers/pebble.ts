// A real ACME server with its faults on: `pebble`, and the name server that it asks (`pebble-challtestsrv`), which answers every name with one
// address.
import { Resolver } from 'node:dns/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import pino from 'pino';
import { requireProgram } from '../../../dev/executables.js';
import { freePorts } from '../../../dev/ports.js';
import { type Program, startProgram } from '../../../dev/program.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { selfSigned } from '../../../src/node/tls/tls-certificate.js';
import { eventually } from '../../scenarios/cluster/support/eventually.js';

export interface Pebble {
  /** The URL of the directory. */
  readonly directory: string;
  /** PEM file for the certificate of the directory. */
  readonly caFile: string;
  readonly ca: string;
  /** The name server: `ip:port`. */
  readonly dns: string;
  /** The port at which it looks for proofs. */
  readonly httpPort: number;
  /** PEM of the root that signs its certificates; another one after each start. */
  root(): Promise<string>;
  /** All names have this address from now on. */
  pointTo(address: string): Promise<void>;
  /** The server forgets its accounts and gets another root. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Teardown {
  teardown(end: () => Promise<unknown>): void;
}

export async function startPebble(
  t: Teardown,
  { nonceReject = 30, address = '127.0.0.1' }: { readonly nonceReject?: number; readonly address?: string } = {},
): Promise<Pebble> {
  const directory = temporaryDirectory('mansio-pebble-');
  const files = await selfSigned(directory, 'pebble.test', pino({ level: 'silent' }));
  const ca = readFileSync(files.cert, 'utf8');
  const [port, management, httpPort, tlsPort, dns, dnsManagement] = (await freePorts(6)) as [
    ...[number, number, number, number, number, number],
  ];
  const config = join(directory, 'config.json');
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: files.cert,
    privateKey: files.key,
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  };
  writeFileSync(config, JSON.stringify({ pebble }));
  const env = { PATH: process.env['PATH'] ?? '' };
  const names = startProgram({
    command: requireProgram('pebble-challtestsrv'),
    args: [
      ...['-defaultIPv4', address, '-defaultIPv6', '', '-dns01', `127.0.0.1:${dns}`],
      ...['-http01', '', '-https01', '', '-tlsalpn01', '', '-management', `127.0.0.1:${dnsManagement}`],
    ],
    env,
  });
  let server: Program | undefined;
  const read = (portNumber: number, path: string) => get(`https://localhost:${portNumber}${path}`, ca);
  const start = async () => {
    server = startProgram({
      command: requireProgram('pebble'),
      args: ['-config', config, '-dnsserver', `127.0.0.1:${dns}`, '-strict'],
      env: { ...env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: String(nonceReject) },
    });
    await eventually('pebble', () => read(port, '/dir'));
  };
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${dns}`]);
  const stop = async () => void (await server?.kill('SIGKILL'));
  t.teardown(() => Promise.all([stop(), names.kill('SIGKILL')]));
  await start();
  await eventually('the name server of pebble', () => resolver.resolve4('ready.test'));
  await eventually('its control', () => fetch(`http://127.0.0.1:${dnsManagement}/`));
  return {
    directory: `https://localhost:${port}/dir`,
    caFile: files.cert,
    ca,
    dns: `127.0.0.1:${dns}`,
    httpPort,
    root: () => read(management, '/roots/0'),
    async pointTo(ip) {
      const reply = await fetch(`http://127.0.0.1:${dnsManagement}/set-default-ipv4`, {
        method: 'POST',
        body: JSON.stringify({ ip }),
      });
      if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
    },
    async restart() {
      await stop();
      await start();
    },
    stop,
  };
}

function get(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ca, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    asked.on('error', reject).end();
  });
}
