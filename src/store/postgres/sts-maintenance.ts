// MTA-STS policies that hold no longer are deleted: who delivers asks for those that hold (see sts-policies).
import type { StsPolicyUpkeep } from '../sts-policies.js';
import { type Sql, storeFault } from './client.js';

export function postgresStsUpkeep(sql: Sql): StsPolicyUpkeep {
  return {
    async dropExpired() {
      try {
        const { count } = await sql`delete from sts_policies where expires_at < now()`;
        return count;
      } catch (error) {
        throw storeFault(error);
      }
    },
  };
}
