// Which tabs of the browser live: each holds a lock of its own while it is there. A tab keeps its id over a reload; a copy of a tab gets
// another one.

const KEY = 'mansio.tab';
const LOCK = 'mansio-tab-';

/** Returns the id of this tab, and holds its lock. */
export async function claimTab(): Promise<string> {
  const known = sessionStorage.getItem(KEY);
  if (known !== null && (await hold(known))) return known;
  const id = crypto.randomUUID();
  await hold(id);
  sessionStorage.setItem(KEY, id);
  return id;
}

/** The ids of the other tabs that live. */
export async function livingTabs(own: string): Promise<ReadonlySet<string>> {
  const { held = [] } = await navigator.locks.query();
  const ids = held.flatMap(({ name = '' }) => (name.startsWith(LOCK) ? [name.slice(LOCK.length)] : []));
  return new Set(ids.filter((one) => one !== own));
}

/** Runs one at a time in all tabs, so that no two take the same windows over. */
export async function alone(run: () => Promise<void>): Promise<void> {
  await navigator.locks.request('mansio-compose', run);
}

/** Resolves with false when another tab has the lock. Otherwise this tab has it until it goes. */
function hold(id: string): Promise<boolean> {
  return new Promise((resolve) => {
    void navigator.locks.request(LOCK + id, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise(() => {});
    });
  });
}
