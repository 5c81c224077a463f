// Stand-in until the merge: the mail engineer's file of this path wins. Addresses: syntax and the canonical form
// (lower case, without a +tag).

export interface Address {
  readonly localPart: string;
  readonly domain: string;
}

export function parseAddress(text: string): Address | undefined {
  const match =
    /^((?:"(?:[^"\\]|\\.)*")|[^\s<>"@,;:]+)@((?:\[[^\]\s]+\])|[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?)$/u.exec(
      text,
    );
  if (match === null || match[2]!.includes('..')) return undefined;
  return { localPart: match[1]!, domain: match[2]! };
}

export function canonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  return `${address.localPart.replace(/\+.*$/, '')}@${address.domain}`.toLowerCase();
}
