/** Describes the probes for the OpenAPI document. */
import { jsonContent, objectSchema, type RouteDoc } from './doc.ts';

const PROBE = { tag: 'probes', security: [] } as const;

export const probeOperations = {
  health: {
    ...PROBE,
    operationId: 'getHealth',
    summary: 'Whether the service is up',
    description: 'Answers while the process runs, including during start and stop. Accepts any User-Agent, or none.',
    answers: {
      200: {
        description: 'It is up',
        content: jsonContent(
          objectSchema({
            status: { const: 'ok' },
            version: { type: 'string' },
            uptime_seconds: { type: 'integer', minimum: 0 },
          }),
          { status: 'ok', version: '0.1.0', uptime_seconds: 86400 },
        ),
      },
    },
  },
  ready: {
    ...PROBE,
    operationId: 'getReady',
    summary: 'Whether the service accepts requests',
    description: '503 while the service starts or stops. Accepts any User-Agent, or none.',
    answers: {
      200: {
        description: 'The service accepts requests',
        content: jsonContent(objectSchema({ status: { const: 'ready' } }), { status: 'ready' }),
      },
    },
    refusals: [503],
  },
} as const satisfies Record<string, RouteDoc>;
