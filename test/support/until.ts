// Waits for a state that announces itself to nobody: looks again until it holds. A test that can be told of the state waits for that instead.
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 2));
}
