/** Child program: uses a share of one core until it is killed. Arguments: the share, and the priority (nice). */
import { setPriority } from 'node:os';

const PERIOD_MS = 20;
const [share = 0, nice = 0] = process.argv.slice(2).map(Number);
setPriority(nice);
let owedMs = 0;
let lastMs = performance.now();

/** Time without a core is not made up for: what the load used was measured in the same way. */
function burn(): void {
  const nowMs = performance.now();
  owedMs = Math.min(owedMs + (nowMs - lastMs) * share, PERIOD_MS * share);
  lastMs = nowMs;
  const before = process.cpuUsage();
  for (;;) {
    for (let at = 0; at < 10_000; at += 1) Math.sqrt(at);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 >= owedMs) break;
  }
  owedMs = 0;
  setTimeout(burn, share >= 1 ? 0 : PERIOD_MS - (performance.now() - nowMs));
}

burn();
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
