// Waiting that ends: for work that goes on by itself when nobody waits for it any more.

/** Resolves when the work is done or `ms` have passed; rejects only if the work does before that. */
export async function waitFor(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
