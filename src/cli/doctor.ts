// `mansio doctor`: checks this node, its store, its cluster and its domains, and says of each fault what mends it.
import type { Command } from 'commander';
import { createResolver } from '../net/dns/resolver.js';
import { keptNodeId, readConfig } from '../node/config/config.js';
import type { Finding, FindingStatus } from '../node/doctor/finding.js';
import { holderOf } from '../store/local/data-directory.js';
import { domainName } from './arguments.js';
import { CommandError, inert, reporting } from './output.js';
import { examiningStore } from './store.js';

interface DoctorOptions {
  readonly domain?: string;
  readonly blocklist?: string | true;
  readonly json?: boolean;
  readonly envFile?: string;
}

const BLOCK_LIST = 'zen.spamhaus.org';
/** A look-up of the resolver: two tries, the second of double the time. */
const LOOK_UP = { timeoutMs: 1_200, tries: 2 };

export function registerDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description('check node, store, cluster and the DNS of the hosted domains, and say what mends each fault')
    .option('--domain <domain>', 'only this of the hosted domains')
    .option('--blocklist [zones]', `ask these DNS block lists for the addresses that send (${BLOCK_LIST})`);
  reporting(
    command,
    async (options: DoctorOptions) => (await diagnose(options)).map((found) => withEnvFile(found, options.envFile)),
    findingsText,
    (findings) => {
      const failed = findings.filter(({ status }) => status === 'fail').length;
      return failed === 0 ? undefined : `${failed} of ${findings.length} checks failed`;
    },
  );
}

async function diagnose({ domain, blocklist }: DoctorOptions): Promise<readonly Finding[]> {
  const config = readConfig();
  const only = domain === undefined ? undefined : domainName(domain);
  const blockLists = blocklist === undefined ? [] : blocklist === true ? [BLOCK_LIST] : zonesOf(blocklist);
  const over = new AbortController();
  // The help of all commands does not need the checks, which are large.
  const [{ examine }, { openSubject }] = await Promise.all([
    import('../node/doctor/doctor.js'),
    import('../node/doctor/open-subject.js'),
  ]);
  try {
    return await examiningStore(async (sql) => {
      const { dataDir } = config;
      const subject = await openSubject({
        config,
        sql,
        nodeId: config.nodeId ?? keptNodeId(dataDir),
        pid: pidOf(dataDir),
        dns: createResolver({ servers: config.dns, ...LOOK_UP, signal: over.signal }),
        blockLists,
      });
      const hosted = subject.facts?.domains ?? [];
      if (only !== undefined && subject.facts !== undefined && !hosted.includes(only))
        throw new CommandError(`not a hosted domain: ${only}`);
      return examine(subject, only === undefined ? hosted : [only]);
    });
  } finally {
    over.abort();
  }
}

/** A command of Mansio that mends a fault needs the settings that this one was given. */
function withEnvFile(finding: Finding, envFile: string | undefined): Finding {
  const { fix } = finding;
  return envFile === undefined || fix === null || !fix.startsWith('mansio ')
    ? finding
    : { ...finding, fix: `${fix} --env-file ${envFile}` };
}

function pidOf(dataDir: string): number | undefined {
  try {
    return holderOf(dataDir)?.pid;
  } catch {
    return undefined;
  }
}

function zonesOf(text: string): readonly string[] {
  return text.split(',').map((zone) => domainName(zone.trim()));
}

const MARKS: Readonly<Record<FindingStatus, string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };

/** A line per finding, with what mends it below. */
function findingsText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, subject, status, detail, fix }) => {
    const about = subject === check ? '' : `${inert(subject)}: `;
    const line = `${MARKS[status]}  ${check.padEnd(width)}  ${about}${inert(detail)}`;
    return fix === null ? [line] : [line, `${' '.repeat(width + 8)}-> ${inert(fix)}`];
  });
  const count = (status: FindingStatus) => findings.filter((each) => each.status === status).length;
  return [...lines, '', `${count('ok')} ok, ${count('warn')} warn, ${count('fail')} fail`].join('\n');
}
