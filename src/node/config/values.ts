// Parses the text of a variable to its value. Each parser accepts trimmed, non-empty text, throws when the text is not acceptable, and
// describes what is acceptable. `config.ts` checks whether values fit each other.
import { createECDH } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import { domainToASCII } from 'node:url';
import { parseRelayUrl, RELAY_URL_FORM } from '../../mail-format/relay-url.js';

export interface Parser<T> {
  readonly accepts: string;
  parse(text: string): T;
}

class Unacceptable extends Error {}

function demand(condition: boolean): asserts condition {
  if (!condition) throw new Unacceptable();
}

export function integer(min: number, max: number): Parser<number> {
  return {
    accepts: `a whole number from ${min} to ${max}`,
    parse(text) {
      demand(/^\d{1,15}$/.test(text));
      const value = Number(text);
      demand(value >= min && value <= max);
      return value;
    },
  };
}

/** 0: any free port. */
export type ListenerPort = number | 'off';

const portNumber = integer(0, 65535);

/** `zeroIs`: the value that 0 stands for. */
const portOr = (zeroIs: ListenerPort): Parser<ListenerPort> => ({
  accepts: `off, or ${portNumber.accepts}`,
  parse(text) {
    if (text.toLowerCase() === 'off') return 'off';
    const value = portNumber.parse(text);
    return value === 0 ? zeroIs : value;
  },
});

export const listenerPort = portOr(0);
export const metricsPort = portOr('off');

const MOST_PROCESSES = 128;

/** `auto`: one process per processor. */
export const processCount: Parser<number | 'auto'> = {
  accepts: `auto, or a whole number from 1 to ${MOST_PROCESSES}`,
  parse: (text) => (text.toLowerCase() === 'auto' ? 'auto' : integer(1, MOST_PROCESSES).parse(text)),
};

export function oneOf<const T extends string>(...choices: readonly T[]): Parser<T> {
  return {
    accepts: `one of ${choices.join(', ')}`,
    parse(text) {
      const found = choices.find((choice) => choice === text.toLowerCase());
      demand(found !== undefined);
      return found;
    },
  };
}

/** Accepts any of `choices`, or `all` of them. */
export function setOf<const T extends string>(...choices: readonly T[]): Parser<ReadonlySet<T>> {
  return {
    accepts: `all, or a comma list of ${choices.join(', ')}`,
    parse(text) {
      if (text.toLowerCase() === 'all') return new Set(choices);
      const one = oneOf(...choices);
      return new Set(items(text).map((item) => one.parse(item)));
    },
  };
}

export const flag: Parser<boolean> = {
  accepts: 'true or false',
  parse(text) {
    const value = { true: true, '1': true, yes: true, on: true, false: false, '0': false, no: false, off: false };
    const found = Object.entries(value).find(([name]) => name === text.toLowerCase())?.[1];
    demand(found !== undefined);
    return found;
  },
};

export const ipAddress: Parser<string> = {
  accepts: 'an IPv4 or IPv6 address of this machine, such as 127.0.0.1, 0.0.0.0, ::1 or ::',
  parse(text) {
    demand(isIP(text) !== 0 && !text.includes('%'));
    return text.toLowerCase();
  },
};

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

export function isLoopback(address: string): boolean {
  return LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Whether the name or address, without brackets, can only mean this machine; names are not looked up. */
export function isLoopbackHost(host: string): boolean {
  return isIP(host) === 0 ? /^(.+\.)?localhost\.?$/i.test(host) : isLoopback(host);
}

/** Converts the name to lower case and to ASCII (RFC 5890 §2.3.2.1); removes a trailing dot. */
export const domain: Parser<string> = {
  accepts: 'a domain name, such as mail.example.org',
  parse(text) {
    const name = domainToASCII(text.replace(/\.$/, '')).toLowerCase();
    // RFC 1123 §2.1; a name that consists of digits would be read as an address.
    demand(name.length <= 253 && /^(?!\d+(\.\d+)*$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(name));
    demand(name.split('.').every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label)));
    return name;
  },
};

export const domainList: Parser<readonly string[]> = {
  accepts: 'a comma list of domain names, such as example.org,example.net',
  parse: (text) => [...new Set(items(text).map((item) => domain.parse(item)))],
};

export interface BlockListSetting {
  readonly zone: string;
  readonly action: 'refuse' | 'junk';
}

const MOST_BLOCK_LISTS = 10;

export const blockLists: Parser<readonly BlockListSetting[]> = {
  accepts: `a comma list of at most ${MOST_BLOCK_LISTS} zones, each alone or with =refuse or =junk, such as bl.example.org=junk`,
  parse(text) {
    const found = items(text).map((item) => {
      const [zone = '', action = 'refuse', ...rest] = item.split('=').map((part) => part.trim());
      demand((action === 'refuse' || action === 'junk') && rest.length === 0);
      return { zone: domain.parse(zone), action } as const;
    });
    demand(found.length <= MOST_BLOCK_LISTS && new Set(found.map(({ zone }) => zone)).size === found.length);
    return found;
  },
};

