/** Defines the onboarding tools: sign-up, sign-in for a key, and the setup guide. */
import { z } from 'zod';
import { invalidField } from '../common/fault.ts';
import { ADDS, defineOpenTool, READS, type Tool } from '../gateway/tool.ts';
import { limits } from '../limits/service.ts';
import type { Onboarding } from './onboarding.ts';
import { type SetupHub, type SetupStep, setupClients, setupSteps } from './setup-guide.ts';

const email = z.string().min(3).max(limits.emailCharsMax).describe('Email address of the account');
const password = z
  .string()
  .min(1)
  .max(limits.passwordBytesMax)
  .describe(`Password, at most ${limits.passwordBytesMax} bytes; the hub sets the minimum`);

/** `offersSignIn`: MCP clients can discover the browser sign-in. */
export function onboardingTools(onboarding: Onboarding, offersSignIn: boolean): Tool[] {
  return [signUp(onboarding), signIn(onboarding), setupGuide(offersSignIn)];
}

function signUp(onboarding: Onboarding): Tool {
  return defineOpenTool({
    name: 'signup_and_get_key',
    title: 'Sign up',
    description: 'Creates an account and returns its first MCP key. Needs no credential.',
    input: z.strictObject({
      email,
      password,
      name: z.string().min(1).max(limits.nameCharsMax).optional().describe('Display name'),
      invite_code: z.string().max(limits.inviteCodeCharsMax).optional().describe('If invited'),
    }),
    output: z.object({ account_id: z.string(), email: z.string(), mcp_key: z.string(), account_key: z.string() }),
    annotations: { ...ADDS, openWorldHint: true },
    access: 'open',
    example: { email: 'you@example.org', password: 'correct horse' },
    async handle(args, { address, agent }) {
      const { invite_code: inviteCode, ...given } = args;
      const made = await onboarding.signUp({ ...given, inviteCode, address, agent });
      return {
        structured: made,
        text: `Account ${made.email} created. MCP key: ${made.mcp_key}\nAccount key: ${made.account_key}\nSend the MCP key as Authorization: McpKey <key>, and store both now: they are not shown again.`,
      };
    },
  });
}

function signIn(onboarding: Onboarding): Tool {
  return defineOpenTool({
    name: 'login_and_get_key',
    title: 'Sign in',
    description: 'Signs in with email and password and returns a new MCP key. Needs no credential.',
    input: z.strictObject({ email, password, code: z.string().max(limits.userCodeCharsMax).optional() }),
    output: z.object({ account_id: z.string(), key_id: z.string(), name: z.string(), mcp_key: z.string() }),
    annotations: ADDS,
    access: 'open',
    example: { email: 'you@example.org', password: 'correct horse' },
    async handle(args, { address, agent }) {
      const made = await onboarding.signIn({ ...args, address, client: agent });
      return {
        structured: made,
        text: `MCP key: ${made.mcp_key}\nSend it as Authorization: McpKey <key>, and store it now: it is not shown again.`,
      };
    },
  });
}

/** How to connect a client, or each, as text. Throws Refusal `invalid_fields` for an unknown one. */
export function setupText(hub: SetupHub, client: string | undefined): string {
  const known = setupClients.find((one) => one === client);
  if (client !== undefined && known === undefined)
    throw invalidField('id', `there is no client ${client}; there are ${setupClients.join(', ')}`);
  return stepsText(setupSteps(hub, known));
}

const stepsText = (steps: readonly SetupStep[]) => steps.map(textOf).join('\n\n');

function textOf({ title, where, paste, with_key: withKey }: SetupStep): string {
  const first = `${title} (${where}):\n${paste}`;
  return withKey === undefined ? first : `${first}\nOr with a key (${withKey.where}):\n${withKey.paste}`;
}

function setupGuide(offersSignIn: boolean): Tool {
  const way = { where: z.string(), paste: z.string() };
  const step = z.object({
    client: z.enum(setupClients),
    title: z.string(),
    ...way,
    with_key: z.object(way).optional(),
  });
  return defineOpenTool({
    name: 'get_setup_guide',
    title: 'Show how to connect a client',
    description: 'Ready-to-paste configuration for connecting an MCP client to this hub. Needs no credential.',
    input: z.strictObject({ client: z.enum(setupClients).optional().describe('Only this client') }),
    output: z.object({ url: z.string(), steps: z.array(step) }),
    annotations: READS,
    access: 'open',
    example: { client: 'claude-code' },
    handle({ client }, { baseUrl }) {
      const steps = setupSteps({ baseUrl, offersSignIn }, client);
      const text = stepsText(steps);
      return { structured: { url: `${baseUrl}/api/mcp`, steps }, text };
    },
  });
}
