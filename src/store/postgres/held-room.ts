// Whether a domain may have another held address. A read without a lock: `holdAddress` decides, this only spares a peer
// the message of a recipient that could not be held anyway.
import { domainOf } from './address-rows.js';
import type { Sql } from './client.js';

export async function heldRoom(sql: Sql, address: string, limit: number): Promise<boolean> {
  const [row] = await sql<[{ held: number }]>`
    select count(*)::integer as held from addresses where domain = ${domainOf(address)} and held`;
  return row.held < limit;
}
