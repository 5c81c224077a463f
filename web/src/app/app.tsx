// The frame of the page.
import { KeysSheet } from './keys-sheet.js';
import { UndoStrip } from './undo-strip.js';

export function App() {
  return (
    <>
      <UndoStrip />
      <KeysSheet />
    </>
  );
}
