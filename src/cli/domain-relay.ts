// `mansio domain relay`: the smart host that takes the mail of a hosted domain's senders. Nodes that deliver use it within seconds. Its
// password is shown by no command; `-` reads the URL from the standard input, because other users of a machine see the arguments.
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { parseRelayUrl, RELAY_URL_FORM, relayPlace, shownRelayUrl } from '../mail-format/relay-url.js';
import { postgresRelays } from '../store/postgres/outbound/relays.js';
import { DIRECT, type RelaySetting } from '../store/relays.js';
import { domainName } from './arguments.js';
import { CommandError, printing } from './output.js';
import { withStore } from './store.js';

export function registerDomainRelay(group: Command): void {
  const relay = group
    .command('relay')
    .description('set the smart host for mail of a domain, or direct for none, or none: MANSIO_RELAY_URL holds')
    .argument('<domain>')
    .argument('<url>', 'smtps://user:password@host:465, smtp://user:password@host:587, direct or none; - reads it');
  printing(relay, async (domain: string, given: string) => {
    const name = domainName(domain);
    const setting = settingOf(given === '-' ? (await text(process.stdin)).trim() : given);
    await withStore(async ({ sql }) => {
      if (!(await postgresRelays(sql).set(name, setting))) throw new CommandError(`not a hosted domain: ${name}`);
    });
    return { name, relay: shownRelay(setting) };
  });
}

/** Undefined removes the setting. */
function settingOf(text: string): RelaySetting | undefined {
  const word = text.toLowerCase();
  if (word === 'none') return undefined;
  if (word === DIRECT) return DIRECT;
  if (parseRelayUrl(text) === undefined)
    throw new CommandError(`not a smart host: it is ${RELAY_URL_FORM}, direct or none`);
  return text;
}

/** Without the password; null when the domain has no setting of its own. */
export function shownRelay(setting: RelaySetting | undefined): string | null {
  if (setting === undefined) return null;
  return setting === DIRECT ? DIRECT : shownRelayUrl(setting);
}

/** What the domain's SPF record lacks; undefined when its mail leaves directly. */
export function spfNote(setting: RelaySetting | undefined, forAll: string | undefined): string | undefined {
  const url = setting ?? forAll;
  const relay = url === undefined ? undefined : parseRelayUrl(url);
  if (relay === undefined) return undefined;
  return `SPF: mail leaves through ${relayPlace(relay)}: add the mechanism that its operator names, such as include:`;
}
