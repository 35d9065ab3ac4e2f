/** `npm run manual`: writes the parts of the manual that are made from the code: settings and the list of commands. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { settingsTables } from '../dist/src/settings/page.js';

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const BEGIN = '<!-- made by npm run manual -->\n';
const END = '<!-- end -->';

/** Replaces what is between the two marks. */
function fill(path, text) {
  const [before, , after] = readFileSync(file(path), 'utf8').split(
    /(?<=<!-- made by npm run manual -->\n)([\s\S]*?)(?=<!-- end -->)/,
  );
  if (after === undefined) throw new Error(`${path} does not have ${BEGIN}${END}`);
  writeFileSync(file(path), `${before}\n${text}\n\n${after}`);
}

const help = execFileSync(process.execPath, [file('dist/src/cli/cairn.js'), '--help'], { encoding: 'utf8' });
const commands = help.slice(help.indexOf('\n') + 2, help.indexOf('\nTopics of the manual'));
fill('src/manual/settings.md', settingsTables());
fill('src/manual/cli.md', `\`\`\`\n${commands}\`\`\``);
