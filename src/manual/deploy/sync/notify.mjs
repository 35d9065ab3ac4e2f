#!/usr/bin/env node
/**
 * Desktop notices of synced folders: a conflict, held changes, a full disk, a hub that is away. Reads what a watch says as JSON:
 *   cairn sync watch --all --json | node notify.mjs
 * Uses notify-send on Linux and osascript on macOS.
 */
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';

/** The states that a person should hear of. */
const STATES = new Set(['conflict', 'guard', 'disk full', 'problem', 'hub away', 'hub back', 'ended']);
/** Notices of one folder closer together than this are left out. */
const PAUSE_MS = Number(process.env.CAIRN_NOTIFY_PAUSE_MS ?? 10_000);
const lastMs = new Map();

for await (const line of createInterface({ input: process.stdin })) {
  const told = read(line);
  if (told === undefined || !STATES.has(told.state)) continue;
  const key = `${told.folder} ${told.state}`;
  if (Date.now() - (lastMs.get(key) ?? 0) < PAUSE_MS) continue;
  lastMs.set(key, Date.now());
  notify(`Cairn: ${basename(told.folder)}`, told.sentence);
}

function read(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function notify(title, text) {
  const script = `display notification ${JSON.stringify(text)} with title ${JSON.stringify(title)}`;
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['osascript', '-e', script]
      : ['notify-send', '--app-name=Cairn', '--', title, text];
  spawn(command, args, { stdio: 'ignore' }).on('error', (error) =>
    process.stderr.write(`${command}: ${error.message}\n`),
  );
}
