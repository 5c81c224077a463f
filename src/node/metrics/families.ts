// How the families of metrics are made: in one registry of the node's own, so that nodes of one process do not share
// counts, and under one prefix. Gauges read their value when somebody looks.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const PREFIX = 'mansio_';

/** Seconds: from a query answered from memory to what nobody waits for any longer. */
const LATENCIES = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Label values and number; a gauge gives none for what is not known now. */
export type Reading<L extends string> = readonly [labels: Readonly<Partial<Record<L, string>>>, value: number];

export class Families {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: this.#registers });
  }

  /** `observe` takes seconds. */
  latency<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Histogram<L> {
    return this.histogram(name, help, LATENCIES, labelNames);
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ): Histogram<L> {
    return new Histogram({ name: PREFIX + name, help, buckets, labelNames, registers: this.#registers });
  }

  gauge(name: string, help: string, read: () => number | undefined): void {
    this.gauges(name, help, [], () => {
      const value = read();
      return value === undefined ? [] : [[{}, value]];
    });
  }

  gauges<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => readonly Reading<L>[],
  ): void {
    new Gauge<L>({
      name: PREFIX + name,
      help,
      labelNames,
      registers: this.#registers,
      collect() {
        this.reset();
        // What reset leaves of a gauge without labels is a 0 that nobody has read.
        if (labelNames.length === 0) this.remove();
        for (const [labels, value] of read()) this.set(labels as Record<L, string>, value);
      },
    });
  }

  /** For what somebody else counts. */
  readCounter(name: string, help: string, read: () => number): void {
    new Counter({
      name: PREFIX + name,
      help,
      registers: this.#registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }
}