/** Replaces labels of names that are long enough to be the key of a subscriber. */
export function withoutKeys(text: string): string {
  return text.replace(/(?<![a-z0-9-])[a-z0-9]{20,63}(?=\.)/gi, '[hidden]');
}

export const emailAddress: Parser<string> = {
  accepts: 'an e-mail address',
  parse(text) {
    const at = text.lastIndexOf('@');
    const local = text.slice(0, at).toLowerCase();
    demand(at > 0 && local.length <= 64 && /^[^\s"(),:;<>@[\\\]\p{Cc}]+$/u.test(local));
    return `${local}@${domain.parse(text.slice(at + 1))}`;
  },
};

export const httpUrl: Parser<string> = {
  accepts: 'an absolute http or https URL without user, query and fragment, such as https://mail.example.org',
  parse(text) {
    const url = new URL(text);
    demand(/^https?:\/\//i.test(text) && (url.protocol === 'http:' || url.protocol === 'https:'));
    demand(url.username === '' && url.password === '' && url.search === '' && url.hash === '');
    return url.href.replace(/\/+$/, '');
  },
};

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';

export const acmeDirectory: Parser<string> = {
  accepts: `letsencrypt, or the https URL of an ACME directory, such as ${LETS_ENCRYPT}`,
  parse(text) {
    if (text.toLowerCase() === 'letsencrypt') return LETS_ENCRYPT;
    const url = new URL(text);
    demand(url.protocol === 'https:' && url.username === '' && url.password === '' && url.hash === '');
    return url.href;
  },
};

/** Accepts origins in the form that browsers send in `Origin` (RFC 6454 §6.1); apps send origins with their own scheme. */
export const originList: Parser<readonly string[]> = {
  accepts: 'a comma list of browser origins without paths, such as https://mail.example.org,http://localhost:3000',
  parse: (text) => [
    ...new Set(
      items(text).map((item) => {
        demand(/^[a-z][a-z0-9+.-]*:\/\/[^/?#@*\\\s%]+$/i.test(item));
        const { protocol, origin, host } = new URL(item);
        demand(host !== '' && protocol !== 'file:');
        return origin === 'null' ? `${protocol}//${host}` : origin;
      }),
    ),
  ],
};

const isLocalHost = (name: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(name);

/** The provider must use https, because tokens are only as trustworthy as the keys that come from it. */
export const providerUrl: Parser<string> = {
  accepts: 'the https URL of an OpenID provider, such as https://login.example.org (http on this machine only)',
  parse(text) {
    const plain = httpUrl.parse(text);
    const { protocol, hostname } = new URL(plain);
    demand(protocol === 'https:' || isLocalHost(hostname));
    return plain;
  },
};

/** Accepts an OAuth client id or audience. */
export const identifier: Parser<string> = {
  accepts: 'up to 255 characters without spaces',
  parse(text) {
    demand(/^[!-~]{1,255}$/.test(text));
    return text;
  },
};

function octets(length: number, what: string): Parser<string> {
  return {
    accepts: `${what}, ${length} bytes in base64url`,
    parse(text) {
      demand(/^[\w-]+$/.test(text) && Buffer.from(text, 'base64url').length === length);
      return text;
    },
  };
}

export const vapidPublicKey = octets(65, 'a public key for Web Push');
export const vapidPrivateKey = octets(32, 'a private key for Web Push');

export function isVapidPair(publicKey: string, privateKey: string): boolean {
  const pair = createECDH('prime256v1');
  try {
    pair.setPrivateKey(privateKey, 'base64url');
    return pair.getPublicKey('base64url') === publicKey;
  } catch {
    return false;
  }
}

/** RFC 8292 §2.1 demands a mailto or https URL. */
export const contactUrl: Parser<string> = {
  accepts: 'a mailto: or https: URL, such as mailto:postmaster@example.org',
  parse(text) {
    const { protocol } = new URL(text);
    demand(protocol === 'mailto:' ? text.includes('@') : protocol === 'https:');
    return text;
  },
};

export const databaseUrl: Parser<string> = {
  accepts: 'a URL such as postgres://user:password@host:5432/database',
  parse(text) {
    demand(/^postgres(ql)?:\/\//i.test(text));
    // Several hosts, separated by commas, are a form of PostgreSQL that URL does not parse.
    const single = text.replace(/^([^/]*\/\/(?:[^/@]*@)?[^/,?]*)(?:,[^/?]*)?/, '$1');
    new URL(single);
    return text;
  },
};

export const natsUrls: Parser<readonly string[]> = {
  accepts: 'a comma list of NATS servers, such as nats://127.0.0.1:4222,tls://user:password@nats.example.org',
  parse(text) {
    const urls = items(text);
    for (const each of urls) {
      const url = new URL(each);
      demand(/^(nats|tls):\/\//i.test(each) && url.hostname !== '' && /^\/?$/.test(url.pathname) && url.search === '');
    }
    return urls;
  },
};

export const relayUrl: Parser<string> = {
  accepts: RELAY_URL_FORM,
  parse(text) {
    demand(parseRelayUrl(text) !== undefined);
    return text;
  },
};

/** Accepts networks in CIDR notation; a single address is a network of one. */
export const networkList: Parser<readonly string[]> = {
  accepts: 'a comma list of networks, such as 10.0.0.0/8,192.0.2.7,2001:db8::/32',
  parse: (text) =>
    items(text).map((item) => {
      const [address = '', length, ...rest] = item.split('/');
      const family = isIP(address);
      demand(family !== 0 && !address.includes('%') && rest.length === 0);
      const bits = family === 4 ? 32 : 128;
      demand(length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits));
      return `${address.toLowerCase()}/${length ?? bits}`;
    }),
};

/** Accepts a host to which clients connect, and the port. */
export const hostPort: Parser<string> = {
  accepts: 'a host and a port, such as mail.example.org:587 or [2001:db8::1]:587',
  parse(text) {
    const [, host = '', number = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
    demand(Number(number) > 0 && Number(number) <= 65_535);
    const address = host.replace(/^\[|\]$/g, '');
    const isAddress = isIP(address) === (host.startsWith('[') ? 6 : 4) && !address.includes('%');
    return `${isAddress ? host.toLowerCase() : domain.parse(host)}:${Number(number)}`;
  },
};

/** Accepts name servers: addresses with ports; 53 if a port is absent. */
export const hostPorts: Parser<readonly string[]> = {
  accepts: 'a comma list of name servers, such as 127.0.0.1:53,192.0.2.53,[2001:db8::53]:53',
  parse: (text) =>
    items(text).map((given) => {
      const item = given.replace(/^localhost(?=:|$)/i, '127.0.0.1');
      const bare = isIP(item);
      if (bare !== 0) return bare === 6 ? `[${item.toLowerCase()}]:53` : `${item}:53`;
      const [, address = '', number = ''] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(item) ?? [];
      demand(isIP(address.replace(/^\[|\]$/g, '')) === (address.startsWith('[') ? 6 : 4));
      demand(number === '' || (Number(number) > 0 && Number(number) <= 65_535));
      return `${address.toLowerCase()}:${number === '' ? '53' : Number(number)}`;
    }),
};

/** RFC 6376 §3.1 demands labels of a domain name. */
export const selector: Parser<string> = {
  accepts: 'a DKIM selector, such as mail or 2026.mx',
  parse: (text) => domain.parse(text),
};

/** Replaces the password in every URL of a comma list. */
export function withoutPasswords(urls: string): string {
  return urls
    .split(',')
    .map((url) => withoutPassword(url.trim()))
    .join(',');
}

/** Hides a secret completely. */
export const hidden = (): string => '[hidden]';

/** Replaces the passwords in a URL; text that is no URL is hidden completely, because it may be a password. */
export function withoutPassword(url: string): string {
  if (!/^\w+:\/\//.test(url)) return '[hidden]';
  const hidden = url.replace(/^([^/]*\/\/[^:/@]*:).*@/, '$1[hidden]@');
  return hidden.replace(/([?&][^=&]*(?:password|key)[^=&]*=)[^&]*/gi, '$1[hidden]');
}

export const path: Parser<string> = {
  accepts: 'the path of a directory',
  parse(text) {
    demand(!text.includes('\0'));
    const absolute = resolve(text);
    const there = statSync(absolute, { throwIfNoEntry: false });
    demand(there === undefined || there.isDirectory());
    return absolute;
  },
};

export const readableFile: Parser<string> = {
  accepts: 'the path of a PEM file that Mansio can read',
  parse: readable,
};

export const readableFiles: Parser<readonly string[]> = {
  accepts: 'a comma list of paths of PEM files that Mansio can read',
  parse: (text) => items(text).map(readable),
};

function readable(path: string): string {
  demand(statSync(path).isFile());
  accessSync(path, constants.R_OK);
  return resolve(path);
}

export const nodeName: Parser<string> = {
  accepts: 'up to 63 letters, digits, dots, hyphens and underscores',
  parse(text) {
    demand(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text));
    return text;
  },
};

function items(text: string): string[] {
  const found = text.split(',').map((item) => item.trim());
  demand(found.every((item) => item !== ''));
  return found;
}
