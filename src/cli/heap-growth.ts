// Lets the heap grow further before V8 collects all of it. V8 does so when the heap has grown by a part of what survived the last such
// collection. V8 chooses the part from measurements, and also counts young buffers, which only a collection at 32 MiB of them would free.
// For a busy node of 65 MB the part is small: V8 marks the whole heap after each few hundred messages of 50 kB, which takes 20 ms of the
// event loop and 80 ms of V8's threads (docs/performance-notes.md, "Mail in").
import { setFlagsFromString } from 'node:v8';

/** Percent of the surviving data: the heap may double, within its limit (`--max-old-space-size`). */
const GROWTH = 100;

/** Applies to this process and its threads, after the next collection of the whole heap. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
}
