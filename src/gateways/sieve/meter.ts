// What the ManageSieve gateway counts. Labels come from closed sets; input of a client is never a label.

export interface SieveMeter {
  /** `name` is a name of the command table, or `unknown`. */
  completed(name: string, status: 'OK' | 'NO', ms: number): void;
}

export const NO_METER: SieveMeter = { completed() {} };
