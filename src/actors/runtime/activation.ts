// One active actor: its state, its command queue and the loop that plans, commits, evolves, replies and publishes, in this order. A fault
// of the store ends the activation, because it is unknown whether its commit happened. The next load reads the true state, and every load
// publishes the log's position, in case the last commit was not published.
import type { Logger } from 'pino';
import type { Behavior, DeclaredReads, Remembered } from './behavior.js';
import { CommandQueue } from './command-queue.js';
import { ActorFault } from './errors.js';
import type { Protocol } from './protocol.js';
import { NO_SPAN, NO_TRACER, type Span, spanned, type Tracer } from './tracing.js';
import { type EventPacket, PACKET_VERSION, type ReplyPacket, type RequestPacket } from './transport/packet.js';

/** The most commands in one commit. */
const MAX_FOLDED = 64;
/** The most weight of the commands in one commit: while they are planned, all other work of the node waits. */
const MAX_FOLDED_WEIGHT = 2_000;
const MAX_QUEUED = 1_000;

interface Waiting {
  readonly request: RequestPacket;
  answer(reply: ReplyPacket): void;
}

export interface ActivationHost {
  readonly log: Logger;
  readonly tracer: Tracer;
  now(): number;
  random(octets: number): Uint8Array;
  publish(packet: EventPacket): void;
  /** Called when the state is in memory. */
  loaded(): void;
  /** Called when the state takes `octets` more memory. */
  grown(activation: { readonly accountId: string }, octets: number): void;
  /** Called when a commit may have happened unpublished, or the state could not be read: the host must load it again. */
  uncertain(accountId: string): void;
  /** Called when a later owner has the account. */
  fenced(): void;
  /** Called when the activation has ended. */
  ended(activation: { readonly accountId: string }): void;
}

/** The account has a later owner, which the caller must find. */
class Fenced extends Error {}

type Handler<C> = (context: C, payload: unknown) => unknown;
type QueryHandlers<S> = Readonly<Record<string, Handler<S> | undefined>>;
type CommandHandlers<T, S, D> = Readonly<
  Record<
    string,
    Handler<T> | { reads(payload: unknown, state: S): D | undefined; readonly plan: Handler<T> } | undefined
  >
>;

export class Activation<P extends Protocol, S, T, R = undefined, D = never> {
  readonly accountId: string;
  readonly epoch: number;
  readonly #behavior: Behavior<P, S, T, R, D>;
  readonly #commands: CommandHandlers<T, S, D>;
  readonly #host: ActivationHost;
  readonly #queue = new CommandQueue<Waiting>(MAX_QUEUED);
  #state: Promise<S>;
  #octets = 0;
  #working = false;
  #queries = 0;
  #over = false;
  lastUsed: number;
  /** The number of the newest change; undefined until the state is loaded. */
  position: number | undefined;

