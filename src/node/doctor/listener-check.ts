// The check `listener`: every listener of this node answers from inside, and at the addresses that DNS tells others.
import type { NodeCheck } from './check.js';
import { type CheckResult, fail, ok, reasonOf, shown, warn } from './finding.js';
import { type ProbedListener, probedInside, probedOutside } from './probed-listeners.js';
import { type DoctorSubject, isOfThisMachine, ownNodes } from './subject.js';

export const listenerCheck: NodeCheck = {
  name: 'listener',
  async run(subject) {
    if (subject.facts === undefined)
      return [warn('node', 'not checked: the database does not answer', 'mansio doctor')];
    if (ownNodes(subject).length === 0) {
      const named = subject.nodeId === undefined ? '' : ` (${subject.nodeId})`;
      return [fail('node', `no node runs on this data directory${named}`, 'systemctl start mansio')];
    }
    const [inside, outside] = await Promise.all([probedInside(subject), probedOutside(subject)]);
    return [...inside.map(fromInside), ...outside.map((each) => fromOutside(each, subject))];
  },
};

function subjectOf({ name, address, port }: ProbedListener): string {
  return `${name} ${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function fromInside(listener: ProbedListener): CheckResult {
  const { result } = listener;
  if (!('error' in result)) return ok(subjectOf(listener), `answers ${JSON.stringify(shown(result.greeting))}`);
  return fail(subjectOf(listener), reasonOf(result.error), 'systemctl restart mansio');
}

/** A router may carry no connections from inside to its outer address: only what is certain is a failure. */
function fromOutside(listener: ProbedListener, { config }: DoctorSubject): CheckResult {
  const { result, serverName, address, port } = listener;
  const subject = `${subjectOf(listener)} (${serverName})`;
  if (!('error' in result)) return ok(subject, `answers ${JSON.stringify(shown(result.greeting))}`);
  const reason = reasonOf(result.error);
  const { code } = result.error as { readonly code?: string };
  if (code === 'ECONNREFUSED' && isOfThisMachine(address))
    return fail(
      subject,
      `${reason}: nothing listens there (MANSIO_BIND is ${config.bind})`,
      `MANSIO_BIND=${anyOf(address)}`,
    );
  const firewall = `nft add rule inet filter input tcp dport ${port} accept`;
  return warn(subject, `from this machine: ${reason}`, firewall);
}

function anyOf(address: string): string {
  return address.includes(':') ? '::' : '0.0.0.0';
}
