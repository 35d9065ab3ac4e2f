/**
 * Connects programs that nobody here wrote to the built hub: with a key, and by browser, where a script is the person. Nothing of
 * theirs leaves the machine: they are pointed at a proxy that does not exist. Everything happens in `dist/client-tools`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeOf, openToolFolder, ROOT } from '../../../support/tool-folder.mjs';

const SECONDS_MAX = 60;
const NODE_MAJOR = 24;
const { work, modules, env: quiet } = openToolFolder(new URL('.', import.meta.url), 'client-tools');
const node = nodeOf(modules, NODE_MAJOR);
const support = (file) => import(pathToFileURL(join(ROOT, 'dist', 'test', 'support', file)).href);
const { startHub } = await support('hub.js');
const { signedUp } = await support('page-client.js');
const { PASSWORD, structured } = await support('gateway.js');

const CLAUDE = join(modules, '@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude');
const CODEX = [node, join(modules, '@openai', 'codex', 'bin', 'codex.js')];
const GEMINI = [node, join(modules, '@google', 'gemini-cli', 'bundle', 'gemini.js')];
const INSPECTOR = [node, join(modules, '.bin', 'inspector'), '--cli'];
const MCP_REMOTE = [node, join(modules, '.bin', 'mcp-remote')];

const home = mkdtempSync(join(work, 'home-'));
mkdirSync(join(home, 'codex'));
mkdirSync(join(home, 'project'));
const env = {
  ...quiet,
  PATH: process.env.PATH,
  HOME: home,
  CODEX_HOME: join(home, 'codex'),
  BROWSER: '/bin/true',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  GEMINI_CLI_TRUST_WORKSPACE: 'true',
  GEMINI_TELEMETRY_ENABLED: 'false',
};

/** Runs a program. `onText` sees all that it wrote so far whenever it writes, and may write to it. Resolves when it ends. */
function run(command, onText = () => undefined, more = {}) {
  const [file, ...args] = command;
  const child = spawn(file, args, { cwd: join(home, 'project'), env: { ...env, ...more } });
  let text = '';
  let failure;
  const hear = (part) => {
    text += part;
    try {
      onText(text, child);
    } catch (error) {
      failure = error;
      child.kill('SIGKILL');
    }
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  child.stdin.on('error', () => undefined);
  const timer = setTimeout(() => child.kill('SIGKILL'), SECONDS_MAX * 1000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (failure === undefined) resolve({ code, text });
      else reject(failure);
    });
  });
}

/** A program on a terminal, as one that asks a person needs it. */
const onTerminal = (command) => [
  'script',
  '--quiet',
  '--return',
  '--command',
  command.map(quote).join(' '),
  '/dev/null',
];
const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;

function has(text, wanted) {
  if (!wanted.test(text)) throw new Error(`expected ${wanted} in:\n${text}`);
}

/** Has the person at the browser authorize the address that a program shows, once, and follows where that leads. */
function authorizing(browser) {
  let asked;
  const signIn = async (url) => {
    await browser.open(url.pathname + url.search);
    const answer = await browser.post(
      '/oauth/authorize',
      browser.fieldsOf('/oauth/authorize', { answer: 'authorize' }),
    );
    const callback = answer.headers.location;
    if (callback === undefined) throw new Error(`the consent was refused: ${answer.status} ${browser.text}`);
    await fetch(callback);
  };
  return {
    onText: (text) => {
      const found = /https?:\/\/[\w.:-]+\/oauth\/authorize\?[\x21-\x7e]+(?=[^\x21-\x7e])/.exec(text);
      if (found === null || asked !== undefined) return;
      asked = signIn(new URL(found[0]));
      // Said where it is waited for, when the program has ended.
      asked.catch(() => undefined);
    },
    done: () => asked,
  };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a program', version: '1' } },
};
const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'create_task', arguments: { content: 'By mcp-remote' } },
};

/** Speaks to a stdio server: initialize, then a call; ends it when both are answered. */
function speaking(also = () => undefined) {
  const answered = new Set();
  return (text, child) => {
    also(text);
    if (answered.size === 0) {
      answered.add('sent');
      child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    }
    if (text.includes('"id":0') && !answered.has(0)) {
      answered.add(0);
      child.stdin.write(
        `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n${JSON.stringify(CALL)}\n`,
      );
    }
    if (text.includes('"id":1')) child.kill('SIGTERM');
  };
}

