// The searches of before, which the browser keeps for one account until its session ends. Another account is not offered them.
import { remembered } from './suggestions.js';

/** The members of the browser's storage that are used. */
interface Kept {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

interface Recent {
  readonly accountId: string;
  readonly searches: readonly string[];
}

const KEY = 'mansio.searches';

/** `accountId`: undefined while it is not known who is signed in. */
export function recentSearches(storage: Kept, accountId: string | undefined): readonly string[] {
  const kept = parsed(storage.getItem(KEY));
  if (accountId === undefined || kept?.accountId !== accountId || !Array.isArray(kept.searches)) return [];
  return kept.searches.filter((one) => typeof one === 'string');
}

export function rememberSearch(storage: Kept, accountId: string | undefined, search: string): void {
  if (accountId === undefined) return;
  const recent: Recent = { accountId, searches: remembered(recentSearches(storage, accountId), search) };
  storage.setItem(KEY, JSON.stringify(recent));
}

export function forgetSearches(storage: Kept): void {
  storage.removeItem(KEY);
}

function parsed(text: string | null): Partial<Recent> | null {
  try {
    return JSON.parse(text ?? 'null') as Partial<Recent> | null;
  } catch {
    return null;
  }
}
