// The check `dnsbl`: whether each list of MANSIO_DNSBL answers this resolver. RFC 5782 §5: a list has the test address 127.0.0.2, and never
// has 127.0.0.1.
import { shownZone } from '../../message-checks/clients/block-lists.js';
import { blockListName, listingIn } from '../../net/dns/block-list.js';
import type { Dns } from '../../net/dns/resolver.js';
import type { NodeCheck } from './check.js';
import { type CheckResult, fail, ok, warn } from './finding.js';
import { answerOf } from './subject.js';

const SETTING = 'set MANSIO_DNSBL without it';

export const dnsblCheck: NodeCheck = {
  name: 'dnsbl',
  applies: ({ config }) => config.dnsbl.length > 0,
  run: ({ config, dns }) => Promise.all(config.dnsbl.map(({ zone }) => stateOf(zone, dns))),
};

async function stateOf(zone: string, dns: Dns): Promise<CheckResult> {
  const subject = shownZone(zone);
  const [tested, local] = await Promise.all(
    ['127.0.0.2', '127.0.0.1'].map((address) => answerOf<string>(dns.resolve(blockListName(address, zone), 'A'))),
  );
  if (tested!.kind === 'silent')
    return warn(subject, `no answer (${tested!.code}): clients are accepted without this list`, SETTING);
  const listing = tested!.kind === 'found' ? listingIn(tested!.records) : 'clear';
  if (listing === 'refused')
    return warn(subject, 'does not answer this resolver', 'MANSIO_DNS of a resolver of your own');
  if (listing === 'clear')
    return warn(subject, 'does not have the test address 127.0.0.2: it is no block list', SETTING);
  if (local!.kind === 'found' && listingIn(local!.records) === 'listed')
    return fail(subject, 'has every address, so all mail is refused or junk', SETTING);
  return ok(subject, 'answers');
}
