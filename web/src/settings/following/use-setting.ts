// Follows a setting of the account for as long as a view is shown, so that two windows show the same.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Setting, SettingPath } from '../../../../src/client/index.js';
import { useStore } from '../../app/store.js';

export interface FollowedSetting {
  /** Why it cannot be read. */
  readonly problem: Signal<unknown>;
  /** Tries again. */
  readonly again: () => void;
}

/** Calls `take` with the setting as it is, and whenever it is another one. */
export function useSetting<P extends SettingPath>(path: P, take: (value: Setting<P>) => void): FollowedSetting {
  const { client } = useStore();
  const problem = useSignal<unknown>(undefined);
  const tries = useSignal(0);
  const newest = useRef(take);
  newest.current = take;
  const { value: number } = tries;
  useEffect(() => {
    problem.value = undefined;
    const subscription = client.setting(path).subscribe({
      next: (value) => newest.current(value),
      error: (error: unknown) => {
        problem.value = error;
      },
    });
    return () => subscription.unsubscribe();
  }, [client, path, number]);
  return {
    problem,
    again: () => {
      tries.value++;
    },
  };
}
