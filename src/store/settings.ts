// Port: values that the cluster agrees on once, for example secrets that every node must share, and reports that replace each other.

export interface SettingStore {
  /** Returns the stored value, or stores and returns `initial()` when there is none; all nodes get the same value. */
  getOrCreate(key: string, initial: () => string): Promise<string>;
}

/** Texts of which the last one counts, for all nodes. */
export interface StoredReports {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}
