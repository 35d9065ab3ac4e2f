/** Owns which requests come from a person who follows an address, and are better told with a page. Pure. */
import { acceptance } from '../request/accept.ts';
import type { RequestHead } from '../request/head.ts';

/**
 * What programs ask for is answered in their form, whatever they accept. The last three are where MCP clients look for
 * OAuth when a hub says nothing of it.
 */
const PROGRAMS = /^\/(api|oauth|\.well-known|register|authorize|token)(\/|$)/;

export function isForPeople(head: RequestHead): boolean {
  if (head.method !== 'GET' || PROGRAMS.test(head.path)) return false;
  return acceptance(head.header('accept'), 'text/html') === 'named';
}
