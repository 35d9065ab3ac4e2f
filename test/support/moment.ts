/**
 * A time that lies between two writes: neither has its millisecond, however fast the machine is. `lastMs`: when the first was made by the
 * hub, which gives each of many files a millisecond of its own, and may so be ahead of the clock.
 */
export async function momentBetween(lastMs = Date.now()): Promise<string> {
  while (Date.now() <= lastMs) await nextMillisecond();
  const then = new Date().toISOString();
  await nextMillisecond();
  return then;
}

async function nextMillisecond(): Promise<void> {
  const nowMs = Date.now();
  while (Date.now() <= nowMs) await new Promise((resolve) => setImmediate(resolve));
}
