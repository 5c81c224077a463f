// When V8 collects the whole heap. It does so once the heap has grown by a part of what was alive after the last such collection. To that growth
// it counts the octets of buffers, the young ones too, which a collection of the young generation alone would free; such a collection
// comes once these are 32 MiB. A node has some 65 MB of objects, for which V8 allowed less than that: each few hundred messages of
// 50 kB it marked the whole heap, in 20 ms of the event loop and 80 of its threads, to free some octets.
import { setFlagsFromString } from 'node:v8';

/** Percent of what was alive: the heap may double. V8 starts at ten by itself, and never goes beyond its bound (`--max-old-space-size`). */
const GROWTH = 100;

/** For this process and its threads, from the next collection of the whole heap on. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
}
