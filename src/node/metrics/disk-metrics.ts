// Gauges of the disk of the data directory, read at a scrape.
import { statfsSync } from 'node:fs';
import type { Families } from './families.js';

export function watchDisk(families: Families, path: string): void {
  families.gauge('data_disk_free_bytes', 'Bytes that are free on the disk of the data directory.', () => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  });
  families.gauge('data_disk_size_bytes', 'Size of the disk of the data directory in bytes.', () => {
    const { blocks, bsize } = statfsSync(path);
    return blocks * bsize;
  });
}
