// The output of `npm run cluster`: the addresses of all parts, and lines to paste which show that mail arrives and survives failures.
import type { DemoAccount } from './demo-account.js';
import type { LocalCluster } from './local-cluster.js';
import type { ClusterNode } from './local-node.js';
import { PROGRAM } from './node-process.js';
import type { Exit } from './program.js';

export interface Shown {
  readonly cluster: LocalCluster;
  readonly account: DemoAccount;
  /** The base URL and the `host:port` values that the pasted lines use. */
  readonly api: string;
  readonly mx: string;
  readonly imap: string;
  readonly pop3: string;
  readonly swaks: boolean;
}

export function clusterText({ cluster, account, api, mx, imap, pop3, swaks }: Shown): string {
  const { nodes, nats, postgres, balancer } = cluster;
  const rows = [
    balancer === undefined
      ? '  HAProxy   not installed: the lines below talk to the first node alone'
      : `  HAProxy   ${api}  smtp://${mx}  imap://${imap}  pop3://${pop3}`,
    ...nodes.map(
      (node) =>
        `  ${node.name}    ${node.http}  smtp://${node.mx}  imap://${node.imap}  pop3://${node.pop3}${metrics(node)}  pid ${node.process.pid}`,
    ),
    ...nats.map(({ name, url }) => `  ${name}    ${url}`),
    `  database  ${postgres.url}`,
    `  account   ${account.email}`,
    `  API key   ${account.apiKey}`,
  ];
  const viaCurl = [
    `  printf 'From: you@example.org\\r\\nTo: ${account.email}\\r\\nSubject: Hello\\r\\n\\r\\nIt works.\\r\\n' |`,
    `    curl -sS smtp://${mx} --mail-from you@example.org --mail-rcpt ${account.email} -T -`,
  ];
  const viaSwaks = `  swaks --server ${mx} --from you@example.org --to ${account.email} --header 'Subject: By swaks'`;
  return [
    '',
    ...rows,
    '',
    'Send mail, list it, and read the newest message over IMAP:',
    '',
    ...viaCurl,
    ...(swaks ? [viaSwaks] : []),
    `  curl -sS -H 'Authorization: Bearer ${account.apiKey}' ${api}/api/emails`,
    `  curl -sS --ssl-reqd -k -u '${account.email}:${account.apiKey}' 'imap://${imap}/INBOX;MAILINDEX=*'`,
    '',
    'Who owns what; then kill, hang or stop a node, look again, and send more mail:',
    '',
    `  DATABASE_URL=${postgres.url} bin/mansio cluster status`,
    `  kill -9 ${nodes[1]!.process.pid}      # or -STOP and -CONT, or -TERM`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}

export function deathText(node: ClusterNode, { code, signal }: Exit): string {
  const words = Object.entries(node.settings).map(([name, value]) => `${name}=${value}`);
  return [
    '',
    `${node.name} ended (${signal ?? `exit code ${code}`}). To start it again, in another terminal:`,
    '',
    `  ${words.join(' ')} ${PROGRAM} serve`,
    '',
  ].join('\n');
}

function metrics(node: ClusterNode): string {
  const address = node.process.ready.listeners['metrics'];
  return address === undefined ? '' : `  http://${address}/metrics`;
}
