/** Saving while an agent saves: what does not overlap is merged, in the editor of a file and in the form of a task. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { SCRIPTS, signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { Device } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const text = (changes: Readonly<Record<string, string>> = {}) =>
  `${LINES.map((line) => changes[line] ?? line).join('\n')}\n`;

const { hub, visit } = useBrowser();

const shown = (page: Page) => page.getByRole('group', { name: 'Content of the file' }).textContent();

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  const email = `merge-${name.replace(' ', '-')}@example.org`;

  test('[WEB-20] a file: my line 3 and the agent’s line 9 are both saved, and undo takes mine back', async () => {
    const { page, context, complaints } = await visit({ javaScriptEnabled });
    const agent = new Device(hub, await signUp(page, email, PASSWORD), 'claude-code');
    const { sha256, vault_id: vault } = await agent.push('notes.txt', text());
    await page.goto(`/vaults/${vault}/edit?path=notes.txt`);
    await agent.push('notes.txt', text({ nine: 'nine of the agent' }), { base_sha: sha256 });
    await page.getByLabel('Content').fill(text({ three: 'three of mine' }));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved, and merged with a change by claude-code.').waitFor();
    expect(await shown(page)).toBe(text({ three: 'three of mine', nine: 'nine of the agent' }).trimEnd());
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('three of mine').waitFor({ state: 'detached' });
    expect(await shown(page)).toBe(text({ nine: 'nine of the agent' }).trimEnd());
    await page.goto(`/vaults/${vault}/conflicts`);
    expect(await page.getByRole('link', { name: 'notes.txt' }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('[WEB-20] a file: the same line is a conflict that calls me “you” and offers “Keep mine”', async () => {
    const { page, context } = await visit({ javaScriptEnabled });
    const agent = new Device(hub, await signUp(page, `overlap-${email}`, PASSWORD), 'claude-code');
    const { sha256, vault_id: vault } = await agent.push('notes.txt', text());
    await page.goto(`/vaults/${vault}/edit?path=notes.txt`);
    await agent.push('notes.txt', text({ three: 'three of the agent' }), { base_sha: sha256 });
    await page.getByLabel('Content').fill(text({ three: 'three of mine' }));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('You changed this file').waitFor();
    await page.getByText('Conflicting lines are marked').waitFor();
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByText('is resolved.').waitFor();
    await context.close();
  });

  test('[WEB-20] a task: my text and the agent’s due date are both saved, and undo takes mine back', async () => {
    const { page, context, complaints } = await visit({ javaScriptEnabled });
    const key = await signUp(page, `task-${email}`, PASSWORD);
    await structured(hub, 'create_task', { content: 'Water the plants' }, key);
    await page.goto('/tasks/1');
    await structured(hub, 'update_task', { id: 1, due_date: '2030-01-31' }, key);
    await page.getByLabel('Task', { exact: true }).fill('Water all plants');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Task saved, and merged with a change by').waitFor();
    const task = async () => await structured(hub, 'list_tasks', {}, key);
    expect(await task()).toMatchObject({ tasks: [{ content: 'Water all plants', due_date: '2030-01-31' }] });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    expect(await task()).toMatchObject({ tasks: [{ content: 'Water the plants', due_date: '2030-01-31' }] });
    expect(complaints).toEqual([]);
    await context.close();
  });
});

test('[WEB-20] an open editor says who changed its file and what, and what was typed stays', async () => {
  const { page, context, complaints } = await visit();
  const agent = new Device(hub, await signUp(page, 'open-editor@example.org', PASSWORD), 'claude-code');
  const { sha256, vault_id: vault } = await agent.push('notes.txt', text());
  await page.goto(`/vaults/${vault}/file?path=notes.txt`);
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await page.getByLabel('Content').fill(text({ three: 'three of mine' }));
  await agent.push('notes.txt', text({ nine: 'nine of the agent' }), { base_sha: sha256 });
  await page.getByText('claude-code changed this file').waitFor();
  await page.getByText('See what changed').click();
  await page.getByRole('cell', { name: 'nine of the agent' }).waitFor();
  expect(await page.getByLabel('Content').inputValue()).toBe(text({ three: 'three of mine' }));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved, and merged with a change by claude-code.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
