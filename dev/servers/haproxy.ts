// A local HAProxy in front of the nodes, like `deploy/haproxy.cfg` in docker-compose.yml: it accepts HTTP and mail, and forwards both to
// the nodes whose /healthz is well, with the address of the client in a PROXY header.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from '../executables.js';
import { listening } from '../ports.js';
import { startProgram, whenReady } from '../program.js';

export interface Balancer {
  readonly pid: number;
  readonly logs: readonly string[];
  stop(): Promise<void>;
}

export interface Backend {
  readonly name: string;
  readonly http: number;
  readonly mx: number;
  readonly imap: number;
  readonly pop3: number;
}

export interface BalancerOptions {
  /** The balancer's own ports, on 127.0.0.1. */
  readonly http: number;
  readonly mx: number;
  readonly imap: number;
  readonly pop3: number;
  readonly backends: readonly Backend[];
}

/** The network that the nodes must trust, for MANSIO_PROXY_NETWORKS. */
export const BALANCER_NETWORK = '127.0.0.1/32';

/** @throws MissingProgram */
export function startHaproxy(options: BalancerOptions): Promise<Balancer> {
  return startConfigured(haproxyConfig(options), options.imap);
}

/** `port` is one that `text` binds on 127.0.0.1. @throws MissingProgram */
export async function startConfigured(text: string, port: number): Promise<Balancer> {
  const command = requireProgram('haproxy');
  const directory = mkdtempSync(join(tmpdir(), 'mansio-haproxy-'));
  const config = join(directory, 'haproxy.cfg');
  writeFileSync(config, text);
  const program = startProgram({ command, args: ['-db', '-f', config], env: { PATH: process.env['PATH'] ?? '' } });
  // HAProxy reads the file once.
  const forget = () => rmSync(directory, { recursive: true, force: true });
  try {
    await whenReady('haproxy', program, listening(port));
  } finally {
    forget();
  }
  return {
    pid: program.pid,
    logs: program.logs,
    async stop() {
      await program.kill('SIGTERM');
    },
  };
}

function haproxyConfig({ http, mx, imap, pop3, backends }: BalancerOptions): string {
  const servers = (line: (backend: Backend) => string) => backends.map(line).join('\n  ');
  const mail = (protocol: 'mx' | 'imap' | 'pop3', port: number, timeout: string) => `
listen ${protocol}
  mode tcp
  bind 127.0.0.1:${port}
  balance leastconn
  timeout client ${timeout}
  timeout server ${timeout}
  ${servers((to) => `server ${to.name} 127.0.0.1:${to[protocol]} check port ${to.http} send-proxy-v2`)}
  option allbackups
  ${servers((to) => `server ${to.name}-unwell 127.0.0.1:${to[protocol]} backup send-proxy-v2`)}
`;
  return `
defaults
  timeout connect 1s
  timeout check 3s
  timeout client 6m
  timeout server 6m
  timeout tunnel 1h
  option redispatch 1
  retries 3
  option httpchk
  http-check send meth GET uri /healthz ver HTTP/1.1 hdr Host healthz
  default-server inter 500ms fastinter 250ms fall 2 rise 1

frontend http
  mode http
  bind 127.0.0.1:${http}
  http-request del-header X-Forwarded-For
  use_backend http-writes unless { method GET HEAD }
  default_backend http

backend http
  mode http
  balance leastconn
  timeout server 20s
  retry-on conn-failure empty-response
  ${servers(({ name, http: port }) => `server ${name} 127.0.0.1:${port} check send-proxy-v2`)}

backend http-writes
  mode http
  balance leastconn
  timeout server 20s
  option http-server-close
  ${servers(({ name, http: port }) => `server ${name} 127.0.0.1:${port} track http/${name} send-proxy-v2`)}
${mail('mx', mx, '6m')}${mail('imap', imap, '32m')}${mail('pop3', pop3, '11m')}`;
}
