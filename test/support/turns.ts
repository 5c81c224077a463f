// Turns of the event loop, for code that answers in one of the next turns.
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}
