// Simulates messages that clients send to a cluster, step by step: the event loop of each node, its commits one at a time, the processes
// of PostgreSQL, its disk, and NATS. Nothing here is measured: `constants.ts` has what each step takes. Times are in µs.
import { type Constants, heartbeatCost } from './constants.js';
import { Clock, Disk, Machine, Program } from './machines.js';

export interface Setting {
  readonly nodes: number;
  /** Connections over which clients send, each one message after the other. */
  readonly clients: number;
  readonly messages: number;
  /** All programs and the clients share one machine with this number of cores; absent: each node and server has its own. */
  readonly sharedCores?: number;
  /** Cores of PostgreSQL and of each NATS server, where they have machines of their own. */
  readonly databaseCores: number;
  readonly natsCores: number;
}

export interface Outcome {
  /** Accepted messages per second. */
  readonly rate: number;
  /** The busy share of each part, 0 to 1: of the event loops, and of the cores of PostgreSQL and NATS. */
  readonly busy: Readonly<Record<'nodes' | 'database' | 'NATS', number>>;
  /** Processor time of nodes, PostgreSQL and NATS per message, in µs, without heartbeats. */
  readonly micros: number;
  /** Statements that store messages, per message. */
  readonly statements: number;
}

/** A statement takes at most this number of messages, each for one account. */
const MOST_IN_STATEMENT = 128;
/** The share of the messages that is sent before the measurement begins. */
const WARM_SHARE = 0.2;
const SECOND = 1e6;
/** The simulation ends after this simulated time. */
const LONGEST = 60 * SECOND;

export function simulate(constants: Constants, setting: Setting): Outcome {
  return new Simulation(constants, setting).run();
}

class Simulation {
  readonly #constants: Constants;
  readonly #setting: Setting;
  readonly #clock = new Clock();
  readonly #nodes: readonly SimulatedNode[];
  readonly #database: Program;
  readonly #nats: Program;
  readonly #clients: Program;
  readonly #disk: Disk;
  #sent = 0;
  #accepted = 0;
  #began = { at: 0, accepted: 0 };
  #random = 1;
  /** What heartbeats have taken. */
  #beats = 0;
  statements = 0;

