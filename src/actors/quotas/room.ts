// What a quota allows: an account has room when neither its own limit nor that of its domain would be exceeded.
import type { Limits, Usage } from '../../store/limits/quotas.js';

export interface LimitedUsage {
  readonly used: Usage;
  readonly limit: Limits;
  /** ms since the epoch; null while there is room. */
  readonly fullSince: number | null;
}

export interface Quota extends LimitedUsage {
  /** Undefined when the domain has no limit. */
  readonly domain?: LimitedUsage | undefined;
}

/** `fullForLong`: it has been full for three days, so that senders need not try again. */
export type Room = 'room' | 'full' | 'fullForLong';

const LONG_MS = 3 * 86_400_000;
/** The share of a limit at which the user is told. */
const NEARLY_FULL = 0.9;

export const RESOURCES = ['bytes', 'messages'] as const;

/** Whether what is added fits. What needs nothing more of a resource fits however full it is. */
export function hasRoom({ used, limit, domain }: Omit<Quota, 'fullSince'>, added: Usage): boolean {
  return fits({ used, limit }, added) && (domain === undefined || fits(domain, added));
}

/** The room for one message; `bytes` is 0 when its size is unknown. */
export function roomFor(quota: Quota, bytes: number, now: number): Room {
  const message = { bytes: Math.max(1, bytes), messages: 1 };
  const without = [quota, quota.domain].filter((level) => level !== undefined && !fits(level, message));
  if (without.length === 0) return 'room';
  return without.some((level) => isFull(level!) && isLong(level!.fullSince, now)) ? 'fullForLong' : 'full';
}

export function isFull({ used, limit }: Pick<LimitedUsage, 'used' | 'limit'>): boolean {
  return !fits({ used, limit }, { bytes: 1, messages: 1 });
}

export function isNearlyFull({ used, limit }: Pick<LimitedUsage, 'used' | 'limit'>): boolean {
  return RESOURCES.some((resource) => {
    const most = limit[resource];
    return most !== null && used[resource] >= NEARLY_FULL * most;
  });
}

function fits({ used, limit }: Pick<LimitedUsage, 'used' | 'limit'>, added: Usage): boolean {
  return RESOURCES.every((resource) => {
    const most = limit[resource];
    return most === null || added[resource] <= 0 || used[resource] + added[resource] <= most;
  });
}

const isLong = (since: number | null, now: number): boolean => since !== null && since <= now - LONG_MS;
