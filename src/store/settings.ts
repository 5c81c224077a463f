// Port: values that the cluster agrees on once, for example secrets that every node must share.

export interface SettingStore {
  /** Returns the stored value, or stores and returns `initial()` when there is none; all nodes get the same value. */
  getOrCreate(key: string, initial: () => string): Promise<string>;
}
