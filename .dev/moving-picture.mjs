/** Draws the moving picture of README: the agent of `cairn demo` works, its board and files follow, and a person takes it back. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENT, PERSON, session } from '../dist/src/cli/demo/story.js';
import { tell } from '../dist/src/cli/demo/tell.js';

const SIZE = { width: 1040, height: 620 };
/** A page is drawn at the width of a desk, and shown smaller. */
const SCALE = 0.8;
const VIEW = { width: SIZE.width / SCALE, height: SIZE.height / SCALE };
const BAR = 52;
const LOOKS = ['light', 'dark'];
/** 0 to 100, of lossy WebP: text stays sharp from about 80 on. */
const QUALITY = '82';

/** The steps of the session, each with what is looked at after it and for how long, in milliseconds. */
function scenes(today, vault) {
  const draft = `/vaults/${vault}/file?path=release%2Fannouncement.md`;
  const shown = {
    'takes the announcement': ['/tasks', 1300],
    'writes a draft': [draft, 1300],
    'adds what people will ask': [draft, 1300],
    'notes two steps for Jun': ['/tasks', 1500],
    'leaves a handoff': ['/activity', 1500],
  };
  return session(today).map((step) => ({ step, path: shown[step.says]?.[0], time: shown[step.says]?.[1] }));
}

/** A picture of a page above one line of who does what. */
const framed = (picture, who, what, dark) => `<!doctype html><style>
  body { margin: 0; font: 19px/52px system-ui; background: ${dark ? '#0d1117' : '#1f2328'}; color: #f0f6fc }
  img { display: block; width: ${SIZE.width}px; height: ${SIZE.height}px }
  p { margin: 0 24px; height: ${BAR}px } b { color: #7ee2b8; margin-right: 10px }
</style><img src="data:image/png;base64,${picture.toString('base64')}"><p><b>${who}</b>${what}</p>`;

/** Writes `agent-light.webp` and `agent-dark.webp` into a folder. */
export async function drawMoving({ browser, url, keys, context, vault, folder }) {
  const work = mkdtempSync(join(tmpdir(), 'cairn-picture-'));
  const state = await context.storageState();
  const stage = await browser.newPage({ viewport: { width: SIZE.width, height: SIZE.height + BAR } });
  const lookers = new Map();
  for (const colorScheme of LOOKS) {
    const looked = await browser.newContext({
      baseURL: url,
      viewport: VIEW,
      deviceScaleFactor: SCALE,
      timezoneId: 'UTC',
      storageState: state,
      colorScheme,
    });
    lookers.set(colorScheme, await looked.newPage());
  }
  const frames = new Map(LOOKS.map((look) => [look, []]));
  const shoot = async (path, who, what, time) => {
    for (const [look, page] of lookers) {
      await page.goto(path);
      // The columns, not the forms above them.
      if (path === '/tasks') await page.evaluate((down) => scrollTo(0, down), 330);
      await stage.setContent(framed(await page.screenshot(), who, what, look === 'dark'));
      const file = join(work, `${look}-${frames.get(look).length}.png`);
      writeFileSync(file, await stage.screenshot());
      frames.get(look).push(['-d', String(time), file]);
    }
  };
  try {
    await shoot('/tasks', PERSON.name, '“Continue with release 2.4.”', 1300);
    for (const { step, path, time } of scenes(new Date().toISOString().slice(0, 10), vault)) {
      await tell(url, keys, step);
      if (path !== undefined) await shoot(path, AGENT, step.says, time);
    }
    const page = lookers.get('light');
    await page.goto('/activity');
    await page.locator('details.more > summary').first().click();
    await page.getByRole('button', { name: 'Undo' }).filter({ hasText: 'announcement.md' }).first().click();
    await page.getByRole('status').first().waitFor();
    await shoot('/activity', PERSON.name, 'takes a change back', 1800);
    for (const look of LOOKS) {
      const file = join(folder, `agent-${look}.webp`);
      execFileSync('img2webp', [
        '-loop',
        '0',
        '-lossy',
        '-q',
        QUALITY,
        '-m',
        '6',
        ...frames.get(look).flat(),
        '-o',
        file,
      ]);
      process.stdout.write(`agent-${look}.webp: ${frames.get(look).length} frames\n`);
    }
  } finally {
    for (const page of lookers.values()) await page.context().close();
    await stage.close();
    rmSync(work, { recursive: true, force: true });
  }
}
