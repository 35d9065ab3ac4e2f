/** Shows a refusal as a page: the same status and headers as in the API, with text for a person. */
import { explain, type Fault, Refusal } from '../common/fault.ts';
import type { ReplyHeaders } from '../http/reply/reply.ts';
import { refusalReply } from '../http/reply/status.ts';
import { bytesText, sentence } from './ui.tsx';

interface FaultView {
  readonly title: string;
  readonly body: ReturnType<typeof Message>;
  readonly status: number;
  readonly headers: ReplyHeaders;
}

const TITLES: { readonly [kind in Fault['kind']]?: string } = {
  rate_limited: 'Too many attempts',
  overloaded: 'Busy',
  not_found: 'Not found',
  origin_forbidden: 'Not allowed',
  signup_closed: 'Sign-up is closed',
  account_disabled: 'Account disabled',
  storage_full: 'The disk is full',
  storage_reserved: 'The disk is nearly full',
};

/** What a fault says when nothing is at an address. */
const NO_PAGE = 'page not found';

/** The refusal of an address that has no page, or none for this visitor. */
export function noPage(): Refusal {
  return new Refusal({ kind: 'not_found', what: NO_PAGE });
}

/** `path`: the page that was asked for. */
export function faultPage(fault: Fault, path = ''): FaultView {
  const { status, headers } = refusalReply(fault);
  const { 'Content-Type': _type, 'Cache-Control': _cache, 'WWW-Authenticate': _scheme, ...rest } = headers;
  const isAddress = fault.kind === 'not_found' && fault.what === NO_PAGE;
  const title = isAddress ? 'Page not found' : (TITLES[fault.kind] ?? 'Something went wrong');
  return {
    title,
    status,
    headers: rest,
    body: (
      <Message
        title={title}
        text={wordsOf(fault)}
        keepsText={status === 413 || status === 429 || status >= 500}
        trash={fault.kind === 'not_found' && fault.isInTrash === true ? trashOf(path) : undefined}
      />
    ),
  };
}

/** Where what a page showed is restored. */
function trashOf(path: string): string | undefined {
  const [, trash] = TRASHES.find(([of]) => path.startsWith(of)) ?? [];
  return trash;
}

/** Pages, by the beginning of their path, and where what they show is restored. The first that fits counts. */
const TRASHES: readonly (readonly [pages: string, trash: string])[] = [
  ['/documents/', '/documents/trash'],
  ['/tasks/categories/', '/tasks/categories#deleted-categories'],
  ['/tasks/', '/tasks/trash'],
];

/** The answer to a form not sent from one of our pages in this browser. */
export function foreignFormPage(): FaultView {
  const title = 'This form is out of date';
  const text = 'This page has expired, so nothing was saved. Go back, reload it and send the form again.';
  return { title, status: 403, headers: {}, body: <Message title={title} text={text} /> };
}

interface MessageProps {
  readonly title: string;
  readonly text: string;
  /** What was entered can be sent again, shorter or later: the page explains how to get at it. */
  readonly keepsText?: boolean;
  /** The page of the trash that has it. */
  readonly trash?: string | undefined;
}

/** A page with one sentence and a link to the start page. */
function Message({ title, text, keepsText = false, trash }: MessageProps) {
  return (
    <div class="narrow">
      <h1>{title}</h1>
      <p class="lead">{sentence(text)}</p>
      {keepsText ? <p>Your text is still in the form: go back with the Back button of your browser.</p> : null}
      {trash === undefined ? null : (
        <p>
          It is in the <a href={trash}>trash</a>, and can be restored there.
        </p>
      )}
      <p>
        <a class="button" href="/">
          Go to the start page
        </a>
      </p>
    </div>
  );
}

function wordsOf(fault: Fault): string {
  switch (fault.kind) {
    case 'rate_limited':
      return `Wait ${fault.retryAfterSeconds} s, then try again`;
    case 'not_found':
      return fault.what === NO_PAGE ? 'Check the address, or search for what it showed' : explain(fault);
    case 'internal':
      return 'The hub could not do this. Try again; if it fails again, tell the operator when it happened and on which page';
    case 'body_too_large':
      return `What was sent is larger than ${bytesText(fault.bytesMax)}, the most that is accepted here`;
    case 'wrong_login':
      return 'Email or password is wrong';
    default:
      return explain(fault);
  }
}
