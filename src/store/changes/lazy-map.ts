// Maps and sets that use no memory until something is added: the net of a list of changes could need many of them, but a usual
// commit needs two or three.

const NOTHING: readonly never[] = [];

export class LazyMap<K, V> {
  #map: Map<K, V> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.#map?.get(key);
  }

  has(key: K): boolean {
    return this.#map?.has(key) === true;
  }

  set(key: K, value: V): void {
    this.#map ??= new Map();
    this.#map.set(key, value);
  }

  /** Sets the value, and makes the key the last one. */
  append(key: K, value: V): void {
    this.delete(key);
    this.set(key, value);
  }

  /** Returns whether the key was present. */
  delete(key: K): boolean {
    return this.#map?.delete(key) === true;
  }

  keys(): K[] {
    return this.#map === undefined ? (NOTHING as never) : [...this.#map.keys()];
  }

  values(): V[] {
    return this.#map === undefined ? (NOTHING as never) : [...this.#map.values()];
  }

  entries(): [K, V][] {
    return this.#map === undefined ? (NOTHING as never) : [...this.#map];
  }
}

export class LazySet<T> {
  #set: Set<T> | undefined;

  has(value: T): boolean {
    return this.#set?.has(value) === true;
  }

  add(value: T): void {
    this.#set ??= new Set();
    this.#set.add(value);
  }

  /** Returns whether the value was present. */
  delete(value: T): boolean {
    return this.#set?.delete(value) === true;
  }

  values(): T[] {
    return this.#set === undefined ? (NOTHING as never) : [...this.#set];
  }
}
