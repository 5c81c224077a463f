// Stand-in until the real one is merged.
import { resolve } from 'node:path';

export interface Config {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly shards: number;
  readonly allowUnsafeDatabase: boolean;
}

export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  return {
    databaseUrl: env['DATABASE_URL'],
    dataDir: env['MANSIO_DATA_DIR'] ?? resolve('data'),
    shards: Number(env['MANSIO_SHARDS'] ?? 256),
    allowUnsafeDatabase: env['MANSIO_ALLOW_UNSAFE_DATABASE'] === 'true',
  };
}
