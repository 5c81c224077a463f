// Follows an alias to the addresses that it leads to in the end, within the bounds of docs/interface/mail.md, "Aliases". The same function
// decides when an alias is added, over the rows of the transaction, and when mail arrives, over the caches of the directory.

/** The most aliases in a row, the most of them in all, and the most addresses that one may lead to in the end. */
export const MOST_ALIASES_DEEP = 10;
export const MOST_TARGETS = 1_000;

export type AliasFault = 'loop' | 'tooDeep' | 'tooMany';

export type Expansion =
  | { readonly ends: readonly string[]; readonly fault?: undefined }
  | { readonly ends?: undefined; readonly fault: AliasFault };

/** Returns the targets of each address, in the same order; undefined for an address that is no alias. */
export type TargetsOf = (addresses: readonly string[]) => Promise<readonly (readonly string[] | undefined)[]>;

/** Takes the aliases level by level, so that an address that is named twice counts once. An address that is no alias is its own end. */
export async function expandAlias(address: string, targetsOf: TargetsOf): Promise<Expansion> {
  const ends = new Set<string>();
  const aliases = new Map<string, readonly string[]>();
  let level = [address];
  for (let depth = 0; ; depth++) {
    const found = await targetsOf(level);
    const next = new Set<string>();
    for (const [i, one] of level.entries()) {
      const targets = found[i];
      if (targets === undefined) ends.add(one);
      else aliases.set(one, targets);
      for (const target of targets ?? []) next.add(target);
      // Aliases are bounded too: a thousand of them could name one address each.
      if (Math.max(ends.size, aliases.size) > MOST_TARGETS || next.size > 2 * MOST_TARGETS) return { fault: 'tooMany' };
    }
    if (next.size === 0) return { ends: [...ends] };
    if (depth === MOST_ALIASES_DEEP) return { fault: hasLoop(address, aliases) ? 'loop' : 'tooDeep' };
    level = [...next];
  }
}

/** Whether a way through the aliases leads back to one of them. */
function hasLoop(start: string, aliases: ReadonlyMap<string, readonly string[]>): boolean {
  const done = new Set<string>();
  const open = new Set<string>();
  const path = [{ address: start, rest: [...(aliases.get(start) ?? [])] }];
  open.add(start);
  for (;;) {
    const last = path.at(-1);
    if (last === undefined) return false;
    const next = last.rest.pop();
    if (next === undefined) {
      open.delete(last.address);
      done.add(last.address);
      path.pop();
    } else if (open.has(next)) return true;
    else if (!done.has(next)) {
      open.add(next);
      path.push({ address: next, rest: [...(aliases.get(next) ?? [])] });
    }
  }
}

/** `*@domain`: every address of the domain that nobody has. */
export const catchAllOf = (address: string): string => `*${address.slice(address.lastIndexOf('@'))}`;

export const isCatchAll = (address: string): boolean => address.startsWith('*@');

/** The address with the same name at another domain. */
export const atDomain = (address: string, domain: string): string =>
  `${address.slice(0, address.lastIndexOf('@'))}@${domain}`;
