// What is changed here is saved without a button. A note says that it has been saved, or why not and what is kept.
import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { reasonOf } from '../app/reason.js';
import { t } from '../i18n/t.js';
import { Problem } from './problem.js';

type SavingState = 'idle' | 'saving' | 'saved' | { readonly reason: string };

export interface Saving {
  readonly state: Signal<SavingState>;
  /** Resolves with whether it has been saved. */
  save(task: () => Promise<unknown>): Promise<boolean>;
}

export function useSaving(): Saving {
  const state = useSignal<SavingState>('idle');
  const newest = useRef(0);
  const save = async (task: () => Promise<unknown>) => {
    const number = ++newest.current;
    state.value = 'saving';
    let after: SavingState = 'saved';
    try {
      await task();
    } catch (error) {
      after = { reason: reasonOf(error) };
    }
    // A failure is told even when something else has been saved since.
    if (number === newest.current || after !== 'saved') state.value = after;
    return after === 'saved';
  };
  return { state, save };
}

interface SavingNoteProps {
  readonly saving: Saving;
  /** What a failure says is kept. */
  readonly kept: (reason: string) => string;
  /** Where the control still has what was not saved. */
  readonly retry?: () => void;
}

export function SavingNote({ saving: { state }, kept, retry }: SavingNoteProps) {
  const { value } = state;
  return (
    <>
      <p class="saving-note" role="status">
        {value === 'saved' && t('settings.saved')}
        {value === 'saving' && t('settings.saving')}
      </p>
      <Problem text={typeof value === 'object' ? kept(value.reason) : ''} again={retry} />
    </>
  );
}
