// Declares the families of metrics, all with one prefix and in a registry per node, so that nodes of one process do not share counts. Each
// family has the roles that export it; a node without such a role has the family's object, but exports nothing of it. `npm run docs` writes
// docs/metrics.md from the declarations. Gauges read their value at a scrape.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const PREFIX = 'mansio_';

/** Seconds: from a query answered from memory to the longest wait of a client. */
const LATENCIES = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A role with metrics of its own. */
export type MeteredRole = 'api' | 'mx' | 'submission' | 'imap' | 'pop3' | 'outbound';

export interface Declared {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly labels: readonly string[];
  /** Undefined: every node exports it. */
  readonly role: MeteredRole | undefined;
}

/** Label values and a number; a gauge returns no reading for a value that is unknown now. */
export type Reading<L extends string> = readonly [labels: Readonly<Partial<Record<L, string>>>, value: number];

export class Families {
  readonly #registry: Registry;
  readonly #roles: ReadonlySet<string>;
  readonly #declared: Declared[];
  readonly #role: MeteredRole | undefined;

  /** `roles`: those of the node; every declaration is added to `declared`. */
  constructor(registry: Registry, roles: ReadonlySet<string>, declared: Declared[], role?: MeteredRole) {
    this.#registry = registry;
    this.#roles = roles;
    this.#declared = declared;
    this.#role = role;
  }

  /** Returns an object for families that only nodes with the role export. */
  of(role: MeteredRole): Families {
    return new Families(this.#registry, this.#roles, this.#declared, role);
  }

  counter<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Counter<L> {
    return new Counter(this.#declare('counter', name, help, labels));
  }

  /** `observe` takes seconds. */
  latency<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Histogram<L> {
    return this.histogram(name, help, LATENCIES, labels);
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labels: readonly L[] = [],
  ): Histogram<L> {
    return new Histogram({ ...this.#declare('histogram', name, help, labels), buckets });
  }

  gauge(name: string, help: string, read: () => number | undefined): void {
    this.gauges(name, help, [], () => {
      const value = read();
      return value === undefined ? [] : [[{}, value]];
    });
  }

  gauges<L extends string>(name: string, help: string, labels: readonly L[], read: () => readonly Reading<L>[]): void {
    new Gauge<L>({
      ...this.#declare('gauge', name, help, labels),
      collect() {
        this.reset();
        // After the reset, a gauge without labels has a 0 that nobody has read.
        if (labels.length === 0) this.remove();
        for (const [values, value] of read()) this.set(values as Record<L, string>, value);
      },
    });
  }

  /** A counter whose value is stored elsewhere. */
  readCounter(name: string, help: string, read: () => number): void {
    this.readCounters(name, help, [], () => [[{}, read()]]);
  }

  readCounters<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    read: () => readonly Reading<L>[],
  ): void {
    new Counter<L>({
      ...this.#declare('counter', name, help, labels),
      collect() {
        this.reset();
        for (const [values, value] of read()) this.inc(values as Record<L, string>, value);
      },
    });
  }

  #declare<L extends string>(type: Declared['type'], suffix: string, help: string, labelNames: readonly L[]) {
    const [name, role] = [PREFIX + suffix, this.#role];
    this.#declared.push({ name, type, help, labels: labelNames, role });
    const isExported = role === undefined || this.#roles.has(role);
    return { name, help, labelNames, registers: isExported ? [this.#registry] : [] };
  }
}
