// A delayed save for as long as a view is shown: what is pending is saved when the view or the page is left.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { DelayedSave } from './delayed-save.js';

/** `momentMs`: how long after the last change it is saved. */
export function useDelayedSave<T>(save: (value: T) => Promise<unknown>, momentMs?: number): DelayedSave<T> {
  const newest = useRef(save);
  newest.current = save;
  const delayed = useMemo(() => new DelayedSave<T>((value) => newest.current(value), momentMs), [momentMs]);
  useEffect(() => {
    const leave = () => void delayed.flush();
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('pagehide', leave);
      leave();
    };
  }, [delayed]);
  return delayed;
}
