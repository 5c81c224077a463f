// Which shard an account is on: FNV-1a over the 16 octets of its id, modulo the store's fixed number of shards. Every
// node and every row agrees on it, so it must never change.

export function shardOf(accountId: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < accountId.length; i++) {
    if (accountId.charCodeAt(i) === 45) continue;
    const octet = Number.parseInt(accountId.slice(i, i + 2), 16);
    hash = Math.imul(hash ^ octet, 0x01000193) >>> 0;
    i++;
  }
  return hash % shards;
}
