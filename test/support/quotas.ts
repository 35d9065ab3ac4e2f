/** Quotas that nothing reaches, for parts that are tested without a service. */
import { Quotas } from '../../src/quotas/quotas.ts';

export const unbounded = new Quotas({
  defaults: { blobs: 2 ** 50, files: 2 ** 50, history: 2 ** 50, documents: 2 ** 50 },
  ownOf: () => ({}),
  isMarked: () => true,
  isDiskNearlyFull: () => false,
});
