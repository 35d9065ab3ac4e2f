/** Words a change of conditions as the HTTP request that a service for notices takes. Pure. */
import type { Severity } from './rules.ts';

/** `text`: plain text, as ntfy takes it. `slack`: JSON. `healthchecks`: a ping of a check, with the text as its body. */
const NOTICE_FORMATS = ['text', 'slack', 'healthchecks'] as const;

export type NoticeFormat = (typeof NOTICE_FORMATS)[number];

export interface OperatorNotice {
  readonly title: string;
  readonly text: string;
  readonly severity: Severity | 'over';
  /** True when no condition holds any longer. */
  readonly isAllClear: boolean;
}

export interface NoticeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the format for an address without a setting: that of its well-known host, else plain text. */
export function formatOf(url: string): NoticeFormat {
  const { hostname } = new URL(url);
  if (hostname === 'hooks.slack.com') return 'slack';
  return hostname === 'hc-ping.com' || hostname === 'hchk.io' ? 'healthchecks' : 'text';
}

/** Returns the POST request of a notice. A user and a password in the address become an Authorization header. */
export function requestOf(address: string, format: NoticeFormat, notice: OperatorNotice): NoticeRequest {
  const url = new URL(address);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const secret = username === '' ? {} : { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  const { title, text, severity, isAllClear } = notice;
  const whole = `${title}\n${text}`;
  const plain = { ...secret, 'Content-Type': 'text/plain; charset=utf-8' };
  switch (format) {
    case 'slack':
      return {
        url: url.href,
        headers: { ...secret, 'Content-Type': 'application/json' },
        body: JSON.stringify({ text: escaped(whole) }),
      };
    case 'healthchecks':
      // A condition that is over beside one that holds must not make the check green.
      url.pathname = `${url.pathname.replace(/\/$/, '')}${severity === 'over' ? (isAllClear ? '' : '/log') : '/fail'}`;
      return { url: url.href, headers: plain, body: whole };
    case 'text':
      return {
        url: url.href,
        headers: { ...plain, Title: title, Priority: PRIORITIES[severity], Tags: TAGS[severity] },
        body: text,
      };
  }
}

/** Priorities and emoji names of ntfy; other services ignore them. */
const PRIORITIES = { critical: 'urgent', warning: 'high', over: 'default' } as const;
const TAGS = { critical: 'rotating_light', warning: 'warning', over: 'white_check_mark' } as const;

/** Escapes the control characters of Slack's markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
