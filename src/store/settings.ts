// Port: values that the cluster agrees on once, for example secrets that every node must share.

export interface SettingStore {
  /** The stored value, or `initial()` stored and returned if there was none; all nodes get the same one. */
  getOrCreate(key: string, initial: () => string): Promise<string>;
}