const steps = {
  async 'Claude Code connects with a key, and sees that /mcp wants a sign-in'({ hub, key }) {
    const add = [CLAUDE, 'mcp', 'add', '--transport', 'http'];
    await run([...add, 'keyed', `${hub.url}/api/mcp`, '--header', `Authorization: McpKey ${key}`]);
    await run([...add, 'signin', `${hub.url}/mcp`]);
    const { text } = await run([CLAUDE, 'mcp', 'list']);
    has(text, /keyed: .*Connected/);
    has(text, /signin: .*Needs authentication/);
  },
  async 'Claude Code signs in by browser'({ browser }) {
    const person = authorizing(browser);
    await run(onTerminal([CLAUDE, 'mcp', 'login', 'signin']), person.onText);
    await person.done();
    has((await run([CLAUDE, 'mcp', 'list'])).text, /signin: .*Connected/);
  },
  async 'Codex signs in by browser'({ hub, browser }) {
    const person = authorizing(browser);
    const add = ['mcp', 'add', 'cairn', '--url', `${hub.url}/mcp`];
    await run([...CODEX, ...add], person.onText);
    await person.done();
    has((await run([...CODEX, 'mcp', 'list'])).text, /cairn .*enabled +OAuth/);
  },
  async 'Gemini CLI connects with a key'({ hub, key }) {
    const header = ['--header', `Authorization: McpKey ${key}`];
    await run([...GEMINI, 'mcp', 'add', '--transport', 'http', ...header, 'cairn', `${hub.url}/api/mcp`]);
    has((await run([...GEMINI, 'mcp', 'list'])).text, /cairn: .*Connected/);
  },
  async 'the Inspector lists tools strictly, calls one, reads a resource and lists prompts'({ hub, key }) {
    const to = [`${hub.url}/api/mcp`, '--transport', 'http', '--header', `Authorization: McpKey ${key}`, '--method'];
    has((await run([...INSPECTOR, ...to, 'tools/list'])).text, /"name": "list_tasks"/);
    const call = ['--tool-name', 'create_task', '--tool-arg', 'content=By the Inspector'];
    has((await run([...INSPECTOR, ...to, 'tools/call', ...call])).text, /created #\d+ By the Inspector/);
    has((await run([...INSPECTOR, ...to, 'resources/read', '--uri', 'cairn://tasks/today'])).text, /"contents"/);
    has((await run([...INSPECTOR, ...to, 'prompts/list'])).text, /"prompts"/);
  },
  async 'mcp-remote bridges with a key'({ hub, key }) {
    // mcp-remote mangles a space in an argument on Windows; the manual shows this form.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote fills it in from its environment.
    const header = ['--header', 'Authorization:${AUTH}'];
    const { text } = await run([...MCP_REMOTE, `${hub.url}/api/mcp`, ...header], speaking(), { AUTH: `McpKey ${key}` });
    has(text, /created #\d+ By mcp-remote/);
  },
  async 'mcp-remote signs in by browser'({ hub, browser }) {
    const person = authorizing(browser);
    const { text } = await run([...MCP_REMOTE, `${hub.url}/mcp`], speaking(person.onText));
    await person.done();
    has(text, /created #\d+ By mcp-remote/);
  },
};

let failed = 0;
// Their client ID metadata documents are in the internet, which is out of reach here: they register instead.
const hub = await startHub({ env: { CAIRN_OAUTH_METADATA: 'on', CAIRN_OAUTH_CLIENT_DOCUMENTS: 'off' } });
try {
  const account = { email: 'keyed@example.org', password: PASSWORD };
  const { mcp_key: key } = await structured(hub, 'signup_and_get_key', account);
  const context = { hub, key, browser: await signedUp(hub, 'person@example.org', PASSWORD) };
  const only = process.argv[2];
  for (const [step, take] of Object.entries(steps)) {
    if (only !== undefined && !step.includes(only)) continue;
    try {
      await take(context);
      process.stdout.write(`ok      ${step}\n`);
    } catch (error) {
      failed += 1;
      process.stdout.write(`FAILED  ${step}\n${error?.stack ?? error}\n`);
    }
  }
} finally {
  await hub.stop();
}
process.exitCode = failed === 0 ? 0 : 1;
