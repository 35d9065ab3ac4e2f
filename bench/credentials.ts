/** What does each kind of credential cost a call of the gateway, compared with the MCP key, which is one look-up? */
import { rmSync } from 'node:fs';
import { AGENT } from '../test/support/http.ts';
import { runCairn } from '../test/support/hub.ts';
import { AUDIENCE, Issuer } from '../test/support/issuer.ts';
import type { Account } from '../test/support/mirror.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { startCairn } from './peers/cairn.ts';
import { requireTool } from './peers/child.ts';
import { post, type RequestLoad, takeTurns, toolCall } from './peers/servers/start.ts';
import { type Bench, pairedRow, runWhenStarted } from './report.ts';

const CONNECTIONS = 32;
const BODY = JSON.stringify(toolCall('list_categories', {}));
const EMAIL = 'bench@example.org';
const HOUR_SECONDS = 3600;

export const credentials: Bench = async ({ quick }) => {
  requireTool('wrk', 'wrk');
  const folder = temporaryFolder();
  const issuers = { RS256: await Issuer.start(), ES256: await Issuer.start(0, 'ES256') };
  const sides: Record<string, RequestLoad> = {};
  const stops: (() => Promise<unknown>)[] = Object.values(issuers).map((issuer) => () => issuer.close());
  try {
    for (const [alg, issuer] of Object.entries(issuers)) {
      const env = { CAIRN_DATA: `${folder}/${alg}`, CAIRN_IDP_ISSUER: issuer.url, CAIRN_IDP_AUDIENCE: AUDIENCE };
      const off = { CAIRN_RATE_LIMIT: '0', CAIRN_SIGNIN_LIMIT: '0', CAIRN_LOG_LEVEL: 'warn' };
      const cairn = await startCairn({ ...env, ...off });
      stops.unshift(() => cairn.stop());
      const cli = async (...args: string[]) => {
        const { code, stdout, stderr } = await runCairn([...args, '--email', EMAIL, '--json'], env);
        if (code !== 0) throw new Error(stderr);
        return JSON.parse(stdout) as Account & { readonly access_token: string };
      };
      const { mcp_key: key } = await cli('account', 'create');
      const { access_token: token } = await cli('token', 'create');
      await cli('identity', 'link', '--subject', 'bench');
      const exp = Math.floor(Date.now() / 1000) + HOUR_SECONDS;
      const own = await issuer.token('bench', { claims: { exp } });
      const side = async (name: string, Authorization: string) => {
        const headers = { Authorization, 'User-Agent': AGENT };
        const url = `${cairn.url}/api/mcp`;
        await post(url, headers, BODY);
        sides[name] = { url, headers, connections: CONNECTIONS, seconds: 3, body: BODY };
      };
      if (alg === 'RS256') {
        await side('MCP key', `McpKey ${key}`);
        await side('access token', `Bearer ${token}`);
      }
      await side(`${alg} token of a provider`, `Bearer ${own}`);
    }
    const rates = await takeTurns('tools/call list_categories', sides, quick ? 2 : 5);
    const yardstick = rates['MCP key'] ?? [];
    return Object.keys(sides)
      .filter((name) => name !== 'MCP key')
      .map((name) =>
        pairedRow({
          question: `tools/call with ${name}, ${CONNECTIONS} connections`,
          yardstickName: 'MCP key',
          cairn: rates[name] ?? [],
          yardstick,
          unit: '/s',
          target: undefined,
        }),
      );
  } finally {
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

await runWhenStarted(import.meta.url, credentials);
