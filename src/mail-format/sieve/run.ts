// A compiled script, which is closures, and the state of a run that they change: the bounds that it uses up, its variables, the header that it edits, and its actions. Commands and tests change it;
// index.ts starts a run and reads its result.
import type { FileintoAction, KeepAction, SieveAction, TrackedKey } from './actions.js';
import type { Comparator } from './comparators.js';
import { ComparedText } from './compared-text.js';
import { EditableHeader } from './editable-header.js';
import type { SieveBounds } from './limits.js';
import type { SieveBody, SieveMessage } from './message.js';
import { type Position, SieveError } from './syntax.js';
import type { Reference, Text } from './text.js';
import { cutToOctets, Variables } from './variables.js';

/** What follows a command: the next one, the end of the script that includes this one (`return`), or the end of all. */
export type Flow = 'next' | 'return' | 'stop';

export type SieveStep = (run: Run) => Flow;
export type Check = (run: Run) => boolean;

export interface SieveScript {
  readonly steps: readonly SieveStep[];
  /** The extensions that the script requires. */
  readonly extensions: ReadonlySet<string>;
  /** Whether the script looks at the body of the message. */
  readonly readsBody: boolean;
  /** The scripts that it includes. */
  readonly includes: readonly SieveInclude[];
}

export interface SieveInclude {
  readonly location: 'personal' | 'global';
  readonly name: string;
}

/** Runs commands in order until one does not lead to the next. */
export function runSteps(steps: readonly SieveStep[], run: Run): Flow {
  for (const step of steps) {
    const flow = step(run);
    if (flow !== 'next') return flow;
  }
  return 'next';
}

/** The facts of a delivery, and what a script may look up. */
export interface SieveEnvironment {
  /** In ms since the epoch. */
  readonly now: number;
  /** The zone of dates when a script names none, in minutes east of UTC. */
  readonly zone: number;
  /** The envelope sender, '' for the null sender; undefined when it is unknown. */
  readonly sender: string | undefined;
  /** The address that the message was sent to; undefined when it is unknown. */
  readonly recipient: string | undefined;
  /** Whether a folder with this path is there. */
  readonly hasFolder: (path: string) => boolean;
  /** The path of the folder with this attribute (RFC 6154, such as `\Junk`), in any case; undefined without one. */
  readonly specialUse: (attribute: string) => string | undefined;
  /** Whether a delivery of the last time has tracked this key (RFC 7352). */
  readonly isTracked: (key: string) => boolean;
  /** Undefined when there is no such script. */
  readonly include: (location: 'personal' | 'global', name: string) => SieveScript | undefined;
}

/** Characters that count as one step. */
const CHARACTERS_OF_STEP = 256;
/** Characters of a value whose forms are kept for the next test. */
const LONG = 4_096;

export class Run {
  readonly message: SieveMessage;
  readonly environment: SieveEnvironment;
  readonly bounds: SieveBounds;
  readonly header: EditableHeader;
  readonly #globals: Variables;
  /** The variables of the script that runs now: scripts that are included have their own. */
  #locals: Variables;
  #matched: readonly string[] = [];
  /** The internal variable of flags (RFC 5232 §2). */
  flags: readonly string[] = [];
  /** The command or test that runs now: a fault is told there. */
  at: Position = { line: 1, column: 1 };
  /** The script keeps the message unless it says otherwise. */
  isImplicitKeep = true;
  readonly #actions: SieveAction[] = [];
  readonly #tracked = new Map<string, number>();
  /** The scripts that were included, by location and name. */
  readonly #included = new Set<string>();
  #redirects = 0;
  /** The edits of the header that actions have, as JSON. */
  readonly #edits = new Set<string>();
  #long: ComparedText | undefined;
  #steps = 0;
  #includes = 0;
  #includeDepth = 0;

  constructor(message: SieveMessage, environment: SieveEnvironment, bounds: SieveBounds) {
    this.message = message;
    this.environment = environment;
    this.bounds = bounds;
    this.header = new EditableHeader(message.fields);
    this.#globals = new Variables(bounds);
    this.#locals = new Variables(bounds, this.#globals);
  }

  /** @throws SieveError at the current position */
  fail(message: string): never {
    throw new SieveError(this.at, message);
  }

  /** Begins a command or a test. @throws SieveError */
  begin(at: Position): void {
    this.at = at;
    this.spend();
  }

