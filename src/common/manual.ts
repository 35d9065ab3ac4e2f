/** Reads the manual: Markdown files shipped with the program, served at /help and printed by `cairn help`. */
import { existsSync, readFileSync } from 'node:fs';

/** In listing order. */
export const topicNames = [
  'start',
  'prompts',
  'agents',
  'mirror',
  'sync',
  'tasks',
  'pages',
  'cli',
  'rest',
  'events',
  'settings',
  'operating',
  'members',
  'security',
  'moving',
  'versions',
  'troubleshooting',
] as const;

export type TopicName = (typeof topicNames)[number];

export interface Topic {
  readonly name: TopicName;
  readonly title: string;
  /** Markdown, without the comments for the tests that run its examples. */
  readonly text: string;
}

/** `src/manual`: next to this folder, or in the package that contains `dist`. */
const folders = ['../manual/', '../../../src/manual/'].map((path) => new URL(path, import.meta.url));

const COMMENT = /<!--[\s\S]*?-->\n?/g;

/** Reads one topic. Throws the file system's error if the program was installed without its manual. */
export function readTopic(name: TopicName): Topic {
  const files = folders.map((folder) => new URL(`${name}.md`, folder));
  const file = files.find((url) => existsSync(url)) ?? files[0];
  const text = readFileSync(file as URL, 'utf8').replace(COMMENT, '');
  return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
}

const NEWS = /^## \d+\.\d+\.\d+.*$/m;

/** What is new in the newest version: its part of the page of versions, in Markdown. */
export function newestNews(): string {
  const { text } = readTopic('versions');
  const news = text.slice(text.search(NEWS));
  const end = news.slice(1).search(NEWS);
  return (end < 0 ? news : news.slice(0, end + 1)).trimEnd();
}

export function isTopic(name: string): name is TopicName {
  return (topicNames as readonly string[]).includes(name);
}

/**
 * Placeholders for the address of the reader's hub. Operators' examples use `hub.example.org`, which is not replaced.
 */
const PLACEHOLDER = /http:\/\/127\.0\.0\.1:8787(?=\/)|https:\/\/cairn\.example\.org/g;

/** Returns the text with the address of a hub filled in. */
export function withAddress(text: string, baseUrl: string): string {
  return text.replace(PLACEHOLDER, () => baseUrl);
}
