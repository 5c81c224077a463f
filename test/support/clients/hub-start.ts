// Starts a stock connection to the hub as applications do: the reconnection of @microsoft/signalr begins after the first connection, and a
// node on a busy machine refuses for a moment (503).
import type { HubConnection } from '@microsoft/signalr';

const MOST_TRIES = 100;
const PAUSE_MS = 200;

/** @throws what the hub answers, unless it is a 503 that ends within 100 tries */
export async function startHub(hub: HubConnection): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await hub.start();
    } catch (error) {
      if (tries === MOST_TRIES || !/\b503\b/.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