  constructor(constants: Constants, setting: Setting) {
    this.#constants = constants;
    this.#setting = setting;
    const shared = setting.sharedCores === undefined ? undefined : new Machine(this.#clock, setting.sharedCores);
    const machine = (cores: number) => shared ?? new Machine(this.#clock, cores);
    this.#database = new Program(machine(setting.databaseCores), Number.POSITIVE_INFINITY);
    this.#nats = new Program(machine(setting.natsCores), Number.POSITIVE_INFINITY);
    this.#clients = new Program(machine(setting.clients), Number.POSITIVE_INFINITY);
    this.#disk = new Disk(this.#clock, constants.flush);
    this.#nodes = Array.from(
      { length: setting.nodes },
      () =>
        new SimulatedNode(
          this.#constants,
          new Program(machine(1), 1),
          this.#database,
          this.#disk,
          () => this.statements++,
        ),
    );
  }

  run(): Outcome {
    const { clients, messages, nodes } = this.#setting;
    for (let i = 0; i < nodes; i++) this.#beat(i);
    for (let i = 0; i < clients; i++) this.#send(this.#nodes[i % nodes]!);
    // Where heartbeats fill a part, messages wait for ever.
    const until = () => this.#accepted >= messages || this.#clock.now > LONGEST;
    this.#clock.run(until);
    const seconds = (this.#clock.now - this.#began.at) / SECOND;
    const share = (busy: number, cores: number) => busy / (this.#clock.now * cores);
    const cores = this.#setting.sharedCores;
    const loops = this.#nodes.reduce((sum, { loop }) => sum + loop.busy, 0);
    const used = loops + this.#database.busy + this.#nats.busy - this.#beats;
    return {
      rate: (this.#accepted - this.#began.accepted) / seconds,
      busy: {
        nodes: share(loops, nodes),
        database: share(this.#database.busy, cores ?? this.#setting.databaseCores),
        NATS: share(this.#nats.busy, cores ?? this.#setting.natsCores),
      },
      micros: used / this.#accepted,
      statements: this.statements / this.#accepted,
    };
  }

  #send(gateway: SimulatedNode): void {
    if (this.#sent++ >= this.#setting.messages + this.#setting.clients) return;
    const { message, remote, client } = this.#constants;
    const owner = this.#nodes[this.#next(this.#nodes.length)]!;
    const accepted = () => {
      this.#accept();
      this.#send(gateway);
    };
    const ask = () =>
      this.#nats.run(remote.nats / 2, () =>
        owner.loop.run(remote.owner, () =>
          owner.store(() => this.#nats.run(remote.nats / 2, accepted), remote.database),
        ),
      );
    this.#clients.run(client, () =>
      gateway.loop.run(message.node, () => {
        if (owner === gateway) return owner.store(accepted);
        gateway.loop.run(remote.gateway, () => (remote.isStoredFirst ? gateway.storeFirst(ask) : ask()));
      }),
    );
  }

  #accept(): void {
    this.#accepted++;
    if (this.#accepted === Math.floor(this.#setting.messages * WARM_SHARE))
      this.#began = { at: this.#clock.now, accepted: this.#accepted };
  }

  /** Every second a node renews its leases, reads the nodes and leases of all, and pings the other nodes. */
  #beat(i: number): void {
    const { nodes } = this.#setting;
    const { node, database, nats } = heartbeatCost(this.#constants, nodes);
    const taken = (micros: number) => () => {
      this.#beats += micros;
    };
    const beat = () => {
      this.#nodes[i]!.loop.run(node, taken(node));
      this.#database.run(database, taken(database));
      this.#nats.run(nats, taken(nats));
      this.#clock.after(SECOND, beat);
    };
    this.#clock.after((i / nodes) * SECOND, beat);
  }

  /** A number below `bound`: the same in every run (Park and Miller). */
  #next(bound: number): number {
    this.#random = (this.#random * 48_271) % 2_147_483_647;
    return this.#random % bound;
  }
}

/** A node has one event loop; it stores messages, and writes their words afterwards. */
class SimulatedNode {
  readonly loop: Program;
  readonly #messages: GroupedStatements;
  readonly #words: GroupedStatements;
  readonly #others: GroupedStatements;
  readonly #constants: Constants;

  constructor(constants: Constants, loop: Program, database: Program, disk: Disk, stated: () => void) {
    this.#constants = constants;
    this.loop = loop;
    this.#messages = new GroupedStatements(constants, loop, database, disk, stated);
    // Nobody waits for words, so their statement does not wait for the disk.
    this.#words = new GroupedStatements(constants, loop, database, undefined, () => {});
    this.#others = new GroupedStatements(constants, loop, database, disk, stated);
  }

  /** `database`: what the statement takes for this message beyond what it takes for any. */
  store(done: () => void, database = 0): void {
    const { message, words } = this.#constants;
    this.#messages.add({
      node: 0,
      database: message.database + database,
      done: () => {
        done();
        this.#words.add({ ...words, done: () => {} });
      },
    });
  }

  /** Stores a message for a mailbox of another node, which is asked afterwards. */
  storeFirst(done: () => void): void {
    this.#others.add({ node: 0, database: 0, done });
  }
}

interface Stated {
  readonly node: number;
  readonly database: number;
  done(): void;
}

/** One statement at a time, which takes what has arrived during the one before (decision 0019). */
class GroupedStatements {
  readonly #constants: Constants;
  readonly #loop: Program;
  readonly #database: Program;
  readonly #disk: Disk | undefined;
  readonly #begun: () => void;
  #waiting: Stated[] = [];
  #isUnderWay = false;

  constructor(constants: Constants, loop: Program, database: Program, disk: Disk | undefined, begun: () => void) {
    this.#constants = constants;
    this.#loop = loop;
    this.#database = database;
    this.#disk = disk;
    this.#begun = begun;
  }

  add(stated: Stated): void {
    this.#waiting.push(stated);
    if (!this.#isUnderWay) this.#begin();
  }

  #begin(): void {
    const { statement } = this.#constants;
    const all = this.#waiting.splice(0, MOST_IN_STATEMENT);
    const sum = (part: 'node' | 'database') => all.reduce((total, each) => total + each[part], statement[part]);
    this.#isUnderWay = true;
    this.#begun();
    const done = () => {
      this.#isUnderWay = false;
      for (const each of all) each.done();
      if (this.#waiting.length > 0 && !this.#isUnderWay) this.#begin();
    };
    this.#loop.run(sum('node'), () =>
      this.#database.run(sum('database'), () => (this.#disk === undefined ? done() : this.#disk.flush(done))),
    );
  }
}
