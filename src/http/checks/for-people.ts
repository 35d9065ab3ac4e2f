/** Detects requests of a person opening an address in a browser, who should get a page instead of JSON. Pure. */
import { acceptance } from '../request/accept.ts';
import type { RequestHead } from '../request/head.ts';

/**
 * Paths of programs: answered in their own format, whatever they accept. The last three are where MCP clients look for
 * OAuth when a hub does not announce it.
 */
const PROGRAMS = /^\/(api|oauth|\.well-known|register|authorize|token)(\/|$)/;

export function isForPeople(head: RequestHead): boolean {
  if (head.method !== 'GET' || PROGRAMS.test(head.path)) return false;
  return acceptance(head.header('accept'), 'text/html') === 'named';
}
