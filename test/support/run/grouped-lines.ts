// Rewrites AVA's lines about tests of files that share a process to look as if each file had its own: without the name of the group, and
// with the time that the test took (`file-turns.ts`).
import { openSync, readSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const GROUP = /test-groups › \d+ › group-\d+ › /u;
/** AVA leaves out what the names of all files begin with. With groups, that is not the folder of the tests. */
const FOLDER = /^( +(?:\S+ )?(?:\[\w+\]: )?)test › /u;
const PASSED = /^( +✔ )(.*?)(?: \((?:\d+m )?[\d.]+m?s\))?$/u;
/** In ms; AVA shows no shorter times either. */
const SHOWN_FROM = 100;

export class GroupedLines {
  readonly #file: number;
  readonly #times = new Map<string, number>();
  readonly #block = Buffer.alloc(65_536);
  #rest = '';

  /** `times` is the file that `TEST_TIMES` names. */
  constructor(times: string) {
    this.#file = openSync(times, 'r');
  }

  shown(line: string): string {
    const plain = stripVTControlCharacters(line);
    if (!GROUP.test(plain)) return FOLDER.test(plain) ? plain.replace(FOLDER, '$1') : line;
    const ungrouped = plain.replace(GROUP, '');
    const passed = PASSED.exec(ungrouped);
    if (passed === null) return ungrouped;
    const [, mark, title] = passed;
    const ms = this.#timeOf(title!);
    return `${mark}${title}${ms >= SHOWN_FROM ? ` (${ms < 1_000 ? `${ms}ms` : `${(ms / 1_000).toFixed(1)}s`})` : ''}`;
  }

  #timeOf(title: string): number {
    if (!this.#times.has(title)) this.#read();
    return this.#times.get(title) ?? 0;
  }

  #read(): void {
    for (;;) {
      const octets = readSync(this.#file, this.#block);
      if (octets === 0) return;
      const lines = (this.#rest + this.#block.toString('latin1', 0, octets)).split('\n');
      this.#rest = lines.pop()!;
      for (const line of lines) {
        const space = line.indexOf(' ');
        this.#times.set(Buffer.from(line.slice(space + 1), 'latin1').toString(), Number(line.slice(0, space)));
      }
    }
  }
}
