// Port: the numbers that this gateway reports to the node's metrics. It is called once per request and must not throw.

export interface HttpMeter {
  /** `route`: the path of the route table; null when none matched. `ms`: until the reply was written. */
  answered(method: string, route: string | null, status: number, ms: number): void;
}

export const NO_METER: HttpMeter = { answered: () => {} };
