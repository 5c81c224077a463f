// Port: counts of this gateway for the node's metrics. Called once a request; it must not throw.

export interface HttpMeter {
  /** `route`: the path of the route table; null when none matched. `ms`: until the reply was written. */
  answered(method: string, route: string | null, status: number, ms: number): void;
}

export const NO_METER: HttpMeter = { answered: () => {} };
