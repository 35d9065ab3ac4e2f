/** A time that lies between two writes: neither has its millisecond, however fast the machine is. */
export async function momentBetween(): Promise<string> {
  await nextMillisecond();
  const then = new Date().toISOString();
  await nextMillisecond();
  return then;
}

async function nextMillisecond(): Promise<void> {
  const nowMs = Date.now();
  while (Date.now() <= nowMs) await new Promise((resolve) => setImmediate(resolve));
}