  constructor(behavior: Behavior<P, S, T, R, D>, host: ActivationHost, accountId: string, epoch: number) {
    this.accountId = accountId;
    this.epoch = epoch;
    this.#behavior = behavior;
    this.#commands = behavior.commands as unknown as CommandHandlers<T, S, D>;
    this.#host = host;
    this.lastUsed = host.now();
    this.#state = this.#load();
    this.#state.catch((error: unknown) => {
      this.#end();
      if (isTemporary(error)) this.#host.uncertain(accountId);
    });
  }

  /** Approximate memory of the state, in octets; 0 while it loads. */
  get octets(): number {
    return this.#octets;
  }

  /** The number of commands that wait for the current commit. */
  get waiting(): number {
    return this.#queue.length;
  }

  get isIdle(): boolean {
    return !this.#working && this.#queue.length === 0 && this.#queries === 0;
  }

  receive(request: RequestPacket): Promise<ReplyPacket> {
    this.lastUsed = this.#host.now();
    const operation = this.#behavior.protocol.operations[request.name];
    if (operation === undefined)
      return Promise.resolve(fault('unsupported', `this node does not know the operation ${request.name}`));
    if (operation.kind === 'query') return this.#query(request);
    return new Promise((answer) => {
      if (!this.#queue.offer({ request, answer })) answer(fault('overloaded', 'the mailbox has too much to do'));
      else if (!this.#working) void this.#work();
    });
  }

  async #load(): Promise<S> {
    const loaded = await this.#behavior.load(this.accountId, this.epoch);
    if (loaded.kind === 'noSuchAccount')
      throw new ActorFault('no-such-account', `there is no account ${this.accountId}`);
    if (loaded.kind === 'fenced') {
      this.#host.fenced();
      throw new Fenced();
    }
    const { state } = loaded;
    this.#weigh(state);
    this.#host.loaded();
    const position = this.#behavior.position(state);
    this.position = position;
    this.#host.publish({ v: PACKET_VERSION, accountId: this.accountId, after: position, seq: position, events: [] });
    return state;
  }

  #weigh(state: S): void {
    const before = this.#octets;
    this.#octets = this.#behavior.octets(state);
    if (this.#octets !== before) this.#host.grown(this, this.#octets - before);
  }

  async #query(request: RequestPacket): Promise<ReplyPacket> {
    this.#queries++;
    try {
      const handlers = this.#behavior.queries as unknown as QueryHandlers<S>;
      return outcome(await handlers[request.name]!(await this.#state, request.payload));
    } catch (error) {
      return this.#faultOf(error, request);
    } finally {
      this.#queries--;
    }
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      let state = await this.#state;
      while (this.#queue.length > 0 && !this.#over) {
        await this.#behavior.beforePlan?.();
        const weigh = ({ request }: Waiting) => this.#behavior.weigh?.(request.payload) ?? 1;
        await this.#fold(state, this.#queue.take(MAX_FOLDED, MAX_FOLDED_WEIGHT, weigh));
        if (!this.#behavior.needsCompaction(state)) continue;
        this.#state = this.#load();
        state = await this.#state;
      }
      this.#weigh(state);
    } catch (error) {
      this.#end();
      for (const waiting of this.#queue.take(MAX_QUEUED)) waiting.answer(this.#faultOf(error, waiting.request));
    } finally {
      this.#working = false;
    }
  }

  async #fold(state: S, group: readonly Waiting[]): Promise<void> {
    const commands = group.filter((waiting) => waiting.request.deadline > this.#host.now());
    for (const late of group) {
      if (!commands.includes(late)) late.answer(fault('unreachable', 'the deadline had passed'));
    }
    const reading = this.#prefetch(state, commands);
    const prefetched = reading instanceof Promise ? await reading : reading;
    try {
      await this.#commit(state, commands, prefetched);
    } finally {
      if (prefetched !== undefined) this.#behavior.release?.(prefetched);
    }
  }

  #declared(state: S, commands: readonly Waiting[]): readonly DeclaredReads<D>[] {
    const declared: DeclaredReads<D>[] = [];
    for (const { request } of commands) {
      const { name, payload } = request;
      const handler = this.#commands[name]!;
      const reads = 'plan' in handler ? handler.reads(payload, state) : undefined;
      if (reads !== undefined) declared.push({ payload, reads });
    }
    return declared;
  }

  async #commit(state: S, all: readonly Waiting[], read: R | undefined): Promise<void> {
    let commands = all;
    let prefetched = read;
    while (commands.length > 0) {
      const planned = this.#plan(state, commands, prefetched);
      if ('broken' in planned) {
        planned.broken.answer(this.#faultOf(planned.error, planned.broken.request));
        commands = commands.filter((waiting) => waiting !== planned.broken);
        continue;
      }
      try {
        const { transaction, remembered } = planned;
        const span = this.#commitSpan(commands);
        const committed = await spanned(span, () => this.#behavior.commit(state, transaction, remembered));
        if (committed.kind === 'again') {
          prefetched = committed.prefetched ?? prefetched;
          continue;
        }
        if (committed.kind === 'fenced') {
          this.#end();
          this.#host.fenced();
          for (const waiting of [...commands, ...this.#queue.take(MAX_QUEUED)]) waiting.answer({ kind: 'notOwner' });
          return;
        }
        this.position = this.#behavior.position(state);
        commands.forEach((waiting, i) => {
          waiting.answer(planned.replies[i]!);
        });
        if (committed.kind === 'committed') {
          const { accountId } = this;
          const trace = span.trace ?? commands[0]!.request.trace;
          const traced = trace === undefined ? {} : { trace };
          this.#host.publish({ v: PACKET_VERSION, accountId, ...committed.events, ...traced });
        }
        return;
      } catch (error) {
        for (const waiting of commands) waiting.answer(this.#faultOf(error, waiting.request));
        this.#host.uncertain(this.accountId);
        throw error;
      }
    }
  }

  /** Never throws: a fault of one command's reads must not leave the others of its group without an answer. */
  #prefetch(state: S, commands: readonly Waiting[]): R | Promise<R | undefined> | undefined {
    const failed = (err: unknown): undefined => {
      this.#host.log.warn({ accountId: this.accountId, err }, 'commands are planned without prefetched data');
    };
    try {
      const declared = this.#declared(state, commands);
      const prepared = declared.length === 0 ? undefined : this.#behavior.prepare?.(state, declared);
      return prepared instanceof Promise ? prepared.catch(failed) : prepared;
    } catch (error) {
      return failed(error);
    }
  }

  /** The span is a child of the first command's span; those of the other commands are linked. */
  #commitSpan(commands: readonly Waiting[]): Span {
    if (this.#host.tracer === NO_TRACER) return NO_SPAN;
    const [parent, ...links] = commands.flatMap(({ request }) => request.trace ?? []);
    return this.#host.tracer.start('commit', { parent, links, attributes: { 'mansio.commands': commands.length } });
  }

  /** Returns the replies of all commands on one transaction, or the command whose handler threw. */
  #plan(state: S, commands: readonly Waiting[], prefetched: R | undefined) {
    const context = { now: this.#host.now(), epoch: this.epoch, random: this.#host.random };
    const transaction = this.#behavior.begin(state, context, prefetched);
    const replies: ReplyPacket[] = [];
    const remembered: Remembered[] = [];
    for (const waiting of commands) {
      const { id, name, payload, carried } = waiting.request;
      // A caller sends its attempts one after the other, but two may wait here if the first seemed lost.
      const before = this.#behavior.recall(state, id) ?? remembered.find((done) => done.id === id);
      if (before !== undefined) {
        replies.push({ kind: 'reply', reply: before.reply });
        continue;
      }
      try {
        const handler = this.#commands[name]!;
        const result = outcome('plan' in handler ? handler.plan(transaction, payload) : handler(transaction, payload));
        replies.push(result);
        const isRemembered =
          carried !== undefined || this.#behavior.protocol.operations[name]!.onRepeat(payload) === 'remembered';
        if (isRemembered && result.kind === 'reply') remembered.push({ id, reply: result.reply });
      } catch (error) {
        return { broken: waiting, error };
      }
    }
    return { transaction, replies, remembered };
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#host.ended(this);
  }

  #faultOf(error: unknown, request: RequestPacket): ReplyPacket {
    if (error instanceof Fenced) return { kind: 'notOwner' };
    if (error instanceof ActorFault) return fault(error.code, error.message);
    const message = error instanceof Error ? error.message : String(error);
    const context = { accountId: this.accountId, operation: request.name, err: error };
    if (isTemporary(error)) {
      this.#host.log.warn(context, 'actor could not use the store');
      return fault('store-unavailable', message);
    }
    this.#host.log.error(context, 'actor failed');
    return fault('failed', message);
  }
}

function isTemporary(error: unknown): boolean {
  return error instanceof Error && 'temporary' in error && error.temporary === true;
}

function outcome(value: unknown): ReplyPacket {
  const result = value as { readonly reply?: unknown; readonly refusal?: string };
  if (result.refusal !== undefined) return { kind: 'refusal', refusal: result.refusal };
  return { kind: 'reply', reply: result.reply };
}

function fault(code: ActorFault['code'], message: string): ReplyPacket {
  return { kind: 'fault', code, message };
}
