/** Answers the probes: whether the process is up, and whether it accepts work. */
import { Refusal } from '../../common/fault.ts';
import { json } from '../reply/reply.ts';
import { probeOperations } from './health-openapi.ts';
import type { Route } from './route.ts';

export type Phase = 'starting' | 'ready' | 'draining';

export interface HealthOptions {
  readonly version: string;
  readonly phase: () => Phase;
}

export function healthRoutes({ version, phase }: HealthOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/health',
      access: 'open',
      body: { kind: 'none' },
      uncounted: true,
      doc: probeOperations.health,
      handle: () => json(200, { status: 'ok', version, uptime_seconds: Math.floor(process.uptime()) }),
    },
    {
      method: 'GET',
      path: '/ready',
      access: 'open',
      body: { kind: 'none' },
      uncounted: true,
      doc: probeOperations.ready,
      handle() {
        const now = phase();
        if (now !== 'ready') throw new Refusal({ kind: now });
        return json(200, { status: 'ready' });
      },
    },
  ];
}
