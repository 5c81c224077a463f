// Runs all checks of `mansio doctor` at once, each within its time, for the command and for the daily run of a node.
import { domainRecords } from '../domains/domain-records.js';
import { runRow } from './check.js';
import { DOMAIN_CHECKS, NODE_CHECKS } from './checks.js';
import type { Finding } from './finding.js';
import type { DoctorSubject } from './subject.js';

/** With what is read before and the start of the command, all is within 10 s. */
const CHECK_MS = 5_500;

/** Never rejects. `domains`: those that are checked. */
export async function examine(
  subject: DoctorSubject,
  domains: readonly string[],
  withinMs = CHECK_MS,
): Promise<readonly Finding[]> {
  const ofNode = NODE_CHECKS.map(({ name, run }) => runRow(name, name, () => run(subject), withinMs, 'mansio doctor'));
  const keys = subject.facts?.keys ?? [];
  const ofDomains = domains.flatMap((name) => {
    const domain = { name, plan: domainRecords(name, keys, subject.records) };
    const rows = DOMAIN_CHECKS.filter(({ applies }) => applies === undefined || applies(subject));
    return rows.map((row) =>
      runRow(row.name, name, async () => [await row.run(domain, subject)], withinMs, `mansio doctor --domain ${name}`),
    );
  });
  return (await Promise.all([...ofNode, ...ofDomains])).flat();
}
