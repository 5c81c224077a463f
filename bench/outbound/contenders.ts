// The servers that send the mail of `bench outbound`: Mansio; a relay made only of its libraries, which stores nothing; a bare Postfix; and
// a Postfix that does what Mansio does for a message, except that it keeps no copy: OpenDKIM signs it, Dovecot's SASL checks the login, and
// the sender must belong to the login.
import { fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDnsServer, type Zone } from '../../dev/servers/dns-server.js';
import { startBenchNode } from '../support/node.js';
import { startDovecot } from '../support/peers/dovecot.js';
import { startOpendkim } from '../support/peers/opendkim.js';
import { startPostfix } from '../support/peers/postfix.js';
import { startJoint } from '../support/processes.js';
import { SmtpSender } from '../support/smtp-load.js';

export interface Client {
  readonly sender: SmtpSender;
  readonly from: string;
}

export interface Contender {
  readonly name: string;
  /** The processes whose work counts, with that of their descendants. */
  readonly pids: Readonly<Record<string, number>>;
  /** Returns clients with open connections. */
  clients(): Promise<readonly Client[]>;
  stop(): Promise<void>;
}

/** The servers of the domains, by address; all listen on one port. */
export interface Destinations {
  readonly port: number;
  readonly addresses: ReadonlyMap<string, string>;
}

const DOMAIN = 'example.test';
const SENDER = `sender@${DOMAIN}`;

/** `processes` is the number of the node's processes. */
export async function startMansio(
  { port, addresses }: Destinations,
  clients: number,
  processes = 1,
): Promise<Contender> {
  const zones: Record<string, Zone> = {};
  for (const [domain, address] of addresses) {
    zones[domain] = { MX: [[10, `mx.${domain}`]] };
    zones[`mx.${domain}`] = { A: [address] };
  }
  const dns = await startDnsServer(zones);
  const key = await signingKey();
  const joint = await startJoint(processes);
  const node = await startBenchNode({
    ...joint.settings,
    MANSIO_LOG_LEVEL: 'info',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(port),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_DKIM_SELECTOR: 'bench',
    MANSIO_DKIM_KEY: key.path,
  });
  const logins = await Promise.all(
    (await node.createAccounts(clients)).map(async ({ id, email }) => ({
      email,
      key: await node.createKey(id, ['smtp']),
    })),
  );
  return {
    name: processes === 1 ? 'Mansio' : `Mansio of ${processes} processes`,
    pids: {
      node: node.process.pid!,
      database: node.databasePid,
      ...(joint.natsPid !== undefined && { NATS: joint.natsPid }),
    },
    clients: () => Promise.all(logins.map(({ email, key }) => signedIn(node.port('submission'), email, key))),
    async stop() {
      await node.stop();
      await joint.stop();
      await dns.close();
      await key.remove();
    },
  };
}

/** Measures what the same libraries do with the same mail when they neither queue nor store it. */
export async function startBareRelay({ port, addresses }: Destinations, clients: number): Promise<Contender> {
  const script = fileURLToPath(new URL('../support/peers/bare-relay.js', import.meta.url));
  const key = await signingKey();
  const password = 'secret';
  const routes = [...addresses].map(([domain, address]) => `${domain}=${address}`);
  const child = fork(script, [password, key.path, String(port), ...routes]);
  const [listening] = (await once(child, 'message')) as [number];
  return {
    name: 'Bare relay of the libraries',
    pids: { relay: child.pid! },
    clients: () => Promise.all(Array.from({ length: clients }, () => signedIn(listening, SENDER, password))),
    async stop() {
      child.disconnect();
      await key.remove();
    },
  };
}

async function signingKey(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'mansio-dkim-'));
  const path = join(directory, 'key.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { path, remove: () => rm(directory, { recursive: true, force: true }) };
}

export async function startBarePostfix(to: Destinations, clients: number): Promise<Contender | undefined> {
  const server = await startPostfix(routesTo(to));
  if (server === undefined) return undefined;
  const open = async () => ({ sender: await SmtpSender.open('127.0.0.1', server.port), from: SENDER });
  return {
    name: `Postfix ${server.version}`,
    pids: { Postfix: server.pid },
    clients: () => Promise.all(Array.from({ length: clients }, open)),
    stop: () => server.stop(),
  };
}

/** Resolves to undefined when a part is not installed. */
export async function startSigningPostfix(to: Destinations, clients: number): Promise<Contender | undefined> {
  const opendkim = await startOpendkim(DOMAIN);
  const dovecot = await startDovecot({ protocols: [], sasl: true });
  const server =
    opendkim &&
    dovecot &&
    (await startPostfix(routesTo(to), [
      `smtpd_milters = inet:127.0.0.1:${opendkim.port}`,
      'smtpd_sasl_auth_enable = yes',
      'smtpd_sasl_type = dovecot',
      `smtpd_sasl_path = inet:127.0.0.1:${dovecot.saslPort}`,
      'smtpd_relay_restrictions = permit_sasl_authenticated, reject',
      `smtpd_sender_login_maps = static:{${SENDER}}`,
      'smtpd_sender_restrictions = reject_sender_login_mismatch',
    ]));
  const stop = async () => {
    for (const part of [server, dovecot, opendkim]) await part?.stop();
  };
  if (server === undefined) {
    await stop();
    return undefined;
  }
  const open = () => signedIn(server.port, SENDER, dovecot!.password);
  return {
    name: `Postfix ${server.version}, SASL, OpenDKIM`,
    pids: { Postfix: server.pid, OpenDKIM: opendkim!.pid, Dovecot: dovecot!.process.pid! },
    clients: () => Promise.all(Array.from({ length: clients }, open)),
    stop,
  };
}

function routesTo({ port, addresses }: Destinations): Record<string, string> {
  return Object.fromEntries([...addresses].map(([domain, address]) => [domain, `${address}:${port}`]));
}

async function signedIn(port: number, email: string, password: string): Promise<Client> {
  const sender = await SmtpSender.open('127.0.0.1', port);
  await sender.authenticate(email, password);
  return { sender, from: email };
}
