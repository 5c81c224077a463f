// When V8 collects the whole heap: once it has grown by a part of what was alive after the last such collection. V8 chooses this part by what it
// measures, and counts the octets of buffers to the growth, the young ones too, which a collection of the young generation would free;
// that one comes when they are 32 MiB. For a node of 65 MB at work V8 chose less, so each few hundred messages of 50 kB it marked the
// whole heap for some young octets: 20 ms of the event loop and 80 of V8's threads (docs/performance-notes.md, "Mail in").
import { setFlagsFromString } from 'node:v8';

/** Percent of what was alive: the heap may double, within its bound (`--max-old-space-size`). */
const GROWTH = 100;

/** For this process and its threads, from the next collection of the whole heap on. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
}