  /** Counts a step, and the characters that it looks at. @throws SieveError */
  spend(characters = 0): void {
    this.#steps += 1 + Math.floor(characters / CHARACTERS_OF_STEP);
    if (this.#steps > this.bounds.steps) this.fail('the script takes too many steps');
  }

  get body(): SieveBody {
    return this.message.body ?? this.fail('the body of the message was not read');
  }

  /** Replaces references by their values. @throws SieveError */
  text(text: Text): string {
    if (typeof text === 'string') return text;
    let expanded = '';
    for (const part of text) {
      const piece = typeof part === 'string' ? part : this.#valueOf(part);
      this.spend(piece.length);
      expanded += piece;
    }
    return cutToOctets(expanded, this.bounds.variableOctets);
  }

  texts(texts: readonly Text[]): string[] {
    return texts.map((text) => {
      this.spend();
      return this.text(text);
    });
  }

  #valueOf({ space, name }: Reference): string {
    if (space === 'match') return this.#matched[Number(name)] ?? '';
    return (space === 'local' ? this.#locals : this.#globals).get(name);
  }

  /** @throws SieveError */
  variable({ space, name }: Reference): string {
    const value = this.#valueOf({ space, name });
    this.spend(value.length);
    return value;
  }

  /** @throws SieveError */
  setVariable({ space, name }: Reference, value: string): void {
    const fault = (space === 'local' ? this.#locals : this.#globals).set(name, value);
    if (fault !== undefined) this.fail(fault);
  }

  /** Makes a name of the current script mean the global variable (RFC 6609 §3.4.1). */
  declareGlobal(name: string): void {
    this.#locals.share(name);
  }

  /** `matched`: the whole text, and what each wildcard stands for (RFC 5229 §3.2). */
  setMatched(matched: readonly string[]): void {
    this.#matched = matched;
  }

  /** The forms of a value; those of a long one are made once for tests in a row. */
  compared(value: string, comparator: Comparator): ComparedText {
    if (value.length < LONG) return new ComparedText(value, comparator);
    if (this.#long?.value !== value || this.#long.comparator !== comparator) {
      this.#long = new ComparedText(value, comparator);
    }
    return this.#long;
  }

  /** @throws SieveError */
  add(action: SieveAction): void {
    if (this.#actions.length >= this.bounds.actions) this.fail('the script has too many actions');
    if (action.type === 'redirect' && ++this.#redirects > this.bounds.redirects) {
      this.fail('the script redirects the message too often');
    }
    this.#countEdit(action);
    this.#actions.push(action);
  }

  /** @throws SieveError */
  #countEdit(action: SieveAction): void {
    if (!('edit' in action) || action.edit === undefined) return;
    this.#edits.add(JSON.stringify(action.edit));
    if (this.#edits.size > this.bounds.editedHeaders) this.fail('the message has too many different headers');
  }

  get actions(): readonly SieveAction[] {
    return this.#actions;
  }

  /** Replaces an action of the same kind and target, whose header stays as in Pigeonhole. @throws SieveError */
  store(action: KeepAction | FileintoAction): void {
    const at = this.#actions.findIndex((other) => isSameTarget(other, action));
    if (at < 0) this.add(action);
    else this.#actions[at] = { ...action, edit: (this.#actions[at] as KeepAction | FileintoAction).edit };
  }

  /** Whether an earlier delivery has tracked the key. */
  isTracked(key: string): boolean {
    return this.environment.isTracked(key);
  }

  /** @throws SieveError */
  track(key: string, seconds: number): void {
    this.#tracked.set(key, seconds);
    if (this.#tracked.size > this.bounds.trackedKeys) this.fail('the script tracks too many keys');
  }

  get tracked(): readonly TrackedKey[] {
    return [...this.#tracked].map(([key, seconds]) => ({ key, seconds }));
  }

  /** Whether the script has been included before. */
  isIncluded(script: string): boolean {
    return this.#included.has(script);
  }

  /** Runs `within` as another script: with variables and match values of its own. @throws SieveError */
  include<Result>(script: string, within: () => Result): Result {
    const { at } = this;
    if (++this.#includes > this.bounds.includes) this.fail('the script includes too many scripts');
    if (++this.#includeDepth > this.bounds.includeDepth) this.fail('scripts include each other too deep');
    const [locals, matched] = [this.#locals, this.#matched];
    this.#locals = new Variables(this.bounds, this.#globals);
    this.#matched = [];
    this.#included.add(script);
    const result = within();
    this.#locals = locals;
    this.#matched = matched;
    this.#includeDepth--;
    this.at = at;
    return result;
  }
}

function isSameTarget(a: SieveAction, b: KeepAction | FileintoAction): boolean {
  if (a.type === 'keep') return b.type === 'keep';
  return a.type === 'fileinto' && b.type === 'fileinto' && a.folder === b.folder && a.specialUse === b.specialUse;
}
