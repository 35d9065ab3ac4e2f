/** Answers the probes: whether the process is up, and whether it accepts work. */
import { Refusal } from '../../common/fault.ts';
import { objectSchema } from './doc.ts';
import { operation } from './operation.ts';
import type { Route } from './route.ts';

export type Phase = 'starting' | 'ready' | 'draining';

export interface HealthOptions {
  readonly version: string;
  readonly phase: () => Phase;
}

export function healthRoutes({ version, phase }: HealthOptions): Route[] {
  const probe = { method: 'GET', tag: 'probes', access: 'open', uncounted: true } as const;
  return [
    operation({
      ...probe,
      path: '/health',
      operationId: 'getHealth',
      summary: 'Whether the service is up',
      description: 'Answers while the process runs, including during start and stop. Accepts any User-Agent, or none.',
      answer: {
        description: 'It is up',
        schema: objectSchema({
          status: { const: 'ok' },
          version: { type: 'string' },
          uptime_seconds: { type: 'integer', minimum: 0 },
        }),
        example: { status: 'ok', version: '0.1.0', uptime_seconds: 86400 },
      },
      handle: () => ({ status: 'ok', version, uptime_seconds: Math.floor(process.uptime()) }),
    }),
    operation({
      ...probe,
      path: '/ready',
      operationId: 'getReady',
      summary: 'Whether the service accepts requests',
      description: '503 while the service starts or stops. Accepts any User-Agent, or none.',
      answer: {
        description: 'The service accepts requests',
        schema: objectSchema({ status: { const: 'ready' } }),
        example: { status: 'ready' },
      },
      refusals: [503],
      handle() {
        const now = phase();
        if (now !== 'ready') throw new Refusal({ kind: now });
        return { status: 'ready' };
      },
    }),
  ];
}
