// Links of mail: where they lead, and if their text names another place. Used by the frame of HTML and by plain text.
import { percentDecoded } from '../../app/percent-decoding.js';

export interface Link {
  readonly href: string;
  /** What a reader is told of where it leads. */
  readonly destination: string;
  /** The host or address to which it leads while its text names another one. */
  readonly misleadsTo?: string;
}

const LONGEST_HREF = 4096;

/** Returns undefined for what is no link to the web, an address of mail or a telephone number. `text`: what its reader sees. */
export function linkOf(href: string, text: string): Link | undefined {
  const url = parsed(href);
  if (url === undefined) return undefined;
  const target = targetOf(url);
  const isMisleading = namedTargets(text).some((named) => !isSame(named, target));
  return {
    href: url.href,
    destination: url.protocol === 'mailto:' || url.protocol === 'tel:' ? target : url.href,
    ...(isMisleading && { misleadsTo: target }),
  };
}

function parsed(href: string): URL | undefined {
  if (href.length > LONGEST_HREF) return undefined;
  const url = urlOf(href.trim());
  if (url === undefined) return undefined;
  if (url.protocol === 'mailto:' || url.protocol === 'tel:') return url;
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return undefined;
  // A name before the host can only deceive: `https://bank.test@elsewhere.test/`.
  url.username = '';
  url.password = '';
  return url;
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function targetOf(url: URL): string {
  if (url.protocol === 'mailto:' || url.protocol === 'tel:') return percentDecoded(url.pathname);
  return url.hostname;
}

/** Characters that nobody sees: soft hyphens, marks of direction, joiners. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164]|\u034f/gu;
/** Characters that look like the slash of a URL. */
const SLASHES = /[\u2044\u2215\u29f8]/g;
const WITH_SCHEME = /(?:https?:\/\/|\bwww\.)[^\s<>"']+/gi;
const WHOLE_ADDRESS = /^[^\s@<>()]+@([\p{L}\p{N}.-]+\.\p{L}{2,})$/u;
const WHOLE_HOST =
  /^((?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+(?:\p{L}{2,}|xn--[a-z0-9-]+))\.?(?::\d+)?(?:[/?#]\S*)?$/iu;
/** Names of files that are no names of hosts. */
const FILE_NAME = /^[^/]*\.(?:js|pdf|docx?|xlsx?|pptx?|odt|ods|txt|html?|png|jpe?g|gif|csv|json|xml|eml|ics)$/i;

/** The hosts and addresses that a text names: every URL, and a first word that is a host or an address. */
function namedTargets(text: string): readonly string[] {
  const shown = text.normalize('NFKC').replace(INVISIBLE, '').replace(SLASHES, '/').trim();
  if (shown.length > LONGEST_HREF) return [];
  const urls = (shown.match(WITH_SCHEME) ?? []).map((url) => hostOf(/^www\./i.test(url) ? `http://${url}` : url));
  const first = shown
    .split(/\s/, 1)[0]!
    .replace(/^mailto:/i, '')
    .replace(/\?.*$/s, '');
  const named = [...urls, WHOLE_ADDRESS.test(first) ? first.toLowerCase() : wholeHost(first)];
  return named.filter((each) => each !== undefined);
}

function wholeHost(word: string): string | undefined {
  const host = WHOLE_HOST.exec(word)?.[1];
  return host === undefined || FILE_NAME.test(word) ? undefined : hostOf(`http://${host}`);
}

function hostOf(url: string): string | undefined {
  // What ends a sentence is no part of a link.
  return urlOf(url.replace(/[.,;:!?)\]}]+$/, ''))?.hostname;
}

/** An address and a host are the same when the address is of that host: both name who is meant. */
function isSame(named: string, target: string): boolean {
  const [a, b] = [named, target].map((name) =>
    name
      .toLowerCase()
      .replace(/^www\./, '')
      .replace(/\.$/, ''),
  );
  if (a!.includes('@') === b!.includes('@')) return a === b;
  return a!.replace(/^.*@/, '') === b!.replace(/^.*@/, '');
}
