// Deletes MTA-STS policies that have expired.
import type { StsPolicyMaintenance } from '../../sts-policies.js';
import { type Sql, storeFault } from '../driver/client.js';

export function postgresStsMaintenance(sql: Sql): StsPolicyMaintenance {
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
